//! Latent space illumination: image generators and CLIP with gradients, and the two image domains of the CMA-MAE paper
//! (Fontaine and Nikolaidis, "Covariance Matrix Adaptation MAP-Annealing", 2023).

pub mod domains;
pub mod experiment;
mod memory;
pub mod networks;
mod place;
pub mod tape;
pub mod weights;

pub use burn_tensor::{Device, Tensor};
pub use memory::keep_freed_memory;
pub use place::{DeviceChoice, DeviceError, Place, Precision, to_vec};
