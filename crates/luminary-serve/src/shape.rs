//! Where the cells of an archive are in measure space, as the page draws them.

use luminary::archive::{Archive, Cells, CellsConfig};
use luminary_run::config::{Labels, RunConfig};
use luminary_run::export::Which;
use serde::Serialize;

/// Where the cells are.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Shape {
    pub(crate) kind: Kind,
    /// Intervals along each measure, of a grid.
    resolution: Vec<usize>,
    pub(crate) n_cells: usize,
    measures: Vec<Axis>,
    /// One row for each cell; sent as bytes.
    #[serde(skip)]
    pub(crate) centroids: Vec<f64>,
}

/// How cells are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// Intervals of each measure, the last running fastest.
    Grid,
    /// A cell belongs to its nearest centroid.
    Centroids,
    /// There are no cells: elites are points.
    Points,
}

#[derive(Clone, Debug, Serialize)]
struct Axis {
    name: String,
    lower: f64,
    upper: f64,
}

impl Shape {
    /// Of an archive.
    pub(crate) fn of_archive(archive: &dyn Archive, labels: &Labels) -> Self {
        match archive.cells() {
            Some(cells) => Self::of_cells(cells, labels),
            None => {
                let values = |i: usize| archive.elites().map(move |elite| elite.measures[i]);
                Self::points(archive.len(), archive.measure_bounds(), values, labels)
            }
        }
    }

    /// Of a run that has no checkpoint yet; nothing if its archive has no cells.
    pub(crate) fn of_config(config: &RunConfig, which: Which) -> Option<Self> {
        Some(Self::of_cells(&Cells::new(cells_of(config, which)?).ok()?, &config.problem.labels()))
    }

    /// Of a grid, which is known without work: centroids would have to be found first.
    pub(crate) fn of_grid(config: &RunConfig, which: Which) -> Option<Self> {
        match cells_of(config, which)? {
            CellsConfig::Cvt(_) => None,
            _ => Self::of_config(config, which),
        }
    }

    /// Of an archive without cells whose elites have these measures, row by row.
    pub(crate) fn of_points(config: &RunConfig, measures: &[f64]) -> Option<Self> {
        let bounds = config.problem.spec().ok()?.measure_bounds;
        let n = bounds.len().max(1);
        let values = |i: usize| measures.iter().skip(i).step_by(n).copied();
        Some(Self::points(measures.len() / n, &bounds, values, &config.problem.labels()))
    }

    fn points<V: Iterator<Item = f64>>(
        n_elites: usize,
        bounds: &[(f64, f64)],
        values: impl Fn(usize) -> V,
        labels: &Labels,
    ) -> Self {
        Self {
            kind: Kind::Points,
            resolution: Vec::new(),
            n_cells: n_elites,
            measures: axes(&finite_bounds(bounds, values), labels),
            centroids: Vec::new(),
        }
    }

    fn of_cells(cells: &Cells, labels: &Labels) -> Self {
        let (kind, resolution, centroids) = match cells {
            Cells::Grid(grid) => (Kind::Grid, grid.config().resolution.clone(), Vec::new()),
            Cells::Categorical(cells) => (Kind::Grid, cells.config().resolution(), Vec::new()),
            // Intervals of unequal width are drawn alike.
            Cells::SlidingBoundaries(cells) => (Kind::Grid, cells.config().resolution.clone(), Vec::new()),
            Cells::Cvt(cvt) => (Kind::Centroids, Vec::new(), cvt.centroids().to_vec()),
        };
        Self { kind, resolution, n_cells: cells.n_cells(), measures: axes(cells.measure_bounds(), labels), centroids }
    }
}

/// The cells that a configuration says; nothing if the archive has none.
pub(crate) fn cells_of(config: &RunConfig, which: Which) -> Option<&CellsConfig> {
    let own = config.archive.cells();
    match which {
        Which::Search => own,
        Which::Result => config.archive.result.as_ref().or(own),
    }
}

fn axes(bounds: &[(f64, f64)], labels: &Labels) -> Vec<Axis> {
    let names = labels.measures.iter().cloned().chain((labels.measures.len()..).map(|i| format!("measure {i}")));
    names.zip(bounds).map(|(name, &(lower, upper))| Axis { name, lower, upper }).collect()
}

/// The bounds of an archive without cells, or where its elites are along measures that have none.
fn finite_bounds<V: Iterator<Item = f64>>(bounds: &[(f64, f64)], values: impl Fn(usize) -> V) -> Vec<(f64, f64)> {
    let finite = |(i, &(lower, upper)): (usize, &(f64, f64))| {
        if lower.is_finite() && upper.is_finite() {
            return (lower, upper);
        }
        let lower = values(i).fold(f64::INFINITY, f64::min);
        let upper = values(i).fold(f64::NEG_INFINITY, f64::max);
        if lower < upper {
            return (lower, upper);
        }
        let middle = if lower.is_finite() { lower } else { 0.5 };
        (middle - 0.5, middle + 0.5)
    };
    bounds.iter().enumerate().map(finite).collect()
}
