//! An archive of your own in the engine's scheduler: a podium of the three best solutions in each cell.
//!
//! Everything the engine needs to know of an archive is the trait `Archive`. What is added here: the scheduler searches
//! with it, its emitters draw their parents from it, a checkpoint saves it, and you get it back as the type it is.
//!
//! Run with `cargo run --release --example custom_archive`.

#![allow(clippy::print_stdout, reason = "it is a program")]

use std::collections::BTreeMap;
use std::error::Error;

use luminary::archive::{
    AddReport, Archive, ArchiveConfig, ArchiveStats, Batch, Best, CellIdx, Cells, CellsConfig, Elite, GridConfig,
    NonFinite, Status,
};
use luminary::emitter::{EmitterConfig, GaussianConfig};
use luminary::error::{CallError, CheckpointError, ConfigError};
use luminary::problem::{Problem, ProblemSpec};
use luminary::scheduler::{EmitterGroup, Order, Pool, Scheduler, SchedulerConfig};
use serde::{Deserialize, Serialize};

/// Places on each podium.
const N_PLACES: usize = 3;

/// The three best solutions of each cell of a grid.
#[derive(Debug)]
struct Podiums {
    solution_dim: usize,
    cells: Cells,
    state: State,
    best: Option<Best>,
}

/// What a checkpoint holds.
#[derive(Debug, Default, Serialize, Deserialize)]
struct State {
    medallists: Vec<Medallist>,
    /// Positions among the medallists, the best first.
    podiums: BTreeMap<CellIdx, Vec<usize>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Medallist {
    cell: CellIdx,
    objective: f64,
    measures: Vec<f64>,
    solution: Vec<f64>,
}

impl Podiums {
    fn new(spec: &ProblemSpec, resolution: usize) -> Result<Self, ConfigError> {
        let resolution = vec![resolution; spec.measure_dim()];
        let cells = Cells::new(&CellsConfig::Grid(GridConfig::new(resolution, spec.measure_bounds.clone())))?;
        Ok(Self { solution_dim: spec.solution_dim, cells, state: State::default(), best: None })
    }

    /// The solutions on a cell's podium, the best first.
    fn podium(&self, cell: CellIdx) -> impl Iterator<Item = &Medallist> {
        self.state.podiums.get(&cell).into_iter().flatten().map(|&i| &self.state.medallists[i])
    }

    /// Offers one row to the podium of its cell; says what became of it and by how much it beats the one it replaces.
    fn offer(&mut self, medallist: Medallist) -> (Status, f64) {
        let State { medallists, podiums } = &mut self.state;
        let objective = medallist.objective;
        let podium = podiums.entry(medallist.cell).or_default();
        let (place, outcome) = if podium.len() < N_PLACES {
            medallists.push(medallist);
            (medallists.len() - 1, (Status::New, objective))
        } else {
            let last = podium[N_PLACES - 1];
            let delta = objective - medallists[last].objective;
            if delta <= 0.0 {
                return (Status::Rejected, delta);
            }
            podium.pop();
            medallists[last] = medallist;
            (last, (Status::Improved, delta))
        };
        let rank = podium.iter().take_while(|&&other| medallists[other].objective >= objective).count();
        podium.insert(rank, place);
        outcome
    }
}

impl Archive for Podiums {
    fn add(&mut self, batch: &Batch<'_>, policy: NonFinite, report: &mut AddReport) -> Result<(), CallError> {
        self.check(batch, policy)?;
        report.begin(batch, &[]);
        for row in 0..batch.n_rows() {
            if report.status[row] == Status::Invalid {
                continue;
            }
            let objective = batch.objectives[row];
            let measures = batch.measures_of(row).to_vec();
            let solution = batch.solution_of(row).to_vec();
            if self.best.as_ref().is_none_or(|best| objective > best.objective) {
                self.best = Some(Best::new(solution.clone(), objective, measures.clone()));
            }
            let cell = self.cells.cell_of(&measures);
            (report.status[row], report.delta[row]) = self.offer(Medallist { cell, objective, measures, solution });
        }
        Ok(())
    }

    fn solution_dim(&self) -> usize {
        self.solution_dim
    }

    fn measure_bounds(&self) -> &[(f64, f64)] {
        self.cells.measure_bounds()
    }

    fn len(&self) -> usize {
        self.state.medallists.len()
    }

    fn nth_elite(&self, i: usize) -> Elite<'_> {
        let medallist = &self.state.medallists[i];
        let mut elite = Elite::new(&medallist.solution, medallist.objective, &medallist.measures);
        elite.cell = Some(medallist.cell);
        elite
    }

    fn stats(&self) -> ArchiveStats {
        let n_cells = N_PLACES * self.cells.n_cells();
        let objectives = self.state.medallists.iter().map(|medallist| medallist.objective);
        ArchiveStats::of(n_cells, objectives, 0.0, self.best.as_ref().map(|best| best.objective))
    }

    fn best(&self) -> Option<&Best> {
        self.best.as_ref()
    }

    fn clear(&mut self) {
        self.state = State::default();
        self.best = None;
    }

    fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        Ok(rmp_serde::to_vec_named(&(&self.state, &self.best))?)
    }

    fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        (self.state, self.best) = rmp_serde::from_slice(bytes)?;
        Ok(())
    }
}

/// Prefers the origin; spreads over the first two components.
struct Bowl;

impl Problem for Bowl {
    fn spec(&self) -> ProblemSpec {
        ProblemSpec { solution_dim: 6, measure_bounds: vec![(-2.0, 2.0); 2] }
    }

    fn evaluate(&self, solution: &[f64], measures: &mut [f64]) -> f64 {
        measures.copy_from_slice(&solution[..2]);
        100.0 - solution.iter().map(|x| x * x).sum::<f64>()
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let spec = Bowl.spec();
    let archive = Podiums::new(&spec, 10)?;
    let emitter = EmitterConfig::Gaussian(GaussianConfig {
        x0: vec![0.0; spec.solution_dim],
        sigma: vec![0.3],
        batch_size: 50,
        bounds: None,
        initial_solutions: None,
    });
    let config = SchedulerConfig {
        seed: 1,
        archive: ArchiveConfig::custom(&archive),
        result: None,
        emitters: vec![EmitterGroup { count: 2, emitter }],
        pool: Pool::All,
        initial: None,
        non_finite: None,
        order: Order::Rows,
    };
    let mut scheduler = config.build_with_archive(Box::new(archive), Vec::new())?;
    scheduler.run(&Bowl, 100)?;

    // A checkpoint holds what the archive saved; a fresh archive takes it over, and both go on alike.
    let checkpoint = scheduler.to_checkpoint()?;
    let fresh = Box::new(Podiums::new(&spec, 10)?);
    let mut restored = Scheduler::from_checkpoint_with_archive(&checkpoint, fresh, Vec::new())?;
    scheduler.run(&Bowl, 100)?;
    restored.run(&Bowl, 100)?;
    assert_eq!(restored.to_checkpoint()?, scheduler.to_checkpoint()?);

    // What was put in comes back out.
    let podiums: &Podiums = restored.archive().downcast_ref().expect("the archive that was put in");
    let stats = podiums.stats();
    println!("{} solutions on {} podiums, QD score {:.1}", stats.n_elites, podiums.state.podiums.len(), stats.qd_score);
    let centre = podiums.cells.cell_of(&[0.1, 0.1]);
    for (place, medallist) in podiums.podium(centre).enumerate() {
        println!("place {}: {:.3} at {:.2?}", place + 1, medallist.objective, medallist.measures);
    }
    Ok(())
}
