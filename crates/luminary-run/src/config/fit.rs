//! Which archives an algorithm can search, so that what cannot work together is refused before anything is built.

use luminary::preset::Preset;
use luminary::ranker::RankerConfig;

use super::{AlgorithmSettings, ProblemConfig};

const WITH_THRESHOLDS: &[&str] = &["grid", "cvt", "categorical", "discount"];
const WITH_CELLS: &[&str] = &["grid", "cvt", "categorical", "sliding_boundaries"];
const WITH_CELLS_OR_DENSITY: &[&str] = &["grid", "cvt", "categorical", "sliding_boundaries", "density"];
const CORRECTED: &[&str] = &["grid", "cvt", "density", "discount"];
const OF_QUANTITIES: &[&str] = &["grid", "cvt", "sliding_boundaries", "proximity", "dns", "density", "discount"];

/// Kinds of archives that somebody can work with.
pub(super) struct Fit {
    kinds: &'static [&'static str],
    /// Who, and why only these.
    reason: String,
}

impl Fit {
    pub(super) fn allows(&self, kind: &str) -> bool {
        self.kinds.contains(&kind)
    }

    /// What to expect instead of another kind.
    pub(super) fn expected(&self) -> String {
        let quoted: Vec<_> = self.kinds.iter().map(|kind| format!("{kind:?}")).collect();
        match quoted.split_last() {
            Some((last, others)) if !others.is_empty() => format!("{} or {last} {}", others.join(", "), self.reason),
            _ => format!("{} {}", quoted.join(""), self.reason),
        }
    }
}

/// Everything that limits the choice of an archive.
pub(super) fn fits(problem: &ProblemConfig, algorithm: &AlgorithmSettings) -> Vec<Fit> {
    let preset = algorithm.preset;
    let mut fits = Vec::new();
    let mut fit = |kinds, reason: String| fits.push(Fit { kinds, reason });
    if let ProblemConfig::Domain { name, .. } = problem {
        fit(OF_QUANTITIES, format!("for {name}, whose measures are quantities"));
    }
    if preset.has_thresholds() {
        fit(WITH_THRESHOLDS, format!("for {preset}, which keeps thresholds in cells or by a model"));
    }
    if preset == Preset::Dms {
        fit(&["discount"], format!("for {preset}, whose thresholds are a model's"));
    }
    if algorithm.noise.is_some() {
        fit(CORRECTED, "for a noisy problem, whose elites are corrected in cells that stay where they are".into());
    }
    match (&algorithm.ranker, preset) {
        (None, Preset::DensityDescent) => {
            fit(WITH_CELLS_OR_DENSITY, format!("for {preset}, which ranks by visits of cells or by density"));
        }
        (Some(RankerConfig::Density), _) => {
            fit(WITH_CELLS, "for the ranker \"density\", which counts visits of cells".into());
        }
        (Some(RankerConfig::KernelDensity), _) => {
            fit(&["density"], "for the ranker \"kernel_density\", which reads what that archive estimates".into());
        }
        (Some(RankerConfig::ReportedNovelty), _) => {
            fit(&["proximity"], "for the ranker \"reported_novelty\", which reads what that archive measures".into());
        }
        (Some(RankerConfig::DominatedNovelty), _) => {
            fit(&["dns"], "for the ranker \"dominated_novelty\", which reads what that archive measures".into());
        }
        (Some(RankerConfig::Nslc { .. }), _) => {
            fit(&["proximity"], "for the ranker \"nslc\", which reads what that archive measures".into());
        }
        _ => {}
    }
    fits
}
