//! From the resolved settings to the engine's configuration.

use luminary::archive::{Acceptance, ArchiveConfig};
use luminary::emitter::EmitterConfig;
use luminary::preset::PresetConfig;
use luminary::problem::ProblemSpec;
use luminary::scheduler::{Pool, SchedulerConfig};
use luminary::strategy::{Bounds, CmaConfig, LmMaConfig, OpenAiConfig, SepCmaConfig, StrategyConfig};

use super::archive::has_thresholds;
use super::names::StrategyName;
use super::{AlgorithmSettings, RunConfig};

impl RunConfig {
    /// The engine's configuration for a problem of this shape.
    pub fn scheduler(&self, spec: &ProblemSpec) -> SchedulerConfig {
        let (archive, algorithm) = (&self.archive, &self.algorithm);
        let preset = PresetConfig {
            spec: spec.clone(),
            // Replaced below.
            resolution: vec![1; spec.measure_dim()],
            sigma: algorithm.sigma,
            line_sigma: algorithm.line_sigma,
            learning_rate: archive.learning_rate,
            budget: Some(self.evaluations_per_iteration().saturating_mul(self.run.iterations)),
            min_f: self.goal().turn(archive.min_f),
            step: algorithm.gradient,
            n_emitters: algorithm.emitters,
            batch_size: algorithm.batch_size,
            x0: algorithm.x0.clone(),
            variant: algorithm.variant,
            seed: self.run.seed,
            ..algorithm.preset.for_problem(spec)
        };
        let mut config = preset.config();
        config.archive.kind = archive.kind.clone();
        config.archive.rule = archive.update;
        config.archive.qd_score_offset = self.goal().turn(archive.qd_score_offset);
        config.archive.extra_columns = self.problem.extra_columns();
        if !has_thresholds(&archive.kind) {
            // Presets whose thresholds matter were refused; for CMA-ES alone the archive has no say in the ranking.
            config.archive.acceptance = Acceptance::Elitist;
        }
        config.result = archive.result.clone().map(|cells| ArchiveConfig {
            extra_columns: config.archive.extra_columns.clone(),
            qd_score_offset: config.archive.qd_score_offset,
            ..ArchiveConfig::cells(spec.solution_dim, cells)
        });
        config.non_finite = Some(self.run.non_finite);
        config.order = self.run.order;
        if let Some(bandit) = algorithm.bandit {
            config.pool = Pool::Bandit(bandit);
        }
        for group in &mut config.emitters {
            algorithm.apply_to(&mut group.emitter);
        }
        config
    }
}

impl AlgorithmSettings {
    /// Writes what is set beside the preset into an emitter's configuration.
    fn apply_to(&self, emitter: &mut EmitterConfig) {
        let bounds = self.bounds.as_ref().map(|bounds| Bounds {
            lower: bounds.lower.clone(),
            upper: bounds.upper.clone(),
            rule: bounds.rule,
        });
        match emitter {
            EmitterConfig::Gaussian(config) => config.bounds = bounds,
            EmitterConfig::IsoLine(config) => config.bounds = bounds,
            EmitterConfig::Genetic(config) => config.bounds = bounds,
            EmitterConfig::GradientOperator(config) => config.bounds = bounds,
            EmitterConfig::Evolution(config) => {
                config.bounds = bounds;
                config.ranker = self.ranker.clone().unwrap_or(config.ranker.clone());
                config.selection = self.selection.unwrap_or(config.selection);
                config.restart = self.restart.unwrap_or(config.restart);
                config.strategy = self.strategy_config();
            }
            EmitterConfig::Arborescence(config) => {
                config.bounds = bounds;
                config.ranker = self.ranker.clone().unwrap_or(config.ranker.clone());
                config.selection = self.selection.unwrap_or(config.selection);
                config.restart = self.restart.unwrap_or(config.restart);
                config.strategy = self.strategy_config();
            }
        }
    }

    fn strategy_config(&self) -> StrategyConfig {
        match self.strategy {
            StrategyName::CmaEs => StrategyConfig::CmaEs(CmaConfig { variant: self.variant, ..CmaConfig::default() }),
            StrategyName::SepCmaEs => StrategyConfig::SepCmaEs(SepCmaConfig::default()),
            StrategyName::LmMaEs => StrategyConfig::LmMaEs(LmMaConfig::default()),
            StrategyName::OpenAiEs => StrategyConfig::OpenAiEs(OpenAiConfig::default()),
        }
    }
}
