//! Project automation: `cargo xtask <command>`.
#![allow(clippy::print_stdout, reason = "a program that reports on standard output")]

mod chromium;
mod debian;
mod node;
mod process;
mod python;
mod sshd;
mod test;
mod tidy;
mod torture;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask <command>

commands:
  test             everything that must hold: formatting, lints, tests, docs, Python
  test rust        the same without Python and the page of the live view
  test python      the Python package alone
  test web         the page of the live view alone, in Chromium
  build web        the page of the live view from its sources; the built files are committed
  tidy             the project's own rules about its files
  torture          kills runs of every kind at random moments and compares what becomes of them:
                   --minutes 60 for an hour, --seed 7 for the same kills again
  bench [name]     benchmarks: engine (default) prints trials with the share of time per stage,
                   limits holds each stage beside what the machine can do,
                   trial runs one algorithm on one domain, pyribs compares whole runs of the Python package with
                   pyribs, archives compares what users call on archives, threads holds ask and tell on two threads
                   beside one, cluster holds engines (processes, Dask, Ray) beside loops by hand and simulates
                   many workers";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["test"] => test::all(),
        ["test", "rust"] => test::rust(),
        ["test", "python"] => python::test(),
        ["test", "web"] => node::test(),
        ["build", "web"] => node::build(),
        ["tidy"] => tidy::check(),
        ["torture", rest @ ..] => torture::torture(rest),
        ["bench", "pyribs"] => python::bench("compare_ribs.py"),
        ["bench", "cluster"] => python::bench("cluster.py"),
        ["bench", "archives"] => python::bench("compare_archives.py"),
        ["bench", "threads"] => python::bench("ask_tell_threads.py"),
        ["bench"] => process::cargo(&["run", "--release", "--package", "luminary-bench"]),
        ["bench", rest @ ..] => {
            process::cargo(&[&["run", "--release", "--package", "luminary-bench", "--"], rest].concat())
        }
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
