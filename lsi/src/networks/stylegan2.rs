//! StyleGAN2 (Karras et al., "Analyzing and Improving the Image Quality of StyleGAN", 2020) with skip connections to RGB.
//!
//! Tensors are named as in the state dictionary of the official PyTorch generator: `mapping.fc0.weight`, `mapping.w_avg`,
//! `synthesis.b4.const`, `synthesis.b8.conv0.affine.weight` and so on. The clamping that official models trained in half
//! precision have at a magnitude of 256 is left out.

use std::path::Path;

use burn_tensor::Tensor;

use crate::place::Place;
use crate::tape::Var;
use crate::weights::{ModelKind, WeightError, WeightFile, Weights};

use super::mapping::Convention;
use super::{Generator, Linear, Mapping, Noise, check_latents, layer};

/// The StyleGAN2 generator, of any resolution and width.
#[derive(Debug)]
pub struct StyleGan2 {
    place: Place,
    mapping: Mapping,
    mean: Tensor<1>,
    constant: Tensor<4>,
    blocks: Vec<Block>,
    /// The low-pass filter of upsampling, with a gain of 4 for the zeros in between.
    filter: Tensor<2>,
}

impl StyleGan2 {
    /// Loads a generator.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, holds another model, or lacks a tensor of the right shape.
    pub fn load(path: &Path, place: &Place) -> Result<Self, WeightError> {
        Self::from_weights(&WeightFile::open(path, ModelKind::StyleGan2, place)?)
    }

    /// Builds the network from an open file.
    ///
    /// # Errors
    ///
    /// Tensors that are missing or have other shapes.
    pub fn from_weights(file: &WeightFile) -> Result<Self, WeightError> {
        let place = file.place();
        let mapping = Mapping::load(&file.at("mapping"), "fc", Convention::StyleGan2)?;
        let latent_dim = mapping.latent_dim();
        let mean = file.at("mapping").tensor("w_avg", [latent_dim])?;

        let synthesis = file.at("synthesis");
        let [mut channels, _, _] = synthesis.dims("b4.const")?;
        let constant = synthesis.tensor("b4.const", [channels, 4, 4])?.unsqueeze();
        let (mut blocks, mut size) = (Vec::new(), 4);
        while size == 4 || !synthesis.at(&format!("b{size}")).is_empty() {
            let block = Block::load(&synthesis.at(&format!("b{size}")), channels, latent_dim, size)?;
            channels = block.conv1.n_outputs();
            blocks.push(block);
            size *= 2;
        }
        // The outer product of [1, 3, 3, 1] with itself, divided by its sum of 64 and multiplied by 4.
        let filter = [1.0, 3.0, 3.0, 1.0].map(|row: f64| [1.0, 3.0, 3.0, 1.0].map(|column| row * column / 16.0));
        let filter = place.tensor(filter.concat(), [4, 4]);
        Ok(Self { place: place.clone(), mapping, mean, constant, blocks, filter })
    }
}

impl Generator for StyleGan2 {
    fn latent_dim(&self) -> usize {
        self.mapping.latent_dim()
    }

    fn n_layers(&self) -> usize {
        2 * self.blocks.len()
    }

    fn resolution(&self) -> usize {
        2 << self.blocks.len()
    }

    fn map(&self, z: Var<2>) -> Var<2> {
        self.mapping.forward(z)
    }

    fn stored_mean(&self) -> Option<&Tensor<1>> {
        Some(&self.mean)
    }

    fn synthesise(&self, w: Var<3>, noise: &Noise) -> Var<4> {
        check_latents(self, &w);
        let [_, channels, height, width] = self.constant.dims();
        let mut x = Var::constant(self.constant.clone()).expand([w.dims()[0], channels, height, width]);
        let mut image: Option<Var<4>> = None;
        let mut next = 0;
        for block in &self.blocks {
            for convolution in block.conv0.iter().chain([&block.conv1]) {
                x = convolution.forward(x, layer(&w, next), noise.at(next, &convolution.noise), &self.filter);
                next += 1;
            }
            // The RGB layer has the same w as the next block's first convolution.
            let rgb = block.to_rgb.forward(x.clone(), layer(&w, next));
            image = Some(match image {
                None => rgb,
                // Zeros between the pixels, then the filter: together a transposed convolution.
                Some(image) => image.filter_transposed(&self.filter, 1) + rgb,
            });
        }
        image.expect("there is a first block")
    }

    fn noise_sizes(&self) -> Vec<usize> {
        let layers = self.blocks.iter().flat_map(|block| block.conv0.iter().chain([&block.conv1]));
        layers.map(|layer| layer.noise.dims()[2]).collect()
    }

    fn place(&self) -> &Place {
        &self.place
    }
}

