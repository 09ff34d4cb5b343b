//! Dense kernels for matrices that fit a processor's second-level cache, up to [`MAX_DIM`] dimensions.
//!
//! A linear algebra library copies matrices into an order of its own before it multiplies them, which pays for large
//! ones only. Here they are read where they are, in tiles: two vectors of rows by a few columns, whose sums stay in
//! registers. Every entry is one sum in a fixed order, so the width of the vectors does not change a result; whether the
//! processor multiplies and adds in one step does, in the last bits.
//!
//! Matrices are column-major with `dim` rows. Tiles of rows are laid from the bottom up, so that what is left over for
//! single rows is at the top, where rows of a lower triangle are short.

/// Beyond this many dimensions the library is faster.
pub(super) const MAX_DIM: usize = 256;

/// Compiles kernels for each instruction set. `FUSED` tells whether it multiplies and adds in one step, and `ROWS` is
/// twice its vectors' length. What kernels call must be inlined to be compiled for it too, which is certain for functions
/// that say so and not for the closures of iterators and arrays. Hence the plain loops.
macro_rules! for_each_instruction_set {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) $(-> $output:ty)? = $kernel:ident;)*) => {$(
        $(#[$doc])*
        #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
        pub(in crate::strategy::cma) fn $name($($argument: $type),*) $(-> $output)? {
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

// After the macro, which they use.
mod products;
mod cholesky;

pub(super) use cholesky::cholesky;
pub(super) use products::{add_outer_products, multiply};

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
        let rows: &[f64; ROWS] = block(&column[i..]);
        let factors = right(p, column);
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
    use super::cholesky::cholesky_at;
    use super::products::{add_outer_products_at, multiply_at};

    /// Less than a tile, one tile and a bit, whole tiles, and the paper's hundred.
    pub(super) const DIMS: [usize; 9] = [1, 2, 5, 15, 16, 17, 33, 48, 100];

    /// Numbers without a pattern, between -1 and 1.
    pub(super) fn numbers(n: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        (0..n)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
            })
            .collect()
    }

    /// A matrix with something above its diagonal, whose lower triangle is that of a positive definite one.
    pub(super) fn covariance(dim: usize) -> Vec<f64> {
        let mut c = numbers(dim * dim, 7);
        c.iter_mut().step_by(dim + 1).for_each(|x| *x += dim as f64);
        c
    }

    #[test]
    fn the_width_of_vectors_does_not_change_a_bit() {
        fn all<const ROWS: usize>(dim: usize) -> Vec<u64> {
            let c = covariance(dim);
            let x = numbers(dim * 11, 5);
            let mean = numbers(dim, 6);
            let mut a = vec![0.0; dim * dim];
            let mut out = vec![0.0; x.len()];
            let mut sum = c.clone();
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
