//! A factor A of the covariance, `A A^T = C`, by Cholesky or from the eigensystem.
//!
//! Any such A gives the same sampling distribution, and `A^-1 (x - m) / sigma` is the sample's own z, so no inverse is
//! needed. Cholesky costs `n^3 / 3` against about `9 n^3` for the eigensystem. From the eigensystem we take the
//! symmetric root `A = B D B^T`, for which `A^-1 = C^(-1/2)` as the equations are usually written.
//!
//! Small triangular factors are handled by our own kernels, all others by faer.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::prelude::*;
use faer::{Accum, ColMut, Par};
use serde::{Deserialize, Serialize};

use super::dense;
use crate::{kernels, serde_floats};

/// Rows of a band of a large triangular product: of the heights from 16 to 200, the fastest at a thousand dimensions.
const BAND: usize = 96;

/// How the covariance is factored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Factorisation {
    /// Lower triangular, by far the cheapest.
    #[default]
    Cholesky,
    /// The symmetric root from the eigensystem, with exact eigenvalues for the stop tests.
    Eigen,
}

/// The factor with what the stop tests need to know of the covariance it was computed from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Factor {
    /// Column-major A; for Cholesky, what is above the diagonal is zero where products read it and of no meaning
    /// elsewhere.
    #[serde(with = "serde_floats")]
    pub(super) a: Vec<f64>,
    /// A^-1 for the eigensystem, where no triangular solve can stand in for it; empty for Cholesky.
    #[serde(with = "serde_floats")]
    pub(super) inverse: Vec<f64>,
    /// The condition number of C, exact for the eigensystem. For Cholesky it is the square of the ratio of the
    /// largest to the smallest diagonal entry of A, which is a lower bound.
    pub(super) condition: f64,
}

impl Factor {
    pub(super) fn identity(dim: usize, method: Factorisation) -> Self {
        let inverse = if method == Factorisation::Eigen { identity(dim) } else { Vec::new() };
        Self { a: identity(dim), inverse, condition: 1.0 }
    }

    pub(super) fn reset(&mut self, dim: usize) {
        set_identity(&mut self.a, dim);
        if !self.inverse.is_empty() {
            set_identity(&mut self.inverse, dim);
        }
        self.condition = 1.0;
    }

    /// Makes what is above the diagonal of a triangular factor zero: another build may have left something there.
    pub(super) fn clear_above_diagonal(&mut self, dim: usize) {
        for (j, column) in self.a.chunks_exact_mut(dim).enumerate() {
            column[..j].fill(0.0);
        }
    }

    /// `out = mean + scale A z` for one or many columns z.
    pub(super) fn sample(&self, method: Factorisation, z: &[f64], mean: &[f64], scale: f64, out: &mut [f64]) {
        let (dim, n_columns) = (mean.len(), z.len() / mean.len());
        if is_small_triangle(dim, method) {
            return dense::multiply(&self.a, z, mean, scale, out);
        }
        let a = MatRef::from_column_major_slice(&self.a, dim, dim);
        let z = MatRef::from_column_major_slice(z, dim, n_columns);
        let mut product = MatMut::from_column_major_slice_mut(out, dim, n_columns);
        // For a triangular A, each band of rows stops at its last entry; this beats faer's triangular product, because
        // it is a few large products instead of many small ones.
        let band = if method == Factorisation::Cholesky { BAND } else { dim };
        for start in (0..dim).step_by(band) {
            let height = band.min(dim - start);
            let width = if method == Factorisation::Cholesky { start + height } else { dim };
            let (product, a) = (product.rb_mut().subrows_mut(start, height), a.submatrix(start, 0, height, width));
            matmul(product, Accum::Replace, a, z.subrows(0, width), scale, Par::Seq);
        }
        kernels::add_to_rows(out, mean);
    }

    /// `y <- A^-1 y`.
    pub(super) fn solve(&self, dim: usize, method: Factorisation, y: &mut [f64], scratch: &mut [f64]) {
        match method {
            Factorisation::Cholesky => {
                let a = MatRef::from_column_major_slice(&self.a, dim, dim);
                solve_lower_triangular_in_place(a, ColMut::from_slice_mut(y).as_mat_mut(), Par::Seq);
            }
            Factorisation::Eigen => {
                scratch.copy_from_slice(y);
                let inverse = MatRef::from_column_major_slice(&self.inverse, dim, dim);
                let (y, scratch) = (ColMut::from_slice_mut(y), ColRef::from_slice(scratch));
                matmul(y, Accum::Replace, inverse, scratch, 1.0, Par::Seq);
            }
        }
    }

