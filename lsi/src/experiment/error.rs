//! Why an experiment cannot be run.

use std::path::PathBuf;

use luminary_plot::PlotError;
use luminary_run::RunError;
use thiserror::Error;

use crate::domains::LsiError;
use crate::place::DeviceError;
use crate::weights::WeightError;

/// Why an experiment cannot be run.
#[derive(Debug, Error)]
pub enum ExperimentError {
    /// A device that cannot be had.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// Weights that cannot be used.
    #[error(transparent)]
    Weights(#[from] WeightError),
    /// Prompts or settings that cannot be used.
    #[error(transparent)]
    Domain(#[from] LsiError),
    /// The run cannot be started, continued or written.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A picture that cannot be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// A description of an experiment that does not read.
    #[error("cannot understand {}: {message}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A domain with networks that it has no use for.
    #[error("expected networks for {domain}, found those of {models}")]
    OtherModels {
        /// What the domain is about.
        domain: &'static str,
        /// Name of the networks.
        models: String,
    },
    /// The face models could not be fetched.
    #[error("the face models could not be fetched: {message}")]
    Fetch {
        /// What went wrong.
        message: String,
    },
    /// A folder of a comparison holds a trial that was not asked for.
    #[error("{} holds a trial with other settings; choose another folder", path.display())]
    OtherTrial {
        /// The trial's folder.
        path: PathBuf,
    },
}
