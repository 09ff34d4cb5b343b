//! Whether our QD scores are larger than the published ones, with significance: what the standard equations are worth.

use std::fmt::Write;

use luminary::preset::Preset;
use luminary_domains::Domain;

use crate::comparison::{Metric, PAPER_TRIALS};
use crate::names::{algorithm_title, domain_title, escaped};
use crate::results::Results;
use crate::statistics::{StatisticsError, Summary, Welch, welch};

/// Half of the last printed digit: the paper's numbers have two decimals.
const ROUNDING: f64 = 0.005;

/// A test of one cell's QD score.
#[derive(Clone, Debug)]
pub struct AgainstPaper {
    /// The domain.
    pub domain: Domain,
    /// The algorithm.
    pub algorithm: Preset,
    /// Our mean and the paper's.
    pub means: (f64, f64),
    /// Whether ours is larger, or why that cannot be tested.
    pub test: Result<Welch, StatisticsError>,
}

/// The columns of [`csv`]: `p` is the probability of a `t` at least this large if our mean is not larger.
pub const COLUMNS: &str = "domain,algorithm,ours,published,difference,t,df,p";

/// Tests every cell with a published QD score and standard error. The paper's rounding is taken at its worst for us: its
/// mean and standard error are half a digit larger than printed.
pub fn against_paper(results: &Results) -> Vec<AgainstPaper> {
    let test = |cell: &crate::CellResults| {
        let comparison = cell.compare(results.experiment, Metric::QdScore);
        let (ours, published) = (comparison.ours?, comparison.published?);
        let theirs = Summary {
            mean: published.mean + ROUNDING,
            standard_error: published.standard_error? + ROUNDING,
            n: PAPER_TRIALS as usize,
        };
        let standard_error = ours.standard_error.unwrap_or(0.0);
        let test = welch(Summary { mean: ours.mean, standard_error, n: comparison.n_trials }, theirs);
        let means = (ours.mean, published.mean);
        Some(AgainstPaper { domain: cell.cell.domain, algorithm: cell.cell.algorithm, means, test })
    };
    results.cells.iter().filter_map(test).collect()
}

/// The tests as Markdown: algorithms down, domains across.
pub fn markdown(tests: &[AgainstPaper]) -> String {
    let find = |algorithm, domain| tests.iter().find(|test| test.algorithm == algorithm && test.domain == domain);
    let domains: Vec<_> = Domain::ALL.into_iter().filter(|&domain| tests.iter().any(|t| t.domain == domain)).collect();
    let titles: Vec<_> = domains.iter().map(|&domain| domain_title(domain)).collect();
    let mut text = format!("| Algorithm | {} |\n|---|{}\n", titles.join(" | "), "---|".repeat(titles.len()));
    let mut algorithms: Vec<Preset> = Vec::new();
    for test in tests {
        if !algorithms.contains(&test.algorithm) {
            algorithms.push(test.algorithm);
        }
    }
    for algorithm in algorithms {
        let cell = |&domain: &Domain| match find(algorithm, domain) {
            Some(AgainstPaper { means: (ours, theirs), test: Ok(test), .. }) => {
                format!("{ours:.2} against {theirs:.2}, {}", test.p)
            }
            Some(AgainstPaper { means: (ours, theirs), .. }) => format!("{ours:.2} against {theirs:.2}"),
            None => "—".into(),
        };
        let cells: Vec<_> = domains.iter().map(cell).collect();
        let _ = writeln!(text, "| {} | {} |", escaped(algorithm_title(algorithm)), cells.join(" | "));
    }
    text + "\n"
}

/// The tests as CSV, with the columns in [`COLUMNS`].
pub fn csv(tests: &[AgainstPaper]) -> String {
    let mut text = format!("{COLUMNS}\n");
    for AgainstPaper { domain, algorithm, means: (ours, theirs), test } in tests {
        let _ = write!(text, "{domain},{algorithm},{ours:.6},{theirs},{:.6},", ours - theirs);
        let _ = match test {
            Ok(Welch { t, df, p, .. }) => writeln!(text, "{t:.6},{df:.6},{:e}", p.value()),
            Err(_) => writeln!(text, ",,"),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use luminary::strategy::Variant;

    use super::*;
    use crate::{Experiment, Study};

    #[test]
    fn only_what_is_clearly_larger_is_significant() {
        let mut results = Results::synthetic(&Study::new(Experiment::Main, Variant::Standard, Some(2)).trials(20));
        for cell in results.cells.iter_mut().filter(|cell| cell.cell.algorithm == Preset::CmaMae) {
            cell.trials.iter_mut().for_each(|(_, record)| record.qd_score += 4.0);
        }
        let tests = against_paper(&results);
        assert_eq!(tests.len(), 32);
        for AgainstPaper { algorithm, domain, test, .. } in &tests {
            let p = test.as_ref().unwrap().p.value();
            let is_larger = *algorithm == Preset::CmaMae;
            assert!(if is_larger { p < 0.001 } else { p > 0.5 }, "{algorithm} on {domain}: {p}");
        }
        let text = csv(&tests);
        assert_eq!(text.lines().count(), 33);
        assert!(text.lines().all(|line| line.split(',').count() == COLUMNS.split(',').count()), "{text}");
        assert!(markdown(&tests).contains("| CMA-MAE | 68.86 against 64.86, p < 0.001 |"), "{}", markdown(&tests));
    }

    #[test]
    fn a_single_trial_cannot_be_tested_and_is_shown_without_p() {
        let results = Results::synthetic(&Study::new(Experiment::Main, Variant::Standard, Some(2)).trials(1));
        let tests = against_paper(&results);
        assert!(tests.iter().all(|test| test.test.is_err()));
        assert!(markdown(&tests).contains("| CMA-MAE | 64.86 against 64.86 |"));
    }
}
