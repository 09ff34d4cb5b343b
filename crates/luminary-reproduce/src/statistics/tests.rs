//! The analyses against statsmodels (tests/reference/statistics.py made the values), the paper, and bad data.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::*;

/// Values of statsmodels for one data set, as in tests/reference/statistics.json.
#[derive(Deserialize)]
struct Reference {
    observations: Vec<(String, String, f64)>,
    expected: Expected,
}

#[derive(Deserialize)]
struct Expected {
    two_way: ExpectedTwoWay,
    domains: BTreeMap<String, ExpectedDomain>,
}

#[derive(Deserialize)]
struct ExpectedTwoWay {
    algorithm: ExpectedEffect,
    domain: ExpectedEffect,
    interaction: ExpectedEffect,
    mean_square_error: f64,
}

#[derive(Deserialize)]
struct ExpectedDomain {
    effect: ByError<ExpectedEffect>,
    comparisons: ByError<Vec<ExpectedComparison>>,
}

#[derive(Deserialize)]
struct ByError<T> {
    per_domain: T,
    pooled: T,
}

#[derive(Deserialize)]
struct ExpectedEffect {
    sum_of_squares: f64,
    df: usize,
    df_error: usize,
    f: f64,
    p: f64,
}

#[derive(Deserialize)]
struct ExpectedComparison {
    first: String,
    second: String,
    difference: f64,
    t: f64,
    df: usize,
    p: f64,
    p_corrected: f64,
}

#[test]
fn two_way_analyses_equal_those_of_statsmodels() {
    for (name, Reference { observations, expected }) in references() {
        let anova = table(&observations).two_way_anova().unwrap();
        assert_effect(&anova.algorithm, &expected.two_way.algorithm, &format!("{name}, algorithm"));
        assert_effect(&anova.domain, &expected.two_way.domain, &format!("{name}, domain"));
        assert_effect(&anova.interaction, &expected.two_way.interaction, &format!("{name}, interaction"));
        assert_close(anova.mean_square_error, expected.two_way.mean_square_error, &name);
    }
}

#[test]
fn simple_main_effects_equal_those_of_statsmodels() {
    for (name, Reference { observations, expected }) in references() {
        let table = table(&observations);
        for (domain, expected) in &expected.domains {
            let what = format!("{name}, {domain}");
            let effect = |error| table.simple_main_effect(domain, error).unwrap();
            assert_effect(&effect(ErrorTerm::PerDomain), &expected.effect.per_domain, &what);
            assert_effect(&effect(ErrorTerm::Pooled), &expected.effect.pooled, &what);
        }
    }
}

#[test]
fn pairwise_comparisons_equal_those_of_statsmodels() {
    for (name, Reference { observations, expected }) in references() {
        let table = table(&observations);
        for (domain, expected) in &expected.domains {
            for (error, expected) in [
                (ErrorTerm::PerDomain, &expected.comparisons.per_domain),
                (ErrorTerm::Pooled, &expected.comparisons.pooled),
            ] {
                let found = table.pairwise_comparisons(domain, error).unwrap();
                assert_eq!(found.len(), expected.len());
                for expected in expected {
                    assert_comparison(&found, expected, &format!("{name}, {domain}, {error:?}"));
                }
            }
        }
    }
}

/// The paper's own analysis from its own table: means and standard errors are all that an analysis of variance needs.
///
/// It reports F(12, 320) = 1958.34 for the interaction. The table prints standard errors with two digits after the
/// point, so that 0.02 may be anything from 0.015 to 0.025; 3 % is the room this leaves.
#[test]
fn the_published_table_gives_the_published_interaction() {
    let table: [PublishedRow<4>; 5] = [
        ("LP (sphere)", 20, [(41.64, 0.06), (49.07, 0.03), (36.50, 0.31), (64.86, 0.04)]),
        ("LP (Rastrigin)", 20, [(31.43, 0.07), (38.29, 0.05), (38.02, 0.11), (52.65, 0.06)]),
        ("LP (plateau)", 20, [(47.07, 0.17), (52.20, 0.19), (34.54, 0.35), (79.27, 0.21)]),
        ("arm repertoire", 20, [(71.40, 0.03), (74.55, 0.02), (75.82, 0.11), (79.03, 0.02)]),
        ("LSI (StyleGAN)", 5, [(12.85, 0.10), (14.40, 0.09), (14.00, 0.62), (17.67, 0.27)]),
    ];
    let scores = published(["MAP-Elites", "MAP-Elites (line)", "CMA-ME", "CMA-MAE"], &table);
    let interaction = scores.two_way_anova().unwrap().interaction;
    assert_eq!((interaction.df, interaction.df_error), (12, 320));
    assert!((interaction.f / 1958.34 - 1.0).abs() < 0.03, "{interaction}");
    assert!(interaction.to_string().ends_with("p < 0.001"), "{interaction}");
    // "CMA-MAE outperformed all derivative-free QD baselines in all benchmark domains."
    for domain in scores.domains() {
        let comparisons = scores.pairwise_comparisons(domain, ErrorTerm::PerDomain).unwrap();
        for comparison in comparisons.iter().filter(|comparison| comparison.second == "CMA-MAE") {
            assert!(comparison.difference < 0.0 && comparison.p_corrected.value() < 0.05, "{domain}: {comparison}");
        }
    }
}

