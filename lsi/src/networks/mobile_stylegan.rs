//! MobileStyleGAN (Belousov, "MobileStyleGAN: A Lightweight Convolutional Neural Network for High-Fidelity Image Synthesis",
//! 2021): a small network that was trained to imitate StyleGAN2. It predicts the wavelet coefficients of the image.
//!
//! The published weights come in several forms, so the tensors have names of our own, and everything that does not depend
//! on the latents is folded into them: learning rates, gains and demodulation.

use std::path::Path;

use burn_tensor::Tensor;

use crate::place::Place;
use crate::tape::Var;
use crate::weights::{ModelKind, WeightError, WeightFile, Weights};

use super::mapping::Convention;
use super::{Generator, Linear, Mapping, Noise, check_latents, layer};

/// The MobileStyleGAN generator, of any resolution and width.
#[derive(Debug)]
pub struct MobileStyleGan {
    place: Place,
    mapping: Mapping,
    mean: Option<Tensor<1>>,
    constant: Tensor<4>,
    first: StyledConvolution,
    blocks: Vec<Block>,
    to_image: ToImage,
}

impl MobileStyleGan {
    /// Loads a generator.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, holds another model, or lacks a tensor of the right shape.
    pub fn load(path: &Path, place: &Place) -> Result<Self, WeightError> {
        let file = WeightFile::open(path, ModelKind::MobileStyleGan, place)?;
        let mapping = Mapping::load(&file.at("mapping"), "fc", Convention::Mobile)?;
        let latent_dim = mapping.latent_dim();
        let mean = match file.at("mapping").has("w_avg") {
            true => Some(file.at("mapping").tensor("w_avg", [latent_dim])?),
            false => None,
        };

        let synthesis = file.at("synthesis");
        let [_, mut channels, _, _] = synthesis.dims("input")?;
        let constant = synthesis.tensor("input", [1, channels, 4, 4])?;
        let first = StyledConvolution::load(&synthesis.at("conv1"), channels, latent_dim, 4)?;
        channels = first.n_outputs();
        let mut blocks = Vec::new();
        while !synthesis.at(&format!("layers.{}", blocks.len())).is_empty() {
            let weights = synthesis.at(&format!("layers.{}", blocks.len()));
            if !channels.is_multiple_of(4) {
                let what = format!("expected channels in fours before `layers.{}`, found {channels}", blocks.len());
                return Err(file.invalid(what));
            }
            let block = Block::load(&weights, channels, latent_dim, 8 << blocks.len())?;
            channels = block.second.n_outputs();
            blocks.push(block);
        }
        let to_image = ToImage::load(&synthesis.at("to_img"), channels, latent_dim)?;
        Ok(Self { place: place.clone(), mapping, mean, constant, first, blocks, to_image })
    }
}

impl Generator for MobileStyleGan {
    fn latent_dim(&self) -> usize {
        self.mapping.latent_dim()
    }

    /// Three for each block and two more, as in training; the last one is without effect, because only the last block's
    /// image is used.
    fn n_layers(&self) -> usize {
        3 * self.blocks.len() + 2
    }

    fn resolution(&self) -> usize {
        8 << self.blocks.len()
    }

    fn map(&self, z: Var<2>) -> Var<2> {
        self.mapping.forward(z)
    }

    fn stored_mean(&self) -> Option<&Tensor<1>> {
        self.mean.as_ref()
    }

    fn synthesise(&self, w: Var<3>, noise: &Noise) -> Var<4> {
        check_latents(self, &w);
        let [_, channels, height, width] = self.constant.dims();
        let constant = Var::constant(self.constant.clone()).expand([w.dims()[0], channels, height, width]);
        let mut x = self.first.forward(constant, layer(&w, 0), noise, 0);
        for (index, block) in self.blocks.iter().enumerate() {
            let (w_first, w_second) = (layer(&w, 3 * index + 1), layer(&w, 3 * index + 2));
            x = x.scale_channels(block.style.forward(w_first.clone())).from_wavelet();
            x = block.first.forward(x, w_first, noise, 2 * index + 1);
            x = block.second.forward(x, w_second, noise, 2 * index + 2);
        }
        self.to_image.forward(x, layer(&w, 3 * self.blocks.len())).from_wavelet()
    }

