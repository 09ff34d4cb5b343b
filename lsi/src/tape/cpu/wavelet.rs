//! The Haar wavelet of squares of 2 by 2 pixels.

use burn_tensor::Tensor;

use super::{Elements, tensor};

/// Images of twice the size from their wavelet coefficients: a quarter of the channels are means, and the rest are details,
/// three for each mean.
pub(in crate::tape) fn from_wavelet(x: Tensor<4>) -> Tensor<4> {
    let [n, channels, height, width] = x.dims();
    let (n_outputs, plane_len) = (channels / 4, height * width);
    let x = Elements::of(x);
    let (mut y, mut lines) = (Vec::with_capacity(n * channels * plane_len), vec![0.0; 4 * width]);
    for index in 0..n * n_outputs {
        let [means, first, second, third] = coefficients(index, n_outputs)
            .map(|channel| x.get()[channel * plane_len..(channel + 1) * plane_len].chunks_exact(width));
        for ((means, first), (second, third)) in means.zip(first).zip(second.zip(third)) {
            let (top, bottom) = lines.split_at_mut(2 * width);
            let pairs = top.chunks_exact_mut(2).zip(bottom.chunks_exact_mut(2));
            let inputs = means.iter().zip(first).zip(second.iter().zip(third));
            for (((a, b), (c, d)), (top, bottom)) in inputs.zip(pairs) {
                [top[0], top[1], bottom[0], bottom[1]] = haar([*a, *b, *c, *d]);
            }
            y.extend_from_slice(&lines);
        }
    }
    tensor(y, [n, n_outputs, 2 * height, 2 * width])
}

/// The inverse of [`from_wavelet`], which is also its adjoint.
pub(in crate::tape) fn to_wavelet(y: Tensor<4>) -> Tensor<4> {
    let [n, n_outputs, height, width] = y.dims();
    let (height, width) = (height / 2, width / 2);
    let plane_len = height * width;
    let y = Elements::of(y);
    let mut x = vec![0.0; n * 4 * n_outputs * plane_len];
    for (index, y) in y.get().chunks_exact(4 * plane_len).enumerate() {
        let [a, b, c, d] = coefficients(index, n_outputs).map(|channel| channel * plane_len);
        let [means, first, second, third] = x
            .get_disjoint_mut([a..a + plane_len, b..b + plane_len, c..c + plane_len, d..d + plane_len])
            .expect("coefficients are different channels");
        let outputs = means.iter_mut().zip(first).zip(second.iter_mut().zip(third));
        let pairs = y.chunks_exact(4 * width).flat_map(|rows| {
            let (top, bottom) = rows.split_at(2 * width);
            top.chunks_exact(2).zip(bottom.chunks_exact(2))
        });
        for (((a, b), (c, d)), (top, bottom)) in outputs.zip(pairs) {
            [*a, *b, *c, *d] = haar([top[0], top[1], bottom[0], bottom[1]]);
        }
    }
    tensor(x, [n, 4 * n_outputs, height, width])
}

/// The channels of an output's mean and three details.
fn coefficients(index: usize, n_outputs: usize) -> [usize; 4] {
    let (image, output) = (index / n_outputs, index % n_outputs);
    let first = 4 * n_outputs * image;
    let detail = first + n_outputs + 3 * output;
    [first + output, detail, detail + 1, detail + 2]
}

/// Four pixels from mean, vertical, horizontal and diagonal detail, and the same the other way round.
#[inline(always)]
fn haar([a, b, c, d]: [f32; 4]) -> [f32; 4] {
    [a + b + c + d, a + b - c - d, a - b + c - d, a - b - c + d].map(|sum| 0.5 * sum)
}
