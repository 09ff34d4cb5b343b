//! Whose face it is: a residual network that dlib's author trained to place faces of one person near each other.

use crate::networks::Linear;
use crate::tape::Var;
use crate::weights::{WeightError, Weights};

use super::centred;
use super::layers::{Convolution, channel_means};

/// Turns faces into vectors: those of one person are less than about 0.6 apart.
#[derive(Debug)]
pub struct Identity {
    first: Convolution,
    blocks: Vec<Residual>,
    vector: Linear,
}

/// Residual blocks by the names of their weights, and whether each halves the size.
const BLOCKS: [(&str, bool); 14] = [
    ("conv32_1", false),
    ("conv32_2", false),
    ("conv32_3", false),
    ("conv64_down", true),
    ("conv64_1", false),
    ("conv64_2", false),
    ("conv64_3", false),
    ("conv128_down", true),
    ("conv128_1", false),
    ("conv128_2", false),
    ("conv256_down", true),
    ("conv256_1", false),
    ("conv256_2", false),
    ("conv256_down_out", true),
];

impl Identity {
    /// Height and width of the images it was trained on.
    pub const IMAGE_SIZE: usize = 150;

    pub(super) fn load(weights: &Weights<'_>) -> Result<Self, WeightError> {
        let first = Convolution::load(&weights.at("conv32_down"), 3, 7)?;
        let mut channels = first.n_outputs();
        let mut blocks = Vec::new();
        for (name, halves) in BLOCKS {
            let block = Residual::load(&weights.at(name), channels, halves)?;
            channels = block.second.n_outputs();
            blocks.push(block);
        }
        let [n_outputs, _] = weights.dims("fc.weight")?;
        Ok(Self { first, blocks, vector: Linear::load_without_bias(&weights.at("fc"), n_outputs, channels)? })
    }

    /// Length of the vectors.
    pub fn n_outputs(&self) -> usize {
        self.vector.n_outputs()
    }

    /// A vector for each face (values -1 to 1, at least 103 pixels wide and high).
    pub fn forward(&self, faces: Var<4>) -> Var<2> {
        let mut x = self.first.halve(centred(faces)).leaky_relu(0.0).max_pool();
        for block in &self.blocks {
            x = block.forward(x);
        }
        self.vector.forward(channel_means(x))
    }
}

/// Two convolutions, added to what went in.
#[derive(Debug)]
struct Residual {
    first: Convolution,
    second: Convolution,
    halves: bool,
}

impl Residual {
    fn load(weights: &Weights<'_>, n_inputs: usize, halves: bool) -> Result<Self, WeightError> {
        let first = Convolution::load(&weights.at("conv1"), n_inputs, 3)?;
        let second = Convolution::load(&weights.at("conv2"), first.n_outputs(), 3)?;
        Ok(Self { first, second, halves })
    }

    fn forward(&self, x: Var<4>) -> Var<4> {
        if !self.halves {
            let y = self.first.forward(x.clone()).leaky_relu(0.0);
            return (self.second.forward(y) + x).leaky_relu(0.0);
        }
        let y = self.second.forward(self.first.halve(x.clone()).leaky_relu(0.0));
        let beside = x.mean_pool();
        let ([n, channels, height, width], [_, n_outputs, y_height, y_width]) = (beside.dims(), y.dims());
        let y = y.extend(height - y_height, width - y_width, 0.0);
        // Channels that are new start from nothing.
        let beside = match n_outputs - channels {
            0 => beside,
            n_new => {
                let zeros = beside.value().zeros_like().slice([0..1, 0..1]).expand([n, n_new, height, width]);
                beside.cat(Var::constant(zeros), 1)
            }
        };
        (y + beside).leaky_relu(0.0)
    }
}
