//! An archive that remembers where solutions were, not the solutions (density descent search; Lee et al., "Density Descent
//! for Diversity Optimization", GECCO 2024).

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

use super::nearest::squared_distance;
use super::population::check_bounds;
use super::{
    AddReport, Archive, ArchiveConfig, ArchiveStats, Batch, Best, Elite, ExtraColumn, NonFinite, ReportColumn, Status,
};
use crate::error::{CallError, CheckpointError, ConfigError};
use crate::message_pack;
use crate::serde_floats;

/// Settings of a [`DensityArchive`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DensityConfig {
    /// Where each measure is expected to lie, for figures and rankers; infinite where nothing is known.
    pub measure_bounds: Vec<(f64, f64)>,
    /// How many rows the density is computed from.
    pub buffer_size: usize,
    /// Width of the kernel.
    pub bandwidth: f64,
    /// Seed of the choice of rows.
    #[serde(default)]
    pub seed: u64,
}

/// How densely solutions lie in measure space, by a kernel density estimate over a uniform sample of all rows ever
/// offered.
///
/// There are no elites, so that a scheduler needs a result archive beside it; every row that is finite is
/// [`Status::New`].
#[derive(Clone, Debug)]
pub struct DensityArchive {
    config: DensityConfig,
    solution_dim: usize,
    extra_columns: Vec<ExtraColumn>,
    buffer: Vec<f64>,
    reservoir: Reservoir,
}

/// Reservoir sampling, Algorithm L (Li, "Reservoir-Sampling Algorithms of Time Complexity O(n(1 + log(N/n)))", ACM
/// Transactions on Mathematical Software 1994).
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Reservoir {
    rng: WideRng,
    size: usize,
    n_seen: u64,
    weight: f64,
    /// The next row that comes in once the reservoir is full.
    next: u64,
}

impl Reservoir {
    fn new(size: usize, seed: u64) -> Self {
        let rng = WideRng::from_path(seed, "archive/reservoir");
        let mut reservoir = Self { rng, size, n_seen: 0, weight: 1.0, next: size as u64 - 1 };
        reservoir.skip();
        reservoir
    }

    /// The place of the next row, if it gets one.
    fn place(&mut self) -> Option<usize> {
        let n_before = self.n_seen;
        self.n_seen += 1;
        if n_before < self.size as u64 {
            return Some(n_before as usize);
        }
        if n_before != self.next {
            return None;
        }
        let place = self.rng.below(self.size);
        self.skip();
        Some(place)
    }

    /// Draws how many rows pass by before the next one comes in.
    fn skip(&mut self) {
        self.weight *= ((1.0 - self.rng.uniform()).ln() / self.size as f64).exp();
        let passing = (1.0 - self.rng.uniform()).ln() / (-self.weight).ln_1p();
        // The conversion saturates: after so many rows that the weight is lost to rounding, none comes in any more.
        self.next = self.next.saturating_add(passing as u64).saturating_add(1);
    }
}

impl DensityArchive {
    pub(super) fn new(archive: &ArchiveConfig, config: &DensityConfig) -> Result<Self, ConfigError> {
        archive.check()?;
        check_bounds(&config.measure_bounds)?;
        if config.buffer_size == 0 {
            return Err(ConfigError::TooFew { what: "buffer_size", minimum: 1, found: 0 });
        }
        if !(config.bandwidth.is_finite() && config.bandwidth > 0.0) {
            let found = config.bandwidth;
            return Err(ConfigError::Value { what: "bandwidth", expected: "finite and > 0", found });
        }
        Ok(Self {
            config: config.clone(),
            solution_dim: archive.solution_dim,
            extra_columns: archive.extra_columns.clone(),
            buffer: Vec::new(),
            reservoir: Reservoir::new(config.buffer_size, config.seed),
        })
    }

    /// The settings the archive was built from.
    pub fn config(&self) -> &DensityConfig {
        &self.config
    }

    /// The measures that densities are computed from, row by row.
    pub fn buffer(&self) -> &[f64] {
        &self.buffer
    }

