//! The mapping network from z to w, which all three generators share but for where their constants are applied.

use crate::tape::Var;
use crate::weights::{WeightError, Weights};

use super::Linear;

/// Pixel norm, then fully connected layers with leaky ReLU.
#[derive(Clone, Debug)]
pub struct Mapping {
    layers: Vec<Linear>,
    /// Multiplies the output of every activation.
    gain: f64,
    latent_dim: usize,
}

/// How stored weights become those that multiply.
#[derive(Clone, Copy, Debug)]
pub(super) enum Convention {
    /// StyleGAN: weights times 0.01 sqrt(2 / inputs), biases times 0.01.
    StyleGan,
    /// StyleGAN2: weights times 0.01 / sqrt(inputs), biases times 0.01, activations times sqrt(2).
    StyleGan2,
    /// MobileStyleGAN: weights as they are, activations times sqrt(2).
    Mobile,
}

impl Mapping {
    /// Loads the layers `{name}0`, `{name}1` and so on, as many as there are.
    pub(super) fn load(weights: &Weights<'_>, name: &str, convention: Convention) -> Result<Self, WeightError> {
        let [_, latent_dim] = weights.dims(&format!("{name}0.weight"))?;
        // The learning rate of these layers is a hundredth of the others' (Karras et al. 2019, Appendix B).
        let fan_in = (latent_dim as f64).sqrt();
        let (weight_scale, bias_scale, gain) = match convention {
            Convention::StyleGan => (0.01 * 2f64.sqrt() / fan_in, 0.01, 1.0),
            Convention::StyleGan2 => (0.01 / fan_in, 0.01, 2f64.sqrt()),
            Convention::Mobile => (1.0, 1.0, 2f64.sqrt()),
        };
        let layers = (0..)
            .map(|index| format!("{name}{index}"))
            .take_while(|name| !weights.at(name).is_empty())
            .map(|name| Linear::load_scaled(&weights.at(&name), latent_dim, latent_dim, weight_scale, bias_scale))
            .collect::<Result<_, _>>()?;
        Ok(Self { layers, gain, latent_dim })
    }

    /// Length of z and of w.
    pub fn latent_dim(&self) -> usize {
        self.latent_dim
    }

    /// Rows of w from rows of z.
    pub fn forward(&self, z: Var<2>) -> Var<2> {
        let scale = z.clone().square().mean_dims(&[1]).add_scalar(1e-8).rsqrt();
        self.layers.iter().fold(z * scale, |x, layer| {
            let y = layer.forward(x).leaky_relu(0.2);
            if self.gain == 1.0 { y } else { y.mul_scalar(self.gain) }
        })
    }
}
