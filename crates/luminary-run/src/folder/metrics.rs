//! The metrics log: one JSON object a line, appended, so that a kill costs at most the line being written.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use luminary::archive::{CellArchive, NoiseStats};
use luminary::scheduler::Scheduler;
use serde::{Deserialize, Serialize};

use super::measures::MeasuresSeen;
use super::number;
use crate::config::Goal;
use crate::disk::{Disk, DiskFile, SyncHandle, read_regular};

/// Figures of a run after an iteration, all of them of the result archive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricsRow {
    /// Iterations done.
    pub iteration: u64,
    /// Evaluations done, the initial population not included.
    pub evaluations: u64,
    /// Time spent, of all processes that worked on the run.
    pub seconds: f64,
    /// QD score divided by the number of cells, as in the paper.
    #[serde(with = "number")]
    pub qd_score: f64,
    /// Sum of the elites' objectives, each minus the QD score offset; of the offset minus each if they are minimised.
    #[serde(with = "number")]
    pub qd_score_sum: f64,
    /// Occupied cells as a fraction of all cells.
    pub coverage: f64,
    /// Number of elites.
    pub elites: usize,
    /// Best objective of all evaluations, of a noisy problem that of the best elite; absent while there is none.
    #[serde(with = "number::maybe")]
    pub best: Option<f64>,
    /// Mean objective of the elites.
    #[serde(with = "number::maybe")]
    pub mean: Option<f64>,
    /// Restarts of all emitters.
    pub restarts: u64,
    /// Evaluations without a value.
    pub invalid: u64,
    /// The same by cause.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failures: BTreeMap<String, u64>,
    /// Where the measures were, if somebody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measures_seen: Option<MeasuresSeen>,
    /// How much noise there is, of a noisy problem, whose other figures are those of corrected elites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<NoiseStats>,
}

impl MetricsRow {
    /// The figures now, with the user's sign.
    pub fn of(scheduler: &Scheduler, goal: Goal, seconds: f64, measures_seen: Option<&MeasuresSeen>) -> Self {
        let stats = scheduler.result().stats();
        Self {
            iteration: scheduler.iterations(),
            evaluations: scheduler.evaluations(),
            seconds,
            qd_score: stats.norm_qd_score,
            qd_score_sum: stats.qd_score,
            coverage: stats.coverage,
            elites: stats.n_elites,
            best: stats.obj_max.map(|best| goal.turn(best)),
            mean: stats.obj_mean.map(|mean| goal.turn(mean)),
            restarts: scheduler.restarts().total(),
            invalid: scheduler.n_invalid(),
            failures: scheduler.failures().by_cause().map(|(cause, count)| (cause.to_owned(), count)).collect(),
            measures_seen: measures_seen.cloned(),
            noise: scheduler.result().downcast_ref().and_then(CellArchive::noise),
        }
    }
}

/// A log open for appending.
#[derive(Debug)]
pub struct MetricsLog {
    file: DiskFile,
    line: Vec<u8>,
}

impl MetricsLog {
    /// Opens the log and forgets every line after `iteration`, and a line that was not written to its end. Lines before
    /// it stay, also those that do not read.
    pub fn open(path: &Path, iteration: u64) -> io::Result<Self> {
        Self::open_on(&Disk::default(), path, iteration)
    }

