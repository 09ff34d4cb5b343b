//! Beyond the paper: our algorithms beside its, for the paper's number of evaluations and for small parts of it.

use std::fmt::Write;

use luminary::archive::budget_learning_rate;
use luminary::preset::{MANY_COMPONENTS, Preset};
use luminary::strategy::{LmMaConfig, StrategyConfig, Variant};
use luminary_domains::Domain;
use luminary_plot::{CurvePanel, Curves, Markers, PlotError, Series, Style, curves};
use luminary_run::sweep::Estimate;

use crate::comparison::{Metric, PAPER_TRIALS};
use crate::experiment::{Cell, Experiment};
use crate::names::{domain_title, grouped};
use crate::published;
use crate::results::{CellResults, Results};
use crate::statistics::{Summary, welch};

/// The algorithms with how their thresholds anneal.
const ROWS: [Row; 5] = [
    Row { algorithm: Preset::CmaMae, annealing: Annealing::Paper },
    Row { algorithm: Preset::CmaMae, annealing: Annealing::Budget },
    Row { algorithm: Preset::CmaMaegaDf, annealing: Annealing::Budget },
    Row { algorithm: Preset::Auto, annealing: Annealing::Budget },
    Row { algorithm: Preset::CmaMaega, annealing: Annealing::Paper },
];

/// Percent of the paper's evaluations.
pub(crate) const PERCENTS: [u64; 5] = [1, 3, 10, 30, 100];

/// The paper's iterations, in which percents are counted.
const PAPER_ITERATIONS: u64 = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    algorithm: Preset,
    annealing: Annealing,
}

/// Where the learning rate comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Annealing {
    /// The paper's.
    Paper,
    /// From cells and evaluations.
    Budget,
}

/// The cells of a dimension and resolution. Trials may be shortened: `iterations` are those of the full budget.
pub(crate) fn cells(n: usize, resolution: usize, iterations: Option<u64>) -> Vec<Cell> {
    let full = iterations.unwrap_or(PAPER_ITERATIONS);
    let mut cells = Vec::new();
    for row in ROWS {
        for domain in Domain::ALL {
            for percent in PERCENTS {
                let own_iterations = (full * percent).div_ceil(100);
                let mut cell = Cell::of_paper(row.algorithm, domain, Variant::Standard, Some(own_iterations));
                cell = cell.sized(n, resolution);
                if row.annealing == Annealing::Budget {
                    cell.alpha = budget_learning_rate(resolution * resolution, cell.evaluations());
                    // Where the paper's strategy learns too slowly, CMA-MAE is shown with the one that we would take.
                    let has_many = n >= MANY_COMPONENTS && row.algorithm == Preset::CmaMae;
                    cell.strategy = has_many.then(|| StrategyConfig::LmMaEs(LmMaConfig::default()));
                }
                cells.push(cell);
            }
        }
    }
    cells
}

/// The name of a cell's algorithm, with its annealing where there are two of it.
pub(crate) fn algorithm_name(cell: &Cell) -> &'static str {
    let is_of_budget = cell.alpha == budget_learning_rate(cell.resolution * cell.resolution, cell.evaluations());
    match cell.algorithm {
        Preset::CmaMae if cell.strategy.is_some() => "CMA-MAE with lm_ma_es, α of the budget",
        Preset::CmaMae if is_of_budget => "CMA-MAE, α of the budget",
        Preset::CmaMae => "CMA-MAE, α 0.01 at 100x100",
        Preset::CmaMaegaDf => "cma_maega_df",
        Preset::Auto => "auto",
        _ => "CMA-MAEGA, true gradients",
    }
}

/// A table for each domain: algorithms down, budgets across.
pub(crate) fn markdown(results: &Results) -> String {
    results.domains().into_iter().map(|domain| of_domain(results, domain)).collect()
}

fn of_domain(results: &Results, domain: Domain) -> String {
    let budgets = budgets(results);
    let mut text = format!("**{}**: QD score\n\n| Algorithm |", domain_title(domain));
    for budget in &budgets {
        write!(text, " {} |", grouped(*budget)).expect("strings take all text");
    }
    text += &format!("\n|---|{}\n", "---:|".repeat(budgets.len()));
    for name in names(results) {
        let own = |budget: &u64| find(results, domain, name, *budget);
        let shown = budgets.iter().map(|budget| own(budget).map_or("—".into(), |cell| shown(results, cell)));
        text += &format!("| {name} | {} |\n", shown.collect::<Vec<_>>().join(" | "));
    }
    if let Some(published) = published_cma_mae(results, domain) {
        text += &format!("\nCMA-MAE, published, with 5,400,000 evaluations: {:.2}.\n", published.mean);
    }
    text + "\n"
}

