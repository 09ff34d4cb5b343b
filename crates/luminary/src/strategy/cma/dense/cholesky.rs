//! The Cholesky factor, panel by panel.

use std::array;

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use super::{add_products, block, block_mut, first_tile, multiply_add};

/// Columns that are factored at a time: the fastest of 4, 5 and 6 at a hundred dimensions.
const PANEL: usize = 4;

for_each_instruction_set! {
    /// The lower triangular A with `A A^T = scale C`, of whose C only the lower triangle matters. `a` must be zero above
    /// the diagonal, and is so again afterwards. Returns whether C was positive definite and finite.
    fn cholesky(c: &[f64], dim: usize, scale: f64, a: &mut [f64]) -> bool = cholesky_at;
}

#[inline(always)]
pub(super) fn cholesky_at<const FUSED: bool, const ROWS: usize>(
    c: &[f64],
    dim: usize,
    scale: f64,
    a: &mut [f64],
) -> bool {
    let whole = dim - dim % PANEL;
    for j in (0..whole).step_by(PANEL) {
        if !factor_columns::<FUSED, ROWS, PANEL>(c, dim, scale, a, j) {
            return false;
        }
    }
    for j in whole..dim {
        if !factor_columns::<FUSED, ROWS, 1>(c, dim, scale, a, j) {
            return false;
        }
    }
    true
}

/// Columns from `j` of the factor, given those before them.
#[inline(always)]
fn factor_columns<const FUSED: bool, const ROWS: usize, const K: usize>(
    c: &[f64],
    dim: usize,
    scale: f64,
    a: &mut [f64],
    j: usize,
) -> bool {
    let (done, panel) = a.split_at_mut(j * dim);
    let single_rows = j..dim % ROWS;
    let first = first_tile::<ROWS>(dim, j);
    let c = &c[j * dim..];
    for i in single_rows.clone() {
        subtract_done::<FUSED, 1, K>(c, dim, scale, done, panel, i, j);
    }
    for i in (first..dim).step_by(ROWS) {
        subtract_done::<FUSED, ROWS, K>(c, dim, scale, done, panel, i, j);
    }
    let Some((l, inverse_pivots)) = factor_block::<FUSED, K>(panel, dim, j) else { return false };
    for i in single_rows {
        divide::<FUSED, 1, K>(&l, &inverse_pivots, panel, dim, i);
    }
    for i in (first..dim).step_by(ROWS) {
        divide::<FUSED, ROWS, K>(&l, &inverse_pivots, panel, dim, i);
    }
    for n in 0..K {
        panel[n * dim..][first.min(j)..j + n].fill(0.0);
    }
    true
}

/// Rows from `i` of the panel at column `j`: `scale C` less what the columns already done account for.
#[inline(always)]
fn subtract_done<const FUSED: bool, const ROWS: usize, const K: usize>(
    c: &[f64],
    dim: usize,
    scale: f64,
    done: &[f64],
    panel: &mut [f64],
    i: usize,
    j: usize,
) {
    let mut sums = [[0.0; ROWS]; K];
    add_products::<FUSED, ROWS, K>(&mut sums, done, dim, i, |_, column| *block(&column[j..]));
    for n in 0..K {
        let c: &[f64; ROWS] = block(&c[n * dim + i..]);
        let out: &mut [f64; ROWS] = block_mut(&mut panel[n * dim + i..]);
        for r in 0..ROWS {
            out[r] = multiply_add::<FUSED>(scale, c[r], -sums[n][r]);
        }
    }
}

/// The factor of the panel's block on the diagonal, by columns and with anything above the diagonal, and one over its
/// pivots; nothing if a pivot is not positive or not finite.
#[inline(always)]
fn factor_block<const FUSED: bool, const K: usize>(
    panel: &[f64],
    dim: usize,
    j: usize,
) -> Option<([[f64; K]; K], [f64; K])> {
    let mut l: [[f64; K]; K] = array::from_fn(|m| *block(&panel[m * dim + j..]));
    let mut inverse_pivots = [0.0; K];
    let mut definite = true;
    for m in 0..K {
        let square = l[m][m];
        definite &= square > 0.0 && square < f64::INFINITY;
        // Root and division side by side take less time than one after the other.
        inverse_pivots[m] = square.sqrt() * (1.0 / square);
        // Constant bounds, so that the compiler unrolls all loops.
        for r in 0..K {
            l[m][r] *= inverse_pivots[m];
        }
        for n in 0..K {
            for r in 0..K {
                if n > m && r >= n {
                    l[n][r] = multiply_add::<FUSED>(-l[m][n], l[m][r], l[n][r]);
                }
            }
        }
    }
    definite.then_some((l, inverse_pivots))
}

/// `X <- X L^-T` for rows from `i` of the panel. On the diagonal this gives L itself.
#[inline(always)]
fn divide<const FUSED: bool, const ROWS: usize, const K: usize>(
    l: &[[f64; K]; K],
    inverse_pivots: &[f64; K],
    panel: &mut [f64],
    dim: usize,
    i: usize,
) {
    let mut x = [[0.0; ROWS]; K];
    for n in 0..K {
        x[n] = *block(&panel[n * dim + i..]);
        for m in 0..n {
            for r in 0..ROWS {
                x[n][r] = multiply_add::<FUSED>(-l[m][n], x[m][r], x[n][r]);
            }
        }
        for r in 0..ROWS {
            x[n][r] *= inverse_pivots[n];
        }
        *block_mut(&mut panel[n * dim + i..]) = x[n];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::cma::dense::tests::{DIMS, covariance};

    #[test]
    fn the_factor_times_itself_is_the_matrix() {
        for dim in DIMS {
            let c = covariance(dim);
            let mut a = vec![0.0; dim * dim];
            // The second time over what the first has left.
            for _ in 0..2 {
                assert!(cholesky(&c, dim, 0.5, &mut a));
            }
            for j in 0..dim {
                assert!(a[j * dim..][..j].iter().all(|&x| x == 0.0), "zero above the diagonal, {dim} {j}");
                for i in j..dim {
                    let product: f64 = (0..=j).map(|p| a[p * dim + i] * a[p * dim + j]).sum();
                    assert!((product - 0.5 * c[j * dim + i]).abs() < 1e-14 * dim as f64, "{dim} {i} {j}");
                }
            }
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_is_refused_wherever_it_fails() {
        for dim in [1, 6, 40] {
            for at in 0..dim {
                for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
                    let mut c = covariance(dim);
                    c[at * (dim + 1)] = bad;
                    assert!(!cholesky(&c, dim, 1.0, &mut vec![0.0; dim * dim]), "{bad} at {at} of {dim}");
                }
            }
        }
    }
}
