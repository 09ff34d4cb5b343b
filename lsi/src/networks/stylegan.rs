//! StyleGAN (Karras, Laine and Aila, "A Style-Based Generator Architecture for Generative Adversarial Networks", 2019).
//!
//! Tensors are named as in the PyTorch state dictionary that the official FFHQ model is commonly passed on as:
//! `g_mapping.dense0.weight`, `g_synthesis.blocks.4x4.const`, `g_synthesis.blocks.8x8.conv0_up.weight` and so on.

use std::path::Path;

use burn_tensor::Tensor;

use crate::place::Place;
use crate::tape::Var;
use crate::weights::{ModelKind, WeightError, WeightFile, Weights};

use super::mapping::Convention;
use super::{Generator, Linear, Mapping, Noise, check_latents, layer, per_channel};

/// The StyleGAN generator, of any resolution and width.
#[derive(Debug)]
pub struct StyleGan {
    place: Place,
    mapping: Mapping,
    mean: Option<Tensor<1>>,
    blocks: Vec<Block>,
    to_rgb: Convolution,
    /// What [`Noise::Fixed`] is.
    noise: Vec<Tensor<4>>,
}

/// From this size of the result on, upsampling is fused into the convolution; text in the file's header may say otherwise.
const FUSED_FROM: usize = 128;

/// The header text that gives another size.
const FUSED_FROM_KEY: &str = "fused_from";

impl StyleGan {
    /// Loads a generator.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, holds another model, or lacks a tensor of the right shape.
    pub fn load(path: &Path, place: &Place) -> Result<Self, WeightError> {
        let file = WeightFile::open(path, ModelKind::StyleGan, place)?;
        let mapping = Mapping::load(&file.at("g_mapping"), "dense", Convention::StyleGan)?;
        let truncation = file.at("truncation");
        let mean = match truncation.has("avg_latent") {
            true => Some(truncation.tensor("avg_latent", [mapping.latent_dim()])?),
            false => None,
        };
        let fused_from = match file.text(FUSED_FROM_KEY) {
            None => FUSED_FROM,
            Some(text) => text
                .parse()
                .map_err(|_| file.invalid(format!("expected a size as `{FUSED_FROM_KEY}`, found {text:?}")))?,
        };

        let synthesis = file.at("g_synthesis");
        let mut blocks = vec![Block::load_first(&synthesis.at("blocks.4x4"), mapping.latent_dim())?];
        let (mut size, mut channels) = (8, blocks[0].convolution.n_outputs());
        while !synthesis.at(&format!("blocks.{size}x{size}")).is_empty() {
            let upsampling = if size >= fused_from { Upsampling::Fused } else { Upsampling::Nearest };
            let weights = synthesis.at(&format!("blocks.{size}x{size}"));
            let block = Block::load(&weights, channels, mapping.latent_dim(), upsampling)?;
            channels = block.convolution.n_outputs();
            blocks.push(block);
            size *= 2;
        }
        let to_rgb = Convolution::load(&synthesis.at("torgb"), [3, channels], 1, 1.0)?;
        let Noise::Given(noise) = Noise::drawn(&noise_sizes(blocks.len()), &[0], place) else {
            unreachable!("drawn noise is given noise")
        };
        Ok(Self { place: place.clone(), mapping, mean, blocks, to_rgb, noise })
    }
}

impl Generator for StyleGan {
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
        self.mean.as_ref()
    }

    fn synthesise(&self, w: Var<3>, noise: &Noise) -> Var<4> {
        check_latents(self, &w);
        let noise_at = |index: usize| noise.at(index, &self.noise[index]);
        let mut image = None;
        for (index, block) in self.blocks.iter().enumerate() {
            let (first, second) = (2 * index, 2 * index + 1);
            let x = block.entry.forward(image.take(), w.dims()[0]);
            let x = block.first.forward(x, layer(&w, first), noise_at(first));
            let x = block.convolution.forward(x);
            image = Some(block.second.forward(x, layer(&w, second), noise_at(second)));
        }
        self.to_rgb.forward(image.expect("there is a first block"))
    }

    fn noise_sizes(&self) -> Vec<usize> {
        noise_sizes(self.blocks.len())
    }

    fn place(&self) -> &Place {
        &self.place
    }
}

/// Two layers for each size from 4 on.
fn noise_sizes(n_blocks: usize) -> Vec<usize> {
    (0..n_blocks).flat_map(|block| [4 << block; 2]).collect()
}

/// The two layers of one resolution.
#[derive(Debug)]
struct Block {
    entry: Entry,
    first: Epilogue,
    convolution: Convolution,
    second: Epilogue,
}

impl Block {
    fn load_first(weights: &Weights<'_>, latent_dim: usize) -> Result<Self, WeightError> {
        let [_, channels, _, _] = weights.dims("const")?;
        let bias = weights.tensor("bias", [channels])?.reshape([1, channels, 1, 1]);
        let constant = weights.tensor("const", [1, channels, 4, 4])? + bias;
        let [n_outputs, _, _, _] = weights.dims("conv.weight")?;
        Ok(Self {
            entry: Entry::Constant(constant),
            first: Epilogue::load(&weights.at("epi1"), channels, latent_dim)?,
            convolution: Convolution::load(&weights.at("conv"), [n_outputs, channels], 3, 2f64.sqrt())?,
            second: Epilogue::load(&weights.at("epi2"), n_outputs, latent_dim)?,
        })
    }