/// `75.31 ± 0.02`, with an arrow if a Welch test finds it better or worse than CMA-MAE with the paper's alpha.
fn shown(results: &Results, cell: &CellResults) -> String {
    let Some(Estimate { mean, standard_error }) = cell.estimate(|record| record.qd_score) else { return "—".into() };
    let error = standard_error.map_or(String::new(), |error| format!(" ± {error:.2}"));
    let arrow = match better_than_baseline(results, cell) {
        Some(true) => " ↑",
        Some(false) => " ↓",
        None => "",
    };
    format!("{mean:.2}{error}{arrow}")
}

/// Probability below which a difference counts.
const SIGNIFICANT: f64 = 0.01;

/// Whether a cell is significantly better, or worse, than CMA-MAE with the paper's alpha and the same budget.
fn better_than_baseline(results: &Results, cell: &CellResults) -> Option<bool> {
    let is_baseline = |other: &&CellResults| {
        other.cell.algorithm == Preset::CmaMae
            && other.cell.domain == cell.cell.domain
            && other.cell.iterations == cell.cell.iterations
            && algorithm_name(&other.cell) == "CMA-MAE, α 0.01 at 100x100"
    };
    let baseline = results.cells.iter().find(is_baseline).filter(|other| other.cell != cell.cell)?;
    let own = summary(cell)?;
    let theirs = summary(baseline)?;
    let p_of = |larger: Summary, smaller: Summary| welch(larger, smaller).ok().map(|test| test.p.value());
    if p_of(own, theirs)? < SIGNIFICANT {
        return Some(true);
    }
    (p_of(theirs, own)? < SIGNIFICANT).then_some(false)
}

fn summary(cell: &CellResults) -> Option<Summary> {
    let estimate = cell.estimate(|record| record.qd_score)?;
    Some(Summary { mean: estimate.mean, standard_error: estimate.standard_error?, n: cell.trials.len() })
}

/// The published number for the full budget, where the paper has this dimension.
fn published_cma_mae(results: &Results, domain: Domain) -> Option<Estimate> {
    let experiment = match results.experiment {
        Experiment::Frontier => Experiment::Main,
        Experiment::FrontierN1000 => Experiment::N1000,
        _ => return None,
    };
    let cell = Cell::of_paper(Preset::CmaMae, domain, Variant::Published, None);
    let values = published::values(experiment, &cell)?;
    Some(Estimate { mean: values.qd, standard_error: values.qd_se })
}

/// From how many evaluations on our automatic preset is better than the published CMA-MAE: a sentence for each domain that has
/// trials enough to say so.
pub(crate) fn against_published(results: &Results) -> String {
    let mut text = String::new();
    for domain in results.domains() {
        let Some(published) = published_cma_mae(results, domain) else { continue };
        let budgets = budgets(results);
        let cells = budgets.iter().filter_map(|&budget| Some((budget, find(results, domain, "auto", budget)?)));
        let test = |cell: &CellResults| {
            let theirs =
                Summary { mean: published.mean, standard_error: published.standard_error?, n: PAPER_TRIALS as usize };
            welch(summary(cell)?, theirs).ok().map(|test| test.p.value())
        };
        // Single trials cannot be tested.
        let tested: Vec<_> = cells.filter_map(|(budget, cell)| Some((budget, test(cell)?))).collect();
        if tested.is_empty() {
            continue;
        }
        let fewest = tested.into_iter().find(|&(_, p)| p < SIGNIFICANT);
        let title = domain_title(domain);
        text += &match fewest {
            Some((budget, _)) => format!(
                "- {title}: with {} evaluations `auto` is significantly better (p < {SIGNIFICANT}) than the published \
                 CMA-MAE ({:.2}) with 5,400,000.\n",
                grouped(budget),
                published.mean,
            ),
            None => format!(
                "- {title}: `auto` is not significantly better than the published CMA-MAE ({:.2}).\n",
                published.mean
            ),
        };
    }
    if text.is_empty() { text } else { text + "\n" }
}

