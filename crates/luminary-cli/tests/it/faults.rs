//! What may happen to a run folder: existing runs, other processes, damaged checkpoints, folders that cannot be written.

use std::fs;

use crate::support::{Answer, Lab};

#[test]
fn an_existing_run_is_never_overwritten() {
    let lab = Lab::new();
    lab.run_small(&["--iterations", "10", "--out", "run", "--quiet"]).success();
    let before = lab.essence("run");
    lab.run_small(&["--iterations", "20", "--out", "run", "--quiet"]).fails(2, &["luminary resume run"]);
    assert_eq!(lab.essence("run"), before);
    fs::create_dir(lab.path("other")).unwrap();
    fs::write(lab.path("other/thesis.tex"), "years of work").unwrap();
    lab.run_small(&["--out", "other"]).fails(2, &["thesis.tex"]);
    assert_eq!(
        fs::read_dir(lab.path("other")).unwrap().filter(|e| e.as_ref().unwrap().file_name() != ".lock").count(),
        1
    );
}

#[test]
fn what_is_no_run_is_told_so() {
    let lab = Lab::new();
    for command in [&["show", "nothing"][..], &["resume", "nothing"], &["export", "nothing", "--format", "csv"]] {
        lab.call(command).fails(2, &["expected a run folder, found no manifest.json in nothing"]);
    }
    fs::create_dir(lab.path("bad")).unwrap();
    fs::write(lab.path("bad/manifest.json"), "{\"format\": 1}").unwrap();
    lab.call(&["show", "bad"]).fails(1, &["bad/manifest.json", "missing field"]);
}

#[test]
fn what_is_no_configuration_says_what_may_have_been_meant() {
    let lab = Lab::new();
    lab.run_small(&["--out", "run", "--iterations", "2", "--quiet"]).success();
    lab.call(&["run", "run"]).fails(2, &["cannot read run: Is a directory", "luminary resume run"]);
    lab.call(&["check", "arm"]).fails(2, &["cannot read arm: No such file", "arm is a domain: --domain arm"]);
    let told = lab.call(&["run", "absent.toml"]).fails(2, &["cannot read absent.toml: No such file"]);
    assert!(!told.stderr.contains("help"), "{}", told.stderr);
}

#[test]
fn two_processes_on_one_folder_are_refused() {
    let lab = Lab::new();
    let mut child = lab.start_small(&["--iterations", "100000000", "--out", "run", "--quiet"]);
    lab.wait_for("run/metrics.jsonl");
    assert_eq!(lab.show("run")["status"], "running");
    let pid = format!("in use by another process (process {})", child.id());
    lab.call(&["resume", "run"]).fails(1, &[&pid]);
    lab.run_small(&["--out", "run"]).fails(1, &[&pid]);
    child.kill().unwrap();
    child.wait().unwrap();
    // The lock went with the process.
    assert_eq!(lab.show("run")["status"], "interrupted");
    lab.call(&["resume", "run", "--iterations", "20", "--quiet"]).success();
}

/// A run of 100 iterations with checkpoints at 80 and 100.
fn with_two_checkpoints(lab: &Lab, name: &str) {
    let every = "run.checkpoint_iterations=40";
    let args = ["--iterations", "100", "--set", every, "--set", "run.metrics_every=1", "--out", name, "--quiet"];
    lab.run_small(&args).success();
    let mut names: Vec<_> = fs::read_dir(lab.path(&format!("{name}/checkpoints")))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["00000000000000000080.ckpt", "00000000000000000100.ckpt"]);
}

#[test]
fn a_damaged_checkpoint_is_reported_and_the_one_before_is_used() {
    let lab = Lab::new();
    let expected = {
        lab.run_small(&["--iterations", "130", "--set", "run.metrics_every=1", "--out", "whole", "--quiet"]).success();
        lab.essence("whole")
    };
    type Damage = fn(&mut Vec<u8>);
    let damages: [(&str, Damage, &str); 5] = [
        ("flipped", |bytes| bytes[5000] ^= 4, "expected checksum"),
        ("cut", |bytes| bytes.truncate(bytes.len() / 2), "expected checksum"),
        ("emptied", Vec::clear, "found 0 bytes"),
        ("garbage", |bytes| bytes.fill(0x55), "do not start like one"),
        ("appended", |bytes| bytes.extend_from_slice(b"more"), "expected checksum"),
    ];
    for (name, damage, message) in damages {
        with_two_checkpoints(&lab, name);
        let path = lab.path(&format!("{name}/checkpoints/00000000000000000100.ckpt"));
        let mut bytes = fs::read(&path).unwrap();
        damage(&mut bytes);
        fs::write(&path, &bytes).unwrap();
        let answer = lab.call(&["resume", name, "--iterations", "130", "--quiet"]).success();
        assert!(answer.stderr.contains(message) && answer.stderr.contains("00100.ckpt"), "{}", answer.stderr);
        assert!(path.with_extension("damaged").exists());
        assert!(lab.essence(name) == expected, "{name}");
    }
}

