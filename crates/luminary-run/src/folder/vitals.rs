//! How the emitters and the evaluations of a run do: what those who watch it are told beside its archives.

use luminary::emitter::{ArborescenceEmitter, Emitter, EvolutionEmitter};
use luminary::restart::RestartCounts;
use luminary::scheduler::Scheduler;
use luminary::strategy::Strategy;
use serde::{Deserialize, Serialize};

use super::durations::Durations;

/// How emitters and evaluations do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Vitals {
    /// The emitters, in their order.
    pub emitters: Vec<EmitterVitals>,
    /// How long evaluations took.
    pub durations: Durations,
    /// Workers that evaluate, if somebody has counted them.
    pub workers: Option<usize>,
}

/// How an emitter does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EmitterVitals {
    /// Rows of its batches.
    pub batch_size: usize,
    /// The step size of its strategy, if it has both.
    pub sigma: Option<f64>,
    /// Its restarts by cause, if it has something to restart.
    pub restarts: Option<RestartCounts>,
    /// Rows of it that were told after its generation had ended.
    pub stale_rows: u64,
    /// Where it is in measure space; see [`Scheduler::place_of`].
    pub place: Option<Vec<f64>>,
}

impl EmitterVitals {
    /// All emitters of a scheduler.
    pub fn of(scheduler: &Scheduler) -> Vec<Self> {
        let mut stale_rows = scheduler.stale_rows();
        let vitals = |(i, emitter): (usize, &dyn Emitter)| Self {
            batch_size: emitter.batch_size(),
            sigma: sigma_of(emitter),
            restarts: emitter.restarts(),
            stale_rows: stale_rows.next().unwrap_or(0),
            place: scheduler.place_of(i).map(<[f64]>::to_vec),
        };
        scheduler.emitters().enumerate().map(vitals).collect()
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
