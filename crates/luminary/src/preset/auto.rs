//! The automatic preset: what it picks for a problem and a budget, and why.
//!
//! Several kinds of emitters share the evaluations of an iteration, and whoever improves the archive more gets more of them:
//! CMA-MAE emitters, which need nothing, with a step size for each kind, and CMA-MAEGA emitters, whose gradients are given
//! or estimated. The figures behind the rules are in docs/frontier.md.

use serde::{Deserialize, Serialize};

use super::PresetConfig;
use crate::emitter::{EmitterConfig, Gradients, Selection};
use crate::ranker::RankerConfig;
use crate::restart::RestartConfig;
use crate::scheduler::{EmitterGroup, Pool, SharesConfig};
use crate::strategy::{LmMaConfig, StrategyConfig};

/// From this number of components on a full covariance matrix learns too slowly for the budgets people have.
pub const MANY_COMPONENTS: usize = 200;

/// Estimates that an emitter must be able to pay for, or it is not worth having.
const FEWEST_ESTIMATES: u64 = 20;

/// Iterations whose improvement decides about the places of the next.
const MEMORY: u64 = 20;

/// Initial step sizes that are tried side by side, in shares of the largest.
const STEP_SIZES: [f64; 3] = [1.0, 0.3, 0.1];

/// A further step size is tried for every so many emitters: each keeps a place even where it is the wrong one.
const EMITTERS_PER_STEP_SIZE: usize = 5;

/// Which initial step sizes the CMA-MAE emitters of the automatic preset have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepSizes {
    /// [`PresetConfig::sigma`], because somebody knows that it is right.
    #[default]
    Sigma,
    /// That one and smaller ones side by side; improvement picks among them.
    Several,
}

/// What the automatic preset picks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Choice {
    pub(super) emitters: Vec<EmitterGroup>,
    pub(super) pool: Pool,
    /// A sentence for each decision.
    pub(super) reasons: Vec<String>,
}

/// Picks emitters and their shares.
pub(super) fn choose(preset: &PresetConfig) -> Choice {
    let mut reasons = Vec::new();
    let mut kinds = evolution(preset, &mut reasons);
    let n_branching = n_branching_emitters(preset, &mut reasons);
    if preset.n_emitters == 1 && n_branching == 1 {
        reasons.push("the one emitter branches along gradients: there is nobody to share with".into());
        kinds.clear();
    }
    let n_kinds = kinds.len() + usize::from(n_branching > 0);
    if n_kinds == 1 {
        let emitter = kinds.pop().unwrap_or_else(|| preset.arborescence(RankerConfig::Improvement));
        let emitters = vec![EmitterGroup { count: preset.n_emitters, emitter }];
        return Choice { emitters, pool: Pool::All, reasons };
    }
    // Every kind keeps a place for good, so that it can show when its time has come.
    let least = 1;
    let most = preset.n_emitters - least * (n_kinds - 1);
    let mut emitters = Vec::with_capacity(n_kinds);
    if n_branching > 0 {
        let count = n_branching.min(most);
        reasons.push(format!(
            "between {least} and {count} of {} emitters branch along gradients, the others are those of CMA-MAE: by \
             their improvement per evaluation",
            preset.n_emitters,
        ));
        emitters.push(EmitterGroup { count, emitter: preset.arborescence(RankerConfig::Improvement) });
    }
    emitters.extend(kinds.into_iter().map(|emitter| EmitterGroup { count: most, emitter }));
    let memory = MEMORY * (preset.n_emitters * preset.batch_size) as u64;
    let pool = Pool::Shares(SharesConfig { n_active: preset.n_emitters, least, memory });
    Choice { emitters, pool, reasons }
}

/// How many emitters may branch along gradients.
fn n_branching_emitters(preset: &PresetConfig, reasons: &mut Vec<String>) -> usize {
    let Gradients::Estimated(estimate) = preset.gradients else {
        reasons.push("the problem gives gradients".into());
        return preset.n_emitters;
    };
    let n_probes = estimate.n_probes(preset.spec.solution_dim) as u64;
    let Some(budget) = preset.budget else {
        reasons
            .push(format!("gradients are estimated, from {n_probes} evaluations each time; the budget is not known"));
        return preset.n_emitters;
    };
    let n_affordable = budget / (FEWEST_ESTIMATES * n_probes);
    reasons.push(match n_affordable {
        0 => format!("gradients are not estimated: {FEWEST_ESTIMATES} times {n_probes} evaluations are more than the budget of {budget}"),
        _ => format!("gradients are estimated, from {n_probes} evaluations each time"),
    });
    usize::try_from(n_affordable).unwrap_or(usize::MAX).min(preset.n_emitters)
}