/// Opening a pipe to read it would wait for somebody to write to it.
#[test]
#[cfg(unix)]
fn a_pipe_in_place_of_a_checkpoint_is_not_waited_for() {
    let lab = Lab::new();
    with_two_checkpoints(&lab, "run");
    let before = lab.essence("run");
    let pipe = lab.path("run/checkpoints/00000000000000000200.ckpt");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let answer = lab.call(&["resume", "run", "--quiet"]).success();
    assert!(answer.stderr.contains("expected a regular file"), "{}", answer.stderr);
    assert!(lab.essence("run") == before);
}

#[test]
#[cfg(unix)]
fn a_pipe_in_place_of_any_other_file_is_not_waited_for_either() {
    let lab = Lab::new();
    with_two_checkpoints(&lab, "sweep/run");
    let names: Vec<_> = fs::read_dir(lab.path("sweep/run")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    for name in names.iter().filter(|name| *name != "checkpoints") {
        let pipe = lab.path("sweep/run").join(name);
        let kept = lab.path("kept");
        fs::rename(&pipe, &kept).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for command in [
            &["show", "sweep/run"][..],
            &["elite", "sweep/run", "--best"],
            &["export", "sweep/run", "--format", "tensorboard", "-o", "curves"],
            &["plot", "sweep/run", "--format", "svg", "--out", "figures"],
            &["merge", "sweep/run", "--out", "merged"],
        ] {
            let answer = lab.call(command);
            assert!(!answer.stderr.contains("panicked"), "{}: {}", pipe.display(), answer.stderr);
        }
        fs::rename(&kept, &pipe).unwrap();
        let _ = fs::remove_dir_all(lab.path("merged"));
    }
    lab.call(&["resume", "sweep/run", "--quiet"]).success();
}

#[test]
fn without_a_valid_checkpoint_the_user_decides() {
    let lab = Lab::new();
    with_two_checkpoints(&lab, "run");
    let before = lab.essence("run");
    for entry in fs::read_dir(lab.path("run/checkpoints")).unwrap() {
        fs::write(entry.unwrap().path(), b"LUMIRUN1").unwrap();
    }
    let answer = lab.call(&["resume", "run"]).fails(1, &["none of the 2 checkpoints", "00080.ckpt", "--from-start"]);
    assert!(!answer.stderr.contains("panicked"));
    lab.call(&["export", "run", "--format", "csv"]).fails(1, &["none of the 2 checkpoints"]);
    lab.call(&["resume", "run", "--from-start", "--quiet"]).success();
    assert!(lab.essence("run") == before);
}

#[test]
#[cfg(target_os = "linux")]
fn a_folder_that_cannot_be_written_is_an_error_before_any_work() {
    let lab = Lab::new();
    fs::write(lab.path("file"), "").unwrap();
    lab.run_small(&["--out", "file/run"]).fails(1, &["cannot make the folder file/run"]);
    // Nobody, not even root, makes folders here.
    lab.run_small(&["--out", "/proc/self/run"]).fails(1, &["cannot make the folder /proc/self/run"]);
}

/// A limit on the size of files stands in for a full disk: the system refuses to write more in the same way.
#[test]
#[cfg(unix)]
fn a_full_disk_ends_the_run_with_an_error_and_harms_nothing() {
    let lab = Lab::new();
    let limited = |limit: &str, command: &str| {
        let script = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$0\" {command}");
        let mut shell = std::process::Command::new("sh");
        shell.current_dir(lab.path("")).args(["-c", &script, env!("CARGO_BIN_EXE_luminary")]);
        Answer::of(shell.output().unwrap())
    };
    lab.run_small(&["--iterations", "300", "--set", "run.metrics_every=1", "--out", "whole", "--quiet"]).success();
    let flags = crate::support::SMALL.join(" ");
    let every = "--set run.metrics_every=1 --set run.checkpoint_iterations=10";
    // Enough for the manifest and checkpoints, not for the log.
    let answer = limited("64", &format!("run {flags} --iterations 300 {every} --out full --quiet"));
    answer.fails(1, &["full"]);
    lab.call(&["resume", "full", "--quiet"]).success();
    assert!(lab.essence("full") == lab.essence("whole"));
}