    fn noise_sizes(&self) -> Vec<usize> {
        let layers = self.blocks.iter().flat_map(|block| [&block.first, &block.second]);
        [&self.first].into_iter().chain(layers).map(|layer| layer.noise.dims()[2]).collect()
    }

    fn place(&self) -> &Place {
        &self.place
    }
}

/// The layers of one resolution.
#[derive(Debug)]
struct Block {
    /// Scales the wavelet coefficients.
    style: Linear,
    first: StyledConvolution,
    second: StyledConvolution,
}

impl Block {
    fn load(weights: &Weights<'_>, n_inputs: usize, latent_dim: usize, size: usize) -> Result<Self, WeightError> {
        let style = Linear::load(&weights.at("up.affine"), n_inputs, latent_dim)?;
        let first = StyledConvolution::load(&weights.at("conv1"), n_inputs / 4, latent_dim, size)?;
        let second = StyledConvolution::load(&weights.at("conv2"), first.n_outputs(), latent_dim, size)?;
        Ok(Self { style, first, second })
    }
}

/// A convolution of channels that a style has scaled, with noise, bias and activation.
#[derive(Debug)]
struct StyledConvolution {
    style: Linear,
    kernel: Kernel,
    noise: Tensor<4>,
    noise_strength: f64,
    bias: Tensor<4>,
}

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a network has a dozen of them, each with tensors far larger than itself")]
enum Kernel {
    /// Every input to every output.
    Full(Tensor<4>),
    /// One kernel for each channel, then a mix of the channels.
    Separable { depthwise: Tensor<4>, pointwise: Tensor<4> },
}

impl StyledConvolution {
    fn load(weights: &Weights<'_>, n_inputs: usize, latent_dim: usize, size: usize) -> Result<Self, WeightError> {
        let [n_outputs] = weights.dims("bias")?;
        let kernel = match weights.has("weight") {
            true => Kernel::Full(weights.tensor("weight", [n_outputs, n_inputs, 3, 3])?),
            false => Kernel::Separable {
                depthwise: weights.tensor("depthwise", [n_inputs, 1, 3, 3])?,
                pointwise: weights.tensor("pointwise", [n_outputs, n_inputs, 1, 1])?,
            },
        };
        Ok(Self {
            style: Linear::load(&weights.at("affine"), n_inputs, latent_dim)?,
            kernel,
            noise: weights.tensor("noise_const", [size, size])?.unsqueeze(),
            noise_strength: weights.values("noise_strength", [])?[0],
            bias: weights.tensor("bias", [n_outputs])?.reshape([1, n_outputs, 1, 1]),
        })
    }

    fn n_outputs(&self) -> usize {
        self.bias.dims()[1]
    }

    fn forward(&self, x: Var<4>, w: Var<2>, noise: &Noise, index: usize) -> Var<4> {
        let x = x.scale_channels(self.style.forward(w));
        let x = match &self.kernel {
            Kernel::Full(kernel) => x.convolve(kernel, 1),
            Kernel::Separable { depthwise, pointwise } => x.convolve_depthwise(depthwise, 1).convolve(pointwise, 0),
        };
        let noise = noise.at(index, &self.noise).map(|noise| noise.mul_scalar(self.noise_strength));
        x.activate(noise.as_ref(), &self.bias, 0.2, 1.0)
    }
}

/// The last layer: twelve wavelet coefficients for four pixels of three colours.
#[derive(Debug)]
struct ToImage {
    style: Linear,
    kernel: Tensor<4>,
    bias: Tensor<4>,
}

impl ToImage {
    fn load(weights: &Weights<'_>, n_inputs: usize, latent_dim: usize) -> Result<Self, WeightError> {
        Ok(Self {
            style: Linear::load(&weights.at("affine"), n_inputs, latent_dim)?,
            kernel: weights.tensor("weight", [12, n_inputs, 1, 1])?,
            bias: weights.tensor("bias", [12])?.reshape([1, 12, 1, 1]),
        })
    }

    fn forward(&self, x: Var<4>, w: Var<2>) -> Var<4> {
        x.scale_channels(self.style.forward(w)).convolve(&self.kernel, 0) + &self.bias
    }
}