/// Score against evaluations, a point for each budget.
pub(crate) fn figure(results: &Results) -> Result<luminary_plot::Figure, PlotError> {
    let budgets = budgets(results);
    let series = |domain: Domain, name: &'static str| {
        let cells: Vec<_> = budgets.iter().map(|&budget| find(results, domain, name, budget)).collect();
        let n_trials = cells.iter().flatten().map(|cell| cell.trials.len()).max().unwrap_or(0);
        let score = |cell: &Option<&CellResults>, trial: usize| {
            cell.and_then(|cell| cell.trials.get(trial)).map_or(f64::NAN, |(_, record)| record.qd_score)
        };
        Series {
            name: name.into(),
            x: budgets.iter().map(|&budget| (budget as f64).log10()).collect(),
            trials: (0..n_trials).map(|trial| cells.iter().map(|cell| score(cell, trial)).collect()).collect(),
        }
    };
    let panel = |domain: Domain| CurvePanel {
        title: domain_title(domain).into(),
        x_label: "Evaluations, power of ten".into(),
        y_label: Metric::QdScore.title().into(),
        series: names(results).into_iter().map(|name| series(domain, name)).collect(),
    };
    let panels = results.domains().into_iter().map(panel).collect();
    let n = results.cells.first().map_or(0, |cell| cell.cell.n);
    let title = format!("QD score for budgets of evaluations, n = {n}");
    curves(&Curves { title, panels, columns: Some(2), markers: Markers::Dots }, &Style::default())
}

fn find<'a>(results: &'a Results, domain: Domain, name: &str, budget: u64) -> Option<&'a CellResults> {
    results.cells.iter().find(|own| {
        own.cell.domain == domain
            && own.cell.evaluations() == budget
            && algorithm_name(&own.cell) == name
            && !own.trials.is_empty()
    })
}

/// Evaluations of the trials, ascending.
fn budgets(results: &Results) -> Vec<u64> {
    let mut budgets: Vec<u64> = results.cells.iter().map(|own| own.cell.evaluations()).collect();
    budgets.sort_unstable();
    budgets.dedup();
    budgets
}

/// Names with trials, in their order.
fn names(results: &Results) -> Vec<&'static str> {
    let mut names = Vec::new();
    for own in results.cells.iter().filter(|own| !own.trials.is_empty()) {
        let name = algorithm_name(&own.cell);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Study;

    #[test]
    fn budgets_are_shares_of_the_papers_evaluations() {
        let cells = cells(100, 100, None);
        assert_eq!(cells.len(), 5 * 4 * 5);
        let budgets: Vec<u64> = cells[..5].iter().map(Cell::evaluations).collect();
        assert_eq!(budgets, [54_000, 162_000, 540_000, 1_620_000, 5_400_000]);
        assert!(cells.iter().all(|cell| cell.variant == Variant::Standard));
    }

    #[test]
    fn with_many_components_cma_mae_is_shown_with_a_strategy_for_them() {
        let names = |n: usize| cells(n, 300, None).iter().map(algorithm_name).collect::<Vec<_>>();
        assert!(names(1000).contains(&"CMA-MAE with lm_ma_es, α of the budget"));
        assert!(!names(100).contains(&"CMA-MAE with lm_ma_es, α of the budget"));
        let of_many = cells(1000, 300, None).into_iter().find(|cell| cell.strategy.is_some()).unwrap();
        let config = serde_json::to_value(of_many.scheduler(1).unwrap()).unwrap();
        let strategy = &config["emitters"][0]["emitter"]["evolution"]["strategy"];
        assert!(strategy.to_string().contains("lm_ma"), "{strategy}");
    }

    #[test]
    fn tables_and_figure_have_every_algorithm() {
        let study = Study::new(Experiment::Frontier, Variant::Published, Some(100)).trials(3);
        let results = Results::synthetic(&study);
        let text = markdown(&results);
        for name in ["auto", "cma_maega_df", "CMA-MAE, α of the budget"] {
            assert_eq!(text.matches(&format!("| {name} |")).count(), 4, "{name}\n{text}");
        }
        assert_eq!(text.matches("CMA-MAE, published, with 5,400,000 evaluations").count(), 4);
        assert!(text.contains("| 540 | 1,620 | 5,400 | 16,200 | 54,000 |"), "{text}");
        let svg = figure(&results).unwrap();
        assert!(svg.svg().contains("cma_maega_df"));
        assert_eq!(against_published(&results).lines().filter(|line| line.starts_with("- ")).count(), 4);
        let single = Study::new(Experiment::Frontier, Variant::Published, Some(100)).trials(1);
        assert_eq!(against_published(&Results::synthetic(&single)), "", "one trial has no standard error");
    }
}
