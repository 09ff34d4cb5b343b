//! The figures of a run, finished or not.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use luminary::archive::{Archive, Elite};
use luminary::restart::RestartCounts;
use luminary::scheduler::Scheduler;
use serde::{Deserialize, Serialize};

use crate::config::RunConfig;
use crate::disk::Disk;
use crate::driver::{Restored, restore};
use crate::error::RunError;
use crate::folder::{
    JOURNAL, METRICS, Manifest, MeasuresSeen, MetricsLog, MetricsRow, SUMMARY, State, number, read_json,
};

/// What a run has achieved. All figures are of the result archive, which has seen every evaluation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Where the run stands.
    #[serde(flatten)]
    pub status: State,
    /// The problem in a few words.
    pub problem: String,
    /// The named algorithm.
    pub algorithm: String,
    /// The seed.
    pub seed: u64,
    /// Iterations done.
    pub iterations: u64,
    /// Iterations wanted.
    pub iterations_wanted: u64,
    /// Evaluations done, the initial population not included.
    pub evaluations: u64,
    /// Time spent, of all processes that worked on the run.
    pub seconds: f64,
    /// The next figure divided by the number of cells: the paper's normalised QD score. Higher is always better.
    #[serde(with = "number")]
    pub qd_score: f64,
    /// Sum of the elites' objectives, each minus the QD score offset; of the offset minus each if they are minimised.
    #[serde(with = "number")]
    pub qd_score_sum: f64,
    /// Occupied cells as a fraction of all cells.
    pub coverage: f64,
    /// The same in percent, as in the paper's tables.
    pub coverage_percent: f64,
    /// Best objective of all evaluations; absent while there is none.
    #[serde(with = "number::maybe")]
    pub best: Option<f64>,
    /// Mean objective of the elites.
    #[serde(with = "number::maybe")]
    pub mean: Option<f64>,
    /// Number of elites.
    pub elites: usize,
    /// Number of cells. Of an archive without cells: how many elites it can hold, or, if there is no limit, does hold.
    pub cells: usize,
    /// Restarts of all emitters.
    pub restarts: u64,
    /// Restarts by cause, if the run ended in an orderly way.
    pub restarts_by_cause: Option<RestartCounts>,
    /// Evaluations without a value.
    pub invalid: u64,
    /// The same by cause.
    #[serde(default)]
    pub failures: BTreeMap<String, u64>,
    /// Where the measures were, if somebody looked.
    #[serde(default)]
    pub measures_seen: Option<MeasuresSeen>,
    /// CRC-32 of all elites of the result archive, for comparing runs, if the run ended in an orderly way.
    pub result_crc32: Option<String>,
    /// The run folder.
    #[serde(with = "path_in_json")]
    pub folder: PathBuf,
}

impl Summary {
    /// The figures of a run in this process.
    pub(crate) fn of(
        status: State,
        config: &RunConfig,
        scheduler: &Scheduler,
        seconds: f64,
        measures_seen: Option<&MeasuresSeen>,
        folder: &Path,
    ) -> Self {
        let row = MetricsRow::of(scheduler, config.goal(), seconds, measures_seen);
        Self {
            restarts_by_cause: Some(scheduler.restarts()),
            result_crc32: Some(format!("{:08x}", digest(scheduler.result()))),
            cells: scheduler.result().stats().n_cells,
            ..Self::from_row(status, config, &row, folder)
        }
    }

