//! The Python package: its wheel in a fresh virtual environment, and what runs there.

use std::path::PathBuf;
use std::process::Command;

use crate::process::{cargo, root, run};

/// What the tests need besides the package itself: the optional packages, the tools, and the rival for comparisons.
const TEST_PACKAGES: [&str; 19] = [
    "maturin>=1.7,<2",
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "matplotlib",
    "pytest",
    "mypy",
    "cma",
    "array-api-strict",
    "ribs[visualize]==0.12.0",
    "distributed>=2026.8,<2027",
    "ray>=2.60,<3",
    "gest-api>=0.2,<0.3",
    "libensemble>=1.6,<2",
    // Simulators.
    "gymnasium[box2d,mujoco]>=1.4,<2",
    "wandb>=0.31,<1",
    "mlflow-skinny>=3.17,<4",
    "tensorboard>=2.21,<3",
];

/// Builds the wheel, installs it and runs the tests. Some read what the `luminary` program wrote; they get its path.
pub(crate) fn test() -> Result<(), String> {
    install("dev")?;
    // As the Rust tests build it: other features would compile its dependencies again.
    cargo(&["test", "--workspace", "--no-run"])?;
    let tests = ["-m", "pytest", "--quiet", "python/tests"];
    run(in_environment("python").args(tests).env("LUMINARY_PROGRAM", built_program("luminary")?))
}

/// Runs a script that measures the package, with one thread for each library.
pub(crate) fn bench(script: &str) -> Result<(), String> {
    install("release")?;
    run(in_environment("python").arg(root().join("python/bench").join(script)).env("OMP_NUM_THREADS", "1"))
}

/// Who is compared with, and the packages that each needs. They live in an environment of their own, which is kept: JAX is
/// large, and the tests need none of it.
const PEERS: [(&str, &str); 5] = [
    ("pyribs", "ribs==0.12.0"),
    ("QDax", "qdax==0.5.0"),
    ("fcmaes", "fcmaes==2.1.0"),
    ("fcmaes-rust", "fcmaes-rust==0.2.1"),
    ("pycma", "cma>=4.5,<5"),
];

/// Runs a script that holds the package and the program beside other libraries. One that cannot be installed is named, and
/// left out.
pub(crate) fn peers(script: &str, arguments: &[&str]) -> Result<(), String> {
    let peers = root().join("target/peers");
    let in_peers = |program: &str| Command::new(peers.join("bin").join(program));
    if !peers.exists() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&peers))?;
    }
    let pip =
        |words: &[&str]| run(in_peers("pip").args(["install", "--quiet", "--disable-pip-version-check"]).args(words));
    pip(&["maturin>=1.7,<2", "numpy"])?;
    for (name, package) in PEERS {
        if let Err(message) = pip(&[package]) {
            println!("{name} is not installed and will be missing: {message}");
        }
    }
    let wheel = build_wheel(in_peers("maturin"), "release")?;
    pip(&["--no-deps", "--force-reinstall", &wheel.to_string_lossy()])?;
    cargo(&["build", "--release", "--package", "luminary-cli"])?;
    let script = root().join("python/bench").join(script);
    run(in_peers("python").arg(script).args(arguments).env("LUMINARY_PROGRAM", built_program("../release/luminary")?))
}

fn install(profile: &str) -> Result<(), String> {
    let environment = environment();
    // Fresh each time: what an earlier build left behind must not hide a missing file.
    if environment.exists() {
        std::fs::remove_dir_all(&environment).map_err(|error| format!("{}: {error}", environment.display()))?;
    }
    run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    run(in_environment("pip").args(["install", "--quiet", "--disable-pip-version-check"]).args(TEST_PACKAGES))?;
    let wheel = build_wheel(in_environment("maturin"), profile)?;
    run(in_environment("pip").args(["install", "--quiet", "--disable-pip-version-check", "--no-deps"]).arg(wheel))
}

/// Builds the wheel, into an empty folder for the same reason.
fn build_wheel(mut maturin: Command, profile: &str) -> Result<PathBuf, String> {
    let wheels = root().join("target/wheels");
    if wheels.exists() {
        std::fs::remove_dir_all(&wheels).map_err(|error| format!("{}: {error}", wheels.display()))?;
    }
    maturin.args(["build", "--profile", profile, "--out"]).arg(&wheels).current_dir(root().join("python"));
    run(&mut maturin)?;
    let wheel = std::fs::read_dir(&wheels)
        .ok()
        .and_then(|mut entries| entries.next()?.ok())
        .ok_or_else(|| format!("expected a wheel in {}, found none", wheels.display()))?;
    Ok(wheel.path())
}

/// A program of this workspace, which cargo puts beside this one.
pub(crate) fn built_program(name: &str) -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    Ok(own.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

fn environment() -> PathBuf {
    root().join("target/python-tests")
}

fn in_environment(program: &str) -> Command {
    Command::new(environment().join("bin").join(program))
}
