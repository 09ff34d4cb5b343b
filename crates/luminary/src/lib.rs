//! Luminary: quality-diversity optimisation.
//!
//! Quality-diversity search returns not one best solution but an archive of solutions that differ in chosen *measures*
//! and are each as good as possible in the *objective*. The heart of this crate is CMA-MAE (Fontaine and Nikolaidis,
//! "Covariance Matrix Adaptation MAP-Annealing", GECCO 2023) with its whole family.
//!
//! The modules are the loop, in the order in which data flows:
//!
//! ```text
//! ask -> evaluate -> tell: archive add -> rank -> select -> adapt -> restart
//! ```
//!
//! ```
//! use luminary::preset::Preset;
//! use luminary::problem::{Problem, ProblemSpec};
//!
//! /// Prefers the origin; spreads over the first two components.
//! struct Bowl;
//!
//! impl Problem for Bowl {
//!     fn spec(&self) -> ProblemSpec {
//!         ProblemSpec { solution_dim: 10, measure_bounds: vec![(-2.0, 2.0); 2] }
//!     }
//!
//!     fn evaluate(&self, solution: &[f64], measures: &mut [f64]) -> f64 {
//!         measures.copy_from_slice(&solution[..2]);
//!         100.0 - solution.iter().map(|x| x * x).sum::<f64>()
//!     }
//! }
//!
//! let mut scheduler = Preset::CmaMae.for_problem(&Bowl.spec()).build()?;
//! scheduler.run(&Bowl, 100)?;
//! let stats = scheduler.result().stats();
//! assert!(stats.coverage > 0.2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The engine does no input or output, reads no clock, starts no threads and has no global state. The same
//! configuration and seed give bit-identical archives for any number of threads.

pub mod problem;
pub mod scheduler;
pub mod archive;
pub mod emitter;
pub mod ranker;
pub mod strategy;
pub mod restart;
pub mod preset;
pub mod checkpoint;
pub mod error;

mod kernels;
mod serde_floats;

pub use luminary_math::WideRng;

/// The examples of the guide are run like any other.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/asynchronous.md")]
struct Asynchronous;
