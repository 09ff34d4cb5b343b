//! A kernel of its own for each channel.

use burn_tensor::Tensor;
use luminary_math::{Level, dispatch};

use super::{Elements, tensor};

/// Correlates each channel of images with its kernel (channels by 1 by size by size), or all with the same (1 by 1 by size by
/// size), with `padding` zeros around them. `None` if there is no code for kernels of this size.
pub(in crate::tape) fn correlate_planes(x: &Tensor<4>, kernels: &Tensor<4>, padding: usize) -> Option<Tensor<4>> {
    let ([n, channels, height, width], [n_kernels, _, size, kernel_width]) = (x.dims(), kernels.dims());
    let correlate = match (size, kernel_width) {
        (3, 3) => correlate_3,
        (4, 4) => correlate_4,
        _ => return None,
    };
    let (out_height, out_width) = (height + 2 * padding + 1 - size, width + 2 * padding + 1 - size);
    let (x, kernels) = (Elements::of(x.clone()), Elements::of(kernels.clone()));
    let padded_width = width + 2 * padding;
    let mut padded = vec![0.0; (height + 2 * padding) * padded_width];
    let (mut y, mut line) = (Vec::with_capacity(n * channels * out_height * out_width), vec![0.0; out_width]);
    for (index, plane) in x.get().chunks_exact(height * width).enumerate() {
        let inner = padded.chunks_exact_mut(padded_width).skip(padding);
        for (to, from) in inner.zip(plane.chunks_exact(width)) {
            to[padding..padding + width].copy_from_slice(from);
        }
        let kernel = kernels.get().chunks_exact(size * size).nth(index % n_kernels).expect("there is a kernel");
        for rows in padded.windows(size * padded_width).step_by(padded_width) {
            correlate(Level::best(), rows, padded_width, kernel, &mut line);
            y.extend_from_slice(&line);
        }
    }
    Some(tensor(y, [n, channels, out_height, out_width]))
}

dispatch! {
    fn correlate_3(level: Level, x: &[f32], width: usize, taps: &[f32], y: &mut [f32]) {
        correlate_line::<3>(x, width, taps, y);
    }
}

dispatch! {
    fn correlate_4(level: Level, x: &[f32], width: usize, taps: &[f32], y: &mut [f32]) {
        correlate_line::<4>(x, width, taps, y);
    }
}

/// One line of a result, from K lines of zeros, pixels and zeros.
#[inline(always)]
fn correlate_line<const K: usize>(x: &[f32], width: usize, taps: &[f32], y: &mut [f32]) {
    let taps: [[f32; K]; K] = std::array::from_fn(|below| std::array::from_fn(|right| taps[below * K + right]));
    // Slices of one length each, so that the loop over them needs no checks.
    let shifted: [[&[f32]; K]; K] =
        std::array::from_fn(|below| std::array::from_fn(|right| &x[below * width + right..][..y.len()]));
    for (column, y) in y.iter_mut().enumerate() {
        let mut sum = 0.0;
        for below in 0..K {
            for right in 0..K {
                sum += taps[below][right] * shifted[below][right][column];
            }
        }
        *y = sum;
    }
}
