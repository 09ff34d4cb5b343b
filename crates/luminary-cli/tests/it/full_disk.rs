//! Disks that really fill up: a small tmpfs where this user may mount one, and limits on the size of files everywhere.
#![cfg(unix)]

use std::fs;
use std::process::{Command, Output, Stdio};

use crate::support::{Answer, Essence, Lab, SMALL};

const LENGTH: [&str; 7] =
    ["--iterations", "200", "--set", "run.checkpoint_iterations=20", "--set", "run.metrics_every=1", "--quiet"];

/// The words that begin the run.
fn words() -> String {
    ["run"].iter().chain(&SMALL).chain(&LENGTH).copied().collect::<Vec<_>>().join(" ")
}

/// Runs a shell script, in which `$luminary` is the program.
fn shell(lab: &Lab, before: &[&str], script: &str) -> Output {
    let words: Vec<&str> = before.iter().copied().chain(["sh", "-c", script]).collect();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(lab.path("")).env("luminary", env!("CARGO_BIN_EXE_luminary"));
    command.stdin(Stdio::null()).output().unwrap()
}

/// What nobody disturbed.
fn undisturbed(lab: &Lab) -> Essence {
    let args: Vec<&str> = LENGTH.into_iter().chain(["--out", "whole"]).collect();
    lab.run_small(&args).success();
    lab.essence("whole")
}

/// Room for some of the run folder, which needs about 140 kB, in a namespace of its own: the mount is gone with the script.
fn on_a_small_tmpfs(kilobytes: usize) -> String {
    let words = words();
    format!(
        "mkdir -p disk && mount -t tmpfs -o size={kilobytes}k tmpfs disk || exit 90
         \"$luminary\" {words} --out disk/run; echo \"ended with $?\"
         mount -o remount,size=64m disk || exit 91
         if [ -e disk/run/manifest.json ]; then \"$luminary\" resume disk/run --quiet
         else rm -rf disk/run; \"$luminary\" {words} --out disk/run; fi || exit 92
         rm -rf after && cp -r disk/run after"
    )
}

/// Whether this user may mount file systems in a namespace: containers and some distributions do not allow it.
fn may_mount(lab: &Lab) -> bool {
    let may = shell(lab, &["unshare", "-rm"], "mkdir -p disk && mount -t tmpfs -o size=64k tmpfs disk");
    may.status.success()
}

#[test]
fn a_tmpfs_that_fills_up_costs_nothing_that_was_saved() {
    let lab = Lab::new();
    if !may_mount(&lab) {
        eprintln!("this user may not mount a tmpfs; files_that_may_not_grow_cost_nothing_that_was_saved does without");
        return;
    }
    let expected = undisturbed(&lab);
    let mut n_failed = 0;
    for kilobytes in [4, 12, 24, 40, 64, 96, 128, 160, 4096] {
        let answer = Answer::of(shell(&lab, &["unshare", "-rm"], &on_a_small_tmpfs(kilobytes)));
        assert_eq!(answer.code, Some(0), "{kilobytes} kB: {} {}", answer.stdout, answer.stderr);
        assert!(!answer.stderr.contains("panicked"), "{kilobytes} kB: {}", answer.stderr);
        if !answer.stdout.contains("ended with 0") {
            n_failed += 1;
            assert!(answer.stderr.contains("No space left on device"), "{kilobytes} kB: {}", answer.stderr);
        }
        assert!(Essence::of(&lab.path("after")) == expected, "{kilobytes} kB");
    }
    assert!((3..9).contains(&n_failed), "expected some disks to be too small, found {n_failed}");
}

#[test]
fn files_that_may_not_grow_cost_nothing_that_was_saved() {
    let lab = Lab::new();
    let expected = undisturbed(&lab);
    let words = words();
    let mut n_failed = 0;
    // Blocks of 512 bytes. The signal is ignored, so that the system answers with an error instead.
    for blocks in [0, 1, 2, 4, 8, 16, 32, 64, 4096] {
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$luminary\" {words} --out run");
        let answer = Answer::of(shell(&lab, &["env"], &script));
        assert!(!answer.stderr.contains("panicked"), "{blocks} blocks: {}", answer.stderr);
        if answer.code != Some(0) {
            n_failed += 1;
            assert!(answer.stderr.contains("File too large"), "{blocks} blocks: {}", answer.stderr);
        }
        if lab.path("run/manifest.json").exists() {
            lab.call(&["resume", "run", "--quiet"]).success();
        } else {
            let _ = fs::remove_dir_all(lab.path("run"));
            lab.run_small(&LENGTH.into_iter().chain(["--out", "run"]).collect::<Vec<_>>()).success();
        }
        assert!(lab.essence("run") == expected, "{blocks} blocks");
        fs::remove_dir_all(lab.path("run")).unwrap();
    }
    assert!((3..9).contains(&n_failed), "expected some limits to be too small, found {n_failed}");
}
