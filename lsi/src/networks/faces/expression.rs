//! Expressions: four blocks of separable convolutions, in each of which a layer sees the sum of all before it.

use crate::networks::Linear;
use crate::tape::Var;
use crate::weights::{WeightError, Weights};

use super::centred;
use super::layers::{Convolution, Separable, channel_means};

/// What a face shows, in the order of the network's outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Expression {
    Neutral,
    Happy,
    Sad,
    Angry,
    Fearful,
    Disgusted,
    Surprised,
}

/// Tells the expression of a face.
#[derive(Debug)]
pub struct ExpressionNet {
    first: Convolution,
    /// The first layers of the blocks after the first.
    halving: [Separable; 3],
    /// The other layers of each block.
    layers: [[Separable; 3]; 4],
    classes: Linear,
}

impl ExpressionNet {
    /// Height and width of the images it was trained on.
    pub const IMAGE_SIZE: usize = 112;

    /// Number of expressions.
    pub const N_CLASSES: usize = 7;

    pub(super) fn load(weights: &Weights<'_>) -> Result<Self, WeightError> {
        let layer = |block: usize, index: usize, n_inputs: usize| {
            Separable::load(&weights.at(&format!("dense{block}.conv{index}")), n_inputs)
        };
        let rest = |block: usize, channels: usize| -> Result<_, WeightError> {
            Ok([layer(block, 1, channels)?, layer(block, 2, channels)?, layer(block, 3, channels)?])
        };
        let first = Convolution::load(&weights.at("dense0.conv0"), 3, 3)?;
        let one = layer(1, 0, first.n_outputs())?;
        let two = layer(2, 0, one.n_outputs())?;
        let three = layer(3, 0, two.n_outputs())?;
        let layers = [
            rest(0, first.n_outputs())?,
            rest(1, one.n_outputs())?,
            rest(2, two.n_outputs())?,
            rest(3, three.n_outputs())?,
        ];
        let classes = Linear::load(&weights.at("fc"), Self::N_CLASSES, three.n_outputs())?;
        Ok(Self { first, halving: [one, two, three], layers, classes })
    }

    /// A row for each face (values -1 to 1, of any size that can be halved four times): the logit of each [`Expression`].
    pub fn forward(&self, faces: Var<4>) -> Var<2> {
        let mut x = dense(self.first.halve_extended(centred(faces)), &self.layers[0]);
        for (halving, layers) in self.halving.iter().zip(&self.layers[1..]) {
            x = dense(halving.halve_extended(x), layers);
        }
        self.classes.forward(channel_means(x))
    }
}

fn dense(x: Var<4>, layers: &[Separable; 3]) -> Var<4> {
    let mut sum = x.leaky_relu(0.0);
    let mut activated = sum.clone();
    for layer in layers {
        sum = sum + layer.forward(activated);
        activated = sum.clone().leaky_relu(0.0);
    }
    activated
}