    /// The density at each row of measures: the mean of `exp(-d^2 / (2 h^2)) / (h sqrt(2 pi))` over the distances `d` to
    /// the points of the buffer, for the bandwidth `h`; zero while the buffer is empty.
    ///
    /// # Errors
    /// Measures that are no whole rows.
    pub fn compute_density(&self, measures: &[f64]) -> Result<Vec<f64>, CallError> {
        let dim = self.measure_dim();
        if !measures.len().is_multiple_of(dim) {
            let expected = measures.len() / dim * dim;
            let found = measures.len();
            return Err(CallError::Length { what: "measures", shape: "rows x measures", expected, found });
        }
        Ok(measures.chunks_exact(dim).map(|row| self.density_at(row)).collect())
    }

    fn density_at(&self, measures: &[f64]) -> f64 {
        let points = self.buffer.chunks_exact(measures.len());
        if points.len() == 0 {
            return 0.0;
        }
        let n_points = points.len() as f64;
        let h = self.config.bandwidth;
        let kernels = points.map(|point| (-squared_distance(point, measures) / (2.0 * h * h)).exp());
        kernels.sum::<f64>() / (n_points * h * std::f64::consts::TAU.sqrt())
    }

    fn remember(&mut self, measures: &[f64]) {
        let Some(place) = self.reservoir.place() else { return };
        let dim = measures.len();
        match self.buffer.get_mut(place * dim..(place + 1) * dim) {
            Some(taken) => taken.copy_from_slice(measures),
            None => self.buffer.extend_from_slice(measures),
        }
    }
}

impl Archive for DensityArchive {
    fn add(&mut self, batch: &Batch<'_>, policy: NonFinite, report: &mut AddReport) -> Result<(), CallError> {
        self.check(batch, policy)?;
        report.begin(batch, &[ReportColumn::Density]);
        for row in 0..batch.n_rows() {
            if report.status[row] == Status::Invalid {
                continue;
            }
            report.status[row] = Status::New;
            report.delta[row] = batch.objectives[row];
            if let Some(column) = &mut report.density {
                column[row] = self.density_at(batch.measures_of(row));
            }
        }
        for row in (0..batch.n_rows()).filter(|&row| report.status[row] == Status::New) {
            self.remember(batch.measures_of(row));
        }
        Ok(())
    }

    fn report_columns(&self) -> &[ReportColumn] {
        &[ReportColumn::Density]
    }

    fn solution_dim(&self) -> usize {
        self.solution_dim
    }

    fn measure_bounds(&self) -> &[(f64, f64)] {
        &self.config.measure_bounds
    }

    fn extra_columns(&self) -> &[ExtraColumn] {
        &self.extra_columns
    }

    fn len(&self) -> usize {
        0
    }

    fn nth_elite(&self, i: usize) -> Elite<'_> {
        panic!("expected an elite below 0, found {i}: a density archive has none")
    }

    fn keeps_elites(&self) -> bool {
        false
    }

    fn stats(&self) -> ArchiveStats {
        ArchiveStats::of(0, std::iter::empty(), 0.0, None)
    }

    fn best(&self) -> Option<&Best> {
        None
    }

    fn clear(&mut self) {
        self.buffer.clear();
        self.reservoir = Reservoir::new(self.config.buffer_size, self.config.seed);
    }

    fn bytes_in_use(&self) -> usize {
        size_of_val(&*self.buffer)
    }

    fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        let state = DensityState { buffer: self.buffer.clone(), reservoir: self.reservoir.clone() };
        Ok(rmp_serde::to_vec_named(&state)?)
    }

    fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        let state: DensityState = message_pack::from_slice(bytes)?;
        let size = self.config.buffer_size;
        let expected = state.reservoir.n_seen.min(size as u64) as u128 * self.measure_dim() as u128;
        let found = state.buffer.len() as u128;
        let is_possible = state.reservoir.size == size && state.reservoir.n_seen <= u64::MAX / 2;
        if expected != found || !is_possible {
            return Err(CheckpointError::Mismatch {
                what: "density archive",
                expected: format!("{expected} numbers of a reservoir of {size} rows"),
                found: format!("{found} of one of {}", state.reservoir.size),
            });
        }
        self.buffer = state.buffer;
        self.reservoir = state.reservoir;
        Ok(())
    }
}

#[derive(Serialize, Deserialize)]
struct DensityState {
    #[serde(with = "serde_floats")]
    buffer: Vec<f64>,
    reservoir: Reservoir,
}
