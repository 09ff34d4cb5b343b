//! A ranker of your own: first towards a corner of measure space, then more and more by objective.
//!
//!     cargo run --release -p luminary --example custom_ranker

use std::error::Error;

use luminary::emitter::{Emitter, EmitterShape, EvolutionEmitter, Feedback, LearnerParts};
use luminary::error::CheckpointError;
use luminary::preset::Preset;
use luminary::problem::Problem;
use luminary::ranker::{RankOutcome, Ranker};
use luminary::scheduler::Scheduler;
use luminary::strategy::{Strategy, StrategyConfig, StrategyShape};
use luminary_domains::LinearProjection;

const DIM: usize = 10;

/// Ranks by `weight * objective - distance to the corner`, with a weight that grows from generation to generation.
struct TowardsCorner {
    corner: Vec<f64>,
    n_generations: u32,
}

impl Ranker for TowardsCorner {
    fn rank(&mut self, feedback: &Feedback<'_>, ranking: &mut Vec<usize>) -> RankOutcome {
        self.n_generations += 1;
        let weight = 0.001 * f64::from(self.n_generations);
        let value = |row: usize| {
            let offsets = feedback.measures_of(row).iter().zip(&self.corner).map(|(measure, corner)| measure - corner);
            let distance = offsets.map(|offset| offset * offset).sum::<f64>().sqrt();
            weight * feedback.objectives[row] - distance
        };
        ranking.clear();
        // Rows without a value are left out. The sort is stable, so equal rows keep their order.
        ranking.extend((0..feedback.n_rows()).filter(|&row| feedback.has_value(row)));
        ranking.sort_by(|&a, &b| value(b).total_cmp(&value(a)));
        match (ranking.first(), ranking.last()) {
            (Some(&best), Some(&worst)) if best != worst && value(best) == value(worst) => RankOutcome::Alike,
            _ => RankOutcome::Different,
        }
    }

    fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        Ok(self.n_generations.to_le_bytes().to_vec())
    }

    fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        let bytes = bytes.try_into().map_err(|_| CheckpointError::Mismatch {
            what: "corner ranker",
            expected: "4 bytes".into(),
            found: bytes.len().to_string(),
        })?;
        self.n_generations = u32::from_le_bytes(bytes);
        Ok(())
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let problem = LinearProjection::sphere(DIM)?;
    let spec = problem.spec();
    let mut config = Preset::CmaMae.for_problem(&spec).config();
    config.emitters.clear();
    let corner: Vec<f64> = spec.measure_bounds.iter().map(|bounds| bounds.1).collect();
    let custom = || -> Result<Vec<Box<dyn Emitter>>, Box<dyn Error>> {
        let shape = StrategyShape { dim: DIM, batch_size: 20, sigma0: 0.5, bounds: None };
        let strategy = Strategy::new(&StrategyConfig::default(), shape, &[0.0; DIM])?;
        let ranker = TowardsCorner { corner: corner.clone(), n_generations: 0 };
        let parts = LearnerParts::new(Box::new(strategy), Box::new(ranker));
        let shape = EmitterShape { solution_dim: DIM, measure_bounds: &spec.measure_bounds, seed: 1, path: "corner" };
        Ok(vec![Box::new(EvolutionEmitter::with_parts(parts, &[0.0; DIM], &shape)?)])
    };
    let mut scheduler = config.build_with(custom()?)?;
    scheduler.run(&problem, 60)?;
    let nearest = scheduler.result().elites().map(|elite| (elite.measures[0] - corner[0]).abs());
    assert!(nearest.fold(f64::INFINITY, f64::min) < 0.3 * (corner[0] - spec.measure_bounds[0].0));

    let mut restored = Scheduler::from_checkpoint_with(&scheduler.to_checkpoint()?, custom()?)?;
    let emitter = restored.emitters().next().and_then(|emitter| emitter.downcast_ref::<EvolutionEmitter>());
    let ranker = emitter.and_then(|emitter| emitter.ranker().downcast_ref::<TowardsCorner>());
    assert_eq!(ranker.map(|ranker| ranker.n_generations), Some(60));
    assert_eq!(restored.ask()?, scheduler.ask()?);
    Ok(())
}