    /// [`open`](Self::open) on a disk.
    pub(super) fn open_on(disk: &Disk, path: &Path, iteration: u64) -> io::Result<Self> {
        let bytes = match disk.read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            bytes => bytes?,
        };
        let kept = complete_rows(&bytes).take_while(|(row, _)| row.iteration <= iteration).last();
        let end = kept.map_or(0, |(_, end)| end as u64);
        Ok(Self { file: disk.open_log(path, end)?, line: Vec::new() })
    }

    /// Appends a line whole or not at all; it is with the system when this returns.
    pub fn append(&mut self, row: &MetricsRow) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, row)?;
        self.line.push(b'\n');
        self.file.append_line(&self.line)
    }

    /// Another handle, to sync what was appended from another thread.
    pub(crate) fn handle(&self) -> io::Result<SyncHandle> {
        self.file.handle()
    }

    /// All complete lines of a log; none if there is no log.
    pub fn read(path: &Path) -> io::Result<Vec<MetricsRow>> {
        match read_regular(path) {
            Ok(bytes) => Ok(complete_rows(&bytes).map(|(row, _)| row).collect()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}

/// The rows without lines that are damaged, unfinished or out of order, each with the offset of its end.
pub(super) fn complete_rows(bytes: &[u8]) -> impl Iterator<Item = (MetricsRow, usize)> + '_ {
    let mut end = 0;
    let mut last = None;
    bytes.split_inclusive(|&byte| byte == b'\n').filter_map(move |line| {
        end += line.len();
        let row: MetricsRow = serde_json::from_slice(line.strip_suffix(b"\n")?).ok()?;
        if last.is_some_and(|last| row.iteration <= last) {
            return None;
        }
        last = Some(row.iteration);
        Some((row, end))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn row(iteration: u64) -> MetricsRow {
        MetricsRow {
            iteration,
            evaluations: 5400 + iteration,
            seconds: 0.1,
            qd_score: 1.0 / 3.0,
            qd_score_sum: 1e4 / 3.0,
            coverage: 0.5,
            elites: 5000,
            best: None,
            mean: Some(1.5),
            restarts: 3,
            invalid: 0,
            failures: BTreeMap::new(),
            measures_seen: None,
            noise: None,
        }
    }

    #[test]
    fn a_line_cut_anywhere_is_forgotten_and_the_rest_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.jsonl");
        let mut log = MetricsLog::open(&path, 0).unwrap();
        (1..=3).for_each(|iteration| log.append(&row(iteration)).unwrap());
        let bytes = fs::read(&path).unwrap();
        let line = bytes.len() / 3;
        for length in 0..=bytes.len() {
            fs::write(&path, &bytes[..length]).unwrap();
            assert_eq!(MetricsLog::read(&path).unwrap().len(), length / line, "{length}");
        }
    }

    #[test]
    fn opening_forgets_what_came_after_the_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.jsonl");
        let mut log = MetricsLog::open(&path, 0).unwrap();
        (1..=5).for_each(|iteration| log.append(&row(iteration)).unwrap());
        let mut log = MetricsLog::open(&path, 3).unwrap();
        log.append(&row(4)).unwrap();
        assert_eq!(MetricsLog::read(&path).unwrap(), [1, 2, 3, 4].map(row));
    }
    #[test]
    fn a_line_that_does_not_read_costs_no_line_before_or_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.jsonl");
        let mut log = MetricsLog::open(&path, 0).unwrap();
        (1..=2).for_each(|iteration| log.append(&row(iteration)).unwrap());
        log.file.append_line(b"{\"iteration\":3,\"qd_score\":[]}\n").unwrap();
        (4..=6).for_each(|iteration| log.append(&row(iteration)).unwrap());
        let before = fs::read(&path).unwrap();
        assert_eq!(MetricsLog::read(&path).unwrap(), [1, 2, 4, 5, 6].map(row));
        MetricsLog::open(&path, 6).unwrap();
        assert_eq!(fs::read(&path).unwrap(), before);
        MetricsLog::open(&path, 4).unwrap();
        assert_eq!(MetricsLog::read(&path).unwrap(), [1, 2, 4].map(row));
    }

    #[test]
    fn sums_beyond_all_numbers_are_written_and_read_and_so_are_lines_of_earlier_builds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.jsonl");
        let endless =
            |iteration| MetricsRow { qd_score: f64::INFINITY, qd_score_sum: f64::NEG_INFINITY, ..row(iteration) };
        let mut log = MetricsLog::open(&path, 0).unwrap();
        log.append(&row(1)).unwrap();
        log.append(&endless(2)).unwrap();
        assert_eq!(MetricsLog::read(&path).unwrap(), [row(1), endless(2)]);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("\"inf\"", "null").replace("\"-inf\"", "null")).unwrap();
        MetricsLog::open(&path, 2).unwrap().append(&row(3)).unwrap();
        let rows = MetricsLog::read(&path).unwrap();
        assert!(rows.len() == 3 && rows[1].qd_score.is_nan(), "{rows:?}");
    }
}
