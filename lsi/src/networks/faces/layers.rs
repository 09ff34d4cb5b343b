//! The layers of the face networks. Halved images keep the place of their first pixel, as TensorFlow's "same" padding does for
//! even sizes: what a kernel needs beyond the image is below and to the right.

use burn_tensor::Tensor;

use crate::tape::Var;
use crate::weights::{WeightError, Weights};

/// A convolution with a bias.
#[derive(Debug)]
pub(super) struct Convolution {
    kernel: Tensor<4>,
    bias: Tensor<4>,
}

impl Convolution {
    pub(super) fn load(weights: &Weights<'_>, n_inputs: usize, size: usize) -> Result<Self, WeightError> {
        let [n_outputs] = weights.dims("bias")?;
        Ok(Self {
            kernel: weights.tensor("weight", [n_outputs, n_inputs, size, size])?,
            bias: weights.tensor("bias", [n_outputs])?.reshape([1, n_outputs, 1, 1]),
        })
    }

    pub(super) fn n_outputs(&self) -> usize {
        self.kernel.dims()[0]
    }

    /// An image of the same size.
    pub(super) fn forward(&self, x: Var<4>) -> Var<4> {
        x.convolve(&self.kernel, self.kernel.dims()[2] / 2) + &self.bias
    }

    /// An image of half the size, from kernels that lie within the image.
    pub(super) fn halve(&self, x: Var<4>) -> Var<4> {
        x.convolve_halving(&self.kernel) + &self.bias
    }

    /// An image of half the size, from kernels that reach as far beyond the image as it takes.
    pub(super) fn halve_extended(&self, x: Var<4>) -> Var<4> {
        self.halve(x.extend(BORDER, BORDER, 0.0))
    }
}

/// What a kernel of 3 by 3 needs beyond an image of even size when it goes by steps of two.
pub(super) const BORDER: usize = 1;

/// A kernel of 3 by 3 for each channel, then a mix of the channels with a bias.
#[derive(Debug)]
pub(super) struct Separable {
    depthwise: Tensor<4>,
    pointwise: Tensor<4>,
    bias: Tensor<4>,
}

impl Separable {
    pub(super) fn load(weights: &Weights<'_>, n_inputs: usize) -> Result<Self, WeightError> {
        let [n_outputs] = weights.dims("bias")?;
        Ok(Self {
            depthwise: weights.tensor("depthwise", [n_inputs, 1, 3, 3])?,
            pointwise: weights.tensor("pointwise", [n_outputs, n_inputs, 1, 1])?,
            bias: weights.tensor("bias", [n_outputs])?.reshape([1, n_outputs, 1, 1]),
        })
    }

    pub(super) fn n_outputs(&self) -> usize {
        self.pointwise.dims()[0]
    }

    /// An image of the same size.
    pub(super) fn forward(&self, x: Var<4>) -> Var<4> {
        self.mix(x.convolve_depthwise(&self.depthwise, 1))
    }

    /// An image of half the size.
    pub(super) fn halve_extended(&self, x: Var<4>) -> Var<4> {
        self.mix(x.extend(BORDER, BORDER, 0.0).convolve_halving(&self.depthwise))
    }

    fn mix(&self, x: Var<4>) -> Var<4> {
        x.convolve(&self.pointwise, 0) + &self.bias
    }
}

/// The mean of each channel.
pub(super) fn channel_means(x: Var<4>) -> Var<2> {
    let [n, channels, _, _] = x.dims();
    x.mean_dims(&[2, 3]).reshape([n, channels])
}
