//! What can be wrong with the data of a figure.

/// Why a figure could not be made. Every message names what was expected and what was found.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// Two pieces of data that belong together have different lengths.
    #[error("{what}: expected {expected} values, found {found}")]
    Length {
        /// The data in question.
        what: &'static str,
        /// How many values it should have.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// An elite lies in a cell that the archive does not have.
    #[error("elite {elite} lies in cell {cell}, but the archive has {n_cells} cells")]
    Cell {
        /// Position of the elite in the list.
        elite: usize,
        /// Its cell.
        cell: usize,
        /// Number of cells of the archive.
        n_cells: usize,
    },
    /// The bounds of a measure are not finite or not in order.
    #[error("measure {name:?}: expected finite bounds with lower < upper, found {lower} and {upper}")]
    Bounds {
        /// Name of the measure.
        name: String,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// The archive has no measures, or no cells, or more than can be drawn.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// The property in question.
        what: &'static str,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// A centroid has a coordinate that is not finite.
    #[error("centroid {centroid}: expected finite coordinates, found {value}")]
    Centroid {
        /// Position of the centroid in the list.
        centroid: usize,
        /// The coordinate.
        value: f64,
    },
    /// The picture could not be rendered.
    #[error("could not render the figure as PNG: {0}")]
    Render(String),
}
