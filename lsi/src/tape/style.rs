//! What generators with styles are made of beside convolutions.

use burn_tensor::{Tensor, activation};

use super::{Var, cpu, sum_to};

impl Var<4> {
    /// Multiplies each channel of each image by a number (n by channels).
    pub fn scale_channels(self, scales: Var<2>) -> Self {
        let [n, channels] = scales.dims();
        self.zip(
            scales.reshape([n, channels, 1, 1]),
            |x, scales| scale_channels(x, &scales),
            |_, scales| {
                let scales = scales.clone();
                move |cotangent| scale_channels(cotangent, &scales)
            },
            |x, _| {
                let x = x.clone();
                move |cotangent: Tensor<4>| match cpu::takes(&x) {
                    true => cpu::dot_planes(&x, &cotangent),
                    false => sum_to(cotangent * x.clone(), [n, channels, 1, 1]),
                }
            },
        )
    }

    /// `gain leaky_relu(x + noise + bias)`: the end of a layer, with a bias for each channel (1 by channels by 1 by 1) and noise
    /// (1 or n by 1 by height by width) that all channels share. The gain must be positive.
    pub fn activate(self, noise: Option<&Tensor<4>>, bias: &Tensor<4>, slope: f64, gain: f64) -> Self {
        assert!(gain > 0.0 && slope > 0.0, "activate: gain and slope must be positive, found {gain} and {slope}");
        self.map_over(
            |x| {
                if cpu::takes(&x) {
                    return cpu::activate(x, noise, bias, slope as f32, gain as f32);
                }
                let x = match noise {
                    Some(noise) => x + noise.clone(),
                    None => x,
                };
                activation::leaky_relu(x + bias.clone(), slope).mul_scalar(gain)
            },
            |y| {
                // The result has the sign of what the slope depends on.
                let y = y.clone();
                move |cotangent: Tensor<4>| {
                    if cpu::takes(&cotangent) {
                        return cpu::pull_activation(cotangent, &y, slope as f32, gain as f32);
                    }
                    let is_negative = y.clone().lower_equal_scalar(0.0);
                    let cotangent = cotangent.mul_scalar(gain);
                    let scaled = cotangent.clone().mul_scalar(slope);
                    cotangent.mask_where(is_negative, scaled)
                }
            },
        )
    }

    /// Images of twice the size from the coefficients of their Haar wavelet: a quarter of the channels are means, and the rest
    /// are details (vertical, horizontal, diagonal), three for each mean.
    pub fn from_wavelet(self) -> Self {
        if cpu::takes(&self.value) {
            return self.map_over(cpu::from_wavelet, |_| cpu::to_wavelet);
        }
        let [n, channels, height, width] = self.dims();
        let n_outputs = channels / 4;
        let functions = Tensor::<1>::from_data(HAAR.as_flattened(), (&self.value.device(), self.value.dtype()));
        let means = self.clone().narrow(1, 0..n_outputs).reshape([n * n_outputs, 1, height, width]);
        let details = self.narrow(1, n_outputs..channels).reshape([n * n_outputs, 3, height, width]);
        let planes = means.cat(details, 1).convolve_transposed(&functions.reshape([4, 1, 2, 2]), 0);
        planes.reshape([n, n_outputs, 2 * height, 2 * width])
    }
}

/// Mean, vertical, horizontal and diagonal detail of four pixels.
const HAAR: [[f64; 4]; 4] =
    [[0.5, 0.5, 0.5, 0.5], [0.5, 0.5, -0.5, -0.5], [0.5, -0.5, 0.5, -0.5], [0.5, -0.5, -0.5, 0.5]];

fn scale_channels(x: Tensor<4>, scales: &Tensor<4>) -> Tensor<4> {
    if cpu::takes(&x) { cpu::scale_channels(x, scales) } else { x * scales.clone() }
}

#[cfg(test)]
mod tests {
    use super::super::check::{assert_gradient, wavy};
    use super::*;

    #[test]
    fn styles_have_their_gradients() {
        let image = Var::constant(wavy([2, 3, 2, 4], 0.6));
        assert_gradient([2, 3], |scales| image.clone().scale_channels(scales).square());
        let scales = Var::constant(wavy([2, 3], 0.4));
        assert_gradient([2, 3, 2, 4], |x| x.scale_channels(scales.clone()).square());
        let (noise, bias) = (wavy([1, 1, 2, 4], 0.3), wavy([1, 3, 1, 1], 0.9));
        assert_gradient([2, 3, 2, 4], |x| x.activate(Some(&noise), &bias, 0.2, 1.5).square());
        assert_gradient([2, 3, 2, 4], |x| x.activate(None, &bias, 0.2, 1.5).square());
        assert_gradient([2, 8, 2, 3], |x| x.from_wavelet().square());
    }
}
