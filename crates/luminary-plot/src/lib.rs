//! Figures of quality-diversity runs: plain data in, SVG and PNG out, and a self-contained HTML report.
//!
//! Every function takes a plain struct and a [`Style`] and returns a [`Figure`], which holds SVG and renders itself to
//! PNG with an embedded font, so that figures look the same on every machine. Colours are safe for colour-blind readers.
//! Any values are survived: NaN, infinities, empty archives, constant objectives, overlong labels.
//!
//! ```
//! use luminary_plot::{Archive, Cells, Heatmap, Measure, Style, heatmap};
//!
//! let archive = Archive {
//!     measures: vec![Measure::new("height", 0.0, 2.0), Measure::new("weight", 0.0, 90.0)],
//!     cells: Cells::Grid { resolution: vec![10, 10] },
//!     elite_cells: vec![0, 17, 42],
//!     objectives: vec![0.1, 0.9, 0.5],
//! };
//! let spec = Heatmap { title: "Walkers", note: "", objective: "speed", archive: &archive };
//! let figure = heatmap(&spec, &Style::default())?;
//! assert!(figure.svg().starts_with("<svg"));
//! let png = figure.to_png(2.0)?;
//! # assert_eq!(&png[1..4], b"PNG");
//! # Ok::<(), luminary_plot::PlotError>(())
//! ```

// What goes in and comes out.
mod archive;
mod error;
mod figure;
mod goal;
#[cfg(feature = "render")]
mod render;

// The figures.
mod heatmap;
mod curves;
mod agreement;
mod ccdf;
mod comparison;
mod parallel;
mod annealing;
mod picture;
mod report;

// What they are made of.
mod color;
mod color_scale;
mod font;
mod frame;
mod ink;
mod interval;
mod label;
mod lines;
mod panel;
mod scale;
mod svg;
mod tiles;
mod voronoi;

pub use agreement::{AgreementPanel, AgreementPoint, agreement};
pub use annealing::{AnnealingPanel, annealing, bimodal_example};
pub use archive::{Archive, Cells, Measure};
pub use ccdf::{Ccdf, CcdfPanel, CcdfSeries, ccdf};
pub use color::{ColorMap, EMPTY, NOT_A_NUMBER, OKABE_ITO, Rgb};
pub use color_scale::Spacing;
pub use comparison::{Comparison, NamedArchive, alpha_blend, comparison};
pub use curves::{CurvePanel, Curves, Markers, Series, curves};
pub use error::PlotError;
pub use figure::{Figure, Style};
pub use font::{REGULAR as FONT_REGULAR, SEMIBOLD as FONT_SEMIBOLD};
pub use goal::Goal;
pub use heatmap::{Heatmap, heatmap};
pub use interval::{Estimate, estimate};
pub use parallel::{ParallelAxes, parallel_axes};
pub use picture::{Picture, picture};
pub use report::{Precision, Report, ReportArchive, ReportField, report};
