//! Luminary: quality-diversity optimisation.

pub mod problem;
