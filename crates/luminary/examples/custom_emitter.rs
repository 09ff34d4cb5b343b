//! An emitter of your own: crosses elites over, preferring those whose cells were rarely visited.
//!
//!     cargo run --release -p luminary --example custom_emitter

use std::error::Error;

use luminary::WideRng;
use luminary::emitter::{EliteSource, EliteView, Emitter, EmitterState};
use luminary::error::CheckpointError;
use luminary::preset::Preset;
use luminary::problem::Problem;
use luminary::scheduler::Scheduler;
use luminary_domains::LinearProjection;

const SEED: u64 = 1;
const SIGMA: f64 = 0.2;

/// Each component of a child comes from one of two parents, plus noise.
struct Crossover {
    /// How often it was asked. Every `ask` has a random stream of its own, so this is all there is to save.
    n_asks: u64,
}

impl Crossover {
    /// The less visited of two drawn elites.
    fn draw_parent<'a>(elites: &'a dyn EliteSource, rng: &mut WideRng) -> Option<EliteView<'a>> {
        let first = elites.draw(rng)?;
        let second = elites.draw(rng)?;
        Some(if second.visits < first.visits { second } else { first })
    }
}

impl Emitter for Crossover {
    fn batch_size(&self) -> usize {
        20
    }

    /// Nothing is learnt from a batch as a whole, so any number of rows may be asked for at any time.
    fn has_generations(&self) -> bool {
        false
    }

    fn ask(&mut self, elites: &dyn EliteSource, solutions: &mut [f64]) {
        let mut rng = WideRng::from_path(SEED, &format!("crossover/{}", self.n_asks));
        self.n_asks += 1;
        rng.fill_normal(solutions);
        let dim = match elites.n_elites() {
            // Pure noise while there is nobody to cross.
            0 => return,
            _ => elites.elite_solution(0).len(),
        };
        for row in solutions.chunks_exact_mut(dim) {
            let mother = Self::draw_parent(elites, &mut rng).expect("there are elites");
            let father = Self::draw_parent(elites, &mut rng).expect("there are elites");
            for (i, x) in row.iter_mut().enumerate() {
                let parent = if rng.uniform() < 0.5 { mother } else { father };
                *x = parent.solution[i] + SIGMA * *x;
            }
        }
    }

    fn save(&self) -> Result<EmitterState<'_>, CheckpointError> {
        Ok(EmitterState::custom(self.n_asks.to_le_bytes().to_vec()))
    }

    fn load(&mut self, state: EmitterState<'_>) -> Result<(), CheckpointError> {
        let bytes = state.into_custom_bytes()?;
        let bytes = bytes.try_into().map_err(|bytes: Vec<u8>| CheckpointError::Mismatch {
            what: "crossover emitter",
            expected: "8 bytes".into(),
            found: bytes.len().to_string(),
        })?;
        self.n_asks = u64::from_le_bytes(bytes);
        Ok(())
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let problem = LinearProjection::sphere(10)?;
    let mut config = Preset::MapElites.for_problem(&problem.spec()).config();
    // Nobody but the custom emitter, on the initial population of MAP-Elites.
    config.emitters.clear();
    let custom = || -> Vec<Box<dyn Emitter>> { vec![Box::new(Crossover { n_asks: 0 })] };
    let mut scheduler = config.build_with(custom())?;
    scheduler.run(&problem, 1)?;
    let coverage_at_first = scheduler.result().stats().coverage;
    scheduler.run(&problem, 200)?;
    assert!(scheduler.result().stats().coverage > 2.0 * coverage_at_first);

    // A scheduler gives its emitters back as what they are, and takes them along in checkpoints.
    let mut restored = Scheduler::from_checkpoint_with(&scheduler.to_checkpoint()?, custom())?;
    let emitter = restored.emitters().next().and_then(|emitter| emitter.downcast_ref::<Crossover>());
    assert_eq!(emitter.map(|emitter| emitter.n_asks), Some(201));
    assert_eq!(restored.ask()?, scheduler.ask()?);
    Ok(())
}
