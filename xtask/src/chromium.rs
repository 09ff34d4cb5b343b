//! The browser that the tests of the HTML report drive.

use std::process::Command;

use crate::debian;

const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Makes sure that a browser is there, installing Debian's package where that is possible.
pub(crate) fn ensure() -> Result<(), String> {
    if is_there() {
        return Ok(());
    }
    match debian::install("chromium") {
        Ok(()) if is_there() => Ok(()),
        outcome => Err(format!(
            "expected Chromium for the tests of the HTML report, found none of {NAMES:?}; install it and run again{}",
            outcome.err().map(|error| format!(" ({error})")).unwrap_or_default()
        )),
    }
}

fn is_there() -> bool {
    NAMES.iter().any(|name| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success()))
}
