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
            None => Self {
                kind: Kind::Points,
                resolution: Vec::new(),
                n_cells: archive.len(),
                measures: points_axes(archive, labels),
                centroids: Vec::new(),
            },
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
fn cells_of(config: &RunConfig, which: Which) -> Option<&CellsConfig> {
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

/// The bounds of an archive without cells, or where its elites are if it has none.
fn points_axes(archive: &dyn Archive, labels: &Labels) -> Vec<Axis> {
    let mut bounds = archive.measure_bounds().to_vec();
    for (i, (lower, upper)) in bounds.iter_mut().enumerate() {
        if lower.is_finite() && upper.is_finite() {
            continue;
        }
        let values = || archive.elites().map(|elite| elite.measures[i]);
        *lower = values().fold(f64::INFINITY, f64::min);
        *upper = values().fold(f64::NEG_INFINITY, f64::max);
        if *lower >= *upper {
            let middle = if lower.is_finite() { *lower } else { 0.5 };
            *lower = middle - 0.5;
            *upper = middle + 0.5;
        }
    }
    axes(&bounds, labels)
}
