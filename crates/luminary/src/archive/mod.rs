//! ADD: archives of elites.
//!
//! [`Archive`] is all that a scheduler and its emitters know of one.
//!
//! - [`CellArchive`] cuts measure space into cells and keeps an elite in each: a grid, a centroidal Voronoi tessellation,
//!   combinations of categories, or a grid with sliding boundaries.
//! - [`ProximityArchive`] keeps what is far from its elites, [`DnsArchive`] what is far from fitter solutions.
//! - [`DensityArchive`] and [`DiscountArchive`] keep no solutions. They say how dense measure space is, and what threshold
//!   a model gives it, such as a [`Perceptron`]; a result archive beside them keeps the elites.
//!
//! A *soft* archive (CMA-MAE) keeps a threshold in each cell that follows the accepted objectives with a learning
//! rate alpha; an *elitist* one (MAP-Elites, CMA-ME, every result archive) keeps the best. Because a soft archive may
//! replace an elite by a worse one, runs keep an elitist *result archive* beside it and report that one.

mod batch;
mod report;
mod elite;
mod column;
mod config;
mod cell;
mod cvt;
mod learning_rate;
mod proximity;
mod dns;
mod density;
mod discount;
mod novelty;
mod cqd;
mod nearest;
mod stats;
mod rows;
mod copies;
mod rows_state;
mod population;
mod saved;

use std::any::Any;
use std::fmt::Debug;

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

pub use batch::{Batch, NonFinite};
pub use cell::{
    Acceptance, BORDER_EPSILON, Categorical, CategoricalConfig, CellArchive, Cells, CellsConfig, Estimate, Grid,
    GridConfig, NoiseConfig, NoiseStats, SlidingBoundaries, SlidingBoundariesConfig, UpdateRule,
};
pub(crate) use column::Column;
pub use column::{ColumnData, Dtype, ExtraColumn};
pub use config::{ArchiveConfig, ArchiveKind};
pub use cqd::{CqdConfig, CqdScore, Norm, Targets, cqd_score};
pub use cvt::{CentroidSource, Cvt, CvtConfig, CvtError};
pub use density::{DensityArchive, DensityConfig};
pub use discount::{DiscountArchive, DiscountConfig, DiscountModel, Examples, Perceptron, PerceptronConfig, Training};
pub use dns::{DnsArchive, DnsConfig};
pub use elite::{Best, Elite, EliteColumns};
pub use learning_rate::{KAPPA, LearningRate, budget_learning_rate, convert_learning_rate};
pub use proximity::{Competition, ProximityArchive, ProximityConfig, ThresholdDecay};
pub use report::{AddReport, ReportColumn, Seated, Status};
pub(crate) use saved::ArchiveState;
pub use stats::ArchiveStats;

use crate::emitter::EliteSource;
use crate::error::{CallError, CheckpointError, ConfigError};

/// Cells are counted in 32 bits, and one value is kept back for "slot plus one".
pub const MAX_CELLS: usize = u32::MAX as usize - 1;

/// Index of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CellIdx(u32);

impl CellIdx {
    /// The cell with this index, which must be within [`MAX_CELLS`].
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("cells are counted in 32 bits"))
    }

    /// The index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A collection of solutions that decides which ones to keep.
///
/// This is all that a scheduler and its emitters know of an archive, so that yours can take the place of the built-in
/// ones: see [`SchedulerConfig::build_with_archive`](crate::scheduler::SchedulerConfig::build_with_archive). What you put
/// in you get back out of the scheduler by `downcast_ref`.
pub trait Archive: EliteSource + Any + Debug + Send + Sync {
    /// Offers rows to the archive and reports what became of each. [`check`](Self::check) and [`AddReport::begin`] do what
    /// every archive has to do first.
    ///
    /// # Errors
    /// Wrong lengths, and by the policy values that are not finite; archive and report are unchanged then.
    fn add(&mut self, batch: &Batch<'_>, policy: NonFinite, report: &mut AddReport) -> Result<(), CallError>;

    /// Number of components of a solution.
    fn solution_dim(&self) -> usize;

    /// Where each measure is expected to lie; infinite where nothing is known. The length is the number of measures.
    fn measure_bounds(&self) -> &[(f64, f64)];

    /// Number of elites.
    fn len(&self) -> usize;

    /// The `i`-th elite, `i < len()`, in constant time, so that drawing `i` uniformly draws uniformly over elites. An
    /// elite keeps its number until rows are added.
    fn nth_elite(&self, i: usize) -> Elite<'_>;

    /// What the archive holds, in numbers.
    fn stats(&self) -> ArchiveStats;

    /// The best solution ever accepted, also when the archive has since replaced it.
    fn best(&self) -> Option<&Best>;

    /// Forgets everything that was added; room and configuration stay.
    fn clear(&mut self);

    /// Forgets the elites alone. What else was learnt from rows stays, such as borders that have moved.
    fn forget_elites(&mut self) {
        self.clear();
    }

    /// Whole columns of the elites, if the archive keeps them like that.
    fn columns(&self) -> Option<EliteColumns<'_>> {
        None
    }