    fn load(
        weights: &Weights<'_>,
        n_inputs: usize,
        latent_dim: usize,
        upsampling: Upsampling,
    ) -> Result<Self, WeightError> {
        let [channels, _, _, _] = weights.dims("conv0_up.weight")?;
        let [n_outputs, _, _, _] = weights.dims("conv1.weight")?;
        let convolution = Convolution::load(&weights.at("conv0_up"), [channels, n_inputs], 3, 2f64.sqrt())?;
        Ok(Self {
            entry: Entry::upsampling(convolution, upsampling, weights.file().place()),
            first: Epilogue::load(&weights.at("epi1"), channels, latent_dim)?,
            convolution: Convolution::load(&weights.at("conv1"), [n_outputs, channels], 3, 2f64.sqrt())?,
            second: Epilogue::load(&weights.at("epi2"), n_outputs, latent_dim)?,
        })
    }
}

/// How a block begins.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a network has a dozen of them, each with tensors far larger than itself")]
enum Entry {
    /// With a constant image of 4 by 4.
    Constant(Tensor<4>),
    /// With the image before it, at twice the size.
    Upsampled { kernel: Tensor<4>, bias: Tensor<4>, blur: Tensor<2>, upsampling: Upsampling },
}

/// The two ways in which the official networks double the size.
#[derive(Clone, Copy, Debug)]
enum Upsampling {
    /// Repeat pixels, then convolve.
    Nearest,
    /// A transposed convolution with stride 2, whose kernel is the sum of four shifted ones.
    Fused,
}

impl Entry {
    fn upsampling(convolution: Convolution, upsampling: Upsampling, place: &Place) -> Self {
        let Convolution { kernel, bias } = convolution;
        let kernel = match upsampling {
            Upsampling::Nearest => kernel,
            Upsampling::Fused => shifted_sum(kernel.swap_dims(0, 1)),
        };
        let blur = [1.0, 2.0, 1.0].map(|row: f64| [1.0, 2.0, 1.0].map(|column| row * column / 16.0)).concat();
        Self::Upsampled { kernel, bias, blur: place.tensor(blur, [3, 3]), upsampling }
    }

    fn forward(&self, before: Option<Var<4>>, n_images: usize) -> Var<4> {
        match (self, before) {
            (Self::Constant(constant), _) => {
                let [_, channels, height, width] = constant.dims();
                Var::constant(constant.clone()).expand([n_images, channels, height, width])
            }
            (Self::Upsampled { kernel, bias, blur, upsampling }, Some(image)) => {
                let doubled = match upsampling {
                    Upsampling::Nearest => image.upsample_nearest().convolve(kernel, 1),
                    Upsampling::Fused => image.convolve_transposed(kernel, 1),
                };
                doubled.filter(blur, 1) + bias
            }
            (Self::Upsampled { .. }, None) => unreachable!("the first block begins with a constant"),
        }
    }
}

/// The sum of a kernel moved by zero or one in both directions: what repeating each pixel four times does to it.
fn shifted_sum(kernel: Tensor<4>) -> Tensor<4> {
    let mut sum = None;
    for (top, left) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let moved = kernel.clone().pad((left, 1 - left, top, 1 - top), 0.0);
        sum = Some(match sum {
            None => moved,
            Some(sum) => sum + moved,
        });
    }
    sum.expect("four terms")
}

/// What follows a convolution: noise, activation, instance norm and style.
#[derive(Debug)]
struct Epilogue {
    noise_weight: Tensor<4>,
    style: Linear,
}

impl Epilogue {
    fn load(weights: &Weights<'_>, channels: usize, latent_dim: usize) -> Result<Self, WeightError> {
        let noise_weight = weights.tensor("top_epi.noise.weight", [channels])?.reshape([1, channels, 1, 1]);
        let scale = 1.0 / (latent_dim as f64).sqrt();
        let style = Linear::load_scaled(&weights.at("style_mod.lin"), 2 * channels, latent_dim, scale, 1.0)?;
        Ok(Self { noise_weight, style })
    }

    fn forward(&self, x: Var<4>, w: Var<2>, noise: Option<Tensor<4>>) -> Var<4> {
        let x = match noise {
            Some(noise) => x + &(noise * self.noise_weight.clone()),
            None => x,
        };
        let x = x.leaky_relu(0.2).standardise(&[2, 3], 1e-5);
        let channels = x.dims()[1];
        // Adaptive instance normalisation (Karras et al. 2019, Eq. 1), with scales stored as their distance from one.
        let style = self.style.forward(w);
        let scale = per_channel(style.clone().narrow(1, 0..channels)).add_scalar(1.0);
        let shift = per_channel(style.narrow(1, channels..2 * channels));
        x * scale + shift
    }
}

/// A convolution with a bias that keeps the size.
#[derive(Debug)]
struct Convolution {
    kernel: Tensor<4>,
    bias: Tensor<4>,
}

impl Convolution {
    /// Loads a kernel and multiplies it by `gain / sqrt(inputs * size^2)`.
    fn load(
        weights: &Weights<'_>,
        [n_outputs, n_inputs]: [usize; 2],
        size: usize,
        gain: f64,
    ) -> Result<Self, WeightError> {
        let scale = gain / ((n_inputs * size * size) as f64).sqrt();
        let kernel = weights.tensor("weight", [n_outputs, n_inputs, size, size])?.mul_scalar(scale);
        let bias = weights.tensor("bias", [n_outputs])?.reshape([1, n_outputs, 1, 1]);
        Ok(Self { kernel, bias })
    }

    fn n_outputs(&self) -> usize {
        self.kernel.dims()[0]
    }

    fn forward(&self, x: Var<4>) -> Var<4> {
        x.convolve(&self.kernel, self.kernel.dims()[2] / 2) + &self.bias
    }
}