/// Why [`ErrorTerm::PerDomain`] is the paper's: it calls CMA-MAEGA significantly better than CMA-MEGA on LP (sphere).
///
/// The printed standard errors of 0.00 are taken as 0.005, the largest they can be.
#[test]
fn the_published_finding_on_the_sphere_follows_from_the_variance_in_that_domain_only() {
    let table: [PublishedRow<2>; 6] = [
        ("LP (sphere)", 20, [(75.32, 0.005), (75.39, 0.005)]),
        ("LP (Rastrigin)", 20, [(63.07, 0.005), (63.06, 0.005)]),
        ("LP (plateau)", 20, [(100.00, 0.005), (100.00, 0.005)]),
        ("arm repertoire", 20, [(75.21, 0.13), (79.27, 0.02)]),
        ("LSI (StyleGAN)", 5, [(16.08, 0.37), (16.20, 0.41)]),
        ("LSI (StyleGAN2)", 5, [(9.18, 0.18), (11.51, 0.09)]),
    ];
    let scores = published(["CMA-MEGA", "CMA-MAEGA"], &table);
    let significant = |error| {
        let p = |domain: &String| scores.pairwise_comparisons(domain, error).unwrap()[0].p_corrected.value();
        scores.domains().iter().filter(|domain| p(domain) < 0.05).cloned().collect::<Vec<_>>()
    };
    assert_eq!(significant(ErrorTerm::PerDomain), ["LP (sphere)", "arm repertoire", "LSI (StyleGAN2)"]);
    assert_eq!(significant(ErrorTerm::Pooled), ["arm repertoire", "LSI (StyleGAN2)"]);
}

#[test]
fn data_that_cannot_be_analysed_are_refused_with_what_is_wrong() {
    let table_of = |rows: &[(&str, &str, f64)]| ScoreTable::new(&rows.iter().map(observation).collect::<Vec<_>>());
    assert_eq!(table_of(&[]).unwrap_err(), StatisticsError::TooFewLevels { factor: Factor::Algorithm, found: 0 });
    assert_eq!(
        table_of(&[("a", "x", 1.0), ("b", "x", 2.0)]).unwrap_err().to_string(),
        "expected at least 2 levels of the factor domain, found 1"
    );
    assert_eq!(
        table_of(&[("a", "x", 1.0), ("b", "x", 2.0), ("a", "y", 3.0)]).unwrap_err().to_string(),
        "expected at least one observation of every algorithm in every domain, found none of b in y"
    );
    for value in [f64::NAN, f64::INFINITY] {
        let error = table_of(&[("a", "x", 1.0), ("b", "x", value)]).unwrap_err().to_string();
        let expected = format!("expected finite values, found {value} for b in x (observation 1, counted from 0)");
        assert_eq!(error, expected);
    }
}

#[test]
fn analyses_without_an_error_term_are_refused() {
    let single = ["a", "b"].map(|a| ["x", "y"].map(|d| (a, d, 1.0))).concat();
    let table = ScoreTable::new(&single.iter().map(observation).collect::<Vec<_>>()).unwrap();
    assert_eq!(
        table.two_way_anova().unwrap_err().to_string(),
        "expected more observations than cells in all domains, found 4 observations in 4 cells"
    );
    // 0.1 three times: a sum that is not exact, and still a variance of exactly zero. The other domain varies.
    let constant =
        [("a", 0.1), ("b", 0.7)].map(|(a, v)| [("x", v), ("x", v), ("x", v)].map(|(d, v)| (a, d, v))).concat();
    let varying = [("a", "y", 1.0), ("a", "y", 2.0), ("b", "y", 4.0), ("b", "y", 5.0)];
    let rows = [constant, varying.to_vec()].concat();
    let table = ScoreTable::new(&rows.iter().map(observation).collect::<Vec<_>>()).unwrap();
    let no_variance = StatisticsError::NoVariance { scope: "x".into() };
    assert_eq!(table.simple_main_effect("x", ErrorTerm::PerDomain).unwrap_err(), no_variance);
    assert_eq!(table.pairwise_comparisons("x", ErrorTerm::PerDomain).unwrap_err(), no_variance);
    assert!(table.simple_main_effect("x", ErrorTerm::Pooled).is_ok());
    assert!(table.simple_main_effect("y", ErrorTerm::PerDomain).is_ok());
    assert_eq!(
        table.simple_main_effect("z", ErrorTerm::Pooled).unwrap_err().to_string(),
        "expected one of the domains x, y, found \"z\""
    );
}

