//! Our numbers beside the paper's, and the rule that says whether a cell of a table is reproduced.

use std::fmt;

use luminary_domains::Domain;
use luminary_run::sweep::Estimate;

use crate::experiment::{Cell, Experiment};
use crate::published::{self, PublishedValues};
use crate::results::{CellResults, Results};
use crate::trial::TrialRecord;

/// Trials behind each of the paper's means in our domains.
pub const PAPER_TRIALS: f64 = 20.0;

/// A cell is reproduced within this many standard errors of the difference ...
const MAX_STANDARD_ERRORS: f64 = 3.0;

/// ... or within this share of the published value, whichever is more.
const MAX_SHARE: f64 = 0.015;

/// What the paper's tables report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Normalised QD score.
    QdScore,
    /// Coverage in percent.
    Coverage,
    /// Best objective.
    Best,
}

/// One number of a table, ours and the paper's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// What is compared.
    pub metric: Metric,
    /// Our trials behind it.
    pub n_trials: usize,
    /// Our mean with its standard error; `None` without trials.
    pub ours: Option<Estimate>,
    /// The paper's mean with its standard error; `None` where the paper has no number.
    pub published: Option<Estimate>,
    /// How long our trials were.
    pub length: Length,
}

/// How long trials were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// As long as the paper's.
    OfPaper,
    /// Shorter or longer, which says nothing about the paper's numbers.
    Other,
}

/// Whether a number is the paper's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Within the tolerance.
    Reproduced,
    /// Outside, and higher: all metrics are better when they are.
    Better,
    /// Outside, and lower.
    Missed,
    /// Trials of another length than the paper's.
    NotComparable,
}

/// How many of the numbers that can be compared are reproduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Numbers within the tolerance.
    pub n_reproduced: usize,
    /// Numbers that both we and the paper have.
    pub n_compared: usize,
}

impl Comparison {
    /// Our mean minus the paper's.
    pub fn difference(&self) -> Option<f64> {
        Some(self.ours?.mean - self.published?.mean)
    }

    /// How large the difference may be: three standard errors of it or 1.5 % of the published value, whichever is more.
    ///
    /// The standard error of a difference is the root of the sum of both squares. The paper's ablation tables have none,
    /// and a single trial of ours has none: the other side's scatter stands in then. If both are missing, only the share
    /// of the published value counts.
    pub fn tolerance(&self) -> Option<f64> {
        let published = self.published?;
        let n_trials = self.n_trials as f64;
        let (ours, theirs) = (self.ours?.standard_error, published.standard_error);
        let ours_or_theirs = ours.or(theirs.map(|error| error * (PAPER_TRIALS / n_trials).sqrt()));
        let theirs_or_ours = theirs.or(ours.map(|error| error * (n_trials / PAPER_TRIALS).sqrt()));
        let of_difference = ours_or_theirs.unwrap_or(0.0).hypot(theirs_or_ours.unwrap_or(0.0));
        Some((MAX_STANDARD_ERRORS * of_difference).max(MAX_SHARE * published.mean.abs()))
    }

    /// Whether the difference is within the tolerance; `None` where there is nothing to compare.
    pub fn verdict(&self) -> Option<Verdict> {
        let difference = self.difference()?;
        let is_within = difference.abs() <= self.tolerance()?;
        Some(match self.length {
            Length::Other => Verdict::NotComparable,
            Length::OfPaper if is_within => Verdict::Reproduced,
            Length::OfPaper if difference > 0.0 => Verdict::Better,
            Length::OfPaper => Verdict::Missed,
        })
    }
}

impl Results {
    /// Domains with at least one finished trial, in the order of the paper's tables. Tables and figures leave the others
    /// out.
    pub fn domains(&self) -> Vec<Domain> {
        let has_trials =
            |domain: &Domain| self.cells.iter().any(|cell| cell.cell.domain == *domain && !cell.trials.is_empty());
        Domain::ALL.into_iter().filter(has_trials).collect()
    }

