//! Trials of mixtures of emitters with estimated gradients and CMA-MAE emitters.

use std::io::Write;

use clap::Args;
use luminary::archive::{Acceptance, LearningRate};
use luminary::emitter::{
    ArborescenceConfig, Difference, EmitterConfig, EstimateConfig, Gradients, Refresh, Scale, Selection,
};
use luminary::preset::Preset;
use luminary::ranker::RankerConfig;
use luminary::restart::RestartConfig;
use luminary::scheduler::EmitterGroup;
use luminary::strategy::gradient::GradientConfig;
use luminary::strategy::{StrategyConfig, Variant};
use luminary_domains::Domain;

use crate::paper::paper_config;

#[derive(Args)]
pub(crate) struct FrontierArgs {
    /// Share of 5.4 million evaluations
    #[arg(long, default_value_t = 0.01)]
    budget: f64,
    /// Emitters with estimated gradients, of 15
    #[arg(long, default_value_t = 10)]
    k: usize,
    #[arg(long, default_value_t = 100)]
    n: usize,
    #[arg(long, default_value_t = 0.1)]
    length: f64,
    #[arg(long, default_value_t = 0)]
    every: u32,
    /// Share of the measure range; 0: the paper's sigma_g
    #[arg(long, default_value_t = 0.14)]
    share: f64,
    #[arg(long, default_value_t = 1)]
    from: u64,
    #[arg(long, default_value_t = 3)]
    seeds: u64,
    #[arg(long)]
    central: bool,
    /// Groups share the places; so many are kept by each
    #[arg(long)]
    least: Option<usize>,
    #[arg(long, default_value_t = 20)]
    memory: u64,
    #[arg(long, default_value_t = 100)]
    resolution: usize,
    #[arg(long)]
    lm: bool,
    #[arg(long)]
    step: bool,
}

pub(crate) fn run(args: &FrontierArgs) -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout();
    let total = (5_400_000.0 * args.budget) as u64;
    for domain in Domain::ALL {
        let problem = domain.build(args.n)?;
        let problem: Box<dyn luminary::problem::Problem> = if args.step { Box::new(Stepped(problem)) } else { problem };
        let mut scores = Vec::new();
        for seed in args.from..args.from + args.seeds {
            let mut config = paper_config(Preset::CmaMae, domain, args.n, args.resolution, Variant::Standard, seed)?;
            config.archive.acceptance =
                Acceptance::Soft { learning_rate: LearningRate::Auto { budget: total }, min_f: 0.0 };
            let sigma_g = domain.paper_settings().sigma_g;
            let (sigma0, scale) =
                if args.share > 0.0 { (1.0, Scale::Measures(args.share)) } else { (sigma_g, Scale::Solutions) };
            let emitter = EmitterConfig::Arborescence(ArborescenceConfig {
                x0: vec![0.0; args.n],
                sigma0,
                step: GradientConfig::Ascent { learning_rate: 1.0 },
                ranker: RankerConfig::Improvement,
                selection: Selection::Mu,
                restart: RestartConfig::BASIC,
                strategy: StrategyConfig::default(),
                batch_size: 36,
                normalise: Some(1e-8),
                bounds: None,
                gradients: Gradients::Estimated(EstimateConfig {
                    difference: if args.central { Difference::Central } else { Difference::Forward },
                    length: args.length,
                    refresh: if args.every > 0 { Refresh::Every(args.every) } else { Refresh::WhenItPays },
                }),
                scale,
            });
            if args.lm {
                if let EmitterConfig::Evolution(evolution) = &mut config.emitters[0].emitter {
                    evolution.strategy = StrategyConfig::LmMaEs(Default::default());
                }
            }
            config.emitters[0].count = 15 - args.k;
            config.emitters.retain(|group| group.count > 0);
            if args.k > 0 {
                config.emitters.insert(0, EmitterGroup { count: args.k, emitter });
            }
            if let Some(least) = args.least {
                config.emitters.iter_mut().for_each(|group| group.count = 15 - least);
                config.pool = luminary::scheduler::Pool::Shares(luminary::scheduler::SharesConfig {
                    n_active: 15,
                    least,
                    memory: args.memory * 540,
                });
            }
            let mut scheduler = config.build()?;
            while scheduler.evaluations() < total {
                scheduler.run(problem.as_ref(), 1)?;
            }
            scores.push(100.0 * scheduler.result().stats().norm_qd_score / 100.0);
        }
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        let se = (scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>()
            / (scores.len().max(2) - 1) as f64
            / scores.len() as f64)
            .sqrt();
        write!(out, "{} {mean:.2} ± {se:.2}   ", domain.name())?;
        out.flush()?;
    }
    writeln!(out)?;
    Ok(())
}

/// Every component rounded down: no gradients anywhere.
struct Stepped(Box<dyn luminary::problem::Problem>);
impl luminary::problem::Problem for Stepped {
    fn spec(&self) -> luminary::problem::ProblemSpec {
        self.0.spec()
    }
    fn evaluate(&self, solution: &[f64], measures: &mut [f64]) -> f64 {
        let rounded: Vec<f64> = solution.iter().map(|x| (x * 2.0).round() / 2.0).collect();
        self.0.evaluate(&rounded, measures)
    }
}
