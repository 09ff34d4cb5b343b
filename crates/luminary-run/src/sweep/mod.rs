//! Many runs at once: several seeds, several settings, one folder each, on all cores.
//!
//! A sweep's folder holds its plan (`sweep.json`), a run folder for each run, and the table of results
//! (`summary.json`, `summary.csv`). Whatever stops a sweep, starting it again skips what is finished and resumes what
//! is not.

mod plan;
mod table;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use plan::{Axis, Plan, PlannedRun};
pub use table::{Estimate, GroupRow, SweepTable};

use crate::disk::Disk;
use crate::driver::{Note, Progress, ResumeOptions, Run, Watch};
use crate::error::RunError;
use crate::folder::{FolderLock, MANIFEST, State, first_foreign_entry, read_json, write_json};
use crate::stop::StopFlag;
use crate::summary::Summary;

/// Name of the plan.
pub const PLAN: &str = "sweep.json";

/// Something that happens in a sweep. Several runs report at the same time.
#[derive(Debug)]
pub enum SweepEvent<'a> {
    /// An iteration of a run has ended.
    Iteration {
        /// The run's place in the plan.
        index: usize,
        /// Where it stands.
        progress: &'a Progress<'a>,
    },
    /// Something worth telling about a run.
    Note {
        /// The run.
        run: &'a PlannedRun,
        /// The note.
        note: &'a Note,
    },
    /// A run has ended, was stopped, failed, or had been finished before.
    Done {
        /// The run's place in the plan.
        index: usize,
        /// The run.
        run: &'a PlannedRun,
        /// Its figures, or why there are none.
        result: &'a Result<Summary, RunError>,
    },
}

/// A sweep whose folder this process, and no other, works on.
#[derive(Debug)]
pub struct Sweep<'a> {
    folder: &'a Path,
    plan: Plan,
    _lock: FolderLock,
}

/// How a sweep ended.
#[derive(Debug)]
pub struct SweepOutcome {
    /// The table of all runs that are finished.
    pub table: SweepTable,
    /// Runs that were stopped.
    pub n_interrupted: usize,
    /// Runs that failed, with why.
    pub failed: Vec<(String, RunError)>,
}

impl<'a> Sweep<'a> {
    /// Makes the folder of a sweep, or opens it if it holds this very plan.
    ///
    /// # Errors
    /// A folder with another plan or other files, or in use.
    pub fn start(folder: &'a Path, plan: Plan) -> Result<Self, RunError> {
        if folder.join(MANIFEST).exists() {
            return Err(RunError::Exists { path: folder.to_owned() });
        }
        if folder.join(PLAN).exists() {
            let sweep = Self::open(folder)?;
            if sweep.plan != plan {
                let (expected, found) = (plan.describe(), sweep.plan.describe());
                return Err(RunError::OtherSweep { path: folder.to_owned(), expected, found });
            }
            return Ok(sweep);
        }
        let disk = Disk::default();
        disk.make_folders(folder).map_err(RunError::io("make the folder", folder))?;
        let lock = FolderLock::acquire(folder)?;
        if let Some(found) = first_foreign_entry(&disk, folder)? {
            return Err(RunError::NotEmpty { path: folder.to_owned(), found });
        }
        write_json(&disk, &folder.join(PLAN), &plan)?;
        Ok(Self { folder, plan, _lock: lock })
    }

    /// Opens the folder of a sweep.
    ///
    /// # Errors
    /// A folder without a sweep, or in use.
    pub fn open(folder: &'a Path) -> Result<Self, RunError> {
        let plan = read_plan(folder)?;
        Ok(Self { folder, plan, _lock: FolderLock::acquire(folder)? })
    }

    /// What is to be run.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Runs everything that is not finished, `n_jobs` at a time, and writes the table. A run that fails does not keep
    /// the others from going on.
    ///
    /// # Errors
    /// When the table cannot be written.
    pub fn execute(
        &self,
        n_jobs: usize,
        stop: &StopFlag,
        report: &(dyn Fn(SweepEvent<'_>) + Sync),
    ) -> Result<SweepOutcome, RunError> {
        let next = AtomicUsize::new(0);
        let results = Mutex::new(Vec::new());
        let work = || {
            while !stop.is_requested() {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(run) = self.plan.runs.get(index) else { break };
                let result = self.execute_one(index, run, stop, report);
                report(SweepEvent::Done { index, run, result: &result });
                results.lock().expect("no report panics while it holds the results").push((index, result));
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..n_jobs.clamp(1, self.plan.runs.len().max(1)) {
                scope.spawn(work);
            }
        });
        let results = results.into_inner().expect("all threads have ended");
        let mut finished = Vec::new();
        let (mut n_interrupted, mut failed) = (self.plan.runs.len() - results.len(), Vec::new());
        for (index, result) in results {
            match result {
                Ok(summary) if summary.status == State::Finished => finished.push((index, summary)),
                Ok(_) => n_interrupted += 1,
                Err(error) => failed.push((self.plan.runs[index].name.clone(), error)),
            }
        }
        let table = SweepTable::new(&self.plan, finished);
        table.write(self.folder)?;
        Ok(SweepOutcome { table, n_interrupted, failed })
    }

    fn execute_one(
        &self,
        index: usize,
        run: &PlannedRun,
        stop: &StopFlag,
        report: &(dyn Fn(SweepEvent<'_>) + Sync),
    ) -> Result<Summary, RunError> {
        let path = self.folder.join(&run.name);
        let is_begun = path.join(MANIFEST).exists();
        if is_begun {
            let summary = Summary::read(&path)?;
            if summary.status == State::Finished {
                return Ok(summary);
            }
        }
        let ready = match is_begun {
            true => Run::resume(&path, ResumeOptions::default())?,
            false => Run::create(&path, run.config.clone())?,
        };
        ready.execute(stop, &mut Reporter { index, run, report })
    }
}

/// Reads the plan of a sweep's folder.
///
/// # Errors
/// A folder without a sweep.
pub fn read_plan(folder: &Path) -> Result<Plan, RunError> {
    read_json(&Disk::default(), &folder.join(PLAN))
}

/// Whether a folder holds a sweep.
pub fn is_sweep(folder: &Path) -> bool {
    folder.join(PLAN).exists()
}

/// The table of all runs of a sweep that are finished, also while it goes on.
///
/// # Errors
/// A folder without a sweep, or unreadable summaries.
pub fn read_table(folder: &Path) -> Result<SweepTable, RunError> {
    let plan = read_plan(folder)?;
    let mut finished = Vec::new();
    for (index, run) in plan.runs.iter().enumerate() {
        let path = folder.join(&run.name);
        if path.join(MANIFEST).exists() {
            let summary = Summary::read(&path)?;
            if summary.status == State::Finished {
                finished.push((index, summary));
            }
        }
    }
    Ok(SweepTable::new(&plan, finished))
}

/// Passes what a run reports on, with its place in the plan.
struct Reporter<'a> {
    index: usize,
    run: &'a PlannedRun,
    report: &'a (dyn Fn(SweepEvent<'_>) + Sync),
}

impl Watch for Reporter<'_> {
    fn iteration(&mut self, progress: &Progress<'_>) {
        (self.report)(SweepEvent::Iteration { index: self.index, progress });
    }

    fn note(&mut self, note: &Note) {
        (self.report)(SweepEvent::Note { run: self.run, note });
    }
}
