//! One trial: the engine on one thread, and what is kept of it.

use std::ops::ControlFlow;
use std::time::Instant;

use luminary::archive::Archive;
use luminary::scheduler::{Observer, Scheduler, Threads};
use luminary_run::stop::StopFlag;
use serde::{Deserialize, Serialize};

use crate::error::ReproduceError;
use crate::experiment::Trial;

/// The seed of a cell's first trial, the one whose heatmap is kept.
pub const FIRST_SEED: u64 = 1;

/// Points of a curve, if there are as many iterations.
const N_CURVE_POINTS: u64 = 100;

/// Heatmaps of finer archives are not kept: no figure shows them, and they would be most of the cache.
const MAX_HEATMAP_CELLS: usize = 300 * 300;

/// What is kept of a trial. All figures are those of the result archive, the best of everything evaluated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Sum of the elites' objectives divided by the number of cells.
    pub qd_score: f64,
    /// Occupied cells in percent of all cells.
    pub coverage_percent: f64,
    /// Best objective.
    pub best: f64,
    /// Restarts of all emitters.
    pub restarts: u64,
    /// Time the trial took.
    pub seconds: f64,
    /// About a hundred points, the last one after the last iteration.
    pub curve: Vec<CurvePoint>,
    /// For each objective x from 0 to 100: the number of cells whose elite has at least x.
    pub ccdf: Vec<u64>,
    /// Objective of each cell, rounded to hundredths, in the order of the archive's cell indices; of the first trial of
    /// a cell, up to 300x300.
    pub heatmap: Option<Vec<Option<f32>>>,
}

/// Where a trial stood.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// After this many iterations.
    pub iteration: u64,
    /// Normalised QD score.
    pub qd_score: f64,
    /// Coverage in percent.
    pub coverage_percent: f64,
    /// Best objective.
    pub best: f64,
}

/// Runs a trial; `None` if it was stopped. `progress` is called with the fraction done, about a hundred times.
///
/// # Errors
/// A configuration that the engine refuses.
pub fn run(
    trial: &Trial,
    stop: &StopFlag,
    progress: &mut dyn FnMut(f64),
) -> Result<Option<TrialRecord>, ReproduceError> {
    let started = Instant::now();
    let problem = trial.cell.domain.build(trial.cell.n)?;
    let config = trial.cell.scheduler(trial.seed)?;
    let refused = |source| ReproduceError::Config { trial: trial.to_string(), source };
    let mut scheduler = config.build().map_err(refused)?;
    scheduler.set_threads(Threads::One);
    let n_iterations = trial.cell.iterations;
    let mut recorder = Recorder { n_iterations, before: 0, curve: Vec::new(), stop, progress };
    let ended = scheduler.run_observed(problem.as_ref(), n_iterations, &mut recorder);
    ended.map_err(|source| ReproduceError::Call { trial: trial.to_string(), source })?;
    if scheduler.iterations() < n_iterations {
        return Ok(None);
    }
    let archive = scheduler.result();
    let last = CurvePoint::of(&scheduler);
    let keeps_heatmap = trial.seed == FIRST_SEED && archive.stats().n_cells <= MAX_HEATMAP_CELLS;
    Ok(Some(TrialRecord {
        qd_score: last.qd_score,
        coverage_percent: last.coverage_percent,
        best: last.best,
        restarts: scheduler.restarts().total(),
        curve: recorder.curve,
        ccdf: ccdf(archive),
        heatmap: keeps_heatmap.then(|| heatmap(archive)),
        seconds: started.elapsed().as_secs_f64(),
    }))
}

impl CurvePoint {
    fn of(scheduler: &Scheduler) -> Self {
        let stats = scheduler.result().stats();
        Self {
            iteration: scheduler.iterations(),
            qd_score: stats.norm_qd_score,
            coverage_percent: 100.0 * stats.n_elites as f64 / stats.n_cells as f64,
            best: stats.obj_max.expect("the domains are finite where trials start, so the archive is not empty"),
        }
    }
}

