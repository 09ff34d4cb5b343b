//! A study: the cells of an experiment, each with several trials, run into a folder.

use std::fs;
use std::path::Path;

use luminary::strategy::Variant;
use luminary_run::RunError;
use luminary_run::folder::FolderLock;
use luminary_run::stop::StopFlag;

use crate::cache::{Cache, Cached};
use crate::error::ReproduceError;
use crate::experiment::{Cell, Experiment, Trial};
use crate::only::Only;
use crate::pool::{self, Event, Report};
use crate::results::{CellResults, Results};

/// Name of the folder of finished trials.
const TRIALS: &str = "trials";

/// What is to be run.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// The experiment.
    pub experiment: Experiment,
    /// Which CMA-ES equations.
    pub variant: Variant,
    /// The cells, in the order of the paper's tables.
    pub cells: Vec<Cell>,
    /// Trials of each cell.
    pub n_trials: u64,
}

impl Study {
    /// The whole experiment, with the paper's iterations if no others are given, and its usual number of trials.
    pub fn new(experiment: Experiment, variant: Variant, iterations: Option<u64>) -> Self {
        let variant = if experiment.is_frontier() { Variant::Standard } else { variant };
        let cells = experiment.cells(variant, iterations);
        Self { experiment, variant, cells, n_trials: experiment.default_trials() }
    }

    /// The study with only a part of its cells.
    #[must_use]
    pub fn only(mut self, only: &Only) -> Self {
        self.cells.retain(|cell| only.keeps(cell));
        self
    }

    /// The study with another number of trials.
    #[must_use]
    pub fn trials(mut self, n_trials: u64) -> Self {
        self.n_trials = n_trials;
        self
    }

    /// The trials, in the order in which they are run.
    pub fn ordered_trials(&self) -> Vec<Trial> {
        let first = self.experiment.first_seed();
        let seeds = first..first + self.n_trials;
        let mut trials: Vec<_> =
            seeds.flat_map(|seed| self.cells.iter().map(move |cell| Trial { cell: cell.clone(), seed })).collect();
        pool::sort(&mut trials);
        trials
    }

    /// Runs the trials that the folder does not have yet, `n_jobs` at a time, and writes the table of all trials.
    /// Whatever stops a study, starting it again loses no finished trial.
    ///
    /// # Errors
    /// A folder that cannot be written or that another process works on, and trials that fail.
    pub fn run(
        &self,
        folder: &Path,
        n_jobs: usize,
        stop: &StopFlag,
        report: Report<'_>,
    ) -> Result<Results, ReproduceError> {
        fs::create_dir_all(folder).map_err(RunError::io("make the folder", folder))?;
        let _lock = FolderLock::acquire(folder)?;
        let cache = Cache::open(folder.join(TRIALS))?;
        let (mut results, missing) = self.look_up(&cache, report)?;
        report(Event::Started { n_trials: results.n_planned(), n_cached: results.n_finished() });
        let records = pool::run(&missing, &cache, n_jobs, stop, report)?;
        for (trial, record) in missing.iter().zip(records) {
            if let Some(record) = record {
                results.insert(trial, record);
            }
        }
        results.write_trials(folder)?;
        Ok(results)
    }

    /// The trials that the folder has, without running any. Another process may be running more of them.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub fn finished(&self, folder: &Path, report: Report<'_>) -> Result<Results, ReproduceError> {
        Ok(self.look_up(&Cache::at(folder.join(TRIALS)), report)?.0)
    }

    /// What is in the cache, and what is not, in the order in which it is run.
    fn look_up(&self, cache: &Cache, report: Report<'_>) -> Result<(Results, Vec<Trial>), ReproduceError> {
        let mut results = Results::of_study(self);
        let mut missing = Vec::new();
        for trial in self.ordered_trials() {
            match cache.read(&trial)? {
                Cached::Record(record) => results.insert(&trial, *record),
                Cached::Missing => missing.push(trial),
                Cached::Damaged { path, message } => {
                    report(Event::Damaged { path: &path, message: &message });
                    missing.push(trial);
                }
            }
        }
        Ok((results, missing))
    }
}

