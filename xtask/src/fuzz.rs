//! `cargo xtask fuzz`: reads what nobody wrote, guided by coverage, with the address sanitizer watching.
//!
//! The same as `cargo fuzz run` does for one target after the other, without having to install it. The sanitizer is not
//! stable: the compiler is told to do as a nightly one would, for these programs alone.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::process::{root, run};

/// What libFuzzer needs to know of a program: counters for its edges, and where they are.
const INSTRUMENTED: &str = "--cfg fuzzing -Zsanitizer=address -Cpasses=sancov-module -Ccodegen-units=1 \
    -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cdebug-assertions=on -Cdebuginfo=1";

/// Reads `--seconds`, `--seed` and names of targets, and tries each for so long. Without a seed each has a fresh one.
pub(crate) fn fuzz(arguments: &[&str]) -> Result<(), String> {
    let mut seconds = 10;
    // libFuzzer's word for a fresh one.
    let mut seed = 0;
    let mut names = Vec::new();
    let mut rest = arguments.iter();
    while let Some(&word) = rest.next() {
        match word {
            "--seconds" => seconds = number(rest.next())?,
            "--seed" => seed = number(rest.next())?,
            name if !name.starts_with('-') => names.push(name.to_owned()),
            other => return Err(format!("expected --seconds N, --seed S or names of targets, found {other}")),
        }
    }
    if names.is_empty() {
        names = all_names()?;
    }
    let host = host()?;
    build(&host)?;
    let mut table = vec!["target | inputs | edges of the stored inputs | edges at the end | CPU s | seed".to_owned()];
    for name in &names {
        table.push(try_one(&host, name, seconds, seed)?);
    }
    println!("{}", table.join("\n"));
    Ok(())
}

fn number(word: Option<&&str>) -> Result<u64, String> {
    let word = word.ok_or("expected a number, found nothing")?;
    word.parse().map_err(|_| format!("expected a number, found {word:?}"))
}

/// The targets are the folders with stored inputs, of which each has some.
fn all_names() -> Result<Vec<String>, String> {
    let folder = root().join("fuzz/corpus");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// The type of this machine, which must be named: flags for it are not for build scripts then.
fn host() -> Result<String, String> {
    let said =
        Command::new("rustc").arg("-vV").output().map_err(|error| format!("rustc could not be started: {error}"))?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned).ok_or_else(|| format!("expected the host in {text:?}"))
}

fn target_folder() -> PathBuf {
    root().join("target/fuzz")
}

fn build(host: &str) -> Result<(), String> {
    run(Command::new(env!("CARGO"))
        .args(["build", "--release", "--manifest-path", "fuzz/Cargo.toml", "--target", host, "--target-dir"])
        .arg(target_folder())
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", INSTRUMENTED))
}

/// Tries a target; returns its line of the table. What it finds stays in `target/fuzz/found`, what it learns in
/// `target/fuzz/learnt`.
fn try_one(host: &str, name: &str, seconds: u64, seed: u64) -> Result<String, String> {
    let learnt = target_folder().join("learnt").join(name);
    let found = target_folder().join("found");
    for folder in [&learnt, &found] {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let program = target_folder().join(host).join("release").join(name);
    let used_before = cpu_seconds_of_children();
    let said = Command::new(&program)
        .args([format!("-max_total_time={seconds}"), format!("-artifact_prefix={}/{name}-", found.display())])
        .arg(format!("-seed={seed}"))
        .args(["-timeout=20", "-rss_limit_mb=2048", "-max_len=16384", "-print_final_stats=1", "-verbosity=1"])
        .arg(&learnt)
        .arg(root().join("fuzz/corpus").join(name))
        .stdout(Stdio::null())
        .output()
        .map_err(|error| format!("{} could not be started: {error}", program.display()))?;
    let text = String::from_utf8_lossy(&said.stderr).into_owned();
    if !said.status.success() {
        return Err(format!("{name} ended with {}:\n{text}", said.status));
    }
    let used = used_before.zip(cpu_seconds_of_children()).map(|(before, after)| format!("{:.0}", after - before));
    let line = format!(
        "{name} | {} | {} | {} | {} | {}",
        after(&text, "stat::number_of_executed_units:", "").unwrap_or("?"),
        after(&text, "INITED", "cov:").unwrap_or("?"),
        after(&text, "DONE", "cov:").unwrap_or("?"),
        used.as_deref().unwrap_or("?"),
        after(&text, "INFO: Seed:", "").unwrap_or("?")
    );
    println!("{line}");
    Ok(line)
}

/// What processes that were started here and have ended took of processors, where the system says so.
fn cpu_seconds_of_children() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name in brackets may hold anything; times of children are the 14th and 15th field behind it, in hundredths.
    let mut fields = text.rsplit(')').next()?.split_whitespace().skip(13);
    let mut seconds = || Some(fields.next()?.parse::<f64>().ok()? / 100.0);
    Some(seconds()? + seconds()?)
}

/// The word behind `label` in the first line that has `mark`, or behind the mark itself without a label.
fn after<'a>(text: &'a str, mark: &str, label: &str) -> Option<&'a str> {
    let line = text.lines().find(|line| line.contains(mark))?;
    let (_, rest) = line.split_once(if label.is_empty() { mark } else { label })?;
    rest.split_whitespace().next()
}
