//! Luminary: quality-diversity optimisation.

mod kernels;
mod serde_floats;

pub mod problem;
pub mod archive;
pub mod emitter;
pub mod ranker;
pub mod strategy;
pub mod restart;
pub mod error;
