//! Reads inputs that libFuzzer makes with the target of `luminary_run::fuzz` that has this program's name.
#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use luminary_run::fuzz::{Target, target};

thread_local! {
    static TARGET: RefCell<Target> = RefCell::new(target(env!("CARGO_BIN_NAME")));
}

fuzz_target!(|bytes: &[u8]| {
    // Taken or refused: both are right, and a panic is not.
    TARGET.with_borrow_mut(|target| (target.read)(bytes));
});
