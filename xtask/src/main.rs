//! Project automation: `cargo xtask <command>`.
#![allow(clippy::print_stdout, reason = "a program that reports on standard output")]

mod chromium;
mod debian;
mod fuzz;
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
  test rust        the same without the image generators, Python and the page of the live view
  test lsi         the image generators alone
  test python      the Python package alone
  test web         the page of the live view alone, in Chromium
  build web        the page of the live view from its sources; the built files are committed
  tidy             the project's own rules about its files
  torture          kills runs of every kind at random moments and compares what becomes of them:
                   --minutes 60 for an hour, --seed 7 for the same kills again, --only trial for kinds with that in their name
  fuzz [name ...]  reads what nobody wrote, guided by coverage (libFuzzer); --seconds 60 for a minute each
  bench [name]     benchmarks: engine (default) prints trials with the share of time per stage,
                   limits holds each stage beside what the machine can do,
                   trial runs one algorithm on one domain, pyribs compares whole runs of the Python package with
                   pyribs, archives compares what users call on archives, threads holds ask and tell on two threads
                   beside one, layer says what the package adds to each call of the extension, peers holds whole searches beside pyribs, QDax, fcmaes and pycma (--list says which),
                   start says how long starts take and how large wheel and program are,
                   cluster holds engines (processes, Dask, Ray) beside loops by hand and simulates many workers,
                   serve measures the page of the live view in Chromium";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["test"] => test::all(),
        ["test", "rust"] => test::rust(),
        ["test", "lsi"] => test::lsi(),
        ["test", "python"] => python::test(),
        ["test", "web"] => node::test(),
        ["build", "web"] => node::build(),
        ["tidy"] => tidy::check(),
        ["torture", rest @ ..] => torture::torture(rest),
        ["fuzz", rest @ ..] => fuzz::fuzz(rest),
        ["bench", "pyribs"] => python::bench("compare_ribs.py"),
        ["bench", "cluster"] => python::bench("cluster.py"),
        ["bench", "archives"] => python::bench("compare_archives.py"),
        ["bench", "peers", rest @ ..] => python::peers("compare_peers.py", rest),
        ["bench", "start", rest @ ..] => python::peers("start_up.py", rest),
        ["bench", "layer"] => python::bench("layer.py"),
        ["bench", "threads"] => python::bench("ask_tell_threads.py"),
        ["bench", "serve"] => node::bench(),
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