    /// Reads what a run folder says, also while another process works on it, and after a kill.
    ///
    /// # Errors
    /// A folder without a run, or files that do not read.
    pub fn read(folder: &Path) -> Result<Self, RunError> {
        let config = Manifest::read(folder)?.config;
        let path = folder.join(METRICS);
        let rows = MetricsLog::read_tail(&path).map_err(RunError::io("read", &path))?;
        let written: Option<Self> = match folder.join(SUMMARY) {
            path if path.exists() => Some(read_json(&Disk::default(), &path)?),
            _ => None,
        };
        let state = State::read(folder)?;
        let mut summary = match (written, rows.last()) {
            // A run that went on after the summary was written, and was then killed, is ahead of it.
            (Some(written), last) if last.is_none_or(|row| row.iteration <= written.iterations) => written,
            (_, Some(row)) => Self::from_row(State::Interrupted, &config, row, folder),
            (_, None) => Self::from_row(State::Interrupted, &config, &NO_ROW, folder),
        };
        summary.folder = folder.to_owned();
        summary.status = state;
        Ok(summary)
    }

    /// As [`read`](Self::read), and of a run that is driven by hand as of its last call, whose iteration may not be whole.
    ///
    /// # Errors
    /// As [`read`](Self::read), and a journal that does not belong to the run.
    pub fn read_to_last_call(folder: &Path) -> Result<Self, RunError> {
        let summary = Self::read(folder)?;
        let has_calls = fs::metadata(folder.join(JOURNAL)).is_ok_and(|journal| journal.len() > 0);
        // Whoever works on a run logs what it does, and a finished one has said it all.
        if !has_calls || summary.status != State::Interrupted {
            return Ok(summary);
        }
        let config = Manifest::read(folder)?.config;
        let Restored { scheduler, measures_seen, .. } = restore(folder, &config)?;
        let seconds = summary.seconds;
        Ok(Self::of(summary.status, &config, &scheduler, seconds, Some(&measures_seen), folder))
    }

    fn from_row(status: State, config: &RunConfig, row: &MetricsRow, folder: &Path) -> Self {
        Self {
            status,
            problem: config.problem.title(),
            algorithm: config.algorithm.preset.name().into(),
            seed: config.run.seed,
            iterations: row.iteration,
            iterations_wanted: config.run.iterations,
            evaluations: row.evaluations,
            seconds: row.seconds,
            qd_score: row.qd_score,
            qd_score_sum: row.qd_score_sum,
            coverage: row.coverage,
            coverage_percent: 100.0 * row.coverage,
            best: row.best,
            mean: row.mean,
            elites: row.elites,
            cells: config.archive.capacity().unwrap_or(row.elites),
            restarts: row.restarts,
            restarts_by_cause: None,
            invalid: row.invalid,
            failures: row.failures.clone(),
            measures_seen: row.measures_seen.clone(),
            result_crc32: None,
            folder: folder.to_owned(),
        }
    }
}

/// A run that was killed before its first line of metrics.
const NO_ROW: MetricsRow = MetricsRow {
    iteration: 0,
    evaluations: 0,
    seconds: 0.0,
    qd_score: 0.0,
    qd_score_sum: 0.0,
    coverage: 0.0,
    elites: 0,
    best: None,
    mean: None,
    restarts: 0,
    invalid: 0,
    failures: BTreeMap::new(),
    measures_seen: None,
};

/// A path need not be Unicode, which JSON must be. It is for people: whoever reads the file knows where it is.
mod path_in_json {
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&path.to_string_lossy())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        PathBuf::deserialize(deserializer)
    }
}

/// A checksum of every elite's bits, in the order of the cells, or of the elites if there are none.
fn digest(archive: &dyn Archive) -> u32 {
    let place = |(number, elite): (usize, Elite<'_>)| elite.cell.map_or(number, |cell| cell.index());
    let mut elites: Vec<_> = archive.elites().enumerate().collect();
    elites.sort_unstable_by_key(|&elite| place(elite));
    let (mut hasher, mut bytes) = (crc32fast::Hasher::new(), Vec::new());
    for (number, elite) in elites {
        bytes.clear();
        bytes.extend_from_slice(&(place((number, elite)) as u64).to_le_bytes());
        let values = elite.measures.iter().chain(elite.solution).chain([&elite.objective]);
        values.for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
        hasher.update(&bytes);
    }
    hasher.finalize()
}
