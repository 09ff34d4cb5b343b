//! Runs that are stopped or killed go on as if nothing had happened.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::process::Child;
use std::time::{Duration, Instant};

use crate::support::{Answer, Lab, signal};

const KILLABLE: [&str; 7] =
    ["--iterations", "1500", "--set", "run.checkpoint_iterations=60", "--set", "run.metrics_every=7", "--quiet"];

fn with_out(out: &str) -> Vec<&str> {
    KILLABLE.iter().copied().chain(["--out", out]).collect()
}

/// Kills a child after a delay, unless it has ended by then, and waits for it.
fn kill_after(mut child: Child, delay: Duration) -> bool {
    std::thread::sleep(delay);
    let was_running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    was_running
}

#[test]
fn killed_at_fifty_random_moments_a_run_resumes_bit_by_bit() {
    let lab = Lab::new();
    let start = Instant::now();
    lab.run_small(&with_out("whole")).success();
    let mut longest = start.elapsed();
    let expected = lab.essence("whole");
    // A fixed sequence of delays; what the process is doing then differs each time anyway. On a busy machine one run may take
    // much less time than another, so those that end before they are killed make the next delays shorter.
    let (mut state, mut n_killed) = (0x9e37_79b9_u32, 0);
    for moment in 0.. {
        if n_killed == 50 {
            break;
        }
        let out = format!("run-{moment}");
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let delay = longest.mul_f64(f64::from(state) / f64::from(u32::MAX));
        if kill_after(lab.start_small(&with_out(&out)), delay) {
            n_killed += 1;
        } else {
            longest = longest.mul_f64(0.9);
        }
        if lab.path(&out).join("manifest.json").exists() {
            lab.call(&["resume", &out, "--quiet"]).success();
        } else {
            // Killed before there was a run.
            lab.run_small(&with_out(&out)).success();
        }
        assert!(lab.essence(&out) == expected, "killed after {delay:?}");
        assert_eq!(lab.show(&out)["status"], "finished");
    }
}

#[test]
fn a_run_killed_again_and_again_ends_the_same() {
    let lab = Lab::new();
    lab.run_small(&with_out("whole")).success();
    let mut child = lab.start_small(&with_out("run"));
    lab.wait_for("run/metrics.jsonl");
    for i in 0..10 {
        kill_after(child, Duration::from_millis(3 * i));
        child = lab.command().args(["resume", "run", "--quiet"]).spawn().unwrap();
    }
    assert!(child.wait().unwrap().success());
    assert!(lab.essence("run") == lab.essence("whole"));
}

#[test]
fn one_signal_finishes_the_iteration_saves_and_says_how_to_go_on() {
    let lab = Lab::new();
    for name in ["INT", "TERM"] {
        let child = lab.start_small(&["--iterations", "100000000", "--set", "run.metrics_every=7", "--out", name]);
        lab.wait_for(&format!("{name}/metrics.jsonl"));
        signal(&child, name);
        let answer = Answer::of(child.wait_with_output().unwrap());
        let answer = answer.fails(130, &["finishing what is under way", &format!("luminary resume {name}")]);
        assert_eq!(answer.stdout, "");
        let figures = lab.show(name);
        assert_eq!(figures["status"], "interrupted");
        let done = figures["iterations"].as_u64().unwrap();
        let more = (done + 25).to_string();
        lab.call(&["resume", name, "--iterations", &more, "--quiet"]).success();
        let whole = format!("whole-{name}");
        let args = ["--iterations", &more, "--set", "run.metrics_every=7", "--out", &whole, "--quiet"];
        lab.run_small(&args).success();
        assert!(lab.essence(name) == lab.essence(&whole), "{name} after {done} iterations");
    }
}

/// A named pipe that nobody reads stands in for a disk that hangs: whoever opens it to write waits for ever.
#[test]
fn the_third_signal_ends_a_process_that_cannot_save_and_the_run_goes_on_from_its_checkpoint() {
    let lab = Lab::new();
    let every = ["--set", "run.checkpoint_iterations=60", "--set", "run.metrics_every=7"];
    let mut child = lab.start_small(&[&["--iterations", "100000000", "--out", "run"], &every[..]].concat());
    lab.wait_for("run/checkpoints/00000000000000000120.ckpt");
    let pipe = lab.path("run/.archive.parquet.tmp");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut wait_for = |text: &str| lines.find(|line| line.contains(text)).unwrap_or_else(|| panic!("never {text}"));
    signal(&child, "INT");
    wait_for("finishing what is under way, then saving (again: save at once)");
    signal(&child, "INT");
    wait_for("saving at once (again: stop without saving)");
    assert!(child.try_wait().unwrap().is_none(), "saving hangs");
    signal(&child, "INT");
    let last = wait_for("stopped without saving; the newest checkpoint stays valid");
    assert!(!last.contains('\x1b'), "no escapes where there is no terminal");
    assert_eq!(child.wait().unwrap().code(), Some(130));

    std::fs::remove_file(pipe).unwrap();
    assert_eq!(lab.show("run")["status"], "interrupted");
    let more = (lab.show("run")["iterations"].as_u64().unwrap() + 100).to_string();
    lab.call(&["resume", "run", "--iterations", &more, "--quiet"]).success();
    lab.run_small(&[&["--iterations", &more, "--out", "whole", "--quiet"], &every[..]].concat()).success();
    assert!(lab.essence("run") == lab.essence("whole"));
}

#[test]
fn a_finished_run_is_left_as_it_is_by_resume() {
    let lab = Lab::new();
    lab.run_small(&["--iterations", "50", "--out", "run", "--quiet"]).success();
    let before = lab.essence("run");
    lab.call(&["resume", "run", "--quiet"]).success();
    assert!(lab.essence("run") == before);
}
