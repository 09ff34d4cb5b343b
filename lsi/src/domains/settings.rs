//! The paper's algorithms on the two domains, with its settings.

use luminary::archive::LearningRate;
use luminary::emitter::{EmitterConfig, Selection};
use luminary::preset::Preset;
use luminary::problem::ProblemSpec;
use luminary::restart::RestartConfig;
use luminary::scheduler::SchedulerConfig;
use luminary::strategy::GradientConfig;

/// One of the domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LsiDomain {
    /// LSI (StyleGAN).
    StyleGan,
    /// LSI (StyleGAN2).
    StyleGan2,
    /// Faces. They are not of the paper: their settings are those of LSI (StyleGAN2), which standardises w as they do.
    Faces,
}

/// What the paper sets for an algorithm on a domain (Appendix A), beside one emitter of 36 evaluations.
#[derive(Clone, Debug, PartialEq)]
pub struct PaperSettings {
    /// Noise or initial step size.
    pub sigma: f64,
    /// Stretch of MAP-Elites (line).
    pub line_sigma: f64,
    /// Archive learning rate.
    pub alpha: f64,
    /// Initial threshold.
    pub min_f: f64,
    /// Step of Adam.
    pub eta: f64,
    /// When emitters start again.
    pub restart: RestartConfig,
    /// How many of a batch are learnt from.
    pub selection: Selection,
}

impl PaperSettings {
    /// Archive cells along each measure (paper, Appendix A, "Archives").
    pub const RESOLUTION: usize = 200;
    /// Iterations of a trial.
    pub const N_ITERATIONS: u64 = 10_000;
    /// Trials of which the tables give the mean.
    pub const N_TRIALS: u64 = 5;
}

