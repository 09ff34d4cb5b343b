//! What can go wrong by the user's hand. Each error names what was expected and what was found.

use thiserror::Error;

use crate::archive::Dtype;
use crate::message_pack::DecodeError;
use crate::scheduler::TicketId;

/// A configuration that cannot be built. Nothing has been allocated or changed.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no measure to spread over.
    #[error("expected at least one measure, found none")]
    NoMeasures,
    /// A grid dimension without intervals.
    #[error("expected at least 1 interval in every measure, found 0 in measure {dimension}")]
    ZeroCells {
        /// The measure.
        dimension: usize,
    },
    /// The product of the resolution does not fit an index.
    #[error("expected at most 2^32 - 1 cells in all, found a resolution of {resolution:?}")]
    TooManyCells {
        /// The resolution asked for.
        resolution: Vec<usize>,
    },
    /// The archive would not fit in memory.
    #[error("an archive of {n_cells} cells needs up to {bytes} bytes, more than can be reserved")]
    Memory {
        /// Number of cells.
        n_cells: usize,
        /// Bytes of all its columns when full.
        bytes: u128,
    },
    /// Bounds of a measure that are inverted, empty or not finite.
    #[error("expected finite bounds with lower < upper for measure {dimension}, found [{lower}, {upper}]")]
    MeasureBounds {
        /// The measure.
        dimension: usize,
        /// Lower bound.
        lower: f64,
        /// Upper bound.
        upper: f64,
    },
    /// Centroids that make no tessellation.
    #[error(transparent)]
    Cvt(#[from] crate::archive::CvtError),
    /// A list of the wrong length.
    #[error("expected {expected} values for {what}, found {found}")]
    Length {
        /// The list.
        what: &'static str,
        /// Its length by the rest of the configuration.
        expected: usize,
        /// Its length.
        found: usize,
    },
    /// A number out of its range.
    #[error("expected {what} to be {expected}, found {found}")]
    Value {
        /// The setting.
        what: &'static str,
        /// The range.
        expected: &'static str,
        /// The number.
        found: f64,
    },
    /// A count that is too small.
    #[error("expected {what} to be at least {minimum}, found {found}")]
    TooFew {
        /// The setting.
        what: &'static str,
        /// The smallest count that makes sense.
        minimum: usize,
        /// The count.
        found: usize,
    },
    /// A count that is too large.
    #[error("expected {what} to be at most {maximum}, found {found}")]
    TooMany {
        /// The setting.
        what: &'static str,
        /// The largest count the engine takes.
        maximum: usize,
        /// The count.
        found: usize,
    },
    /// A strategy whose matrices would not fit in memory.
    #[error(
        "CMA-ES in {dim} dimensions needs {bytes} bytes for its matrices, more than can be reserved; sep-CMA-ES, \
         LM-MA-ES and OpenAI-ES need none"
    )]
    StrategyMemory {
        /// Number of dimensions.
        dim: usize,
        /// Bytes of the matrices.
        bytes: u128,
    },
    /// Bounds of a solution component that are inverted or NaN.
    #[error("expected lower < upper for solution component {component}, found [{lower}, {upper}]")]
    SolutionBounds {
        /// The component.
        component: usize,
        /// Lower bound.
        lower: f64,
        /// Upper bound.
        upper: f64,
    },
    /// A start that breaks the bounds.
    #[error("expected x0 within its bounds, found {value} outside [{lower}, {upper}] in component {component}")]
    StartOutsideBounds {
        /// The component.
        component: usize,
        /// The value.
        value: f64,
        /// Lower bound.
        lower: f64,
        /// Upper bound.
        upper: f64,
    },
    /// A ranker that reads what the archive does not report.
    #[error("expected an archive that reports {column}, which a ranker reads, found one that does not")]
    MissingColumn {
        /// What the ranker reads.
        column: String,
    },
    /// A category that a measure has twice.
    #[error("expected distinct categories, found {name:?} twice")]
    Category {
        /// The category.
        name: String,
    },
    /// Two settings that exclude each other.
    #[error("{0}")]
    Conflict(&'static str),
    /// An archive of another shape than its configuration says.
    #[error(
        "expected an archive of {expected_solution} components and {expected_measures} measures, found {found_solution} \
         and {found_measures}"
    )]
    ArchiveShape {
        /// Components by the configuration.
        expected_solution: usize,
        /// Measures by the configuration.
        expected_measures: usize,
        /// Components of the archive.
        found_solution: usize,
        /// Measures of the archive.
        found_measures: usize,
    },
    /// An extra column that clashes with another name.
    #[error("expected distinct extra columns with at least one value each, found {name:?} twice or empty")]
    ExtraColumn {
        /// Its name.
        name: String,
    },
}

