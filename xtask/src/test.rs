//! `cargo xtask test`: everything that must hold before a change lands.

use std::process::Command;

use crate::process::{cargo, run};
use crate::{chromium, node, python, sshd, tidy};

/// The workspace of the image generators.
const LSI: &str = "lsi/Cargo.toml";

/// All checks.
pub(crate) fn all() -> Result<(), String> {
    rust()?;
    lsi()?;
    node::test()?;
    python::test()
}

/// All checks of the ordinary crates.
pub(crate) fn rust() -> Result<(), String> {
    tidy::check()?;
    chromium::ensure()?;
    sshd::ensure()?;
    cargo(&["fmt", "--all", "--check"])?;
    cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    cargo(&["test", "--workspace"])?;
    run(Command::new(env!("CARGO"))
        .args(["doc", "--workspace", "--no-deps", "--quiet"])
        .env("RUSTDOCFLAGS", "-D warnings"))
}

/// The checks of the image generators.
pub(crate) fn lsi() -> Result<(), String> {
    cargo(&["fmt", "--manifest-path", LSI, "--check"])?;
    cargo(&["clippy", "--manifest-path", LSI, "--all-targets", "--", "-D", "warnings"])?;
    cargo(&["test", "--manifest-path", LSI])?;
    run(Command::new(env!("CARGO"))
        .args(["doc", "--manifest-path", LSI, "--no-deps", "--quiet"])
        .env("RUSTDOCFLAGS", "-D warnings"))
}
