//! The transformer that both encoders share.

use burn_tensor::Tensor;

use crate::tape::Var;
use crate::weights::{WeightError, WeightFile, Weights};

use super::super::Linear;

/// Layers of attention and fully connected networks, each added to its input.
#[derive(Debug)]
pub(super) struct Transformer {
    layers: Vec<Layer>,
}

/// Which tokens a token may look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attention {
    /// All.
    Full,
    /// Itself and those before it.
    Causal,
}

impl Transformer {
    /// Loads the layers `{i}` below `weights`, as many as there are.
    pub(super) fn load(weights: &Weights<'_>, width: usize, n_heads: usize) -> Result<Self, WeightError> {
        let layers = (0..)
            .map(|index| weights.at(&index.to_string()))
            .take_while(|weights| !weights.is_empty())
            .map(|weights| Layer::load(&weights, width, n_heads))
            .collect::<Result<_, _>>()?;
        Ok(Self { layers })
    }

    /// Transforms sequences: n by tokens by width.
    pub(super) fn forward(&self, sequences: Var<3>, attention: Attention) -> Var<3> {
        let mask = (attention == Attention::Causal).then(|| causal_mask(sequences.value()));
        self.layers.iter().fold(sequences, |x, layer| layer.forward(x, mask.as_ref()))
    }
}

/// The number of heads: a text in the header, or the official models' 64 numbers for each head.
pub(super) fn n_heads(file: &WeightFile, key: &str, width: usize) -> Result<usize, WeightError> {
    let n_heads = match file.text(key) {
        None => (width / 64).max(1),
        Some(text) => {
            text.parse().map_err(|_| file.invalid(format!("expected a number as `{key}`, found {text:?}")))?
        }
    };
    if n_heads == 0 || !width.is_multiple_of(n_heads) {
        return Err(file.invalid(format!("expected `{key}` to divide the width {width}, found {n_heads}")));
    }
    Ok(n_heads)
}

#[derive(Debug)]
struct Layer {
    norm1: LayerNorm,
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    norm2: LayerNorm,
    fc1: Linear,
    fc2: Linear,
    n_heads: usize,
}

impl Layer {
    fn load(weights: &Weights<'_>, width: usize, n_heads: usize) -> Result<Self, WeightError> {
        let square = |name: &str| Linear::load(&weights.at(name), width, width);
        let [hidden, _] = weights.dims("mlp.fc1.weight")?;
        Ok(Self {
            norm1: LayerNorm::load(&weights.at("layer_norm1"), width)?,
            query: square("self_attn.q_proj")?,
            key: square("self_attn.k_proj")?,
            value: square("self_attn.v_proj")?,
            output: square("self_attn.out_proj")?,
            norm2: LayerNorm::load(&weights.at("layer_norm2"), width)?,
            fc1: Linear::load(&weights.at("mlp.fc1"), hidden, width)?,
            fc2: Linear::load(&weights.at("mlp.fc2"), width, hidden)?,
            n_heads,
        })
    }

    fn forward(&self, x: Var<3>, mask: Option<&Tensor<4>>) -> Var<3> {
        let [n, n_tokens, width] = x.dims();
        let rows = |x: Var<3>| x.reshape([n * n_tokens, width]);
        let normed = rows(self.norm1.forward(x.clone()));
        let heads = |layer: &Linear| {
            let split = [n, n_tokens, self.n_heads, width / self.n_heads];
            layer.forward(normed.clone()).reshape(split).permute([0, 2, 1, 3])
        };
        let scale = 1.0 / ((width / self.n_heads) as f64).sqrt();
        let scores = heads(&self.query).mul_scalar(scale).matmul(heads(&self.key).permute([0, 1, 3, 2]));
        let scores = match mask {
            Some(mask) => scores + mask,
            None => scores,
        };
        let mixed = scores.softmax().matmul(heads(&self.value)).permute([0, 2, 1, 3]);
        let attended = self.output.forward(mixed.reshape([n * n_tokens, width]));
        let x = x + attended.reshape([n, n_tokens, width]);

        let hidden = self.fc1.forward(rows(self.norm2.forward(x.clone()))).quick_gelu();
        x + self.fc2.forward(hidden).reshape([n, n_tokens, width])
    }
}

/// Standardises each token and applies a scale and a shift.
#[derive(Debug)]
pub(super) struct LayerNorm {
    scale: Tensor<3>,
    shift: Tensor<3>,
}

impl LayerNorm {
    pub(super) fn load(weights: &Weights<'_>, width: usize) -> Result<Self, WeightError> {
        Ok(Self {
            scale: weights.tensor("weight", [width])?.unsqueeze(),
            shift: weights.tensor("bias", [width])?.unsqueeze(),
        })
    }

    pub(super) fn forward(&self, x: Var<3>) -> Var<3> {
        x.standardise(&[2], 1e-5) * &self.scale + &self.shift
    }
}

/// Minus a lot for every pair in which the second token comes after the first. Finite, because infinities that meet make
/// NaN.
fn causal_mask(like: &Tensor<3>) -> Tensor<4> {
    let n_tokens = like.dims()[1];
    let all = Tensor::<2>::full([n_tokens, n_tokens], -1e9, (&like.device(), like.dtype()));
    all.triu(1).unsqueeze()
}
