//! Benchmark domains of the CMA-MAE paper (Fontaine and Nikolaidis, "Covariance Matrix Adaptation MAP-Annealing", 2023),
//! with exact gradients: linear projection with three objectives, and the arm repertoire.
//!
//! ```
//! use luminary_domains::Domain;
//!
//! let domain: Domain = "lp-sphere".parse()?;
//! let problem = domain.build(domain.paper_settings().n_components)?;
//! let mut measures = [0.0; 2];
//! let objective = problem.evaluate(&[2.048; 100], &mut measures);
//! assert_eq!(objective, 100.0);
//! # Ok::<(), luminary_domains::DomainError>(())
//! ```
//!
//! Evaluation allocates nothing and gives the same bits on every CPU, one solution at a time or in batches.

mod arm;
mod domain;
mod error;
mod lanes;
pub mod linear_projection;
mod settings;

pub use arm::Arm;
pub use domain::Domain;
pub use error::DomainError;
pub use linear_projection::{LinearProjection, LpObjective};
pub use settings::PaperSettings;
