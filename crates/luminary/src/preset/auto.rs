//! The automatic preset: what it picks for a problem and a budget, and why.
//!
//! Two kinds of emitters share the evaluations of an iteration, and whoever improves the archive more gets more of them:
//! CMA-MAE emitters, which need nothing, and CMA-MAEGA emitters, whose gradients are given or estimated. The figures behind
//! the rules are in docs/frontier.md.

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
    let evolution = evolution(preset, &mut reasons);
    let n_branching = n_branching_emitters(preset, &mut reasons);
    if n_branching == 0 {
        return Choice {
            emitters: vec![EmitterGroup { count: preset.n_emitters, emitter: evolution }],
            pool: Pool::All,
            reasons,
        };
    }
    let branching = preset.arborescence(RankerConfig::Improvement);
    if preset.n_emitters == 1 {
        reasons.push("the one emitter branches along gradients: there is nobody to share with".into());
        return Choice { emitters: vec![EmitterGroup { count: 1, emitter: branching }], pool: Pool::All, reasons };
    }
    // A sixth of the places is each group's for good.
    let least = (preset.n_emitters / 6).clamp(1, n_branching);
    let most = preset.n_emitters - least;
    let n_branching = n_branching.min(most);
    reasons.push(format!(
        "between {least} and {n_branching} of {} emitters branch along gradients, the others are those of CMA-MAE: by \
         their improvement per evaluation",
        preset.n_emitters,
    ));
    let memory = MEMORY * (preset.n_emitters * preset.batch_size) as u64;
    Choice {
        emitters: vec![
            EmitterGroup { count: n_branching, emitter: branching },
            EmitterGroup { count: (preset.n_emitters - n_branching).max(most), emitter: evolution },
        ],
        pool: Pool::Shares(SharesConfig { n_active: preset.n_emitters, least, memory }),
        reasons,
    }
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

/// A CMA-MAE emitter with a strategy for so many components.
fn evolution(preset: &PresetConfig, reasons: &mut Vec<String>) -> EmitterConfig {
    let mut emitter = preset.evolution(RankerConfig::Improvement, Selection::Mu, RestartConfig::BASIC);
    let n = preset.spec.solution_dim;
    if let EmitterConfig::Evolution(evolution) = &mut emitter
        && n >= MANY_COMPONENTS
    {
        evolution.strategy = StrategyConfig::LmMaEs(LmMaConfig::default());
        reasons.push(format!("CMA-MAE emitters use lm_ma_es: {n} components are many for a full covariance matrix"));
    }
    emitter
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
        assert_eq!(n_branching(&choose(&preset(100, None))), 13);
        assert_eq!(n_branching(&choose(&preset(100, Some(5_400_000)))), 13);
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
            let scheduler = PresetConfig { n_emitters, ..preset(4, Some(1000)) }.build();
            assert!(scheduler.is_ok(), "{n_emitters}: {:?}", scheduler.err());
        }
    }

    #[test]
    fn gradients_that_are_given_are_used() {
        let given = PresetConfig { gradients: Gradients::Given, ..preset(1000, Some(100)) };
        assert_eq!(n_branching(&choose(&given)), 13);
        assert!(given.build().unwrap().has_gradient_emitters());
    }
}