    /// Factors `scale * c` (column-major, lower triangle). On failure, because it is not positive definite or not
    /// finite, the factor is left undefined and `false` is returned.
    pub(super) fn refresh(
        &mut self,
        dim: usize,
        method: Factorisation,
        c: &[f64],
        scale: f64,
        work: &mut FactorScratch,
    ) -> bool {
        match method {
            Factorisation::Cholesky => self.refresh_cholesky(dim, c, scale, work),
            Factorisation::Eigen => self.refresh_eigen(dim, c, scale, work),
        }
    }

    fn refresh_cholesky(&mut self, dim: usize, c: &[f64], scale: f64, work: &mut FactorScratch) -> bool {
        let done = if is_small_triangle(dim, Factorisation::Cholesky) {
            dense::cholesky(c, dim, scale, &mut self.a)
        } else {
            kernels::scale_lower_into(c, dim, scale, &mut self.a);
            let a = MatMut::from_column_major_slice_mut(&mut self.a, dim, dim);
            let stack = MemStack::new(&mut work.memory);
            let done = llt::factor::cholesky_in_place(a, Default::default(), Par::Seq, stack, cholesky_params());
            // Products read what is above the diagonal of each band, and the factorisation leaves its scratch there.
            for j in 1..dim {
                self.a[j * dim..][j - j % BAND..j].fill(0.0);
            }
            done.is_ok()
        };
        let (mut smallest, mut largest) = (f64::INFINITY, 0.0_f64);
        for &pivot in self.a.iter().step_by(dim + 1) {
            // Written so that a NaN pivot makes `smallest` NaN.
            smallest = if pivot >= smallest { smallest } else { pivot };
            largest = largest.max(pivot);
        }
        self.condition = (largest / smallest).powi(2);
        done && smallest > 0.0 && largest.is_finite()
    }

    fn refresh_eigen(&mut self, dim: usize, c: &[f64], scale: f64, work: &mut FactorScratch) -> bool {
        kernels::scale_lower_into(c, dim, scale, &mut self.a);
        if !kernels::all_finite(&self.a) {
            return false;
        }
        let c = MatRef::from_column_major_slice(&self.a, dim, dim);
        let mut b = MatMut::from_column_major_slice_mut(&mut work.vectors, dim, dim);
        let mut values = faer::diag::DiagMut::from_slice_mut(&mut work.values);
        let stack = MemStack::new(&mut work.memory);
        let done = evd::self_adjoint_evd(c, values.rb_mut(), Some(b.rb_mut()), Par::Seq, stack, Default::default());
        let (smallest, largest) =
            work.values.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), &v| (low.min(v), high.max(v)));
        if done.is_err() || !(smallest > 0.0 && largest.is_finite()) {
            return false;
        }
        self.condition = largest / smallest;
        for (target, power) in [(&mut self.a, 0.25_f64), (&mut self.inverse, -0.25)] {
            // B D^p (B D^p)^T with D^p twice makes B D^(2p) B^T.
            for (j, &value) in work.values.iter().enumerate() {
                let scale = value.powf(power);
                for i in 0..dim {
                    work.scaled[j * dim + i] = work.vectors[j * dim + i] * scale;
                }
            }
            let scaled = MatRef::from_column_major_slice(&work.scaled, dim, dim);
            let target = MatMut::from_column_major_slice_mut(target, dim, dim);
            matmul(target, Accum::Replace, scaled, scaled.transpose(), 1.0, Par::Seq);
        }
        true
    }
}

/// Memory for the factorisation, allocated once.
pub(super) struct FactorScratch {
    memory: MemBuffer,
    vectors: Vec<f64>,
    scaled: Vec<f64>,
    values: Vec<f64>,
}

impl FactorScratch {
    pub(super) fn new(dim: usize, method: Factorisation) -> Self {
        let (request, n) = match method {
            Factorisation::Cholesky => {
                (llt::factor::cholesky_in_place_scratch::<f64>(dim, Par::Seq, cholesky_params()), 0)
            }
            Factorisation::Eigen => {
                (evd::self_adjoint_evd_scratch::<f64>(dim, ComputeEigenvectors::Yes, Par::Seq, Default::default()), dim)
            }
        };
        Self {
            memory: MemBuffer::new(request),
            vectors: vec![0.0; n * n],
            scaled: vec![0.0; n * n],
            values: vec![0.0; n],
        }
    }
}

