//! From the resolved settings to the engine's configuration.

use luminary::archive::{Acceptance, ArchiveConfig, ArchiveKind};
use luminary::emitter::{EmitterConfig, Gradients};
use luminary::preset::{Preset, PresetConfig};
use luminary::problem::ProblemSpec;
use luminary::scheduler::{Pool, SchedulerConfig};
use luminary::strategy::{Bounds, CmaConfig, LmMaConfig, OpenAiConfig, SepCmaConfig, StrategyConfig};

use super::archive::has_thresholds;
use super::names::StrategyName;
use super::{AlgorithmSettings, RunConfig};

/// The longest difference of an estimated gradient, as a share of the narrowest bounds.
const SHARE_OF_BOUNDS: f64 = 0.04;

impl RunConfig {
    /// The engine's configuration for a problem of this shape.
    pub fn scheduler(&self, spec: &ProblemSpec) -> SchedulerConfig {
        let archive = &self.archive;
        let algorithm = &self.algorithm;
        let mut config = self.preset(spec).config();
        config.archive.kind = archive.kind.clone();
        if let ArchiveKind::Discount { discount, .. } = &mut config.archive.kind {
            discount.seed = self.run.seed;
        }
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
        if let Some(initial) = &mut config.initial {
            initial.bounds = algorithm.engine_bounds();
        }
        for group in &mut config.emitters {
            algorithm.apply_to(&mut group.emitter);
        }
        match &algorithm.noise {
            Some(noise) => config.with_noise(noise),
            None => config,
        }
    }

    /// What the algorithm chose for this problem and budget, and why; empty for algorithms that choose nothing.
    pub fn reasons(&self) -> Vec<String> {
        self.problem.spec().map_or(Vec::new(), |spec| self.preset(&spec).reasons())
    }

    fn preset(&self, spec: &ProblemSpec) -> PresetConfig {
        let algorithm = &self.algorithm;
        let mut preset = PresetConfig {
            sigma: algorithm.sigma,
            step_sizes: algorithm.step_sizes,
            line_sigma: algorithm.line_sigma,
            learning_rate: self.archive.learning_rate,
            budget: Some(self.evaluations_per_iteration().saturating_mul(self.run.iterations)),
            min_f: self.goal().turn(self.archive.min_f),
            step: algorithm.gradient,
            n_emitters: algorithm.emitters,
            batch_size: algorithm.batch_size,
            x0: algorithm.x0.clone(),
            variant: algorithm.variant,
            seed: self.run.seed,
            // The archive is the configuration's own; building a fine grid of many measures could not even be written down.
            resolution: vec![1; spec.measure_dim()],
            ..algorithm.preset.for_problem(spec)
        };
        if algorithm.needs_jacobians() {
            preset.gradients = Gradients::Given;
        }
        if let (Gradients::Estimated(estimate), Some(bounds)) = (&mut preset.gradients, &algorithm.bounds) {
            estimate.length = estimate.length.min(SHARE_OF_BOUNDS * bounds.narrowest());
        }
        preset
    }
}

impl AlgorithmSettings {
    /// Writes what is set beside the preset into an emitter's configuration.
    fn apply_to(&self, emitter: &mut EmitterConfig) {
        let bounds = self.engine_bounds();
        match emitter {
            EmitterConfig::Gaussian(config) => config.bounds = bounds,
            EmitterConfig::IsoLine(config) => config.bounds = bounds,
            EmitterConfig::Genetic(config) => config.bounds = bounds,
            EmitterConfig::GradientOperator(config) => config.bounds = bounds,
            EmitterConfig::Reevaluation(_) => {}
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
                // The automatic preset names a strategy for solutions; that of the few coefficients stays what it is.
                if self.preset != Preset::Auto {
                    config.strategy = self.strategy_config();
                }
            }
        }
    }

    fn engine_bounds(&self) -> Option<Bounds> {
        self.bounds.as_ref().map(|bounds| Bounds {
            lower: bounds.lower.clone(),
            upper: bounds.upper.clone(),
            rule: bounds.rule,
        })
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
