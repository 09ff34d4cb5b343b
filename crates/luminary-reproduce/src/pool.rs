//! Many trials on all cores: the longest first, every finished one kept at once.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use luminary_run::stop::StopFlag;

use crate::cache::Cache;
use crate::cost::expected_seconds;
use crate::error::ReproduceError;
use crate::experiment::Trial;
use crate::trial::{self, TrialRecord};

/// Something that happens while trials run. Several threads report at the same time.
#[derive(Debug)]
pub enum Event<'a> {
    /// A trial that had been finished before cannot be read; it counts as missing.
    Damaged {
        /// The file.
        path: &'a std::path::Path,
        /// What is wrong with it.
        message: &'a str,
    },
    /// The cache has been looked through.
    Started {
        /// Trials in all.
        n_trials: usize,
        /// Trials that had been finished before.
        n_cached: usize,
    },
    /// Time has passed.
    Progress {
        /// Share of the work that is done, of all that had to be run.
        fraction: f64,
        /// Expected time left.
        seconds_left: f64,
    },
    /// A trial has been run and kept.
    Done {
        /// The trial.
        trial: &'a Trial,
        /// What it gave.
        record: &'a TrialRecord,
        /// Trials run so far.
        n_done: usize,
        /// Trials to run.
        n_to_run: usize,
        /// Expected time left.
        seconds_left: f64,
    },
}

/// Who is told.
pub type Report<'a> = &'a (dyn Fn(Event<'_>) + Sync);

/// Sorts trials so that a study that is cut short has as many trials of one cell as of another, and all cores end at
/// about the same time: first trials first, and among those the longest.
pub fn sort(trials: &mut [Trial]) {
    trials.sort_by(|a, b| {
        let longest_first = expected_seconds(&b.cell).total_cmp(&expected_seconds(&a.cell));
        a.seed.cmp(&b.seed).then(longest_first)
    });
}

/// Runs trials in the given order, `n_jobs` at a time, and keeps each in the cache. After a request to stop, trials in
/// progress are given up and the rest is not begun.
///
/// Returns the records in the order of the trials, `None` for those that were stopped.
///
/// # Errors
/// The first error of a trial or of the cache; no trial is begun after it, those in progress are finished and kept.
pub fn run(
    trials: &[Trial],
    cache: &Cache,
    n_jobs: usize,
    stop: &StopFlag,
    report: Report<'_>,
) -> Result<Vec<Option<TrialRecord>>, ReproduceError> {
    let n_jobs = n_jobs.clamp(1, trials.len().max(1));
    let (next, has_failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let pace = Mutex::new(Pace::new(trials, n_jobs));
    let results = Mutex::new(Vec::with_capacity(trials.len()));
    let work = || {
        while !stop.is_requested() && !has_failed.load(Ordering::SeqCst) {
            let index = next.fetch_add(1, Ordering::SeqCst);
            let Some(trial) = trials.get(index) else { break };
            let result = run_one(index, trial, cache, stop, &pace, report);
            has_failed.fetch_or(result.is_err(), Ordering::SeqCst);
            results.lock().expect("nothing panics while it holds the results").push((index, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..n_jobs {
            scope.spawn(work);
        }
    });
    let mut records: Vec<_> = trials.iter().map(|_| None).collect();
    for (index, result) in results.into_inner().expect("all threads have ended") {
        records[index] = result?;
    }
    Ok(records)
}

fn run_one(
    index: usize,
    trial: &Trial,
    cache: &Cache,
    stop: &StopFlag,
    pace: &Mutex<Pace>,
    report: Report<'_>,
) -> Result<Option<TrialRecord>, ReproduceError> {
    let advance = |fraction| pace.lock().expect("nothing panics while it holds the pace").advance(index, fraction);
    let mut progress = |fraction| {
        let (fraction, seconds_left) = advance(fraction);
        report(Event::Progress { fraction, seconds_left });
    };
    let Some(record) = trial::run(trial, stop, &mut progress)? else { return Ok(None) };
    cache.write(trial, &record)?;
    let (n_done, n_to_run, seconds_left) = pace.lock().expect("nothing panics while it holds the pace").finish();
    report(Event::Done { trial, record: &record, n_done, n_to_run, seconds_left });
    Ok(Some(record))
}

/// How fast the work goes: expected seconds done against seconds passed.
struct Pace {
    /// Expected seconds of each trial, and the share of them that is done.
    trials: Vec<(f64, f64)>,
    n_done: usize,
    n_jobs: usize,
    started: Instant,
}

impl Pace {
    fn new(trials: &[Trial], n_jobs: usize) -> Self {
        let trials = trials.iter().map(|trial| (expected_seconds(&trial.cell), 0.0)).collect();
        Self { trials, n_done: 0, n_jobs, started: Instant::now() }
    }

    /// Notes the share of a trial that is done; gives the share of everything and the time left.
    fn advance(&mut self, index: usize, fraction: f64) -> (f64, f64) {
        self.trials[index].1 = fraction;
        self.left()
    }

    /// Notes that a trial has ended.
    fn finish(&mut self) -> (usize, usize, f64) {
        self.n_done += 1;
        (self.n_done, self.trials.len(), self.left().1)
    }

    fn left(&self) -> (f64, f64) {
        // Before this much is done, the expectation says more than what was measured.
        const ENOUGH: f64 = 1.0;
        let wanted: f64 = self.trials.iter().map(|trial| trial.0).sum();
        let done: f64 = self.trials.iter().map(|trial| trial.0 * trial.1).sum();
        let passed = self.started.elapsed().as_secs_f64();
        let per_second = if done > ENOUGH { done / passed } else { self.n_jobs as f64 };
        (done / wanted, (wanted - done) / per_second)
    }
}

#[cfg(test)]
mod tests {
    use luminary::preset::Preset;
    use luminary::strategy::Variant;

    use super::*;
    use crate::Experiment;

    #[test]
    fn first_trials_come_first_and_among_them_the_longest() {
        let cells = Experiment::Main.cells(Variant::Published, None);
        let all = |seed| cells.iter().map(move |cell| Trial { cell: cell.clone(), seed });
        let mut trials: Vec<_> = all(1).chain(all(2)).collect();
        sort(&mut trials);
        assert!(trials[..32].iter().all(|trial| trial.seed == 1));
        for half in [&trials[..32], &trials[32..]] {
            assert!(half.is_sorted_by(|a, b| expected_seconds(&a.cell) >= expected_seconds(&b.cell)));
            assert_ne!(half[0].cell.algorithm, Preset::MapElites);
        }
    }

    #[test]
    fn the_time_left_starts_as_expected_and_ends_at_nothing() {
        let cells = Experiment::Main.cells(Variant::Published, None);
        let trials: Vec<_> = cells.iter().map(|cell| Trial { cell: cell.clone(), seed: 1 }).collect();
        let mut pace = Pace::new(&trials, 2);
        let wanted: f64 = cells.iter().map(expected_seconds).sum();
        assert_eq!(pace.advance(0, 0.0), (0.0, wanted / 2.0));
        for index in 0..trials.len() {
            pace.advance(index, 1.0);
        }
        let (fraction, left) = pace.left();
        assert!((fraction - 1.0).abs() < 1e-12 && left.abs() < 1e-9, "{fraction} {left}");
    }
}
