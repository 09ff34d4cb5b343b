//! `cargo xtask test`: everything that must hold before a change lands.

use std::process::Command;

use crate::process::{cargo, run};
use crate::{chromium, python, tidy};

/// What the ordinary build leaves out.
pub(crate) const FEATURES: &str = "luminary-cli/lsi";

/// All checks.
pub(crate) fn all() -> Result<(), String> {
    rust()?;
    python::test()
}

/// All checks but Python's.
pub(crate) fn rust() -> Result<(), String> {
    tidy::check()?;
    chromium::ensure()?;
    cargo(&["fmt", "--all", "--check"])?;
    cargo(&["clippy", "--workspace", "--all-targets", "--features", FEATURES, "--", "-D", "warnings"])?;
    cargo(&["test", "--workspace", "--features", FEATURES])?;
    run(Command::new(env!("CARGO"))
        .args(["doc", "--workspace", "--no-deps", "--quiet"])
        .env("RUSTDOCFLAGS", "-D warnings"))
}
