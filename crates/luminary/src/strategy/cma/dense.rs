//! Dense kernels for matrices that fit a processor's second-level cache, up to [`MAX_DIM`] dimensions.
//!
//! A linear algebra library copies matrices into an order of its own before it multiplies them, which pays for large
//! ones only. Here they are read where they are, in tiles: two vectors of rows by a few columns, whose sums stay in
//! registers. Every entry is one sum in a fixed order, so the width of the vectors does not change a result; whether the
//! processor multiplies and adds in one step does, in the last bits.
//!
//! Matrices are column-major with `dim` rows. Tiles of rows are laid from the bottom up, so that what is left over for
//! single rows is at the top, where rows of a lower triangle are short.

use std::array;

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

/// Beyond this many dimensions the library is faster.
pub(super) const MAX_DIM: usize = 256;

/// Columns of a tile of a product: 12 registers of sums, which even 16 registers leave room for.
const COLUMNS: usize = 6;

/// Columns that are factored at a time: the fastest of 4, 5 and 6 at a hundred dimensions.
const PANEL: usize = 4;

/// Compiles kernels for each instruction set. `FUSED` tells whether it multiplies and adds in one step, and `ROWS` is
/// twice its vectors' length. What kernels call must be inlined to be compiled for it too, which is certain for functions
/// that say so and not for the closures of iterators and arrays. Hence the plain loops.
macro_rules! for_each_instruction_set {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) $(-> $output:ty)? = $kernel:ident;)*) => {$(
        $(#[$doc])*
        #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
        pub(super) fn $name($($argument: $type),*) $(-> $output)? {
            if target_cfg_f!(target_feature = "avx512f") {
                $kernel::<true, 16>($($argument),*)
            } else if target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64")) {
                $kernel::<true, 8>($($argument),*)
            } else {
                $kernel::<false, 4>($($argument),*)
            }
        }
    )*};
}

for_each_instruction_set! {
    /// `out <- mean + scale A z` for a lower triangular A and one or many columns z. Of what is above A's diagonal, the
    /// tiles on the diagonal are read and must be zero, as [`cholesky`] leaves them.
    fn multiply(a: &[f64], z: &[f64], mean: &[f64], scale: f64, out: &mut [f64]) = multiply_at;

    /// `C <- C + sign X X^T`; above the diagonal C is of no meaning afterwards.
    fn add_outer_products(c: &mut [f64], dim: usize, x: &[f64], sign: f64) = add_outer_products_at;

    /// The lower triangular A with `A A^T = scale C`, of whose C only the lower triangle matters. `a` must be zero above
    /// the diagonal, and is so again afterwards. Returns whether C was positive definite and finite.
    fn cholesky(c: &[f64], dim: usize, scale: f64, a: &mut [f64]) -> bool = cholesky_at;
}