    /// Checks what [`add`](Self::add) checks, and changes nothing.
    ///
    /// # Errors
    /// As `add`.
    fn check(&self, batch: &Batch<'_>, policy: NonFinite) -> Result<(), CallError> {
        batch.check_shape(self.solution_dim(), self.measure_dim(), self.extra_columns())?;
        batch.check_finite(policy)
    }

    /// Whether there is no elite yet.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of measures.
    fn measure_dim(&self) -> usize {
        self.measure_bounds().len()
    }

    /// The columns that are kept with each elite beside objective, measures and solution.
    fn extra_columns(&self) -> &[ExtraColumn] {
        &[]
    }

    /// The optional columns of its reports.
    fn report_columns(&self) -> &[ReportColumn] {
        &[]
    }

    /// Whether the archive keeps solutions. One that does not needs a result archive beside it, whose elites emitters
    /// then see.
    fn keeps_elites(&self) -> bool {
        true
    }

    /// Whether elites are corrected by further evaluations. Emitters see the elites of such a result archive.
    fn corrects_elites(&self) -> bool {
        false
    }

    /// Whether this result archive can stand beside the archive; a scheduler asks before it calls
    /// [`learn`](Self::learn).
    ///
    /// # Errors
    /// What is wrong with it.
    fn check_result(&self, _result: &dyn Archive) -> Result<(), ConfigError> {
        Ok(())
    }

    /// For an archive that learns from the result archive beside it: the scheduler calls this once at the beginning, and
    /// after every tell.
    fn learn(&mut self, _result: &dyn Archive) {}

    /// Draws a solution of which another evaluation would tell most: an elite, unless the archive knows of noise and has
    /// candidates that it doubts. `None` while there is nothing.
    fn draw_doubtful(&self, rng: &mut WideRng) -> Option<&[f64]> {
        self.draw_solution(rng)
    }

    /// Standard deviation of the objective between evaluations of the same solution; zero unless the archive knows of noise.
    fn noise_deviation(&self) -> f64 {
        0.0
    }

    /// The cells that measure space is cut into, if it is.
    fn cells(&self) -> Option<&Cells> {
        None
    }

    /// Writes for each row of measures the mean distance to its `n_neighbours` nearest elites, with every measure
    /// scaled by its range, if it has one; infinity while the archive is empty. Invalid rows (measures not finite) get
    /// NaN.
    ///
    /// `nearest` is scratch space.
    fn novelty(&self, measures: &[f64], n_neighbours: usize, nearest: &mut Vec<f64>, out: &mut [f64]) {
        let elites = (0..self.len()).map(|i| self.nth_elite(i).measures);
        novelty::novelty(self.measure_bounds(), elites, measures, n_neighbours, nearest, out);
    }

    /// Bytes of the columns in use; reserved room that was never written is not memory yet.
    fn bytes_in_use(&self) -> usize {
        8 * self.len() * (1 + self.solution_dim() + self.measure_dim())
    }

    /// Everything the archive has learnt, as bytes for [`load_bytes`](Self::load_bytes); its configuration is not in
    /// them. An archive that cannot be saved makes the checkpoint fail, not the run.
    ///
    /// # Errors
    /// When the state does not encode.
    fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        Err(CheckpointError::Unsupported { what: "archive" })
    }

    /// Takes over what [`to_bytes`](Self::to_bytes) of an archive of the same configuration returned.
    ///
    /// # Errors
    /// Bytes that do not decode or belong to another configuration; the archive is unchanged then.
    fn load_bytes(&mut self, _bytes: &[u8]) -> Result<(), CheckpointError> {
        Err(CheckpointError::Unsupported { what: "archive" })
    }
}

impl dyn Archive {
    /// All elites, in the order of [`nth_elite`](Archive::nth_elite).
    pub fn elites(&self) -> impl ExactSizeIterator<Item = Elite<'_>> {
        (0..self.len()).map(|i| self.nth_elite(i))
    }

    /// Percentage of cells whose elite reaches each of the given objectives: the complementary cumulative distribution
    /// of the paper's CCDF plots. Of an archive without cells, the percentage of the elites it can hold, or does hold.
    pub fn ccdf(&self, objectives: &[f64]) -> Vec<f64> {
        let percent = 100.0 / self.stats().n_cells.max(1) as f64;
        let reached = |x: f64| self.elites().filter(|elite| elite.objective >= x).count();
        objectives.iter().map(|&x| reached(x) as f64 * percent).collect()
    }

    /// The archive as the type it is, if it is a `T`.
    pub fn downcast_ref<T: Archive>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }

    /// The archive as the type it is, if it is a `T`.
    pub fn downcast_mut<T: Archive>(&mut self) -> Option<&mut T> {
        (self as &mut dyn Any).downcast_mut()
    }
}