/// A call that cannot be carried out. The object is as it was before the call.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum CallError {
    /// Calls in the wrong order.
    #[error("expected a call to {expected}, found {found}")]
    Order {
        /// What may be called now.
        expected: &'static str,
        /// What was called.
        found: &'static str,
    },
    /// A buffer of the wrong length.
    #[error("expected {expected} values in {what} ({shape}), found {found}")]
    Length {
        /// The buffer.
        what: &'static str,
        /// What its length is made of.
        shape: &'static str,
        /// Its right length.
        expected: usize,
        /// Its length.
        found: usize,
    },
    /// NaN or infinity where a finite number is needed.
    #[error("expected finite values in {what}, found {value} in row {row}")]
    NonFinite {
        /// The buffer.
        what: &'static str,
        /// The row.
        row: usize,
        /// The value.
        value: f64,
    },
    /// An extra column of another type than declared.
    #[error("expected {expected:?} values in the extra column {name:?}, found {found:?}")]
    Dtype {
        /// The column.
        name: String,
        /// The type it was declared with.
        expected: Dtype,
        /// The type of the values.
        found: Dtype,
    },
    /// A measure that is no category.
    #[error("expected a category from 0 to {} in measure {measure}, found {found} in row {row}", n_categories - 1)]
    Category {
        /// The row.
        row: usize,
        /// The measure.
        measure: usize,
        /// Number of its categories.
        n_categories: usize,
        /// The value.
        found: f64,
    },
    /// A call that the object is not made for.
    #[error("{0}")]
    Conflict(&'static str),
    /// A cell that the archive does not have.
    #[error("expected cells below {n_cells}, found {found} in row {row}")]
    NoSuchCell {
        /// The row.
        row: usize,
        /// Number of cells.
        n_cells: usize,
        /// The cell.
        found: usize,
    },
    /// The problem's shape is not the scheduler's.
    #[error(
        "expected a problem with {expected_solution} components and {expected_measures} measures, found {found_solution} and {found_measures}"
    )]
    ProblemShape {
        /// Components the scheduler was built for.
        expected_solution: usize,
        /// Measures the scheduler was built for.
        expected_measures: usize,
        /// Components of the problem.
        found_solution: usize,
        /// Measures of the problem.
        found_measures: usize,
    },
    /// Gradient emitters were run on a problem without gradients.
    #[error("expected a problem with gradients because the scheduler has gradient emitters, found one without")]
    NeedsGradients,
    /// A ticket that was never issued.
    #[error("expected a ticket that was issued, found {id}")]
    UnknownTicket {
        /// Its number.
        id: TicketId,
    },
    /// A ticket that was settled with other numbers before.
    #[error("expected the result that ticket {id} was settled with before, found another")]
    TicketContradicted {
        /// Its number.
        id: TicketId,
    },
    /// A ticket that was settled so long ago that its numbers are no longer known.
    #[error("expected a ticket without a result, found {id}, which was settled long ago")]
    TicketForgotten {
        /// Its number.
        id: TicketId,
    },
    /// A gradient ticket without a Jacobian, or a value ticket with one.
    #[error("expected {expected} for ticket {id}, found {found}")]
    TicketKind {
        /// Its number.
        id: TicketId,
        /// What the ticket asks for.
        expected: &'static str,
        /// What was told.
        found: &'static str,
    },
    /// NaN or infinity in the result of a ticket.
    #[error("expected finite values in {what} of ticket {id}, found {value}")]
    TicketNonFinite {
        /// Its number.
        id: TicketId,
        /// The buffer.
        what: &'static str,
        /// The value.
        value: f64,
    },
}

/// A checkpoint that cannot be written or restored.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The bytes do not start as a checkpoint does.
    #[error("expected a Luminary checkpoint, found {found} bytes that do not start like one")]
    NotACheckpoint {
        /// Number of bytes.
        found: usize,
    },
    /// Objects of the Python package that the engine does not know.
    #[error(
        "expected a checkpoint of the engine, found one saved by Python with parts written in Python, or of an archive or \
         emitter alone: luminary.load in Python reads it"
    )]
    PythonParts,
    /// A version this build does not read.
    #[error("expected checkpoint version {expected} or older, found {found}")]
    Version {
        /// The version this build writes; older ones are read, too.
        expected: u32,
        /// The version of the bytes.
        found: u32,
    },
    /// Fewer or more bytes than the header says.
    #[error("expected {expected} bytes of checkpoint, found {found}: it is truncated or has been appended to")]
    Truncated {
        /// Bytes by the header.
        expected: u64,
        /// Bytes there.
        found: u64,
    },
    /// The checksum does not match.
    #[error("expected checksum {expected:08x}, found {found:08x}: the checkpoint is damaged")]
    Checksum {
        /// The checksum in the header.
        expected: u32,
        /// The checksum of the body.
        found: u32,
    },
    /// The body is not the serialised state.
    #[error("the checkpoint's body does not decode: {0}")]
    Decode(#[from] DecodeError),
    /// The state could not be serialised.
    #[error("the state does not encode: {0}")]
    Encode(#[from] rmp_serde::encode::Error),
    /// The configuration inside does not build.
    #[error("the checkpoint's configuration is invalid: {0}")]
    Config(#[from] ConfigError),
    /// The state does not belong to the configuration.
    #[error("expected {expected} in the checkpoint's {what}, found {found}")]
    Mismatch {
        /// The part of the state.
        what: &'static str,
        /// What the configuration asks for.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A custom part that does not know how to be saved.
    #[error("the custom {what} cannot be saved: it does not implement save and load")]
    Unsupported {
        /// The part.
        what: &'static str,
    },
}

/// For archives and emitters of your own that are read by rmp-serde.
impl From<rmp_serde::decode::Error> for CheckpointError {
    fn from(error: rmp_serde::decode::Error) -> Self {
        Self::Decode(serde::de::Error::custom(error))
    }
}