impl std::fmt::Debug for FactorScratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FactorScratch").finish_non_exhaustive()
    }
}

/// Whether our own kernels handle a factor.
fn is_small_triangle(dim: usize, method: Factorisation) -> bool {
    method == Factorisation::Cholesky && dim <= dense::MAX_DIM
}

/// Smaller leaves than faer's default of 64, which cost more at a few hundred dimensions.
fn cholesky_params() -> faer::Spec<llt::factor::LltParams, f64> {
    faer::Spec::new(llt::factor::LltParams { recursion_threshold: 16, ..faer::Auto::<f64>::auto() })
}

/// The identity, column-major.
pub(super) fn identity(dim: usize) -> Vec<f64> {
    let mut matrix = vec![0.0; dim * dim];
    set_identity(&mut matrix, dim);
    matrix
}

/// Makes a matrix the identity.
pub(super) fn set_identity(matrix: &mut [f64], dim: usize) {
    matrix.fill(0.0);
    matrix.iter_mut().step_by(dim + 1).for_each(|entry| *entry = 1.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A positive definite matrix with a known pattern.
    fn covariance(dim: usize) -> Vec<f64> {
        let mut c = vec![0.0; dim * dim];
        for i in 0..dim {
            for j in 0..dim {
                c[j * dim + i] =
                    1.0 / (1.0 + (i as f64 - j as f64).powi(2)) + if i == j { 1.0 + i as f64 } else { 0.0 };
            }
        }
        c
    }

    #[test]
    fn both_factors_reproduce_the_covariance_and_invert_themselves() {
        for (dim, method) in [
            (1, Factorisation::Cholesky),
            (1, Factorisation::Eigen),
            (7, Factorisation::Cholesky),
            (7, Factorisation::Eigen),
            (90, Factorisation::Cholesky),
            (90, Factorisation::Eigen),
            // Beyond our own kernels, and more than two bands.
            (260, Factorisation::Cholesky),
        ] {
            let c = covariance(dim);
            // Entries grow with the dimension, and sums with their terms.
            let rounding = 1e-15 * (dim * dim).max(100) as f64;
            let mut factor = Factor::identity(dim, method);
            let mut scratch = FactorScratch::new(dim, method);
            // The second time over what the first has left.
            for _ in 0..2 {
                assert!(factor.refresh(dim, method, &c, 1.0, &mut scratch));
            }
            // Columns of A, as A times the unit vectors.
            let mut a = vec![0.0; dim * dim];
            factor.sample(method, &identity(dim), &vec![0.0; dim], 1.0, &mut a);
            for i in 0..dim {
                for j in 0..dim {
                    let product: f64 = (0..dim).map(|k| a[k * dim + i] * a[k * dim + j]).sum();
                    assert!((product - c[j * dim + i]).abs() < rounding, "{method:?} {i} {j}");
                }
            }
            let z: Vec<f64> = (0..dim).map(|i| 0.5 - i as f64).collect();
            let mut y = vec![0.0; dim];
            factor.sample(method, &z, &vec![0.0; dim], 1.0, &mut y);
            factor.solve(dim, method, &mut y, &mut vec![0.0; dim]);
            let worst = y.iter().zip(&z).map(|(back, z)| (back - z).abs()).fold(0.0, f64::max);
            assert!(worst < rounding, "{method:?} {dim}: {worst:e}");
            assert!(factor.condition >= 1.0);
        }
    }

    #[test]
    fn what_is_not_positive_definite_or_not_finite_is_refused() {
        for method in [Factorisation::Cholesky, Factorisation::Eigen] {
            for bad in [[1.0, 2.0, 2.0, 1.0], [f64::NAN; 4], [f64::INFINITY, 0.0, 0.0, 1.0], [0.0; 4]] {
                let mut factor = Factor::identity(2, method);
                assert!(
                    !factor.refresh(2, method, &bad, 1.0, &mut FactorScratch::new(2, method)),
                    "{method:?} {bad:?}"
                );
            }
        }
    }
}