#[test]
fn results_print_as_papers_print_them() {
    let rows = [("a", "x", 1.0), ("a", "x", 2.0), ("b", "x", 2.0), ("b", "x", 4.0)];
    let more = rows.map(|(a, _, value)| (a, "y", -value));
    let table = ScoreTable::new(&rows.iter().chain(&more).map(observation).collect::<Vec<_>>()).unwrap();
    let effect = table.simple_main_effect("x", ErrorTerm::PerDomain).unwrap();
    assert_eq!(effect.to_string(), "F(1, 2) = 1.80, p = 0.312");
    let comparison = &table.pairwise_comparisons("x", ErrorTerm::PerDomain).unwrap()[0];
    assert_eq!(comparison.to_string(), "a - b = -1.50, t(2) = -1.34, p = 0.312");
}

fn references() -> BTreeMap<String, Reference> {
    let all: BTreeMap<String, Reference> =
        serde_json::from_str(include_str!("../../tests/reference/statistics.json")).unwrap();
    assert_eq!(all.keys().collect::<Vec<_>>(), ["balanced", "proportional", "unbalanced"]);
    all
}

fn table(observations: &[(String, String, f64)]) -> ScoreTable {
    let rows: Vec<(&str, &str, f64)> = observations.iter().map(|(a, d, value)| (&**a, &**d, *value)).collect();
    ScoreTable::new(&rows.iter().map(observation).collect::<Vec<_>>()).unwrap()
}

fn observation<'a>(&(algorithm, domain, value): &(&'a str, &'a str, f64)) -> Observation<'a> {
    Observation { algorithm, domain, value }
}

/// A domain, its number of trials, and mean and standard error of each algorithm.
type PublishedRow<const N: usize> = (&'static str, usize, [(f64, f64); N]);

/// Scores with the published means and standard errors.
fn published<const N: usize>(algorithms: [&str; N], table: &[PublishedRow<N>]) -> ScoreTable {
    let mut scores = Vec::new();
    for &(domain, n, row) in table {
        for (algorithm, (mean, standard_error)) in algorithms.into_iter().zip(row) {
            for value in sample_with(n, mean, standard_error) {
                scores.push(Observation { algorithm, domain, value });
            }
        }
    }
    ScoreTable::new(&scores).unwrap()
}

/// `n` evenly spaced values with exactly this mean and standard error of the mean.
fn sample_with(n: usize, mean: f64, standard_error: f64) -> Vec<f64> {
    let offsets: Vec<f64> = (0..n).map(|k| k as f64 - (n - 1) as f64 / 2.0).collect();
    let variance = offsets.iter().map(|x| x * x).sum::<f64>() / (n - 1) as f64;
    let scale = standard_error * (n as f64 / variance).sqrt();
    offsets.iter().map(|x| mean + scale * x).collect()
}

fn assert_effect(found: &Effect, expected: &ExpectedEffect, what: &str) {
    assert_eq!((found.df, found.df_error), (expected.df, expected.df_error), "{what}");
    assert_close(found.sum_of_squares, expected.sum_of_squares, what);
    assert_close(found.f, expected.f, what);
    assert_close(found.p.value(), expected.p, what);
}

fn assert_comparison(found: &[Comparison], expected: &ExpectedComparison, what: &str) {
    // The order of the algorithms is that of the data here and alphabetical there, so a pair may be turned round.
    let same = |c: &&Comparison| c.first == expected.first && c.second == expected.second;
    let turned = |c: &&Comparison| c.first == expected.second && c.second == expected.first;
    let (pair, sign) = match (found.iter().find(same), found.iter().find(turned)) {
        (Some(pair), None) => (pair, 1.0),
        (None, Some(pair)) => (pair, -1.0),
        _ => panic!("{what}: {} and {} must be compared once", expected.first, expected.second),
    };
    assert_eq!(pair.df, expected.df, "{what}");
    assert_close(pair.difference, sign * expected.difference, what);
    assert_close(pair.t, sign * expected.t, what);
    assert_close(pair.p.value(), expected.p, what);
    assert_close(pair.p_corrected.value(), expected.p_corrected, what);
}

/// Equal but for rounding: statsmodels solves least squares with a pseudo-inverse, which costs some digits, and small
/// probabilities multiply the relative error of their statistic by up to a few hundred degrees of freedom. Probabilities
/// below 1e-290 are left out: they are where the logarithms behind them run out of digits.
fn assert_close(found: f64, expected: f64, what: &str) {
    let close = (found - expected).abs() <= 1e-8 * expected.abs() || found.abs().max(expected.abs()) < 1e-290;
    assert!(close, "{what}: found {found:e}, expected {expected:e}");
}
