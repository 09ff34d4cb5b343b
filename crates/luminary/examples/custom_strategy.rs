//! An evolution strategy of your own: a round Gaussian whose step size follows how far its mean moves.
//!
//!     cargo run --release -p luminary --example custom_strategy

use std::error::Error;

use luminary::WideRng;
use luminary::emitter::{Emitter, EmitterShape, EvolutionEmitter, LearnerParts};
use luminary::error::CheckpointError;
use luminary::preset::Preset;
use luminary::problem::Problem;
use luminary::ranker::RankerConfig;
use luminary::scheduler::Scheduler;
use luminary::strategy::{EvolutionStrategy, StopReason};
use luminary_domains::LinearProjection;

const DIM: usize = 10;
const SIGMA0: f64 = 0.5;

/// `N(mean, sigma^2 I)`. The mean moves to that of the parents; the step size grows after long moves and shrinks after
/// short ones.
struct RoundGaussian {
    mean: Vec<f64>,
    sigma: f64,
}

impl EvolutionStrategy for RoundGaussian {
    fn ask(&mut self, rng: &mut WideRng, solutions: &mut [f64]) {
        rng.fill_normal(solutions);
        for row in solutions.chunks_exact_mut(self.mean.len()) {
            for (x, mean) in row.iter_mut().zip(&self.mean) {
                *x = mean + self.sigma * *x;
            }
        }
    }

    fn tell(&mut self, solutions: &[f64], ranking: &[usize], n_parents: usize) {
        if n_parents == 0 {
            return;
        }
        let dim = self.mean.len();
        let mut squared_move = 0.0;
        for (i, mean) in self.mean.iter_mut().enumerate() {
            let sum: f64 = ranking[..n_parents].iter().map(|row| solutions[row * dim + i]).sum();
            let new_mean = sum / n_parents as f64;
            squared_move += (new_mean - *mean).powi(2);
            *mean = new_mean;
        }
        // The mean of random parents would move by `sigma sqrt(dim / n_parents)`.
        let expected = self.sigma * (dim as f64 / n_parents as f64).sqrt();
        self.sigma *= if squared_move.sqrt() > expected { 1.1 } else { 0.9 };
    }

    fn stop_reason(&self) -> Option<StopReason> {
        (self.sigma < 1e-3 * SIGMA0).then_some(StopReason::StepTooSmall)
    }

    fn reset(&mut self, mean: &[f64]) {
        self.mean.copy_from_slice(mean);
        self.sigma = SIGMA0;
    }

    fn mean(&self) -> &[f64] {
        &self.mean
    }

    fn batch_size(&self) -> usize {
        20
    }

    fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        Ok(self.mean.iter().chain([&self.sigma]).flat_map(|value| value.to_le_bytes()).collect())
    }

    fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        let values: Vec<f64> = bytes.as_chunks().0.iter().map(|value| f64::from_le_bytes(*value)).collect();
        match values.split_last() {
            Some((sigma, mean)) if mean.len() == self.mean.len() && bytes.len() == 8 * values.len() => {
                self.mean.copy_from_slice(mean);
                self.sigma = *sigma;
                Ok(())
            }
            _ => Err(CheckpointError::Mismatch {
                what: "round Gaussian",
                expected: format!("{} numbers", self.mean.len() + 1),
                found: format!("{} bytes", bytes.len()),
            }),
        }
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let problem = LinearProjection::sphere(DIM)?;
    let spec = problem.spec();
    let mut config = Preset::CmaMae.for_problem(&spec).config();
    config.emitters.clear();
    let custom = || -> Result<Vec<Box<dyn Emitter>>, Box<dyn Error>> {
        let strategy = RoundGaussian { mean: vec![0.0; DIM], sigma: SIGMA0 };
        let parts = LearnerParts::new(Box::new(strategy), RankerConfig::Objective.build(&spec.measure_bounds)?);
        let shape = EmitterShape { solution_dim: DIM, measure_bounds: &spec.measure_bounds, seed: 1, path: "round" };
        Ok(vec![Box::new(EvolutionEmitter::with_parts(parts, &[0.0; DIM], &shape)?)])
    };
    let mut scheduler = config.build_with(custom()?)?;
    scheduler.run(&problem, 1)?;
    let best_at_first = scheduler.result().stats().obj_max;
    scheduler.run(&problem, 300)?;
    assert!(scheduler.result().stats().obj_max > best_at_first);
    assert!(scheduler.restarts().converged > 0, "the step size shrinks, and the strategy starts anew from an elite");

    let mut restored = Scheduler::from_checkpoint_with(&scheduler.to_checkpoint()?, custom()?)?;
    assert_eq!(restored.ask()?, scheduler.ask()?);
    Ok(())
}
