//! The paper's names for algorithms and domains, in tables and figures.

use luminary::preset::Preset;
use luminary_domains::Domain;

use crate::experiment::{Cell, Experiment};

/// The paper's name of an algorithm; our own for those that are not in the paper.
pub(crate) fn algorithm_title(algorithm: Preset) -> &'static str {
    match algorithm {
        Preset::MapElites => "MAP-Elites",
        Preset::MapElitesLine => "MAP-Elites (line)",
        Preset::CmaMe => "CMA-ME",
        Preset::CmaMeStar => "CMA-ME*",
        Preset::CmaMeImpOpt => "CMA-ME (imp, opt)",
        Preset::CmaMae => "CMA-MAE",
        Preset::CmaMega => "CMA-MEGA",
        Preset::CmaMaega => "CMA-MAEGA",
        other => other.name(),
    }
}

/// The paper's name of a domain.
pub(crate) fn domain_title(domain: Domain) -> &'static str {
    match domain {
        Domain::LpSphere => "LP (sphere)",
        Domain::LpRastrigin => "LP (Rastrigin)",
        Domain::LpPlateau => "LP (plateau)",
        Domain::Arm => "Arm repertoire",
    }
}

/// What tells the cells of a domain apart: the algorithm, or the setting that the experiment varies.
pub(crate) fn row_title(experiment: Experiment, cell: &Cell) -> String {
    match experiment {
        Experiment::Main | Experiment::N1000 => algorithm_title(cell.algorithm).into(),
        Experiment::Alpha => cell.alpha.to_string(),
        Experiment::MinF => cell.min_f.to_string(),
        Experiment::Resolution | Experiment::N1000Resolution => format!("{r}x{r}", r = cell.resolution),
        Experiment::Frontier | Experiment::FrontierN10 | Experiment::FrontierN1000 => {
            crate::frontier::algorithm_name(cell).into()
        }
    }
}

/// Text that Markdown shows as it is.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('*', "\\*")
}

/// `10000` as `10,000`.
pub(crate) fn grouped(value: u64) -> String {
    match value {
        0..1000 => value.to_string(),
        _ => format!("{},{:03}", grouped(value / 1000), value % 1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_have_commas() {
        assert_eq!([0, 999, 1000, 10_007, 5_400_000].map(grouped), ["0", "999", "1,000", "10,007", "5,400,000"]);
    }
}
