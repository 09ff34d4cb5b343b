//! The page of the live view: its types, its built files, and its tests in a browser.

use std::path::PathBuf;
use std::process::Command;

use crate::process::{cargo, root, run};
use crate::python::built_program;

/// Installs what the lock file names, checks the types, that the committed files are what the sources build, and runs
/// the tests, which start the `luminary` program and drive Chromium.
pub(crate) fn test() -> Result<(), String> {
    ensure()?;
    run(npm().args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]))?;
    run(npm().args(["run", "--silent", "check"]))?;
    run(node().args(["build.mjs", "--check"]))?;
    cargo(&["test", "--workspace", "--no-run"])?;
    run(node().args(["--test", "test/"]).env("LUMINARY_PROGRAM", built_program("luminary")?))
}

/// Measures the page in Chromium, over the program as it is released.
pub(crate) fn bench() -> Result<(), String> {
    ensure()?;
    run(npm().args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]))?;
    cargo(&["build", "--release", "--package", "luminary-cli"])?;
    run(node().arg("bench/page.mjs").env("LUMINARY_PROGRAM", built_program("../release/luminary")?))
}

/// Builds the page anew; the result is committed.
pub(crate) fn build() -> Result<(), String> {
    ensure()?;
    run(npm().args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]))?;
    run(node().args(["build.mjs"]))
}

/// Makes sure that Node is there, installing Debian's packages where that is possible.
fn ensure() -> Result<(), String> {
    let is_there = || ["node", "npm"].iter().all(|name| Command::new(name).arg("--version").output().is_ok());
    if is_there() {
        return Ok(());
    }
    let installed = run(Command::new("apt-get").args(["update", "--quiet"]))
        .and_then(|()| run(Command::new("apt-get").args(["install", "--yes", "--quiet", "nodejs", "npm"])));
    match installed {
        Ok(()) if is_there() => Ok(()),
        outcome => Err(format!(
            "expected Node and npm for the page of the live view, found none; install them and run again{}",
            outcome.err().map(|error| format!(" ({error})")).unwrap_or_default()
        )),
    }
}

fn web() -> PathBuf {
    root().join("crates/luminary-serve/web")
}

fn npm() -> Command {
    let mut command = Command::new("npm");
    command.current_dir(web());
    command
}

fn node() -> Command {
    let mut command = Command::new("node");
    command.current_dir(web());
    command
}
