//! Ctrl-C and termination: once to stop after the iteration, or in completion order once what is out is back; twice to stop
//! at once, both with everything saved; the third time ends the process.

use std::io::{IsTerminal, stderr};
use std::sync::atomic::{AtomicU8, Ordering};

use luminary_run::stop::{StopFlag, StopLevel};

use crate::failure::{FAILED, Failure, INTERRUPTED};

/// A flag that signals raise, for runs with checkpoints.
pub fn stop_flag() -> Result<StopFlag, Failure> {
    install([
        "finishing what is under way, then saving (again: save at once)",
        "saving at once (again: stop without saving)",
        "stopped without saving; the newest checkpoint stays valid",
    ])
}

/// A flag that signals raise, for trials that are finished or done again.
pub fn stop_flag_of_trials() -> Result<StopFlag, Failure> {
    install([
        "stopping; finished trials are kept",
        "stopping; finished trials are kept (again: stop at once)",
        "stopped at once; finished trials are kept",
    ])
}

/// A flag that signals raise, for the live view.
pub(crate) fn stop_flag_of_server() -> Result<StopFlag, Failure> {
    install(["the live view ends", "the live view ends (again: at once)", "the live view has ended at once"])
}

/// Catches signals; the messages say what the first, the second and the third will do.
fn install(messages: [&'static str; 3]) -> Result<StopFlag, Failure> {
    let flag = StopFlag::default();
    let (clone, count) = (flag.clone(), AtomicU8::new(0));
    let handler = move || {
        if count.fetch_add(1, Ordering::SeqCst) >= 2 {
            // The live display hides the cursor.
            let show_cursor = if stderr().is_terminal() { "\x1b[0m\x1b[?25h" } else { "" };
            eprintln!("{show_cursor}\n{}", messages[2]);
            std::process::exit(INTERRUPTED.into());
        }
        match clone.request() {
            StopLevel::Now => eprintln!("\n{}", messages[1]),
            _ => eprintln!("\n{}", messages[0]),
        }
    };
    let installed = ctrlc::set_handler(handler);
    installed.map_err(|error| Failure::Message(format!("cannot catch signals: {error}"), FAILED))?;
    Ok(flag)
}
