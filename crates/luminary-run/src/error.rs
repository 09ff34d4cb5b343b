//! What can go wrong with a run. Each error names the file or setting, what was expected and what was found.

use std::path::{Path, PathBuf};

use luminary::error::{CallError, CheckpointError, ConfigError};
use luminary_domains::DomainError;
use thiserror::Error;

use crate::config::ConfigFileError;
use crate::evaluate::EvaluateError;
use crate::folder::{CheckpointFileError, Difference};

/// Why a run could not be started, continued, read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// A mistake in the configuration file or flags.
    #[error(transparent)]
    ConfigFile(#[from] ConfigFileError),
    /// Settings that the engine refuses although each by itself is fine.
    #[error("the engine refuses this configuration: {0}")]
    Config(#[from] ConfigError),
    /// A run that is too large for this machine.
    #[error(
        "the run needs at least {} of memory, this machine has {}\n  help: use fewer cells or emitters, or a strategy \
         for many components: sep_cma_es, lm_ma_es, open_ai_es", gibibytes(.needed), gibibytes(.available)
    )]
    Memory {
        /// Bytes needed at least.
        needed: u128,
        /// Bytes of the machine.
        available: u128,
    },
    /// A domain that cannot be built.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// The engine refused an evaluation.
    #[error("iteration {iteration}: {source}")]
    Call {
        /// Iterations done before it.
        iteration: u64,
        /// What the engine said.
        source: CallError,
    },
    /// The evaluator gave up.
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
    /// A solution that has no value this time.
    #[error("expected a value for the solution, found none{}", .causes.iter().map(|cause| format!("\n  {cause}")).collect::<String>())]
    NoValue {
        /// What the evaluator had to say.
        causes: Vec<String>,
    },
    /// Elites that a run cannot start from.
    #[error("cannot start from {}: {message}", .path.display())]
    Start {
        /// Where they are.
        path: PathBuf,
        /// What was expected and what was found.
        message: String,
    },
    /// A problem that only its own program can evaluate.
    #[error(
        "expected a built-in domain or an evaluator, found the problem {name:?}, which is evaluated elsewhere\n  help: \
         drive it with `luminary create`, `luminary ask` and `luminary tell`, or with the program that made it"
    )]
    NoEvaluator {
        /// Its name.
        name: String,
    },
    /// The system refused to read or write.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The folder already holds a run.
    #[error(
        "{} already holds a run; it is never overwritten: continue it with `luminary resume {}` or choose another folder",
        .path.display(), .path.display()
    )]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// The folder holds something else.
    #[error("expected a new or empty folder for the run, found {} with {found} in it", .path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
        /// A file in it.
        found: String,
    },
    /// The folder holds no run.
    #[error("expected a run folder, found no {} in {}", crate::folder::MANIFEST, .path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
    },
    /// The folder holds the runs of a sweep.
    #[error("expected the folder of a run, found the sweep {}: name one of its runs, such as {}", .path.display(), .run.display())]
    IsSweep {
        /// The folder.
        path: PathBuf,
        /// One of its runs.
        run: PathBuf,
    },
    /// What is stored is the state of another run than the one that is to go on.
    #[error(
        "{} belongs to another run than the one asked for, and cannot go on as it:{}\n  help: ask for what is stored, or \
         choose another folder or file", .path.display(), difference_lines(.place, .differences)
    )]
    OtherRun {
        /// The folder or file.
        path: PathBuf,
        /// Where the stored values are, such as `in the checkpoint`.
        place: &'static str,
        /// Each setting that differs.
        differences: Vec<Difference>,
    },
    /// The folder was removed or replaced while the run was going on.
    #[error(
        "the run folder {} was removed, moved or replaced while the run was going on; nothing more is written",
        .path.display()
    )]
    FolderGone {
        /// The folder.
        path: PathBuf,
    },
    /// A value that no configuration may have.
    #[error("{0}")]
    Setting(String),
    /// Another process works on the folder.
    #[error("{} is in use by another process{}: wait for it or stop it", .path.display(), pid_text(.pid))]
    Locked {
        /// The folder.
        path: PathBuf,
        /// The process, if it is known.
        pid: Option<u32>,
    },
    /// A manifest, plan or summary that does not read.
    #[error("cannot understand {}: {message}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// There are checkpoints, but none of them is valid.
    #[error(
        "none of the {} checkpoints in {} can be read{}\n  help: `luminary resume --from-start` runs it again from the beginning",
        .errors.len(), .path.display(), .errors.iter().map(|error| format!("\n  {error}")).collect::<String>()
    )]
    NoValidCheckpoint {
        /// The folder of checkpoints.
        path: PathBuf,
        /// What is wrong with each, the newest first.
        errors: Vec<CheckpointFileError>,
    },
    /// The state could not be saved.
    #[error("cannot make a checkpoint: {0}")]
    Checkpoint(#[from] CheckpointError),
    /// Workers for a problem that has none.
    #[error("expected a problem that a program evaluates, to have its workers elsewhere, found {name:?}")]
    NoProgram {
        /// The problem's name.
        name: String,
    },
    /// More threads than anybody means.
    #[error("threads: expected an integer from 0 to {}, found {found}", crate::config::MAX_THREADS)]
    TooManyThreads {
        /// Threads wanted.
        found: usize,
    },
    /// The threads could not be started.
    #[error("cannot start {threads} threads: {message}")]
    Threads {
        /// Threads wanted.
        threads: usize,
        /// What the system said.
        message: String,
    },
    /// A table could not be written.
    #[error("cannot write the table: {0}")]
    Table(String),
    /// A sweep with other runs than the ones asked for now.
    #[error(
        "{} holds another sweep ({found}), expected the one asked for ({expected}): continue the old one with \
         `luminary resume {}` or choose another folder", .path.display(), .path.display()
    )]
    OtherSweep {
        /// The folder.
        path: PathBuf,
        /// What was asked for.
        expected: String,
        /// What is there.
        found: String,
    },
}

impl RunError {
    /// For `map_err`: wraps the system's error with what was tried on which file.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

fn difference_lines(place: &str, differences: &[Difference]) -> String {
    differences.iter().map(|difference| format!("\n  {}", difference.words(place))).collect()
}

fn pid_text(pid: &Option<u32>) -> String {
    pid.map(|pid| format!(" (process {pid})")).unwrap_or_default()
}

fn gibibytes(bytes: &u128) -> String {
    format!("{:.1} GiB", *bytes as f64 / (1_u64 << 30) as f64)
}
