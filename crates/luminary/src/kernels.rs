//! Hot loops over slices, shared by strategies and emitters.

/// `x <- factor x`.
pub(crate) fn scale(x: &mut [f64], factor: f64) {
    x.iter_mut().for_each(|x| *x *= factor);
}

/// `out <- factor x`.
pub(crate) fn scale_into(x: &[f64], factor: f64, out: &mut [f64]) {
    out.iter_mut().zip(x).for_each(|(out, x)| *out = factor * x);
}

/// `x <- x + y`.
pub(crate) fn add(x: &mut [f64], y: &[f64]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
}

/// `x <- x + factor y`.
pub(crate) fn add_scaled(x: &mut [f64], factor: f64, y: &[f64]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x += factor * y);
}

/// `x <- decay x + gain y`.
pub(crate) fn decay_and_add(x: &mut [f64], decay: f64, y: &[f64], gain: f64) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x = decay * *x + gain * y);
}

/// `out <- factor (x - y)`.
pub(crate) fn scaled_difference(x: &[f64], y: &[f64], factor: f64, out: &mut [f64]) {
    for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
        *out = factor * (x - y);
    }
}

/// `out <- sum_i weights[i] rows[ranking[i]]` for rows of `dim` numbers.
pub(crate) fn weighted_rows(rows: &[f64], dim: usize, ranking: &[usize], weights: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for (&weight, &row) in weights.iter().zip(ranking) {
        add_scaled(out, weight, &rows[row * dim..][..dim]);
    }
}

/// Scalar product. Eight partial sums let it run at the speed of memory; their order is fixed, so the result is too.
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let (x_blocks, x_rest) = x.as_chunks::<8>();
    let (y_blocks, y_rest) = y.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (x, y) in x_blocks.iter().zip(y_blocks) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum::<f64>() + x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum::<f64>()
}

/// Euclidean length.
pub(crate) fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// `noise <- parent + sigma noise + stretch (other - parent)`.
pub(crate) fn iso_line(noise: &mut [f64], sigma: f64, parent: &[f64], other: &[f64], stretch: f64) {
    for ((noise, parent), other) in noise.iter_mut().zip(parent).zip(other) {
        *noise = parent + sigma * *noise + stretch * (other - parent);
    }
}
