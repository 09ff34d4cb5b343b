//! Hot loops over slices, shared by strategies and emitters, each compiled for every vector width and chosen at run
//! time. None uses a fused multiply-add or lets the width decide the order of a sum, so all widths give the same bits.

use luminary_math::{Level, dispatch};

macro_rules! kernels {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) $(-> $output:ty)? $body:block)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name($($argument: $type),*) $(-> $output)? {
            dispatch! {
                fn at(level: Level, $($argument: $type),*) $(-> $output)? $body
            }
            at(Level::best(), $($argument),*)
        }
    )*};
}

kernels! {
    /// `x <- factor x`.
    fn scale(x: &mut [f64], factor: f64) {
        x.iter_mut().for_each(|x| *x *= factor);
    }

    /// `out <- factor x`.
    fn scale_into(x: &[f64], factor: f64, out: &mut [f64]) {
        out.iter_mut().zip(x).for_each(|(out, x)| *out = factor * x);
    }

    /// `out <- factor x` in the lower triangle of column-major matrices.
    fn scale_lower_into(x: &[f64], dim: usize, factor: f64, out: &mut [f64]) {
        for (j, (out, x)) in out.chunks_exact_mut(dim).zip(x.chunks_exact(dim)).enumerate() {
            out[j..].iter_mut().zip(&x[j..]).for_each(|(out, x)| *out = factor * x);
        }
    }

    /// `x <- x + factor y`.
    fn add_scaled(x: &mut [f64], factor: f64, y: &[f64]) {
        x.iter_mut().zip(y).for_each(|(x, y)| *x += factor * y);
    }

    /// `x <- x + y^2`, element by element.
    fn add_squares(x: &mut [f64], y: &[f64]) {
        x.iter_mut().zip(y).for_each(|(x, y)| *x += y * y);
    }

    /// Adds `y` to every row of `rows`.
    fn add_to_rows(rows: &mut [f64], y: &[f64]) {
        for row in rows.chunks_exact_mut(y.len()) {
            row.iter_mut().zip(y).for_each(|(x, y)| *x += y);
        }
    }

    /// `x <- decay x + gain y`.
    fn decay_and_add(x: &mut [f64], decay: f64, y: &[f64], gain: f64) {
        x.iter_mut().zip(y).for_each(|(x, y)| *x = decay * *x + gain * y);
    }

    /// `out <- factor (x - y)`.
    fn scaled_difference(x: &[f64], y: &[f64], factor: f64, out: &mut [f64]) {
        for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
            *out = factor * (x - y);
        }
    }

    /// `out <- sum_i weights[i] rows[ranking[i]]` for rows of `dim` numbers.
    fn weighted_rows(rows: &[f64], dim: usize, ranking: &[usize], weights: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (&weight, &row) in weights.iter().zip(ranking) {
            let row = &rows[row * dim..][..dim];
            out.iter_mut().zip(row).for_each(|(out, x)| *out += weight * x);
        }
    }

    /// `row <- base + sum_j coefficients[j] directions[j]` for every row, with as many coefficients a row as there are
    /// directions, added in their order. A block of components stays in registers until all its terms are in.
    fn branches(base: &[f64], directions: &[f64], coefficients: &[f64], rows: &mut [f64]) {
        const BLOCK: usize = 32;
        let dim = base.len();
        let (base_blocks, base_rest) = base.as_chunks::<BLOCK>();
        let rest_start = dim - base_rest.len();
        for (row, coefficients) in rows.chunks_exact_mut(dim).zip(coefficients.chunks_exact(directions.len() / dim)) {
            let (row_blocks, row_rest) = row.as_chunks_mut::<BLOCK>();
            for (i, (out, base)) in row_blocks.iter_mut().zip(base_blocks).enumerate() {
                let mut sum = *base;
                for (coefficient, direction) in coefficients.iter().zip(directions.chunks_exact(dim)) {
                    let (direction_blocks, _) = direction.as_chunks::<BLOCK>();
                    for (sum, component) in sum.iter_mut().zip(&direction_blocks[i]) {
                        *sum += coefficient * component;
                    }
                }
                *out = sum;
            }
            row_rest.copy_from_slice(base_rest);
            for (coefficient, direction) in coefficients.iter().zip(directions.chunks_exact(dim)) {
                row_rest.iter_mut().zip(&direction[rest_start..]).for_each(|(x, y)| *x += coefficient * y);
            }
        }
    }

    /// `noise <- parent + sigma noise + stretch (other - parent)`.
    fn iso_line(noise: &mut [f64], sigma: f64, parent: &[f64], other: &[f64], stretch: f64) {
        for ((noise, parent), other) in noise.iter_mut().zip(parent).zip(other) {
            *noise = parent + sigma * *noise + stretch * (other - parent);
        }
    }

    /// `noise <- parent + sigma noise`.
    fn add_noise(noise: &mut [f64], sigma: f64, parent: &[f64]) {
        noise.iter_mut().zip(parent).for_each(|(noise, parent)| *noise = parent + sigma * *noise);
    }

    /// Scalar product, in eight partial sums whose order is fixed.
    fn dot(x: &[f64], y: &[f64]) -> f64 {
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

    /// Whether all numbers are finite.
    fn all_finite(x: &[f64]) -> bool {
        // Without an early exit, so that it vectorises.
        x.iter().fold(true, |finite, x| finite & x.is_finite())
    }
}

