//! Luminary: quality-diversity optimisation.

pub mod archive;
pub mod problem;
