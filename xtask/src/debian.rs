//! Packages of Debian that tests need.

use std::process::Command;

use crate::process::run;

/// Installs a package, where that is possible.
pub(crate) fn install(package: &str) -> Result<(), String> {
    run(Command::new("apt-get").args(["update", "--quiet"]))?;
    // A package that has questions must not keep the tests waiting.
    run(Command::new("apt-get").args(["install", "--yes", "--quiet", package]).env("DEBIAN_FRONTEND", "noninteractive"))
}