impl Results {
    /// Of a study without any trial yet.
    pub(crate) fn of_study(study: &Study) -> Self {
        let cells = study.cells.iter().map(|cell| CellResults { cell: cell.clone(), trials: Vec::new() }).collect();
        Self { experiment: study.experiment, variant: study.variant, n_trials: study.n_trials, cells }
    }

    fn insert(&mut self, trial: &Trial, record: crate::TrialRecord) {
        let own = self.cells.iter_mut().find(|results| results.cell == trial.cell);
        let trials = &mut own.expect("trials are made from the cells").trials;
        let place = trials.partition_point(|(seed, _)| *seed < trial.seed);
        trials.insert(place, (trial.seed, record));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Runs a study and says which trials had to be run and how many files were damaged.
    fn run(study: &Study, folder: &Path) -> (Results, Vec<String>, usize) {
        let (done, n_damaged) = (Mutex::new(Vec::new()), Mutex::new(0));
        let report = |event: Event<'_>| match event {
            Event::Done { trial, .. } => done.lock().unwrap().push(trial.to_string()),
            Event::Damaged { .. } => *n_damaged.lock().unwrap() += 1,
            _ => {}
        };
        let results = study.run(folder, 2, &StopFlag::default(), &report).unwrap();
        (results, done.into_inner().unwrap(), n_damaged.into_inner().unwrap())
    }

    fn small() -> Study {
        let only = "arm,lp-sphere,map_elites,cma_mae".parse().unwrap();
        Study::new(Experiment::Main, Variant::Published, Some(3)).only(&only).trials(2)
    }

    /// Records without the time they took.
    fn timeless(mut results: Results) -> Results {
        for cell in &mut results.cells {
            cell.trials.iter_mut().for_each(|(_, record)| record.seconds = 0.0);
        }
        results
    }

    #[test]
    fn only_missing_and_damaged_trials_are_run_again_with_the_same_results() {
        let folder = tempfile::tempdir().unwrap();
        let study = small();
        let (first, done, _) = run(&study, folder.path());
        assert_eq!((study.cells.len(), done.len()), (4, 8));
        assert!(first.is_complete());

        let (again, done, _) = run(&study, folder.path());
        assert!(done.is_empty());
        assert_eq!(again, first);

        let cache = Cache::open(folder.path().join(TRIALS)).unwrap();
        let trials = study.ordered_trials();
        fs::remove_file(cache.path(&trials[1]).unwrap()).unwrap();
        fs::write(cache.path(&trials[6]).unwrap(), "{").unwrap();
        let (repaired, mut done, n_damaged) = run(&study, folder.path());
        done.sort();
        let mut expected = [trials[1].to_string(), trials[6].to_string()];
        expected.sort();
        assert_eq!((done, n_damaged), (expected.to_vec(), 1));
        assert_eq!(timeless(repaired), timeless(first));
    }

    #[test]
    fn more_trials_reuse_those_that_are_there() {
        let folder = tempfile::tempdir().unwrap();
        run(&small().trials(1), folder.path());
        let (results, done, _) = run(&small(), folder.path());
        assert_eq!(done.len(), 4);
        assert!(done.iter().all(|name| name.ends_with("trial 2")), "{done:?}");
        let seeds = |cell: &CellResults| cell.trials.iter().map(|trial| trial.0).collect::<Vec<_>>();
        assert!(results.cells.iter().all(|cell| seeds(cell) == [1, 2]));
    }

    #[test]
    fn a_stopped_study_keeps_what_is_finished_and_says_what_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let stop = StopFlag::default();
        let report = |event: Event<'_>| {
            if let Event::Done { n_done: 3, .. } = event {
                stop.request();
            }
        };
        let stopped = small().run(folder.path(), 1, &stop, &report).unwrap();
        assert_eq!((stopped.n_finished(), stopped.n_planned()), (3, 8));
        assert!(!stopped.is_complete());
        let (results, done, _) = run(&small(), folder.path());
        assert_eq!(done.len(), 5);
        assert!(results.is_complete());
    }
}