/// CMA-MAE emitters with a strategy for so many components, one for each step size.
fn evolution(preset: &PresetConfig, reasons: &mut Vec<String>) -> Vec<EmitterConfig> {
    let n = preset.spec.solution_dim;
    if n >= MANY_COMPONENTS {
        reasons.push(format!("CMA-MAE emitters use lm_ma_es: {n} components are many for a full covariance matrix"));
    }
    let sigmas = step_sizes(preset);
    if sigmas.len() > 1 {
        let sigmas: Vec<String> = sigmas.iter().map(|sigma| format!("{}", (sigma * 1e6).round() / 1e6)).collect();
        let sigmas = sigmas.join(", ");
        reasons.push(format!("CMA-MAE emitters start with step sizes {sigmas}: by their improvement per evaluation"));
    }
    let with_step_size = |sigma: f64| {
        let preset = PresetConfig { sigma, ..preset.clone() };
        let mut emitter = preset.evolution(RankerConfig::Improvement, Selection::Mu, RestartConfig::BASIC);
        if let EmitterConfig::Evolution(evolution) = &mut emitter
            && n >= MANY_COMPONENTS
        {
            evolution.strategy = StrategyConfig::LmMaEs(LmMaConfig::default());
        }
        emitter
    };
    sigmas.into_iter().map(with_step_size).collect()
}

/// The initial step sizes of CMA-MAE emitters, the largest first.
fn step_sizes(preset: &PresetConfig) -> Vec<f64> {
    let n_sizes = match preset.step_sizes {
        StepSizes::Sigma => 1,
        StepSizes::Several => (preset.n_emitters / EMITTERS_PER_STEP_SIZE).clamp(1, STEP_SIZES.len()),
    };
    STEP_SIZES[..n_sizes].iter().map(|share| share * preset.sigma).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::Preset;
    use crate::problem::ProblemSpec;

    fn preset(solution_dim: usize, budget: Option<u64>) -> PresetConfig {
        let spec = ProblemSpec { solution_dim, measure_bounds: vec![(-1.0, 1.0); 2] };
        PresetConfig { budget, ..Preset::Auto.for_problem(&spec) }
    }

    fn n_branching(choice: &Choice) -> usize {
        let is_branching = |group: &&EmitterGroup| matches!(group.emitter, EmitterConfig::Arborescence(_));
        choice.emitters.iter().filter(is_branching).map(|group| group.count).sum()
    }

    #[test]
    fn estimates_must_be_affordable() {
        assert_eq!(n_branching(&choose(&preset(100, None))), 12);
        assert_eq!(n_branching(&choose(&preset(100, Some(5_400_000)))), 12);
        let few = choose(&preset(1000, Some(50_000)));
        assert_eq!(n_branching(&few), 2, "50,000 evaluations are 20 estimates for each of two");
        let none = choose(&preset(1_000_000, Some(50_000)));
        assert_eq!(n_branching(&none), 0);
        assert!(none.reasons.iter().any(|reason| reason.contains("more than the budget of 50000")), "{none:?}");
        for choice in [few, none] {
            assert!(choice.reasons.iter().any(|reason| reason.contains("lm_ma_es")), "{choice:?}");
        }
    }

    #[test]
    fn any_number_of_emitters_builds() {
        for n_emitters in 1..20 {
            for (dim, budget) in [(4, 1000), (1000, 1000)] {
                let scheduler = PresetConfig { n_emitters, ..preset(dim, Some(budget)) }.build();
                assert!(scheduler.is_ok(), "{n_emitters}: {:?}", scheduler.err());
            }
        }
    }

    fn sigmas(choice: &Choice) -> Vec<f64> {
        let sigma = |group: &EmitterGroup| match &group.emitter {
            EmitterConfig::Evolution(evolution) => Some(evolution.sigma0),
            _ => None,
        };
        choice.emitters.iter().filter_map(sigma).collect()
    }

    #[test]
    fn step_sizes_compete_unless_one_is_given_or_emitters_are_few() {
        let all = choose(&preset(100, None));
        assert_eq!(sigmas(&all), [0.5, 0.15, 0.05]);
        assert_eq!(all.pool.n_active(0), 15);
        let says_so =
            |choice: &Choice| choice.reasons.iter().any(|reason| reason.contains("step sizes 0.5, 0.15, 0.05"));
        assert!(says_so(&all), "{all:?}");
        let given = PresetConfig { sigma: 0.2, step_sizes: StepSizes::Sigma, ..preset(100, None) };
        assert_eq!(sigmas(&choose(&given)), [0.2]);
        assert!(!choose(&given).reasons.iter().any(|reason| reason.contains("step sizes")));
        for (n_emitters, n_sizes) in [(1, 0), (2, 1), (9, 1), (10, 2), (14, 2), (15, 3), (40, 3)] {
            let choice = choose(&PresetConfig { n_emitters, ..preset(100, None) });
            assert_eq!(sigmas(&choice).len(), n_sizes, "{n_emitters}");
        }
        let without_estimates = choose(&preset(1000, Some(1000)));
        assert_eq!(n_branching(&without_estimates), 0);
        assert_eq!(sigmas(&without_estimates).len(), 3);
        assert!(matches!(without_estimates.pool, Pool::Shares(_)), "{without_estimates:?}");
    }

    #[test]
    fn gradients_that_are_given_are_used() {
        let given = PresetConfig { gradients: Gradients::Given, ..preset(1000, Some(100)) };
        assert_eq!(n_branching(&choose(&given)), 12);
        assert!(given.build().unwrap().has_gradient_emitters());
    }
}
