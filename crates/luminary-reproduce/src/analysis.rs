//! The paper's analyses of QD scores, of the trials of the main experiment.
//!
//! The paper analyses its derivative-free algorithms and its gradient-based ones apart, each by a two-way analysis of
//! variance over algorithm and domain, followed by simple main effects with Bonferroni corrections.

use std::fmt::Write;

use luminary::preset::Preset;
use luminary_domains::Domain;

use crate::names::{algorithm_title, domain_title, escaped};
use crate::results::Results;
use crate::statistics::{Comparison, Effect, ErrorTerm, Observation, ScoreTable, StatisticsError, TwoWayAnova};

/// Algorithms that the paper analyses together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// MAP-Elites, MAP-Elites (line), CMA-ME and CMA-MAE.
    DerivativeFree,
    /// CMA-MEGA and CMA-MAEGA.
    GradientBased,
}

/// The analysis of a family.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The family.
    pub family: Family,
    /// Over all domains, or why there is none.
    pub anova: Result<TwoWayAnova, StatisticsError>,
    /// In each domain, or why there is none.
    pub domains: Vec<(Domain, Result<InDomain, StatisticsError>)>,
}

/// What the algorithm does in one domain.
#[derive(Clone, Debug)]
pub struct InDomain {
    /// Any difference between the algorithms.
    pub simple_main_effect: Effect,
    /// Every two algorithms.
    pub comparisons: Vec<Comparison>,
}

/// The columns of [`csv`]: `test` is `anova_algorithm`, `anova_domain`, `anova_interaction`, `simple_main_effect` or
/// `pairwise`; `statistic` is F, or t for `pairwise`; `p_corrected` is after Bonferroni's correction for all pairs in
/// the domain.
pub const COLUMNS: &str = "family,test,domain,first,second,difference,statistic,df,df_error,p,p_corrected";

/// Analyses the QD scores of a study, family by family.
pub fn analyses(results: &Results) -> Vec<Analysis> {
    [Family::DerivativeFree, Family::GradientBased].map(|family| analyse(results, family)).into()
}

fn analyse(results: &Results, family: Family) -> Analysis {
    let is_of_family = |algorithm: Preset| family.algorithms().contains(&algorithm);
    let cells = results.cells.iter().filter(|cell| is_of_family(cell.cell.algorithm));
    let observations: Vec<_> = cells
        .flat_map(|cell| cell.trials.iter().map(|(_, record)| (&cell.cell, record.qd_score)))
        .map(|(cell, value)| Observation {
            algorithm: algorithm_title(cell.algorithm),
            domain: domain_title(cell.domain),
            value,
        })
        .collect();
    let table = ScoreTable::new(&observations);
    let anova = table.clone().and_then(|table| table.two_way_anova());
    let in_domain = |domain| {
        let (table, name) = (table.clone()?, domain_title(domain));
        // Why per domain: see `ErrorTerm`.
        Ok(InDomain {
            simple_main_effect: table.simple_main_effect(name, ErrorTerm::PerDomain)?,
            comparisons: table.pairwise_comparisons(name, ErrorTerm::PerDomain)?,
        })
    };
    let domains = results.domains().into_iter().map(|domain| (domain, in_domain(domain))).collect();
    Analysis { family, anova, domains }
}

impl Family {
    /// The name in tables for machines.
    pub fn name(self) -> &'static str {
        match self {
            Self::DerivativeFree => "derivative_free",
            Self::GradientBased => "gradient_based",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::DerivativeFree => "Derivative-free algorithms",
            Self::GradientBased => "Gradient-based algorithms",
        }
    }

    fn algorithms(self) -> &'static [Preset] {
        match self {
            Self::DerivativeFree => &[Preset::MapElites, Preset::MapElitesLine, Preset::CmaMe, Preset::CmaMae],
            Self::GradientBased => &[Preset::CmaMega, Preset::CmaMaega],
        }
    }

    /// What the paper reports; it has one domain more here, two more there.
    fn published_interaction(self) -> &'static str {
        match self {
            Self::DerivativeFree => "F(12, 320) = 1958.34, p < 0.001, with one more domain",
            Self::GradientBased => "F(5, 168) = 165.7, p < 0.001, with two more domains",
        }
    }
}

/// The analyses as Markdown.
pub fn markdown(analyses: &[Analysis]) -> String {
    analyses.iter().map(of_family).collect()
}

fn of_family(analysis: &Analysis) -> String {
    let title = analysis.family.title();
    let anova = match &analysis.anova {
        Ok(anova) => anova,
        Err(error) => return format!("**{title}**: not enough trials for an analysis ({error}).\n\n"),
    };
    let mut text = format!("**{title}**: two-way analysis of variance of the QD score.\n\n");
    for (name, effect) in
        [("algorithm", anova.algorithm), ("domain", anova.domain), ("interaction of the two", anova.interaction)]
    {
        text += &format!("- {name}: {effect}\n");
    }
    let _ = writeln!(text, "- interaction in the paper: {}\n", analysis.family.published_interaction());
    text + &in_domains(&analysis.domains)
}