/// Euclidean length.
pub(crate) fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_are_the_same_bits_as_terms_added_one_by_one() {
        for (dim, n_directions) in [(1, 1), (31, 2), (32, 3), (100, 3), (129, 11)] {
            let numbers = |n: usize, seed: f64| (0..n).map(|i| (i as f64 * 0.7 + seed).sin()).collect::<Vec<f64>>();
            let n_rows = 5;
            let base = numbers(dim, 0.1);
            let directions = numbers(n_directions * dim, 0.2);
            let coefficients = numbers(n_rows * n_directions, 0.3);
            let mut rows = vec![9.0; n_rows * dim];
            branches(&base, &directions, &coefficients, &mut rows);
            for (row, coefficients) in rows.chunks(dim).zip(coefficients.chunks(n_directions)) {
                let mut expected = base.clone();
                for (&coefficient, direction) in coefficients.iter().zip(directions.chunks(dim)) {
                    add_scaled(&mut expected, coefficient, direction);
                }
                assert_eq!(row, expected, "{n_directions} directions of {dim} components");
            }
        }
    }

    #[test]
    fn kernels_agree_with_their_formulas_at_awkward_lengths() {
        for n in [1, 7, 8, 9, 100] {
            let x: Vec<f64> = (0..n).map(|i| i as f64 + 0.5).collect();
            let y: Vec<f64> = (0..n).map(|i| 1.0 - i as f64).collect();
            let product: f64 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
            assert!((dot(&x, &y) - product).abs() <= 1e-12 * product.abs().max(1.0));
            let mut out = vec![9.0; n];
            scaled_difference(&x, &y, 2.0, &mut out);
            assert!((0..n).all(|i| out[i] == 2.0 * (x[i] - y[i])));
            decay_and_add(&mut out, 0.5, &x, 3.0);
            assert!((0..n).all(|i| out[i] == x[i] - y[i] + 3.0 * x[i]));
            out.fill(1.0);
            add_squares(&mut out, &y);
            assert!((0..n).all(|i| out[i] == 1.0 + y[i] * y[i]));
            let rows = [x.as_slice(), y.as_slice()].concat();
            weighted_rows(&rows, n, &[1, 0], &[0.25, 0.5], &mut out);
            assert!((0..n).all(|i| out[i] == 0.25 * y[i] + 0.5 * x[i]));
            let (matrix, mut lower) = (vec![3.0; n * n], vec![9.0; n * n]);
            scale_lower_into(&matrix, n, 2.0, &mut lower);
            assert!((0..n * n).all(|at| lower[at] == if at % n >= at / n { 6.0 } else { 9.0 }));
            assert!(all_finite(&x));
            out[n - 1] = f64::INFINITY;
            assert!(!all_finite(&out));
        }
    }
}
