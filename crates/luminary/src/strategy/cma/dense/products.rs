//! Products with a lower triangle, and sums of outer products.

use std::array;

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use super::{add_products, block, block_mut, first_tile, multiply_add};

/// Columns of a tile of a product: 12 registers of sums, which even 16 registers leave room for.
const COLUMNS: usize = 6;

for_each_instruction_set! {
    /// `out <- mean + scale A z` for a lower triangular A and one or many columns z. Of what is above A's diagonal, the
    /// tiles on the diagonal are read and must be zero, as `cholesky` leaves them.
    fn multiply(a: &[f64], z: &[f64], mean: &[f64], scale: f64, out: &mut [f64]) = multiply_at;

    /// `C <- C + sign X X^T`; above the diagonal C is of no meaning afterwards.
    fn add_outer_products(c: &mut [f64], dim: usize, x: &[f64], sign: f64) = add_outer_products_at;
}

#[inline(always)]
pub(super) fn multiply_at<const FUSED: bool, const ROWS: usize>(
    a: &[f64],
    z: &[f64],
    mean: &[f64],
    scale: f64,
    out: &mut [f64],
) {
    let dim = mean.len();
    for i in 0..dim % ROWS {
        multiply_rows::<FUSED, 1>(a, z, mean, scale, out, i);
    }
    for i in (dim % ROWS..dim).step_by(ROWS) {
        multiply_rows::<FUSED, ROWS>(a, z, mean, scale, out, i);
    }
}

/// Rows from `i` of all columns, while these rows of A are in the nearest cache.
#[inline(always)]
fn multiply_rows<const FUSED: bool, const ROWS: usize>(
    a: &[f64],
    z: &[f64],
    mean: &[f64],
    scale: f64,
    out: &mut [f64],
    i: usize,
) {
    let dim = mean.len();
    let mut blocks = z.chunks_exact(COLUMNS * dim);
    let mut out_blocks = out.chunks_exact_mut(COLUMNS * dim);
    for (z, out) in (&mut blocks).zip(&mut out_blocks) {
        multiply_tile::<FUSED, ROWS, COLUMNS>(a, z, mean, scale, out, i);
    }
    for (z, out) in blocks.remainder().chunks_exact(dim).zip(out_blocks.into_remainder().chunks_exact_mut(dim)) {
        multiply_tile::<FUSED, ROWS, 1>(a, z, mean, scale, out, i);
    }
}

/// Rows from `i` of a few columns.
#[inline(always)]
fn multiply_tile<const FUSED: bool, const ROWS: usize, const K: usize>(
    a: &[f64],
    z: &[f64],
    mean: &[f64],
    scale: f64,
    out: &mut [f64],
    i: usize,
) {
    let dim = mean.len();
    let width = i + ROWS;
    let z: [&[f64]; K] = array::from_fn(|n| &z[n * dim..][..width]);
    let mut sums = [[0.0; ROWS]; K];
    add_products::<FUSED, ROWS, K>(&mut sums, &a[..width * dim], dim, i, |p, _| {
        let mut factors = [0.0; K];
        for n in 0..K {
            factors[n] = z[n][p];
        }
        factors
    });
    let mean: &[f64; ROWS] = block(&mean[i..]);
    for n in 0..K {
        let out: &mut [f64; ROWS] = block_mut(&mut out[n * dim + i..]);
        for r in 0..ROWS {
            out[r] = multiply_add::<FUSED>(scale, sums[n][r], mean[r]);
        }
    }
}

#[inline(always)]
pub(super) fn add_outer_products_at<const FUSED: bool, const ROWS: usize>(
    c: &mut [f64],
    dim: usize,
    x: &[f64],
    sign: f64,
) {
    let whole = dim - dim % COLUMNS;
    for j in (0..whole).step_by(COLUMNS) {
        add_to_columns::<FUSED, ROWS, COLUMNS>(c, dim, x, sign, j);
    }
    for j in whole..dim {
        add_to_columns::<FUSED, ROWS, 1>(c, dim, x, sign, j);
    }
}

#[inline(always)]
fn add_to_columns<const FUSED: bool, const ROWS: usize, const K: usize>(
    c: &mut [f64],
    dim: usize,
    x: &[f64],
    sign: f64,
    j: usize,
) {
    let c = &mut c[j * dim..];
    for i in j..dim % ROWS {
        add_to_tile::<FUSED, 1, K>(c, dim, x, sign, i, j);
    }
    for i in (first_tile::<ROWS>(dim, j)..dim).step_by(ROWS) {
        add_to_tile::<FUSED, ROWS, K>(c, dim, x, sign, i, j);
    }
}

/// Adds rows from `i` and columns from `j` of outer products to the matrix whose first column is column `j`.
#[inline(always)]
fn add_to_tile<const FUSED: bool, const ROWS: usize, const K: usize>(
    c: &mut [f64],
    dim: usize,
    x: &[f64],
    sign: f64,
    i: usize,
    j: usize,
) {
    let mut sums = [[0.0; ROWS]; K];
    add_products::<FUSED, ROWS, K>(&mut sums, x, dim, i, |_, column| *block(&column[j..]));
    for n in 0..K {
        let c: &mut [f64; ROWS] = block_mut(&mut c[n * dim + i..]);
        for r in 0..ROWS {
            c[r] = multiply_add::<FUSED>(sign, sums[n][r], c[r]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::cma::dense::tests::{DIMS, covariance, numbers};

    /// A lower triangular matrix with zeros above the diagonal.
    fn triangle(dim: usize) -> Vec<f64> {
        let mut a = numbers(dim * dim, 3);
        (0..dim).for_each(|j| a[j * dim..][..j].fill(0.0));
        a
    }

    #[test]
    fn products_agree_with_their_formula() {
        for dim in DIMS {
            for n_columns in [1, COLUMNS, COLUMNS + 2, 3 * COLUMNS] {
                let a = triangle(dim);
                let z = numbers(dim * n_columns, 5);
                let mean = numbers(dim, 6);
                let mut out = vec![f64::NAN; z.len()];
                multiply(&a, &z, &mean, 1.5, &mut out);
                for (at, &found) in out.iter().enumerate() {
                    let n = at / dim;
                    let i = at % dim;
                    let sum: f64 = (0..=i).map(|p| a[p * dim + i] * z[n * dim + p]).sum();
                    assert!((found - (mean[i] + 1.5 * sum)).abs() < 1e-13, "{dim} {n_columns} {i} {n}");
                }
            }
        }
    }

    #[test]
    fn outer_products_agree_with_their_formula() {
        for dim in DIMS {
            let before = covariance(dim);
            let x = numbers(dim * 19, 5);
            let mut c = before.clone();
            add_outer_products(&mut c, dim, &x, -1.0);
            for j in 0..dim {
                for i in j..dim {
                    let sum: f64 = x.chunks_exact(dim).map(|x| x[i] * x[j]).sum();
                    assert!((c[j * dim + i] - (before[j * dim + i] - sum)).abs() < 1e-13, "{dim} {i} {j}");
                }
            }
        }
    }
}