    /// The cells of a domain.
    pub fn of_domain(&self, domain: Domain) -> impl Iterator<Item = &CellResults> {
        self.cells.iter().filter(move |cell| cell.cell.domain == domain)
    }

    /// Every number of the table, with its cell, in the order of the table.
    pub fn comparisons(&self) -> impl Iterator<Item = (&Cell, Comparison)> {
        let cells = self.domains().into_iter().flat_map(|domain| self.of_domain(domain));
        cells.flat_map(|cell| Metric::ALL.map(|metric| (&cell.cell, cell.compare(self.experiment, metric))))
    }

    /// How much of the table is reproduced.
    pub fn score(&self) -> Score {
        self.comparisons().filter_map(|(_, comparison)| comparison.verdict()).collect()
    }

    /// Computing time of all trials together, each on one core.
    pub fn total_seconds(&self) -> f64 {
        self.cells.iter().flat_map(|cell| &cell.trials).map(|(_, record)| record.seconds).sum()
    }
}

impl CellResults {
    /// A number of this cell beside the paper's.
    pub fn compare(&self, experiment: Experiment, metric: Metric) -> Comparison {
        let published = published::values(experiment, &self.cell).and_then(|values| metric.published(&values));
        let ours = self.estimate(|record| metric.of(record));
        let of_paper = self.cell.domain.paper_settings().n_iterations as u64;
        let length = if self.cell.iterations == of_paper { Length::OfPaper } else { Length::Other };
        Comparison { metric, n_trials: self.trials.len(), ours, published, length }
    }
}

impl Metric {
    /// All, in the order of the paper's tables.
    pub const ALL: [Self; 3] = [Self::QdScore, Self::Coverage, Self::Best];

    /// The name in tables for machines.
    pub fn name(self) -> &'static str {
        match self {
            Self::QdScore => "qd_score",
            Self::Coverage => "coverage_percent",
            Self::Best => "best",
        }
    }

    /// The name in tables for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::QdScore => "QD score",
            Self::Coverage => "Coverage (%)",
            Self::Best => "Best",
        }
    }

    /// The metric of a trial.
    pub fn of(self, record: &TrialRecord) -> f64 {
        match self {
            Self::QdScore => record.qd_score,
            Self::Coverage => record.coverage_percent,
            Self::Best => record.best,
        }
    }

    fn published(self, values: &PublishedValues) -> Option<Estimate> {
        let (mean, standard_error) = match self {
            Self::QdScore => (Some(values.qd), values.qd_se),
            Self::Coverage => (Some(values.cov), values.cov_se),
            Self::Best => (values.best, values.best_se),
        };
        Some(Estimate { mean: mean?, standard_error })
    }
}

impl Verdict {
    /// The word in tables for machines.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Better => "better",
            Self::Missed => "missed",
            Self::NotComparable => "not comparable",
        }
    }
}

impl Score {
    /// Reproduced numbers in percent; 100 if there is nothing to compare.
    pub fn percent(self) -> f64 {
        if self.n_compared == 0 { 100.0 } else { 100.0 * self.n_reproduced as f64 / self.n_compared as f64 }
    }
}

impl std::ops::Add for Score {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { n_reproduced: self.n_reproduced + other.n_reproduced, n_compared: self.n_compared + other.n_compared }
    }
}

