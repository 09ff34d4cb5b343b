//! What is done to every pixel of a channel alike.

use burn_tensor::Tensor;

use super::{Elements, tensor};

/// Multiplies each channel of each image (n by channels by height by width) by a number (n by channels by 1 by 1).
pub(in crate::tape) fn scale_channels(x: Tensor<4>, scales: &Tensor<4>) -> Tensor<4> {
    let dims = x.dims();
    let (mut x, scales) = (Elements::of(x), Elements::of(scales.clone()));
    let plane_len = dims[2] * dims[3];
    if let Some(x) = x.get_mut() {
        for (plane, &scale) in x.chunks_exact_mut(plane_len).zip(scales.get()) {
            plane.iter_mut().for_each(|x| *x *= scale);
        }
    } else {
        let mut scaled = Vec::with_capacity(x.get().len());
        for (plane, &scale) in x.get().chunks_exact(plane_len).zip(scales.get()) {
            scaled.extend(plane.iter().map(|x| x * scale));
        }
        return tensor(scaled, dims);
    }
    x.into_tensor()
}

/// The sum of the products of two images' pixels, for each channel (n by channels by 1 by 1).
pub(in crate::tape) fn dot_planes(x: &Tensor<4>, y: &Tensor<4>) -> Tensor<4> {
    let [n, channels, height, width] = x.dims();
    let (x, y) = (Elements::of(x.clone()), Elements::of(y.clone()));
    let planes = x.get().chunks_exact(height * width).zip(y.get().chunks_exact(height * width));
    tensor(planes.map(|(x, y)| dot(x, y)).collect(), [n, channels, 1, 1])
}

/// In lanes, which is faster and more accurate than one running sum.
fn dot(x: &[f32], y: &[f32]) -> f32 {
    const LANES: usize = 32;
    let (x_blocks, y_blocks) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let rest: f32 = x_blocks.remainder().iter().zip(y_blocks.remainder()).map(|(x, y)| x * y).sum();
    let mut sums = [0.0; LANES];
    for (x, y) in x_blocks.zip(y_blocks) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

/// `gain leaky_relu(x + noise + bias)`, with a bias for each channel and noise (1 or n by 1 by height by width) that all
/// channels share.
pub(in crate::tape) fn activate(
    x: Tensor<4>,
    noise: Option<&Tensor<4>>,
    bias: &Tensor<4>,
    slope: f32,
    gain: f32,
) -> Tensor<4> {
    let dims @ [_, channels, height, width] = x.dims();
    let plane_len = height * width;
    let (mut x, bias) = (Elements::of(x), Elements::of(bias.clone()));
    let noise = noise.map(|noise| Elements::of(noise.clone()));
    if x.get_mut().is_none() {
        x = Elements::of(tensor(x.get().to_vec(), dims));
    }
    let planes = x.get_mut().expect("the copy has one owner").chunks_exact_mut(plane_len);
    for (index, plane) in planes.enumerate() {
        let bias = bias.get()[index % channels];
        let activate = |x: f32| gain * if x > 0.0 { x } else { slope * x };
        match &noise {
            None => plane.iter_mut().for_each(|x| *x = activate(*x + bias)),
            Some(noise) => {
                let noise = noise.get().chunks_exact(plane_len).cycle().nth(index / channels).expect("there is noise");
                plane.iter_mut().zip(noise).for_each(|(x, noise)| *x = activate(*x + noise + bias));
            }
        }
    }
    x.into_tensor()
}

/// The cotangent of [`activate`]'s argument from its result's.
pub(in crate::tape) fn pull_activation(cotangent: Tensor<4>, y: &Tensor<4>, slope: f32, gain: f32) -> Tensor<4> {
    let dims = cotangent.dims();
    let (mut cotangent, y) = (Elements::of(cotangent), Elements::of(y.clone()));
    let scale = |y: f32| if y > 0.0 { gain } else { gain * slope };
    if let Some(cotangent) = cotangent.get_mut() {
        cotangent.iter_mut().zip(y.get()).for_each(|(cotangent, &y)| *cotangent *= scale(y));
    } else {
        let pairs = cotangent.get().iter().zip(y.get());
        return tensor(pairs.map(|(cotangent, &y)| cotangent * scale(y)).collect(), dims);
    }
    cotangent.into_tensor()
}
