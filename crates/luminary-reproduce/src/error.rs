//! What can go wrong with a study.

use luminary::error::{CallError, ConfigError};
use luminary_domains::DomainError;
use luminary_plot::PlotError;
use luminary_run::RunError;
use thiserror::Error;

/// Why a study could not be run or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReproduceError {
    /// A file or folder that cannot be read, written or locked.
    #[error(transparent)]
    Files(#[from] RunError),
    /// Settings that the engine refuses.
    #[error("{trial}: the engine refuses the configuration: {source}")]
    Config {
        /// The trial.
        trial: String,
        /// What the engine said.
        source: ConfigError,
    },
    /// A domain that cannot be built.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// A trial that the engine ended.
    #[error("{trial}: {source}")]
    Call {
        /// The trial.
        trial: String,
        /// What the engine said.
        source: CallError,
    },
    /// A figure that cannot be drawn.
    #[error("cannot draw: {0}")]
    Plot(#[from] PlotError),
    /// A configuration or record that does not serialise.
    #[error("cannot write a trial as JSON: {0}")]
    Json(#[from] serde_json::Error),
}
