//! The emitters of a run, a line for each.

use luminary::emitter::{ArborescenceEmitter, Emitter, EvolutionEmitter};
use luminary::restart::RestartCounts;
use luminary::scheduler::Scheduler;
use luminary::strategy::Strategy;
use serde::Serialize;

/// An emitter as the checkpoint has it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct EmitterLine {
    batch_size: usize,
    /// The step size of its strategy, if it has both.
    sigma: Option<f64>,
    restarts: Option<RestartCounts>,
    /// Rows of it that were told after its generation had ended.
    stale_rows: Option<u64>,
}

impl EmitterLine {
    /// All emitters of a scheduler.
    pub(crate) fn of(scheduler: &Scheduler) -> Vec<Self> {
        let mut stale = scheduler.stale_rows();
        let line = |emitter: &dyn Emitter| Self {
            batch_size: emitter.batch_size(),
            sigma: sigma_of(emitter),
            restarts: emitter.restarts(),
            stale_rows: stale.next(),
        };
        scheduler.emitters().map(line).collect()
    }
}

fn sigma_of(emitter: &dyn Emitter) -> Option<f64> {
    let evolution = emitter.downcast_ref::<EvolutionEmitter>().map(EvolutionEmitter::strategy);
    let arborescence = emitter.downcast_ref::<ArborescenceEmitter>().map(ArborescenceEmitter::strategy);
    let sigma = match evolution.or(arborescence)?.downcast_ref::<Strategy>()? {
        Strategy::CmaEs(strategy) => strategy.sigma(),
        Strategy::SepCmaEs(strategy) => strategy.sigma(),
        Strategy::LmMaEs(strategy) => strategy.sigma(),
        // It has a fixed step, and moves by gradients.
        Strategy::OpenAiEs(_) => return None,
    };
    sigma.is_finite().then_some(sigma)
}