/// The layers of one resolution.
#[derive(Debug)]
struct Block {
    /// Doubles the size; the first block has none.
    conv0: Option<StyledConvolution>,
    conv1: StyledConvolution,
    to_rgb: ToRgb,
}

impl Block {
    fn load(weights: &Weights<'_>, n_inputs: usize, latent_dim: usize, size: usize) -> Result<Self, WeightError> {
        let mut channels = n_inputs;
        let conv0 = match size {
            4 => None,
            _ => {
                let conv0 = StyledConvolution::load(&weights.at("conv0"), n_inputs, latent_dim, size, Size::Doubled)?;
                channels = conv0.n_outputs();
                Some(conv0)
            }
        };
        let conv1 = StyledConvolution::load(&weights.at("conv1"), channels, latent_dim, size, Size::Kept)?;
        let to_rgb = ToRgb::load(&weights.at("torgb"), conv1.n_outputs(), latent_dim)?;
        Ok(Self { conv0, conv1, to_rgb })
    }
}

/// What a convolution does to the size of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Kept,
    Doubled,
}

/// A convolution whose kernel is scaled by a style and then normalised, with noise, bias and activation.
#[derive(Debug)]
struct StyledConvolution {
    style: Linear,
    kernel: Tensor<4>,
    /// Sums of the squared kernel over height and width, outputs by inputs.
    kernel_power: Linear,
    bias: Tensor<4>,
    noise: Tensor<4>,
    noise_strength: f64,
    size: Size,
}

impl StyledConvolution {
    fn load(
        weights: &Weights<'_>,
        n_inputs: usize,
        latent_dim: usize,
        resolution: usize,
        size: Size,
    ) -> Result<Self, WeightError> {
        let [n_outputs, _, _, _] = weights.dims("weight")?;
        let kernel = weights.tensor("weight", [n_outputs, n_inputs, 3, 3])?;
        let power = kernel.clone().square().sum_dims(&[2, 3]).reshape([n_outputs, n_inputs]);
        let noise = weights.tensor("noise_const", [resolution, resolution])?;
        Ok(Self {
            style: load_style(weights, n_inputs, latent_dim, 1.0)?,
            // A transposed convolution wants inputs first.
            kernel: if size == Size::Doubled { kernel.swap_dims(0, 1) } else { kernel },
            kernel_power: Linear::new(power, None),
            bias: weights.tensor("bias", [n_outputs])?.reshape([1, n_outputs, 1, 1]),
            noise: noise.unsqueeze(),
            noise_strength: weights.values("noise_strength", [])?[0],
            size,
        })
    }

    fn n_outputs(&self) -> usize {
        self.bias.dims()[1]
    }

    fn forward(&self, x: Var<4>, w: Var<2>, noise: Option<Tensor<4>>, filter: &Tensor<2>) -> Var<4> {
        // Scaling the kernel's inputs is scaling the image's channels, and normalising its outputs is scaling the
        // result's, so one kernel serves all styles (Karras et al. 2020, Eqs. 1 and 3).
        let style = self.style.forward(w);
        let demodulation = self.kernel_power.forward(style.clone().square()).add_scalar(1e-8).rsqrt();
        let x = x.scale_channels(style);
        let x = match self.size {
            Size::Kept => x.convolve(&self.kernel, 1),
            Size::Doubled => x.convolve_transposed(&self.kernel, 0).filter(filter, 1),
        };
        let noise = noise.map(|noise| noise.mul_scalar(self.noise_strength));
        x.scale_channels(demodulation).activate(noise.as_ref(), &self.bias, 0.2, 2f64.sqrt())
    }
}

/// A convolution of one pixel to colours, scaled by a style and not normalised.
#[derive(Debug)]
struct ToRgb {
    style: Linear,
    kernel: Tensor<4>,
    bias: Tensor<4>,
}

impl ToRgb {
    fn load(weights: &Weights<'_>, n_inputs: usize, latent_dim: usize) -> Result<Self, WeightError> {
        Ok(Self {
            style: load_style(weights, n_inputs, latent_dim, 1.0 / (n_inputs as f64).sqrt())?,
            kernel: weights.tensor("weight", [3, n_inputs, 1, 1])?,
            bias: weights.tensor("bias", [3])?.reshape([1, 3, 1, 1]),
        })
    }

    fn forward(&self, x: Var<4>, w: Var<2>) -> Var<4> {
        x.scale_channels(self.style.forward(w)).convolve(&self.kernel, 0) + &self.bias
    }
}

/// The layer from w to styles, whose output is multiplied by `gain`.
fn load_style(weights: &Weights<'_>, channels: usize, latent_dim: usize, gain: f64) -> Result<Linear, WeightError> {
    let scale = gain / (latent_dim as f64).sqrt();
    Linear::load_scaled(&weights.at("affine"), channels, latent_dim, scale, gain)
}
