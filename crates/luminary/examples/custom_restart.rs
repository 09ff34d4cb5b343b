//! A restart rule of your own: patience with generations that hardly change the archive.
//!
//!     cargo run --release -p luminary --example custom_restart

use std::error::Error;

use luminary::emitter::{Emitter, EmitterShape, EvolutionEmitter, LearnerParts};
use luminary::error::CheckpointError;
use luminary::preset::Preset;
use luminary::problem::Problem;
use luminary::ranker::RankerConfig;
use luminary::restart::{Evidence, RestartCause, RestartRule};
use luminary::scheduler::Scheduler;
use luminary::strategy::{Strategy, StrategyConfig, StrategyShape};
use luminary_domains::LinearProjection;

const DIM: usize = 10;

/// Restarts after three poor generations in a row: fewer than a tenth of their rows changed the archive.
struct Patience {
    n_poor: u8,
}

impl RestartRule for Patience {
    fn cause(&mut self, evidence: &Evidence) -> Option<RestartCause> {
        let is_poor = 10 * evidence.n_accepted < evidence.n_values;
        self.n_poor = if is_poor { self.n_poor + 1 } else { 0 };
        (self.n_poor == 3).then_some(RestartCause::Custom)
    }

    fn reset(&mut self) {
        self.n_poor = 0;
    }

    fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        Ok(vec![self.n_poor])
    }

    fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        match bytes {
            [n_poor @ 0..3] => {
                self.n_poor = *n_poor;
                Ok(())
            }
            _ => Err(CheckpointError::Mismatch {
                what: "patience",
                expected: "a byte below 3".into(),
                found: format!("{bytes:?}"),
            }),
        }
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let problem = LinearProjection::sphere(DIM)?;
    let spec = problem.spec();
    let mut preset = Preset::CmaMe.for_problem(&spec);
    preset.resolution = vec![10, 10];
    let mut config = preset.config();
    config.emitters.clear();
    let custom = || -> Result<Vec<Box<dyn Emitter>>, Box<dyn Error>> {
        let shape = StrategyShape { dim: DIM, batch_size: 20, sigma0: 0.5, bounds: None };
        let strategy = Strategy::new(&StrategyConfig::default(), shape, &[0.0; DIM])?;
        let ranker = RankerConfig::TwoStageImprovement.build(&spec.measure_bounds)?;
        let parts = LearnerParts::new(Box::new(strategy), ranker).with_restart(Box::new(Patience { n_poor: 0 }));
        let shape = EmitterShape { solution_dim: DIM, measure_bounds: &spec.measure_bounds, seed: 1, path: "patient" };
        Ok(vec![Box::new(EvolutionEmitter::with_parts(parts, &[0.0; DIM], &shape)?)])
    };
    let mut scheduler = config.build_with(custom()?)?;
    scheduler.run(&problem, 300)?;
    assert!(scheduler.restarts().custom > 0, "{:?}", scheduler.restarts());

    let mut restored = Scheduler::from_checkpoint_with(&scheduler.to_checkpoint()?, custom()?)?;
    scheduler.run(&problem, 50)?;
    restored.run(&problem, 50)?;
    assert_eq!(restored.restarts(), scheduler.restarts());
    assert_eq!(restored.ask()?, scheduler.ask()?);
    Ok(())
}
