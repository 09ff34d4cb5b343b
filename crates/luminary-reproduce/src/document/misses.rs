//! The numbers that are not reproduced, with their causes.

use std::sync::LazyLock;

use luminary::strategy::Variant;
use serde::Deserialize;

use crate::comparison::{Comparison, Verdict};
use crate::experiment::Cell;
use crate::names::{domain_title, escaped, row_title};
use crate::results::Results;

/// The misses of all studies with the published equations as a Markdown table; a sentence if there are none.
pub(super) fn markdown(studies: &[&Results]) -> String {
    let mut rows = String::new();
    for results in studies.iter().filter(|results| results.variant == Variant::Published) {
        let differs = |(_, comparison): &(&Cell, Comparison)| {
            matches!(comparison.verdict(), Some(Verdict::Missed | Verdict::Better))
        };
        for (cell, comparison) in results.comparisons().filter(differs) {
            rows += &row(results, cell, &comparison);
        }
    }
    if rows.is_empty() {
        return "No number differs from the published one.\n\n".into();
    }
    format!(
        "Numbers that differ from the published ones, for better or worse, and why:\n\n| experiment | domain | setting | metric | ours | paper | difference | \
         allowed | trials | cause |\n|---|---|---|---|---:|---:|---:|---:|---:|---|\n{rows}\n"
    )
}

fn row(results: &Results, cell: &Cell, comparison: &Comparison) -> String {
    let mean = |estimate: Option<luminary_run::sweep::Estimate>| estimate.map_or(f64::NAN, |estimate| estimate.mean);
    let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
    let cause = CAUSES.iter().find(|cause| cause.is_of(results, cell, comparison));
    format!(
        "| {} | {} | {} | {} | {:.2} | {:.2} | {:+.2} | {:.2} | {} | {} |\n",
        results.experiment,
        domain_title(cell.domain),
        escaped(&row_title(results.experiment, cell)),
        comparison.metric.title(),
        mean(comparison.ours),
        mean(comparison.published),
        number(comparison.difference()),
        number(comparison.tolerance()),
        comparison.n_trials,
        cause.map_or("not found yet", |cause| cause.text.as_str()),
    )
}

/// Causes that were found, as data: `data/causes.toml` says how to add one.
static CAUSES: LazyLock<Vec<Cause>> = LazyLock::new(|| {
    let file: Causes = toml::from_str(include_str!("../../data/causes.toml")).expect("a test reads the causes");
    file.cause
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Causes {
    #[serde(default)]
    cause: Vec<Cause>,
}

/// Every name that is given must be that of the number.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cause {
    experiment: Option<String>,
    domain: Option<String>,
    algorithm: Option<String>,
    alpha: Option<f64>,
    min_f: Option<f64>,
    metric: Option<String>,
    text: String,
}

impl Cause {
    fn is_of(&self, results: &Results, cell: &Cell, comparison: &Comparison) -> bool {
        let fits = |wanted: &Option<String>, name: &str| wanted.as_ref().is_none_or(|wanted| wanted == name);
        let equals = |wanted: Option<f64>, value: f64| wanted.is_none_or(|wanted| wanted == value);
        fits(&self.experiment, results.experiment.name())
            && fits(&self.domain, cell.domain.name())
            && fits(&self.algorithm, cell.algorithm.name())
            && equals(self.alpha, cell.alpha)
            && equals(self.min_f, cell.min_f)
            && fits(&self.metric, comparison.metric.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Length;
    use crate::{Experiment, Metric};

    #[test]
    fn every_cause_is_of_a_published_number() {
        for cause in CAUSES.iter() {
            let is_used = Experiment::ALL.into_iter().any(|experiment| {
                let study = crate::Study::new(experiment, Variant::Published, None);
                let results = Results::of_study(&study);
                let comparison =
                    |metric| Comparison { metric, n_trials: 0, ours: None, published: None, length: Length::OfPaper };
                study
                    .cells
                    .iter()
                    .any(|cell| Metric::ALL.iter().any(|&metric| cause.is_of(&results, cell, &comparison(metric))))
            });
            assert!(is_used, "no number is meant by the cause {:?}", cause.text);
        }
    }

    #[test]
    fn a_cause_fits_only_what_it_names() {
        let cause: Cause =
            toml::from_str("experiment = \"min-f\"\nmin_f = 80.0\nmetric = \"qd_score\"\ntext = \"why\"").unwrap();
        let study = crate::Study::new(Experiment::MinF, Variant::Published, None);
        let results = Results::of_study(&study);
        let n_fitting = |metric| {
            let comparison = Comparison { metric, n_trials: 0, ours: None, published: None, length: Length::OfPaper };
            study.cells.iter().filter(|cell| cause.is_of(&results, cell, &comparison)).count()
        };
        assert_eq!(Metric::ALL.map(n_fitting), [4, 0, 0]);
        let other = crate::Study::new(Experiment::Alpha, Variant::Published, None);
        let comparison =
            Comparison { metric: Metric::QdScore, n_trials: 0, ours: None, published: None, length: Length::OfPaper };
        assert!(!cause.is_of(&Results::of_study(&other), &other.cells[0], &comparison));
    }
}
