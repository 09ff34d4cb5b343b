//! `cargo xtask test`: everything that must hold before a change lands.

use std::process::Command;

use crate::process::{cargo, run};
use crate::{chromium, node, python, sshd, tidy};

/// What the ordinary build leaves out.
pub(crate) const FEATURES: &str = "luminary-cli/lsi";

/// All checks.
pub(crate) fn all() -> Result<(), String> {
    rust()?;
    node::test()?;
    python::test()
}

/// All checks but those of Python and of the live view's page.
pub(crate) fn rust() -> Result<(), String> {
    tidy::check()?;
    chromium::ensure()?;
    sshd::ensure()?;
    cargo(&["fmt", "--all", "--check"])?;
    cargo(&["clippy", "--workspace", "--all-targets", "--features", FEATURES, "--", "-D", "warnings"])?;
    cargo(&["test", "--workspace", "--features", FEATURES])?;
    run(Command::new(env!("CARGO"))
        .args(["doc", "--workspace", "--no-deps", "--quiet"])
        .env("RUSTDOCFLAGS", "-D warnings"))
}