/// Takes the points of the curve and looks at the stop flag.
struct Recorder<'a> {
    n_iterations: u64,
    /// Where the run stood before; an iteration with more rows than others counts for several.
    before: u64,
    curve: Vec<CurvePoint>,
    stop: &'a StopFlag,
    progress: &'a mut dyn FnMut(f64),
}

impl Observer for Recorder<'_> {
    fn iteration_done(&mut self, scheduler: &Scheduler) -> ControlFlow<()> {
        let iteration = scheduler.iterations();
        // A point whenever another hundredth is complete.
        let hundredths = |iteration: u64| (iteration * N_CURVE_POINTS / self.n_iterations).min(N_CURVE_POINTS);
        if hundredths(iteration) > hundredths(self.before) {
            self.curve.push(CurvePoint::of(scheduler));
            (self.progress)((iteration as f64 / self.n_iterations as f64).min(1.0));
        }
        self.before = iteration;
        if self.stop.is_requested() && iteration < self.n_iterations {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

fn ccdf(archive: &dyn Archive) -> Vec<u64> {
    let reached = |x: u32| archive.elites().filter(|elite| elite.objective >= f64::from(x)).count() as u64;
    (0..=100).map(reached).collect()
}

fn heatmap(archive: &dyn Archive) -> Vec<Option<f32>> {
    let rounded = |objective: f64| ((objective * 100.0).round() / 100.0) as f32;
    let mut objectives = vec![None; archive.stats().n_cells];
    for elite in archive.elites() {
        let cell = elite.cell.expect("the paper's archives have cells");
        objectives[cell.index()] = Some(rounded(elite.objective));
    }
    objectives
}

#[cfg(test)]
mod tests {
    use luminary::strategy::Variant;

    use super::*;
    use crate::{Cell, Experiment};

    fn trial(iterations: u64, seed: u64) -> Trial {
        let cells = Experiment::Main.cells(Variant::Published, Some(iterations));
        Trial { cell: Cell { n: 10, resolution: 20, ..cells[0].clone() }, seed }
    }

    #[test]
    fn a_record_agrees_with_itself() {
        let record = run(&trial(250, 1), &StopFlag::default(), &mut |_| {}).unwrap().unwrap();
        let heatmap = record.heatmap.as_ref().unwrap();
        let n_elites = heatmap.iter().flatten().count();
        assert_eq!(heatmap.len(), 400);
        assert!((record.coverage_percent - n_elites as f64 / 4.0).abs() < 1e-12);
        let sum: f64 = heatmap.iter().flatten().map(|&objective| f64::from(objective)).sum();
        // Hundredths in the heatmap, so the sums differ by at most half of one for each elite.
        assert!((record.qd_score * 400.0 - sum).abs() < 0.006 * n_elites as f64);
        assert_eq!(record.curve.len(), 100);
        assert_eq!(record.curve[0].iteration, 3);
        let last = record.curve.last().unwrap();
        assert_eq!((last.iteration, last.qd_score, last.best), (250, record.qd_score, record.best));
        assert_eq!(record.ccdf.len(), 101);
        assert!(record.ccdf.is_sorted_by(|a, b| a >= b) && record.ccdf[0] <= n_elites as u64);
        assert_eq!(record.ccdf.iter().filter(|&&n| n > 0).count(), record.best.floor() as usize + 1);
    }

    #[test]
    fn short_trials_have_a_point_for_each_iteration_and_later_seeds_no_heatmap() {
        let mut fractions = Vec::new();
        let record = run(&trial(4, 2), &StopFlag::default(), &mut |fraction| fractions.push(fraction));
        let record = record.unwrap().unwrap();
        assert_eq!(record.curve.iter().map(|point| point.iteration).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert_eq!(fractions, [0.25, 0.5, 0.75, 1.0]);
        assert_eq!(record.heatmap, None);
    }

    #[test]
    fn a_stopped_trial_leaves_no_record() {
        let stop = StopFlag::default();
        let mut n_calls = 0;
        let record = run(&trial(100, 1), &stop, &mut |_| {
            n_calls += 1;
            if n_calls == 3 {
                stop.request();
            }
        });
        assert_eq!(record.unwrap(), None);
        assert_eq!(n_calls, 3);
    }
}
