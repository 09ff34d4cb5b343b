//! A search whose evaluations of the same solution differ, as data.

use serde::{Deserialize, Serialize};

use super::config::{EmitterGroup, SchedulerConfig};
use crate::archive::{Acceptance, ArchiveConfig, NoiseConfig, UpdateRule};
use crate::emitter::{EmitterConfig, ReevaluationConfig};

/// What a search does about noise.
///
/// # Example
/// ```
/// use luminary::preset::Preset;
/// use luminary::problem::ProblemSpec;
/// use luminary::scheduler::NoiseHandling;
///
/// let spec = ProblemSpec { solution_dim: 5, measure_bounds: vec![(-2.0, 2.0); 2] };
/// let config = Preset::CmaMae.for_problem(&spec).config().with_noise(&NoiseHandling::default());
/// assert!(config.build()?.result().stats().n_elites == 0);
/// # Ok::<(), luminary::error::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseHandling {
    /// The share of all evaluations that evaluates solutions again, from 0 up to but not 1.
    pub share: f64,
    /// How archives correct their elites.
    #[serde(flatten)]
    pub archive: NoiseConfig,
}

impl Default for NoiseHandling {
    fn default() -> Self {
        Self { share: 0.25, archive: NoiseConfig::default() }
    }
}

impl NoiseHandling {
    /// Evaluations of solutions that the archive has, beside so many of new ones.
    pub fn n_beside(&self, n_new: usize) -> usize {
        (n_new as f64 * self.share / (1.0 - self.share)).round() as usize
    }
}

impl SchedulerConfig {
    /// The same search, of evaluations that differ for the same solution.
    ///
    /// The result archive corrects its elites, which are what emitters see. The archive that is searched stays as it is, though
    /// luck raises its thresholds: it does so where many solutions were, and so leads emitters to where few were. Emitters that
    /// evaluate again stand behind the others, as many as bring the share with batches of about the same size.
    pub fn with_noise(mut self, noise: &NoiseHandling) -> Self {
        let like_archive =
            || ArchiveConfig { acceptance: Acceptance::Elitist, rule: UpdateRule::Sequential, ..self.archive.clone() };
        let result = self.result.take().unwrap_or_else(like_archive);
        self.result = Some(ArchiveConfig { noise: Some(noise.archive), ..result });
        let n_emitters = self.emitters.iter().map(|group| group.count).sum();
        let n_active = self.pool.n_active(n_emitters);
        let batch_size =
            self.emitters.first().map_or(1, |group| group.emitter.usual_batch_size(self.archive.solution_dim));
        let n_rows = noise.n_beside(n_active * batch_size);
        if n_rows > 0 {
            let count = (n_rows as f64 / batch_size as f64).round().max(1.0) as usize;
            let emitter = EmitterConfig::Reevaluation(ReevaluationConfig { batch_size: n_rows.div_ceil(count) });
            self.emitters.push(EmitterGroup { count, emitter });
        }
        self
    }
}
