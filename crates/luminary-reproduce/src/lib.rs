//! The experiments of the CMA-MAE paper (Fontaine and Nikolaidis, "Covariance Matrix Adaptation MAP-Annealing", 2023):
//! trials, tables beside the published numbers, statistics and figures.
//!
//! ```text
//! experiment (cells) -> study (cells x seeds) -> pool (trials on all cores, cached) -> results -> tables, figures
//! ```
//!
//! The modules are listed in that order. A study in a few lines:
//!
//! ```
//! use luminary::strategy::Variant;
//! use luminary_reproduce::{Experiment, Only, Study};
//! use luminary_run::stop::StopFlag;
//!
//! # let folder = tempfile::tempdir()?;
//! # let out = folder.path();
//! let only: Only = "arm,map_elites".parse()?;
//! let study = Study::new(Experiment::Main, Variant::Published, Some(5)).only(&only).trials(2);
//! let results = study.run(out, 1, &StopFlag::default(), &|_| {})?;
//! assert!(results.is_complete());
//! assert_eq!(results.cells[0].trials.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod published;
pub mod experiment;
mod frontier;
pub mod only;
pub mod study;
pub mod trial;
pub mod cache;
mod cost;
pub mod pool;
pub mod results;
pub mod comparison;
pub mod table;
pub mod figures;
pub mod statistics;
pub mod analysis;
pub mod against_paper;
pub mod document;
mod names;
pub mod error;

pub use comparison::{Comparison, Length, Metric, Score, Verdict};
pub use error::ReproduceError;
pub use experiment::{Cell, Experiment, Trial};
pub use only::Only;
pub use results::{CellResults, Results};
pub use study::Study;
pub use trial::TrialRecord;
