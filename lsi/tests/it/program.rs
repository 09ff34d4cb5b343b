//! The program on the small models.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A folder of its own for each test.
struct Lab {
    folder: TempDir,
}

/// What the program said.
struct Answer {
    stderr: String,
    code: Option<i32>,
}

impl Lab {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the program to its end, in this folder.
    fn call(&self, args: &[&str]) -> Answer {
        let mut command = Command::new(env!("CARGO_BIN_EXE_luminary-lsi"));
        let output = command.current_dir(self.folder.path()).stdin(Stdio::null()).args(args).output().unwrap();
        Answer {
            stderr: String::from_utf8(output.stderr).expect("the program writes UTF-8"),
            code: output.status.code(),
        }
    }
}

const SHORT: [&str; 8] = ["--iterations", "1", "--resolution", "10x10", "--cutouts", "2", "--algorithm", "cma_maega"];

#[test]
fn a_run_leaves_archive_heatmap_and_collage_and_can_be_resumed() {
    let lab = Lab::new();
    let answer = lab.call(&[&SHORT[..], &["--out", "run", "--seed", "3"]].concat());
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    for name in ["lsi.json", "manifest.json", "result.parquet", "heatmap.png", "collage.png"] {
        assert!(lab.path("run").join(name).exists(), "{name}");
    }
    assert!(fs::read(lab.path("run/collage.png")).unwrap().starts_with(b"\x89PNG"));

    let whole = lab.call(&[&["--iterations", "2"], &SHORT[2..], &["--out", "whole", "--seed", "3"]].concat());
    assert_eq!(whole.code, Some(0), "{}", whole.stderr);
    let resumed = lab.call(&["resume", "run", "--iterations", "2"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    let crc = |folder: &str| {
        let text = fs::read_to_string(lab.path(folder).join("summary.json")).unwrap();
        let summary: serde_json::Value = serde_json::from_str(&text).unwrap();
        summary["result_crc32"].as_str().unwrap().to_owned()
    };
    assert_eq!(crc("run"), crc("whole"));
}

#[test]
fn mistakes_are_named_and_leave_nothing_behind() {
    let mut cases: Vec<(&[&str], &str)> = vec![
        (&["--objective", "a photo of a cat"], "this model does not know \"cat\""),
        (&["--measure", "a thin eight"], "--measure: expected two prompts such as 'thin|bold'"),
        (&["--bounds", "1"], "--bounds: expected two numbers such as -0.3,0.3, found \"1\""),
        (&["--bounds", "1,0"], "expected finite bounds, the lower below the upper, of measure 0, found 1 and 0"),
        (&["--bounds", "0,1", "--bounds", "0,1", "--bounds", "0,1"], "one pair of bounds for each of the 2 measures"),
        (&["--algorithm", "gradient"], "--algorithm: expected one of map_elites, map_elites_line, cma_me"),
        (&["--domain", "stylegan", "--cutouts", "3"], "--cutouts: expected the domain stylegan2"),
        (&["--set", "algorithm.sigma=-1"], "--set algorithm.sigma=-1"),
        (&["--generator", "none.safetensors", "--clip", "none.safetensors"], "cannot be read"),
        (&["--model", "faces", "--models", "nowhere"], "`luminary lsi fetch faces` obtains it"),
        (&["--model", "faces", "--objective", "a face"], "--objective: expected a model with prompts, found faces"),
        (&["--face", "face.png"], "expected --model faces"),
    ];
    if cfg!(not(feature = "wgpu")) {
        cases.push((
            &["--device", "wgpu"],
            "expected a program with the device wgpu, found one that was built without it",
        ));
    }
    for (flags, expected) in cases {
        let lab = Lab::new();
        let answer = lab.call(&[&["--iterations", "1", "--out", "run"], flags].concat());
        assert_eq!(answer.code, Some(2), "{flags:?}: {}", answer.stderr);
        assert!(answer.stderr.contains(expected), "{flags:?}: {}", answer.stderr);
        assert!(!lab.path("run").exists(), "{flags:?}");
    }
}

#[test]
fn a_comparison_writes_a_table_and_keeps_finished_trials() {
    let lab = Lab::new();
    let flags = ["compare", "--trials", "1", "--domain", "stylegan", "--iterations", "1", "--out", "all"];
    let first = lab.call(&flags);
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    let table = fs::read_to_string(lab.path("all/comparison.md")).unwrap();
    for name in ["map_elites", "map_elites_line", "cma_me", "cma_mae", "cma_mega", "cma_maega", "auto"] {
        assert!(table.contains(&format!("| {name} | ")), "{table}");
    }
    assert_eq!(fs::read_to_string(lab.path("all/comparison.csv")).unwrap().lines().count(), 8);
    let manifest = lab.path("all/cma_mae-seed1/manifest.json");
    let before = fs::metadata(&manifest).unwrap().modified().unwrap();
    assert_eq!(lab.call(&flags).code, Some(0));
    assert_eq!(fs::metadata(&manifest).unwrap().modified().unwrap(), before);

    let other = lab.call(&["compare", "--trials", "1", "--domain", "stylegan", "--iterations", "2", "--out", "all"]);
    assert_eq!(other.code, Some(2), "{}", other.stderr);
    assert!(other.stderr.contains("holds a trial with other settings"), "{}", other.stderr);
}
