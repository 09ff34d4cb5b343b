//! The numbers the paper published, as data.

use std::sync::LazyLock;

use luminary_domains::Domain;
use serde::Deserialize;

use crate::experiment::{Cell, Experiment};

/// What the paper gives for a cell of a table. Its ablation tables have neither standard errors nor the best objective.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct PublishedValues {
    /// Normalised QD score.
    pub qd: f64,
    /// Its standard error.
    pub qd_se: Option<f64>,
    /// Coverage in percent.
    pub cov: f64,
    /// Its standard error.
    pub cov_se: Option<f64>,
    /// Best objective.
    pub best: Option<f64>,
    /// Its standard error.
    pub best_se: Option<f64>,
}

/// What the paper gives for a cell of an experiment; `None` where it only has a figure.
pub fn values(experiment: Experiment, cell: &Cell) -> Option<PublishedValues> {
    let of_algorithm = |rows: &[Row]| find(rows, cell, |row| row.algorithm.as_deref() == Some(cell.algorithm.name()));
    match experiment {
        Experiment::Main => of_algorithm(&TABLES.main),
        Experiment::N1000 => of_algorithm(&TABLES.n1000),
        Experiment::Alpha => find(&TABLES.alpha_ablation, cell, |row| row.alpha == Some(cell.alpha)),
        Experiment::MinF => find(&TABLES.min_f_ablation, cell, |row| row.min_f == Some(cell.min_f)),
        Experiment::Resolution | Experiment::N1000Resolution => None,
        Experiment::Frontier | Experiment::FrontierN10 | Experiment::FrontierN1000 => None,
    }
}

fn find(rows: &[Row], cell: &Cell, is_wanted: impl Fn(&Row) -> bool) -> Option<PublishedValues> {
    rows.iter().find(|row| row.is_of(cell.domain) && is_wanted(row)).map(|row| row.values)
}

static TABLES: LazyLock<Tables> =
    LazyLock::new(|| toml::from_str(include_str!("../data/published.toml")).expect("a test reads the tables"));

/// The tables that our domains appear in.
#[derive(Deserialize)]
struct Tables {
    main: Vec<Row>,
    n1000: Vec<Row>,
    alpha_ablation: Vec<Row>,
    min_f_ablation: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    domain: String,
    algorithm: Option<String>,
    alpha: Option<f64>,
    min_f: Option<f64>,
    #[serde(flatten)]
    values: PublishedValues,
}

impl Row {
    fn is_of(&self, domain: Domain) -> bool {
        self.domain.parse() == Ok(domain)
    }
}

#[cfg(test)]
mod tests {
    use luminary::strategy::Variant;

    use super::*;

    #[test]
    fn every_cell_of_the_papers_tables_has_published_values() {
        for experiment in [Experiment::Main, Experiment::Alpha, Experiment::MinF, Experiment::N1000] {
            for cell in experiment.cells(Variant::Published, None) {
                let published = values(experiment, &cell).unwrap_or_else(|| panic!("{experiment}: {cell}"));
                let has_best = matches!(experiment, Experiment::Main | Experiment::N1000);
                assert_eq!(published.best.is_some(), has_best, "{experiment}: {cell}");
                assert_eq!(published.qd_se.is_some(), has_best, "{experiment}: {cell}");
            }
        }
    }

    #[test]
    fn values_are_those_of_their_own_row() {
        let cells = Experiment::MinF.cells(Variant::Published, None);
        let cell = cells.iter().find(|cell| cell.domain == Domain::LpRastrigin && cell.min_f == 80.0).unwrap();
        let published = values(Experiment::MinF, cell).unwrap();
        assert_eq!((published.qd, published.cov), (10.03, 11.04));
        let cells = Experiment::Resolution.cells(Variant::Published, None);
        assert_eq!(values(Experiment::Resolution, &cells[0]), None);
    }
}