#[inline(always)]
fn multiply_at<const FUSED: bool, const ROWS: usize>(a: &[f64], z: &[f64], mean: &[f64], scale: f64, out: &mut [f64]) {
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
    let (dim, size) = (mean.len(), COLUMNS * mean.len());
    let (mut blocks, mut out_blocks) = (z.chunks_exact(size), out.chunks_exact_mut(size));
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
    let (dim, width) = (mean.len(), i + ROWS);
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
fn add_outer_products_at<const FUSED: bool, const ROWS: usize>(c: &mut [f64], dim: usize, x: &[f64], sign: f64) {
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

#[inline(always)]
fn cholesky_at<const FUSED: bool, const ROWS: usize>(c: &[f64], dim: usize, scale: f64, a: &mut [f64]) -> bool {
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
    let (single_rows, first) = (j..dim % ROWS, first_tile::<ROWS>(dim, j));
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

/// The tile that all kernels spend their time in: for each column of `left`, adds its rows from `i` times each of `K`
/// numbers that `right` picks, given the column's number and the column.
#[inline(always)]
fn add_products<const FUSED: bool, const ROWS: usize, const K: usize>(
    sums: &mut [[f64; ROWS]; K],
    left: &[f64],
    dim: usize,
    i: usize,
    right: impl Fn(usize, &[f64]) -> [f64; K],
) {
    for (p, column) in left.chunks_exact(dim).enumerate() {
        let (rows, factors): (&[f64; ROWS], _) = (block(&column[i..]), right(p, column));
        for n in 0..K {
            for r in 0..ROWS {
                sums[n][r] = multiply_add::<FUSED>(rows[r], factors[n], sums[n][r]);
            }
        }
    }
}

/// The first row of the first whole tile that has rows from `j` on.
#[inline(always)]
fn first_tile<const ROWS: usize>(dim: usize, j: usize) -> usize {
    let top = dim % ROWS;
    if j < top { top } else { j - (j - top) % ROWS }
}

#[inline(always)]
fn multiply_add<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

#[inline(always)]
fn block<const K: usize>(x: &[f64]) -> &[f64; K] {
    x.first_chunk().expect("tiles lie within the matrix")
}

#[inline(always)]
fn block_mut<const K: usize>(x: &mut [f64]) -> &mut [f64; K] {
    x.first_chunk_mut().expect("tiles lie within the matrix")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Less than a tile, one tile and a bit, whole tiles, and the paper's hundred.
    const DIMS: [usize; 9] = [1, 2, 5, 15, 16, 17, 33, 48, 100];

    /// Numbers without a pattern, between -1 and 1.
    fn numbers(n: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        (0..n)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
            })
            .collect()
    }

    /// A matrix with something above its diagonal, whose lower triangle is that of a positive definite one.
    fn covariance(dim: usize) -> Vec<f64> {
        let mut c = numbers(dim * dim, 7);
        c.iter_mut().step_by(dim + 1).for_each(|x| *x += dim as f64);
        c
    }

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
                let (a, z, mean) = (triangle(dim), numbers(dim * n_columns, 5), numbers(dim, 6));
                let mut out = vec![f64::NAN; z.len()];
                multiply(&a, &z, &mean, 1.5, &mut out);
                for (at, &found) in out.iter().enumerate() {
                    let (n, i) = (at / dim, at % dim);
                    let sum: f64 = (0..=i).map(|p| a[p * dim + i] * z[n * dim + p]).sum();
                    assert!((found - (mean[i] + 1.5 * sum)).abs() < 1e-13, "{dim} {n_columns} {i} {n}");
                }
            }
        }
    }

    #[test]
    fn outer_products_agree_with_their_formula() {
        for dim in DIMS {
            let (before, x) = (covariance(dim), numbers(dim * 19, 5));
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

    #[test]
    fn the_factor_times_itself_is_the_matrix() {
        for dim in DIMS {
            let (c, mut a) = (covariance(dim), vec![0.0; dim * dim]);
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

    #[test]
    fn the_width_of_vectors_does_not_change_a_bit() {
        fn all<const ROWS: usize>(dim: usize) -> Vec<u64> {
            let (c, x, mean) = (covariance(dim), numbers(dim * 11, 5), numbers(dim, 6));
            let (mut a, mut out, mut sum) = (vec![0.0; dim * dim], vec![0.0; x.len()], c.clone());
            assert!(cholesky_at::<true, ROWS>(&c, dim, 0.5, &mut a));
            multiply_at::<true, ROWS>(&a, &x, &mean, 1.5, &mut out);
            add_outer_products_at::<true, ROWS>(&mut sum, dim, &x, 1.0);
            let lower = (0..dim).flat_map(|j| sum[j * dim + j..(j + 1) * dim].to_vec());
            a.iter().chain(&out).copied().chain(lower).map(f64::to_bits).collect()
        }
        for dim in DIMS {
            let widest = all::<16>(dim);
            assert!(widest == all::<8>(dim) && widest == all::<4>(dim), "{dim}");
        }
    }
}
