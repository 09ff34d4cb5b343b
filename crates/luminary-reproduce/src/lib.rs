//! The experiments of the CMA-MAE paper (Fontaine and Nikolaidis, "Covariance Matrix Adaptation MAP-Annealing", 2023):
//! trials, tables beside the published numbers, statistics and figures.

pub mod statistics;
