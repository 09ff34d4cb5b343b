//! Where a setting has a meaning.

use luminary::archive::CellsConfig;
use luminary::preset::Preset;
use luminary::scheduler::Order;

use super::super::archive::has_discount;
use super::super::{Goal, ProblemConfig, RunConfig, StrategyName};

/// Where a setting has a meaning. Elsewhere it is refused if it can only be a mistake, and otherwise said to change
/// nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everywhere.
    Always,
    /// For built-in domains.
    Domain,
    /// For problems that are evaluated by a program, by hand or by Python.
    OwnProblem,
    /// For evaluators of any protocol.
    Program,
    /// For evaluators that are spoken to through files.
    Files,
    /// For evaluators that are spoken to in lines.
    Lines,
    /// For evaluators on other machines.
    Hosts,
    /// For archives of this kind, or with cells of this kind.
    Kind(&'static str),
    /// For algorithms with thresholds that rise in cells.
    Thresholds,
    /// For algorithms that look at where thresholds start, and for costs.
    FirstThreshold,
    /// For emitters that rank, which those of the MAP-Elites variants do not.
    Ranked,
    /// For emitters that start somewhere, which those of the MAP-Elites variants do not.
    Started,
    /// For emitters with the strategy CMA-ES, or along gradients.
    Equations,
    /// For this algorithm.
    Preset(&'static str),
    /// For algorithms along gradients, given or estimated.
    Gradients,
    /// For results that take effect when they come.
    Completion,
    /// For problems whose evaluations of the same solution differ.
    Noisy,
}

impl Scope {
    /// The scope in words; empty for everywhere.
    pub fn words(self) -> String {
        match self {
            Self::Always | Self::Program => String::new(),
            Self::Domain => "for a domain".into(),
            Self::OwnProblem => "not for a domain".into(),
            Self::Files => "for `protocol = \"files\"`".into(),
            Self::Lines => "for `protocol = \"json-lines\"`".into(),
            Self::Hosts => "for `hosts`".into(),
            Self::Kind(kind) => format!("for `kind = {kind:?}`"),
            Self::Thresholds => "for `cma_mae`, `cma_maega`, `cma_maega_df` and `auto`".into(),
            Self::FirstThreshold => {
                "for `cma_mae`, `cma_maega`, `cma_maega_df`, `auto`, `dms` and `cma_es`, and to minimise".into()
            }
            Self::Ranked => "not for `map_elites` and `map_elites_line`".into(),
            Self::Started => "not for `map_elites` and `map_elites_line`, which start from many solutions".into(),
            Self::Equations => "for the strategy `cma_es` and for algorithms along gradients".into(),
            Self::Preset(name) => format!("for `{name}`"),
            Self::Gradients => "for `cma_mega`, `cma_maega`, `cma_maega_df` and `auto`".into(),
            Self::Completion => "for `order = \"completion\"`".into(),
            Self::Noisy => "for `noisy = true`".into(),
        }
    }

    /// Whether it holds for a run.
    pub(in super::super) fn holds_for(self, config: &RunConfig) -> bool {
        let preset = config.algorithm.preset;
        let varies_only = matches!(preset, Preset::MapElites | Preset::MapElitesLine);
        let is_along_gradients = preset.needs_gradients() || preset.has_probes();
        match self {
            Self::Always | Self::Program => true,
            Self::Domain => matches!(config.problem, ProblemConfig::Domain { .. }),
            Self::OwnProblem => !matches!(config.problem, ProblemConfig::Domain { .. }),
            Self::Files => is_spoken_to(config, Speech::Files),
            Self::Lines => is_spoken_to(config, Speech::Lines),
            Self::Hosts => is_spoken_to(config, Speech::Hosts),
            Self::Kind(kind) => {
                config.archive.kind.name() == kind || config.archive.cells().map(CellsConfig::name) == Some(kind)
            }
            Self::Thresholds => preset.has_thresholds(),
            Self::FirstThreshold => {
                let starts_somewhere =
                    preset.anneals() || preset == Preset::CmaEs || has_discount(&config.archive.kind);
                starts_somewhere || config.goal() == Goal::Minimise
            }
            Self::Ranked | Self::Started => !varies_only,
            Self::Equations => {
                let of_solutions = !varies_only && config.algorithm.strategy == StrategyName::CmaEs;
                of_solutions || is_along_gradients
            }
            Self::Preset(name) => preset.name() == name,
            Self::Gradients => is_along_gradients,
            Self::Completion => matches!(config.run.order, Order::Completion { .. }),
            Self::Noisy => config.algorithm.noise.is_some(),
        }
    }

    /// What a run has where the scope does not hold.
    pub(in super::super) fn found(self, config: &RunConfig) -> String {
        match self {
            Self::Kind(_) => format!("`kind = {:?}`", config.archive.kind.name()),
            Self::Files => "`protocol = \"json-lines\"`".into(),
            Self::Lines => "`protocol = \"files\"`".into(),
            Self::Hosts => "none".into(),
            Self::Completion => "`order = \"rows\"`".into(),
            Self::Noisy => "`noisy = false`".into(),
            Self::Equations if config.algorithm.strategy != StrategyName::CmaEs => {
                format!("`strategy = {:?}`", config.algorithm.strategy.name())
            }
            _ => format!("`{}`", config.algorithm.preset),
        }
    }

    /// Whether a setting outside of its scope can only be a mistake. Studies over algorithms give all of them the same
    /// settings, and a run may get hosts when it is resumed.
    pub(in super::super) fn is_strict(self) -> bool {
        matches!(self, Self::Kind(_))
    }
}

/// How a program is spoken to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Speech {
    Files,
    Lines,
    Hosts,
}

#[cfg(unix)]
fn is_spoken_to(config: &RunConfig, speech: Speech) -> bool {
    use crate::external::Protocol;

    let ProblemConfig::External { evaluator, .. } = &config.problem else { return false };
    match speech {
        Speech::Files => evaluator.protocol == Protocol::Files,
        Speech::Lines => evaluator.protocol == Protocol::JsonLines,
        Speech::Hosts => !evaluator.hosts.is_empty(),
    }
}

/// Where there are no programs, nobody is spoken to.
#[cfg(not(unix))]
fn is_spoken_to(_: &RunConfig, _: Speech) -> bool {
    false
}
