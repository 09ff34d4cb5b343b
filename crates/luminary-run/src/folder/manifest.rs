//! The manifest: what was asked for, by which version, on which machine.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use luminary::checkpoint::CHECKPOINT_VERSION;
use serde::{Deserialize, Serialize};

use super::{MANIFEST, read_json};
use crate::config::RunConfig;
use crate::disk::Disk;
use crate::error::RunError;
use crate::sweep;

/// The format this build reads and writes.
const FORMAT: u32 = 1;

/// What a run folder says about itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the folder's layout.
    pub format: u32,
    /// Everything about the run, with all defaults filled in.
    pub config: RunConfig,
    /// What the algorithm chose for problem and budget, and why; for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// The program that made the folder, and its arguments; for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// What made the folder.
    pub versions: Versions,
    /// Where it was made: results are promised to be bit-identical for the same version and machine type.
    pub host: Host,
    /// When it was made, in seconds since 1970.
    pub created_unix: u64,
}

/// Versions of the programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// This program.
    pub luminary: String,
    /// The checkpoints' layout.
    pub checkpoint: u32,
}

/// The machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Operating system.
    pub os: String,
    /// Processor architecture.
    pub arch: String,
    /// Instruction sets that matter for speed.
    pub cpu_features: Vec<String>,
    /// Threads the machine runs at once.
    pub threads: usize,
}

impl Manifest {
    /// The manifest of a new run on this machine.
    pub fn new(config: RunConfig) -> Self {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            format: FORMAT,
            choices: config.reasons(),
            config,
            command: std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect(),
            versions: Versions { luminary: env!("CARGO_PKG_VERSION").into(), checkpoint: CHECKPOINT_VERSION },
            host: Host::this(),
            created_unix: since_1970.as_secs(),
        }
    }

    /// Reads the manifest of a run folder. The folder need not be locked: a manifest is always complete.
    ///
    /// # Errors
    /// A folder without a run, a manifest of another version, or one with a value that no configuration could have.
    pub fn read(folder: &Path) -> Result<Self, RunError> {
        Self::read_from(&Disk::default(), folder)
    }

    /// [`read`](Self::read) from a disk.
    pub(super) fn read_from(disk: &Disk, folder: &Path) -> Result<Self, RunError> {
        let path = folder.join(MANIFEST);
        if !path.exists() {
            let plan = if sweep::is_sweep(folder) { sweep::read_plan(folder).ok() } else { None };
            return Err(match plan.and_then(|plan| plan.runs.into_iter().next()) {
                Some(run) => RunError::IsSweep { path: folder.to_owned(), run: folder.join(run.name) },
                None => RunError::NotARun { path: folder.to_owned() },
            });
        }
        let manifest: Self = read_json(disk, &path)?;
        if manifest.format != FORMAT {
            let message = format!("expected format {FORMAT}, found {}", manifest.format);
            return Err(RunError::Unreadable { path, message });
        }
        // Anybody can edit the file.
        manifest.config.check().map_err(|mistake| RunError::Unreadable { path, message: mistake })?;
        Ok(manifest)
    }
}

impl Host {
    /// This machine.
    fn this() -> Self {
        Self {
            os: std::env::consts::OS.into(),
            arch: std::env::consts::ARCH.into(),
            cpu_features: cpu_features(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

fn cpu_features() -> Vec<String> {
    #[allow(unused_mut, reason = "only x86-64 has features to list")]
    let mut found: Vec<&str> = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        macro_rules! list {
            ($($feature:tt),*) => { $(if is_x86_feature_detected!($feature) { found.push($feature); })* };
        }
        list!("sse4.2", "avx", "avx2", "fma", "avx512f", "avx512dq", "avx512vl", "avx512bw");
    }
    found.into_iter().map(str::to_owned).collect()
}
