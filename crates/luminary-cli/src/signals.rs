//! Ctrl-C and termination: once to stop after the iteration, twice to stop at once, both with a checkpoint; the third
//! time ends the process.

use std::io::{IsTerminal, stderr};
use std::sync::atomic::{AtomicU8, Ordering};

use luminary_run::stop::{StopFlag, StopLevel};

use crate::failure::{FAILED, Failure, INTERRUPTED};

/// A flag that signals raise.
pub(crate) fn stop_flag() -> Result<StopFlag, Failure> {
    let flag = StopFlag::default();
    let (clone, count) = (flag.clone(), AtomicU8::new(0));
    let handler = move || {
        if count.fetch_add(1, Ordering::SeqCst) >= 2 {
            // The live display hides the cursor.
            let show_cursor = if stderr().is_terminal() { "\x1b[0m\x1b[?25h" } else { "" };
            eprintln!("{show_cursor}\nstopped without saving; the newest checkpoint stays valid");
            std::process::exit(INTERRUPTED.into());
        }
        match clone.request() {
            StopLevel::Now => eprintln!("\nsaving at once (again: stop without saving)"),
            _ => eprintln!("\nfinishing the iteration, then saving (again: save at once)"),
        }
    };
    let installed = ctrlc::set_handler(handler);
    installed.map_err(|error| Failure::Message(format!("cannot catch signals: {error}"), FAILED))?;
    Ok(flag)
}
