//! The two image domains of the paper as problems: solutions are latents of a generator, and CLIP scores the images.
//!
//! A solution's objective and measures come in two stages, so that rows of a Jacobian share all forward computation and
//! memory stays small: latents become images, and images become scores, a few cutouts at a time.

mod cutouts;
mod draw;
mod error;
mod image;
mod settings;
mod spherical;
mod stages;
mod statistics;
mod stylegan;
mod stylegan2;

pub use cutouts::Cutouts;
pub use draw::{Draw, NoiseChoice};
pub use error::LsiError;
pub use image::Image;
pub use settings::LsiDomain;
pub use statistics::LatentStatistics;
pub use stylegan::{LsiStyleGan, LsiStyleGanConfig};
pub use stylegan2::{LsiStyleGan2, LsiStyleGan2Config, PromptPair};
