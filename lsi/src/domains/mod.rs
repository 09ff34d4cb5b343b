//! The two image domains of the paper as problems: solutions are latents of a generator, and CLIP scores the images. A
//! third domain has faces, and networks that look at faces.
//!
//! A solution's objective and measures come in two stages, so that rows of a Jacobian share all forward computation and
//! memory stays small: latents become images, and images become scores, a few cutouts at a time.

mod cutouts;
mod draw;
mod error;
mod faces;
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
pub use faces::{FaceObjective, Faces, FacesConfig, identity_of};
pub use image::Image;
pub use settings::{LsiDomain, PaperSettings};
pub use statistics::LatentStatistics;
pub use stylegan::{LsiStyleGan, LsiStyleGanConfig};
pub use stylegan2::{LsiStyleGan2, LsiStyleGan2Config, PromptPair};

use luminary::problem::{DifferentiableProblem, Problem};

/// A problem whose solutions are images.
pub trait ImageProblem: DifferentiableProblem + Send {
    /// Where searches start.
    fn start(&self) -> Vec<f64>;

    /// The images of solutions, which are stored row by row.
    fn images(&self, solutions: &[f64]) -> Vec<Image>;
}

impl ImageProblem for LsiStyleGan {
    /// The paper's: the origin of w.
    fn start(&self) -> Vec<f64> {
        vec![0.0; self.spec().solution_dim]
    }

    fn images(&self, solutions: &[f64]) -> Vec<Image> {
        self.render(solutions)
    }
}

impl ImageProblem for Faces {
    /// The best of samples.
    fn start(&self) -> Vec<f64> {
        self.find_start()
    }

    fn images(&self, solutions: &[f64]) -> Vec<Image> {
        self.render(solutions)
    }
}

impl ImageProblem for LsiStyleGan2 {
    /// The paper's: the best of samples.
    fn start(&self) -> Vec<f64> {
        self.find_start()
    }

    fn images(&self, solutions: &[f64]) -> Vec<Image> {
        self.render(solutions)
    }
}
