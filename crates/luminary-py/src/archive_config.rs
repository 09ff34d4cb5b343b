//! Configurations of archives from what Python says.

use luminary::archive::{
    Acceptance, ArchiveConfig, ArchiveKind, CategoricalConfig, CellsConfig, CentroidSource, Competition, CvtConfig,
    DensityConfig, DnsConfig, Dtype, ExtraColumn, GridConfig, LearningRate, ProximityConfig, SlidingBoundariesConfig,
    ThresholdDecay, UpdateRule,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// What every archive is told: components of a solution, QD score offset, and name, width and kind of the extra columns.
pub(crate) type Shared = (usize, f64, Vec<(String, usize, String)>);

/// Learning rate, without which the archive is elitist, and first threshold.
pub(crate) type Thresholds = (Option<f64>, f64);

/// Factor of the novelty threshold, batches without a novel row before it is applied, and lowest threshold.
pub(crate) type Decay = (f64, usize, f64);

/// An archive that judges all rows against its state before the call, with cells.
pub(crate) fn cells(shared: Shared, (learning_rate, min_f): Thresholds, cells: CellsConfig) -> PyResult<ArchiveConfig> {
    let acceptance = match learning_rate {
        None => Acceptance::Elitist,
        Some(alpha) => Acceptance::Soft { learning_rate: LearningRate::Fixed(alpha), min_f },
    };
    Ok(ArchiveConfig { acceptance, rule: UpdateRule::Batch, ..of_kind(shared, ArchiveKind::Cells(cells))? })
}

pub(crate) fn grid(resolution: Vec<usize>, measure_bounds: Vec<(f64, f64)>, epsilon: f64) -> CellsConfig {
    CellsConfig::Grid(GridConfig { resolution, measure_bounds, epsilon })
}

pub(crate) fn cvt(centroids: Vec<f64>, measure_bounds: Vec<(f64, f64)>) -> CellsConfig {
    let n_cells = centroids.len() / measure_bounds.len().max(1);
    CellsConfig::Cvt(CvtConfig { n_cells, measure_bounds, centroids: CentroidSource::Given(centroids), seed: 0 })
}

/// So many categories of each measure. Python knows what they are; here they are called by their positions.
pub(crate) fn categorical(dims: &[usize]) -> CellsConfig {
    let names = |&n: &usize| (0..n).map(|position| position.to_string()).collect();
    CellsConfig::Categorical(CategoricalConfig { categories: dims.iter().map(names).collect() })
}

pub(crate) fn sliding_boundaries(shared: Shared, config: SlidingBoundariesConfig) -> PyResult<ArchiveConfig> {
    of_kind(shared, ArchiveKind::Cells(CellsConfig::SlidingBoundaries(config)))
}

pub(crate) fn proximity(
    shared: Shared,
    measure_dim: usize,
    n_neighbours: usize,
    novelty_threshold: f64,
    competition: &str,
    decay: Option<Decay>,
) -> PyResult<ArchiveConfig> {
    let competition = match competition {
        "none" => Competition::None,
        "local" => Competition::Local,
        _ => return Err(PyValueError::new_err(format!("expected \"none\" or \"local\", found {competition:?}"))),
    };
    let config = ProximityConfig {
        measure_bounds: unbounded(measure_dim),
        n_neighbours,
        novelty_threshold,
        competition,
        decay: decay.map(|(rate, n_batches, minimum)| ThresholdDecay { rate, n_batches, minimum }),
    };
    of_kind(shared, ArchiveKind::Proximity(config))
}

pub(crate) fn dns(shared: Shared, measure_dim: usize, capacity: usize, n_neighbours: usize) -> PyResult<ArchiveConfig> {
    of_kind(shared, ArchiveKind::Dns(DnsConfig { measure_bounds: unbounded(measure_dim), capacity, n_neighbours }))
}

pub(crate) fn density(measure_dim: usize, buffer_size: usize, bandwidth: f64, seed: u64) -> PyResult<ArchiveConfig> {
    // No solutions are kept, but the engine wants to know their size.
    let shared = (1, 0.0, Vec::new());
    let measure_bounds = unbounded(measure_dim);
    of_kind(shared, ArchiveKind::Density(DensityConfig { measure_bounds, buffer_size, bandwidth, seed }))
}

/// Archives without cells work for any measures.
fn unbounded(measure_dim: usize) -> Vec<(f64, f64)> {
    vec![(f64::NEG_INFINITY, f64::INFINITY); measure_dim]
}

fn of_kind((solution_dim, qd_score_offset, columns): Shared, kind: ArchiveKind) -> PyResult<ArchiveConfig> {
    let extra_columns = columns.into_iter().map(extra_column).collect::<PyResult<_>>()?;
    Ok(ArchiveConfig { extra_columns, qd_score_offset, ..ArchiveConfig::new(solution_dim, kind) })
}

fn extra_column((name, width, kind): (String, usize, String)) -> PyResult<ExtraColumn> {
    let dtype = match kind.as_str() {
        "numbers" => Dtype::F64,
        "bytes" => Dtype::U8,
        _ => return Err(PyValueError::new_err(format!("expected \"numbers\" or \"bytes\", found {kind:?}"))),
    };
    Ok(ExtraColumn::new(name, width).with_dtype(dtype))
}