/// Simple main effects and pairs down, domains across.
fn in_domains(domains: &[(Domain, Result<InDomain, StatisticsError>)]) -> String {
    let titles: Vec<_> = domains.iter().map(|(domain, _)| domain_title(*domain)).collect();
    let mut text = format!("| Within a domain | {} |\n|---|{}\n", titles.join(" | "), "---|".repeat(titles.len()));
    let cell = |found: Option<String>| found.unwrap_or_else(|| "—".into());
    let found: Vec<_> = domains.iter().map(|(_, found)| found.as_ref().ok()).collect();
    let effects: Vec<_> =
        found.iter().map(|found| cell(found.map(|found| found.simple_main_effect.to_string()))).collect();
    text += &format!("| simple main effect of the algorithm | {} |\n", effects.join(" | "));
    let pairs = found.iter().flatten().next().map_or(&[][..], |found| &found.comparisons);
    for (i, pair) in pairs.iter().enumerate() {
        let compared = |found: &InDomain| {
            let comparison = &found.comparisons[i];
            format!("{:+.2}, {}", comparison.difference, comparison.p_corrected)
        };
        let cells: Vec<_> = found.iter().map(|found| cell(found.map(compared))).collect();
        text += &format!("| {} − {} | {} |\n", escaped(&pair.first), escaped(&pair.second), cells.join(" | "));
    }
    text.push('\n');
    for (domain, found) in domains {
        if let Err(error) = found {
            text += &format!("{}: no test ({error}).\n\n", domain_title(*domain));
        }
    }
    text
}

/// The analyses as CSV, with the columns in [`COLUMNS`].
pub fn csv(analyses: &[Analysis]) -> String {
    let mut text = format!("{COLUMNS}\n");
    for analysis in analyses {
        let family = analysis.family.name();
        let mut effect = |test: &str, domain: &str, effect: &Effect| {
            let Effect { f, df, df_error, p, .. } = effect;
            text += &format!("{family},{test},{domain},,,,{f:.6},{df},{df_error},{:e},\n", p.value());
        };
        if let Ok(anova) = &analysis.anova {
            effect("anova_algorithm", "", &anova.algorithm);
            effect("anova_domain", "", &anova.domain);
            effect("anova_interaction", "", &anova.interaction);
        }
        let tested = || analysis.domains.iter().filter_map(|(domain, found)| Some((domain, found.as_ref().ok()?)));
        for (domain, found) in tested() {
            effect("simple_main_effect", domain.name(), &found.simple_main_effect);
        }
        for (domain, found) in tested() {
            for comparison in &found.comparisons {
                text += &pair(family, *domain, comparison);
            }
        }
    }
    text
}

fn pair(family: &str, domain: Domain, comparison: &Comparison) -> String {
    let Comparison { first, second, difference, t, df, p, p_corrected } = comparison;
    // Names such as "CMA-ME (imp, opt)" have commas.
    let name = |title: &str| if title.contains(',') { format!("\"{title}\"") } else { title.to_owned() };
    format!(
        "{family},pairwise,{domain},{},{},{difference:.6},{t:.6},1,{df},{:e},{:e}\n",
        name(first),
        name(second),
        p.value(),
        p_corrected.value()
    )
}

#[cfg(test)]
mod tests {
    use luminary::strategy::Variant;

    use super::*;
    use crate::{Experiment, Study};

    fn results() -> Results {
        Results::synthetic(&Study::new(Experiment::Main, Variant::Published, Some(2)).trials(3))
    }

    #[test]
    fn families_are_the_papers_with_degrees_of_freedom_of_four_domains() {
        let analyses = analyses(&results());
        let df = |analysis: &Analysis| {
            let effect = analysis.anova.as_ref().unwrap().interaction;
            (effect.df, effect.df_error)
        };
        // (4 - 1)(4 - 1) and 16 (3 - 1); (2 - 1)(4 - 1) and 8 (3 - 1).
        assert_eq!(analyses.iter().map(df).collect::<Vec<_>>(), [(9, 32), (3, 16)]);
        let n_pairs = |analysis: &Analysis| analysis.domains[0].1.as_ref().unwrap().comparisons.len();
        assert_eq!(analyses.iter().map(n_pairs).collect::<Vec<_>>(), [6, 1]);
    }

    #[test]
    fn tables_have_every_test() {
        let analyses = analyses(&results());
        let text = csv(&analyses);
        let n_columns = COLUMNS.split(',').count();
        assert!(text.lines().all(|line| line.split(',').count() == n_columns), "{text}");
        assert_eq!(text.lines().count(), 1 + 2 * 3 + 2 * 4 + 4 * (6 + 1));
        assert_eq!(text.lines().filter(|line| line.contains(",pairwise,arm,")).count(), 7);
        let text = markdown(&analyses);
        assert!(text.contains("| CMA-ME − CMA-MAE | -28.36, p < 0.001 |") && text.contains("F(9, 32) = "), "{text}");
    }

    #[test]
    fn too_few_trials_are_said() {
        let mut results = results();
        results.cells.iter_mut().for_each(|cell| cell.trials.truncate(1));
        let text = markdown(&analyses(&results));
        assert!(text.contains("not enough trials for an analysis (expected more observations than cells"), "{text}");
        assert_eq!(csv(&analyses(&results)).lines().count(), 1);
    }

    #[test]
    fn a_domain_without_variance_is_left_out_and_named() {
        let mut results = results();
        for cell in results.cells.iter_mut().filter(|cell| cell.cell.domain == Domain::LpPlateau) {
            cell.trials.iter_mut().for_each(|(_, record)| record.qd_score = 100.0);
        }
        let text = markdown(&analyses(&results));
        assert!(text.contains("LP (plateau): no test (expected values that vary"), "{text}");
    }
}