impl FromIterator<Verdict> for Score {
    fn from_iter<I: IntoIterator<Item = Verdict>>(verdicts: I) -> Self {
        let one = |verdict| Self {
            n_reproduced: usize::from(verdict == Verdict::Reproduced),
            n_compared: usize::from(verdict != Verdict::NotComparable),
        };
        verdicts.into_iter().map(one).fold(Self::default(), |sum, score| sum + score)
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.n_compared {
            0 => f.write_str("no published numbers to compare with"),
            n => write!(f, "{} of {n} published numbers reproduced ({:.1} %)", self.n_reproduced, self.percent()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(n_trials: usize, ours: (f64, Option<f64>), published: (f64, Option<f64>)) -> Comparison {
        let estimate = |(mean, standard_error)| Some(Estimate { mean, standard_error });
        let ours = estimate(ours);
        let published = estimate(published);
        Comparison { metric: Metric::QdScore, n_trials, ours, published, length: Length::OfPaper }
    }

    #[test]
    fn the_larger_of_three_standard_errors_and_a_share_of_the_value_counts() {
        // 3 hypot(0.3, 0.4) = 1.5 against 1.5 % of 50 = 0.75.
        let wide = compare(20, (51.4, Some(0.3)), (50.0, Some(0.4)));
        assert!((wide.tolerance().unwrap() - 1.5).abs() < 1e-12);
        assert_eq!(wide.verdict(), Some(Verdict::Reproduced));
        assert_eq!(compare(20, (48.4, Some(0.3)), (50.0, Some(0.4))).verdict(), Some(Verdict::Missed));
        // 3 hypot(0.03, 0.04) = 0.15 against 0.75.
        let narrow = |ours| compare(20, (ours, Some(0.03)), (50.0, Some(0.04))).verdict();
        assert_eq!([49.3, 49.2].map(narrow), [Some(Verdict::Reproduced), Some(Verdict::Missed)]);
    }

    #[test]
    fn a_missing_standard_error_is_estimated_from_the_other_side() {
        let tolerance =
            |n_trials, ours, published| compare(n_trials, (1.0, ours), (1.0, published)).tolerance().unwrap();
        // Of 20 trials on both sides: the same again, 3 sqrt(2) 0.1.
        assert!((tolerance(20, Some(0.1), None) - 0.3 * 2.0_f64.sqrt()).abs() < 1e-12);
        // Of 5 trials: the scatter of one is 0.1 sqrt(5), that of a mean of 20 is half of ours.
        assert!((tolerance(5, Some(0.1), None) - 0.3 * 1.25_f64.sqrt()).abs() < 1e-12);
        // One trial of ours scatters sqrt(20) times more than their mean.
        assert!((tolerance(1, None, Some(0.1)) - 0.3 * 21.0_f64.sqrt()).abs() < 1e-12);
        assert!((tolerance(1, None, None) - 0.015).abs() < 1e-12);
    }

    #[test]
    fn nothing_to_compare_has_no_verdict_and_does_not_count() {
        let without_trials = Comparison { ours: None, n_trials: 0, ..compare(20, (1.0, None), (1.0, None)) };
        let unpublished = Comparison { published: None, ..compare(20, (1.0, None), (1.0, None)) };
        assert_eq!((without_trials.verdict(), unpublished.verdict()), (None, None));
        let rows =
            [without_trials, unpublished, compare(20, (1.0, None), (1.0, None)), compare(1, (2.0, None), (1.0, None))];
        let score: Score = rows.iter().filter_map(Comparison::verdict).collect();
        assert_eq!(score, Score { n_reproduced: 1, n_compared: 2 });
        assert_eq!(score.to_string(), "1 of 2 published numbers reproduced (50.0 %)");
    }

    #[test]
    fn better_numbers_are_no_misses_and_shortened_trials_no_verdict_on_the_paper() {
        let better = compare(20, (51.6, Some(0.3)), (50.0, Some(0.4)));
        assert_eq!(better.verdict(), Some(Verdict::Better));
        let shortened = Comparison { length: Length::Other, ..better };
        assert_eq!(shortened.verdict(), Some(Verdict::NotComparable));
        let score: Score = [better, shortened].iter().filter_map(Comparison::verdict).collect();
        assert_eq!(score, Score { n_reproduced: 0, n_compared: 1 });
    }

    #[test]
    fn negative_published_values_have_a_positive_tolerance() {
        assert_eq!(compare(20, (-99.0, Some(0.0)), (-100.0, Some(0.0))).verdict(), Some(Verdict::Reproduced));
    }
}
