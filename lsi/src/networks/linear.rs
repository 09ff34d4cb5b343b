//! A fully connected layer.

use burn_tensor::Tensor;

use crate::tape::Var;
use crate::weights::{WeightError, Weights};

/// `x W^T + b`.
#[derive(Clone, Debug)]
pub struct Linear {
    weight: Tensor<2>,
    bias: Option<Tensor<1>>,
}

impl Linear {
    /// Loads `weight` (outputs by inputs) and `bias`.
    ///
    /// # Errors
    ///
    /// Tensors that are missing or have other shapes.
    pub fn load(weights: &Weights<'_>, n_outputs: usize, n_inputs: usize) -> Result<Self, WeightError> {
        Self::load_scaled(weights, n_outputs, n_inputs, 1.0, 1.0)
    }

    /// [`load`](Self::load) with the weight and the bias multiplied by a number each.
    pub(super) fn load_scaled(
        weights: &Weights<'_>,
        n_outputs: usize,
        n_inputs: usize,
        weight_scale: f64,
        bias_scale: f64,
    ) -> Result<Self, WeightError> {
        let weight = weights.tensor("weight", [n_outputs, n_inputs])?.mul_scalar(weight_scale);
        let bias = weights.tensor("bias", [n_outputs])?.mul_scalar(bias_scale);
        Ok(Self { weight, bias: Some(bias) })
    }

    /// Loads `weight` alone.
    pub(super) fn load_without_bias(
        weights: &Weights<'_>,
        n_outputs: usize,
        n_inputs: usize,
    ) -> Result<Self, WeightError> {
        Ok(Self { weight: weights.tensor("weight", [n_outputs, n_inputs])?, bias: None })
    }

    /// A layer of these tensors.
    pub(super) fn new(weight: Tensor<2>, bias: Option<Tensor<1>>) -> Self {
        Self { weight, bias }
    }

    /// Outputs for a row.
    pub fn n_outputs(&self) -> usize {
        self.weight.dims()[0]
    }

    /// Applies the layer to every row.
    pub fn forward(&self, rows: Var<2>) -> Var<2> {
        rows.linear(&self.weight, self.bias.as_ref())
    }
}
