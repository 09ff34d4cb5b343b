//! The networks: three image generators and CLIP, written over [`Var`] so that values and gradients come from one text.
//!
//! Weights are scaled once at loading; what the original networks multiply at run time (equalised learning rates, gains)
//! is folded in.

pub mod clip;
pub mod faces;
mod linear;
mod mapping;
mod mobile_stylegan;
mod noise;
mod resample;
mod stylegan;
mod stylegan2;

use burn_tensor::Tensor;

use crate::place::Place;
use crate::tape::Var;

pub use linear::Linear;
pub use mapping::Mapping;
pub use mobile_stylegan::MobileStyleGan;
pub use noise::Noise;
pub use resample::{Resample, Window};
pub use stylegan::StyleGan;
pub use stylegan2::StyleGan2;

/// An image generator with the latent spaces of the StyleGAN family: z, drawn from N(0, I), is mapped to w, and one w for
/// each of its layers makes an image.
pub trait Generator: Send + Sync {
    /// Length of z and of w.
    fn latent_dim(&self) -> usize;

    /// How many w an image is made from.
    fn n_layers(&self) -> usize;

    /// Height and width of the images.
    fn resolution(&self) -> usize;

    /// Maps rows of z to rows of w.
    fn map(&self, z: Var<2>) -> Var<2>;

    /// The mean w over z that the generator was stored with, if it was.
    fn stored_mean(&self) -> Option<&Tensor<1>>;

    /// Images (n by 3 by height by width, values about -1 to 1) from latents (n by layers by w).
    ///
    /// # Panics
    ///
    /// When the shape of the latents is another, or the given noise does not fit.
    fn synthesise(&self, w: Var<3>, noise: &Noise) -> Var<4>;

    /// Height and width of the noise that each noisy layer takes.
    fn noise_sizes(&self) -> Vec<usize>;

    /// Where the weights are, and so where latents must be.
    fn place(&self) -> &Place;
}

/// The w of one layer, from the latents of all.
fn layer(w: &Var<3>, index: usize) -> Var<2> {
    let [n, _, dim] = w.dims();
    w.clone().narrow(1, index..index + 1).reshape([n, dim])
}

/// A value for each channel, as something that fits images.
fn per_channel(values: Var<2>) -> Var<4> {
    let [n, channels] = values.dims();
    values.reshape([n, channels, 1, 1])
}

/// Asserts the shape of latents, for all generators.
fn check_latents(generator: &impl Generator, w: &Var<3>) {
    let [_, n_layers, dim] = w.dims();
    let expected = (generator.n_layers(), generator.latent_dim());
    assert_eq!((n_layers, dim), expected, "synthesise: expected latents of (layers, length) {expected:?}");
}
