//! How tests call the program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// A small problem that takes a few milliseconds for a hundred iterations. Its learning rate is given, because the default
/// follows from the iterations, and runs are compared with longer ones.
pub(crate) const SMALL: [&str; 16] = [
    "--domain",
    "lp-sphere",
    "--n",
    "10",
    "--resolution",
    "20x20",
    "--emitters",
    "3",
    "--batch-size",
    "8",
    "--set",
    "archive.learning_rate=0.01",
    "--threads",
    "1",
    "--seed",
    "7",
];

/// A folder of its own for each test.
pub(crate) struct Lab {
    folder: TempDir,
}

impl Lab {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// In memory, if the system has a place for that: nothing there waits for a disk.
    pub(crate) fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        Self { folder: folder.unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program, run in the lab's folder, so that messages hold no absolute paths.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_luminary"));
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    /// A copy of the program in a folder of its own, `alone`, with no other programs on the path.
    pub(crate) fn command_alone(&self) -> Command {
        let folder = self.path("alone");
        fs::create_dir(&folder).unwrap();
        let program = folder.join("luminary");
        fs::copy(env!("CARGO_BIN_EXE_luminary"), &program).unwrap();
        let mut command = Command::new(program);
        command.current_dir(self.folder.path()).stdin(Stdio::null()).env("PATH", folder);
        command
    }

    /// Runs the program to its end.
    pub(crate) fn call(&self, args: &[&str]) -> Answer {
        Answer::of(self.command().args(args).output().unwrap())
    }

    /// Starts the small problem with more arguments.
    pub(crate) fn start_small(&self, args: &[&str]) -> Child {
        let mut command = self.command();
        command.arg("run").args(SMALL).args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Runs the small problem with more arguments to its end.
    pub(crate) fn run_small(&self, args: &[&str]) -> Answer {
        Answer::of(self.start_small(args).wait_with_output().unwrap())
    }

    /// The figures of a run.
    pub(crate) fn show(&self, run: &str) -> Value {
        serde_json::from_str(&self.call(&["show", run, "--json"]).success().stdout).unwrap()
    }

    /// What must be the same for two runs of the same configuration and length.
    pub(crate) fn essence(&self, run: &str) -> Essence {
        Essence::of(&self.path(run))
    }

    /// Waits until a file exists.
    pub(crate) fn wait_for(&self, file: &str) {
        let start = Instant::now();
        while !self.path(file).exists() {
            assert!(start.elapsed() < Duration::from_secs(60), "{file} never appears");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// What the program said.
pub(crate) struct Answer {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
}

impl Answer {
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the program writes UTF-8");
        Self { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code() }
    }

    pub(crate) fn success(self) -> Self {
        assert_eq!(self.code, Some(0), "stderr: {}", self.stderr);
        self
    }

    /// Expects an exit code and that standard error holds each of the texts.
    pub(crate) fn fails(self, code: i32, texts: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "stderr: {}", self.stderr);
        for text in texts {
            assert!(self.stderr.contains(text), "expected {text:?} in {}", self.stderr);
        }
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }
}

/// Both archives to the last bit, and the iterations of the metrics log.
#[derive(Debug, PartialEq)]
pub(crate) struct Essence {
    archive: Vec<u8>,
    result: Vec<u8>,
    logged: Vec<(u64, f64)>,
}

impl Essence {
    pub(crate) fn of(run: &Path) -> Self {
        let read = |name: &str| fs::read(run.join(name)).unwrap();
        let line = |line: &str| {
            let row: Value = serde_json::from_str(line).unwrap();
            (row["iteration"].as_u64().unwrap(), row["qd_score"].as_f64().unwrap())
        };
        let log = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
        Self {
            archive: read("archive.parquet"),
            result: read("result.parquet"),
            logged: log.lines().map(line).collect(),
        }
    }
}

/// Sends a signal by name.
#[cfg(unix)]
pub(crate) fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// The interpreter itself: `python3` may be a script that looks for one, which takes longer than the runs here.
pub(crate) fn interpreter() -> String {
    let asked = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
    assert!(asked.status.success(), "expected python3, found {}", String::from_utf8_lossy(&asked.stderr));
    String::from_utf8(asked.stdout).unwrap().trim().to_owned()
}
