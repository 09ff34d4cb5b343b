//! Runs of the Luminary engine: from a configuration file to a run folder that survives whatever happens to the process.
//!
//! ```text
//! config -> evaluate -> driver -> folder (manifest, metrics, checkpoints, archives) -> summary, export, sweep
//! ```
//!
//! The modules are listed in that order. A run in a few lines:
//!
//! ```
//! use luminary_run::config::{RunConfig, Source};
//! use luminary_run::driver::Run;
//! use luminary_run::stop::StopFlag;
//!
//! # let folder = tempfile::tempdir()?;
//! # let out = folder.path().join("run");
//! let text = "problem = { domain = 'lp-sphere', n = 10 }\nrun = { iterations = 20 }";
//! let config = RunConfig::read(Some(Source::new("run.toml", text)), &[])?;
//! let summary = Run::create(&out, config)?.execute(&StopFlag::default(), &mut ())?;
//! assert_eq!(summary.iterations, 20);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate writes files and reads the clock, which the engine never does; neither changes a result.

pub mod config;
pub mod evaluate;
pub mod load;
pub mod patience;
#[cfg(unix)]
pub mod external;
#[cfg(unix)]
mod external_batch;
mod rows;
pub mod check;
pub mod memory;
pub mod stop;
pub mod start;
pub mod driver;
pub mod by_hand;
pub mod disk;
pub mod folder;
pub mod summary;
pub mod export;
pub mod elite;
pub mod sweep;
pub mod text;
pub mod error;
#[cfg(any(test, feature = "fuzz"))]
#[doc(hidden)]
pub mod fuzz;

pub use error::RunError;