impl LsiDomain {
    /// The algorithms that the paper runs on the domain: on StyleGAN2 the covariance matrix of CMA-ME and CMA-MAE would be
    /// too large. For faces, all of them.
    pub fn presets(self) -> &'static [Preset] {
        use Preset as P;
        match self {
            Self::StyleGan | Self::Faces => {
                &[P::MapElites, P::MapElitesLine, P::CmaMe, P::CmaMae, P::CmaMega, P::CmaMaega]
            }
            Self::StyleGan2 => &[P::MapElites, P::MapElitesLine, P::CmaMega, P::CmaMaega],
        }
    }

    /// An algorithm with the paper's settings for a problem of this domain, starting from `start`.
    pub fn scheduler(self, preset: Preset, spec: &ProblemSpec, start: &[f64], seed: u64) -> SchedulerConfig {
        let paper = self.settings(preset);
        let mut config = preset.for_problem(spec);
        config.seed = seed;
        config.x0 = start.to_vec();
        config.n_emitters = 1;
        config.resolution = vec![PaperSettings::RESOLUTION; spec.measure_dim()];
        config.sigma = paper.sigma;
        config.line_sigma = paper.line_sigma;
        config.learning_rate = LearningRate::Fixed(paper.alpha);
        config.min_f = paper.min_f;
        config.step = GradientConfig::adam(paper.eta);

        let mut config = config.config();
        for group in &mut config.emitters {
            match &mut group.emitter {
                EmitterConfig::Evolution(emitter) => {
                    emitter.restart = paper.restart;
                    emitter.selection = paper.selection;
                }
                EmitterConfig::Arborescence(emitter) => emitter.restart = paper.restart,
                _ => {}
            }
        }
        config
    }

    /// The paper's settings of an algorithm. Those that it does not run on the domain get the settings of the nearest one
    /// that it does.
    pub fn settings(self, preset: Preset) -> PaperSettings {
        let (alpha, min_f, eta) = match self {
            Self::StyleGan => (0.1, 55.0, 0.002),
            Self::StyleGan2 | Self::Faces => (0.02, 0.0, 0.05),
        };
        PaperSettings {
            sigma: self.sigma(preset),
            line_sigma: 0.2,
            alpha,
            min_f,
            eta,
            restart: self.restart(preset),
            selection: self.selection(preset),
        }
    }

    fn sigma(self, preset: Preset) -> f64 {
        match (self, preset) {
            (Self::StyleGan, Preset::MapElites) => 0.2,
            (_, Preset::MapElites | Preset::MapElitesLine) => 0.1,
            (Self::StyleGan, Preset::CmaMega | Preset::CmaMaega) => 0.002,
            (_, Preset::CmaMega | Preset::CmaMaega) => 0.01,
            // One w for all layers, in units of its deviation.
            (Self::Faces, _) => 0.1,
            _ => 0.02,
        }
    }

    fn restart(self, preset: Preset) -> RestartConfig {
        match (self, preset) {
            (Self::StyleGan, Preset::CmaMae | Preset::CmaMaega) => {
                RestartConfig { every: Some(50), ..RestartConfig::NO_IMPROVEMENT }
            }
            (Self::StyleGan, _) => RestartConfig::NO_IMPROVEMENT,
            (Self::StyleGan2 | Self::Faces, _) => RestartConfig::BASIC,
        }
    }

    fn selection(self, preset: Preset) -> Selection {
        match (self, preset) {
            (Self::StyleGan, Preset::CmaMe | Preset::CmaMeStar) => Selection::Filter,
            _ => Selection::Mu,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_of_the_paper_builds_with_its_settings() {
        let spec = ProblemSpec { solution_dim: 5, measure_bounds: vec![(0.0, 6.0); 2] };
        for domain in [LsiDomain::StyleGan, LsiDomain::StyleGan2, LsiDomain::Faces] {
            for &preset in domain.presets() {
                let config = domain.scheduler(preset, &spec, &[0.5; 5], 3);
                let mut scheduler = config.build().unwrap();
                if config.initial.is_some() {
                    assert_eq!(scheduler.ask().unwrap().len(), 100 * 5);
                    scheduler.tell(&[0.0; 100], &[0.0; 200]).unwrap();
                }
                let mut n_rows = 0;
                if scheduler.needs_gradients() {
                    // Beside the start, by so little that only symmetry is broken.
                    let starts = scheduler.ask_gradients().unwrap();
                    assert!(starts.iter().all(|component| (component - 0.5).abs() < 1e-7), "{starts:?}");
                    scheduler.tell_gradients(&[0.0], &[0.0; 2], &[1.0; 15]).unwrap();
                    n_rows += 1;
                }
                n_rows += scheduler.ask().unwrap().len() / 5;
                assert_eq!(n_rows, 36, "{domain:?} {preset}");
            }
        }
    }

    #[test]
    fn restarts_and_selection_are_the_papers() {
        let spec = ProblemSpec { solution_dim: 5, measure_bounds: vec![(0.0, 6.0); 2] };
        let emitter =
            |domain: LsiDomain, preset| domain.scheduler(preset, &spec, &[0.0; 5], 3).emitters.remove(0).emitter;
        let EmitterConfig::Evolution(mae) = emitter(LsiDomain::StyleGan, Preset::CmaMae) else { panic!("evolution") };
        assert_eq!(mae.restart, RestartConfig { no_improvement: true, every: Some(50) });
        assert_eq!(mae.selection, Selection::Mu);
        let EmitterConfig::Evolution(me) = emitter(LsiDomain::StyleGan, Preset::CmaMe) else { panic!("evolution") };
        assert_eq!((me.restart, me.selection), (RestartConfig::NO_IMPROVEMENT, Selection::Filter));
        let EmitterConfig::Arborescence(maega) = emitter(LsiDomain::StyleGan2, Preset::CmaMaega) else {
            panic!("arborescence")
        };
        assert_eq!(maega.restart, RestartConfig::BASIC);
        assert_eq!((maega.sigma0, maega.step), (0.01, GradientConfig::adam(0.05)));
    }
}
