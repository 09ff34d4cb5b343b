//! The lower triangular factor, by Cholesky's method: small ones by our own kernels, large ones by faer.

use faer::Spec;
use faer::linalg::cholesky::llt;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::prelude::*;
use faer::{Accum, ColMut, Par};

use super::{Workspace, identity, set_identity};
use crate::kernels;
use crate::strategy::cma::dense;

/// Rows of a band of a large triangular product: of the heights from 16 to 200, the fastest at a thousand dimensions.
const BAND: usize = 96;

/// The lower triangular A with `A A^T = C`.
#[derive(Clone, Debug)]
pub(in crate::strategy::cma) struct Cholesky {
    dim: usize,
    /// Column-major A; what is above the diagonal is zero where products read it and of no meaning elsewhere.
    pub(super) a: Vec<f64>,
    /// The square of the ratio of the largest to the smallest diagonal entry of A, a lower bound of the condition number
    /// of C.
    pub(super) condition: f64,
    work: Workspace,
}

impl Cholesky {
    pub(super) fn identity(dim: usize) -> Self {
        let request = llt::factor::cholesky_in_place_scratch::<f64>(dim, Par::Seq, params());
        Self { dim, a: identity(dim), condition: 1.0, work: Workspace::new(request) }
    }

    pub(super) fn reset(&mut self) {
        set_identity(&mut self.a, self.dim);
        self.condition = 1.0;
    }

    /// Takes over a factor that was saved. Another build may have left something above its diagonal.
    pub(super) fn load(&mut self, a: &[f64], condition: f64) {
        self.a.copy_from_slice(a);
        for (j, column) in self.a.chunks_exact_mut(self.dim).enumerate() {
            column[..j].fill(0.0);
        }
        self.condition = condition;
    }

    /// `out <- mean + scale A z` for one or many columns z.
    pub(super) fn sample(&self, z: &[f64], mean: &[f64], scale: f64, out: &mut [f64]) {
        let dim = self.dim;
        if dim <= dense::MAX_DIM {
            return dense::multiply(&self.a, z, mean, scale, out);
        }
        let n_columns = z.len() / dim;
        let a = MatRef::from_column_major_slice(&self.a, dim, dim);
        let z = MatRef::from_column_major_slice(z, dim, n_columns);
        let mut product = MatMut::from_column_major_slice_mut(out, dim, n_columns);
        // Each band of rows stops at its last entry; this beats faer's triangular product, because it is a few large
        // products instead of many small ones.
        for start in (0..dim).step_by(BAND) {
            let height = BAND.min(dim - start);
            let width = start + height;
            let band = a.submatrix(start, 0, height, width);
            let product = product.rb_mut().subrows_mut(start, height);
            matmul(product, Accum::Replace, band, z.subrows(0, width), scale, Par::Seq);
        }
        kernels::add_to_rows(out, mean);
    }

    /// `y <- A^-1 y`.
    pub(super) fn whiten(&self, y: &mut [f64]) {
        let a = MatRef::from_column_major_slice(&self.a, self.dim, self.dim);
        solve_lower_triangular_in_place(a, ColMut::from_slice_mut(y).as_mat_mut(), Par::Seq);
    }

    /// Factors `scale c`. Returns whether it could; if not, the factor is left undefined.
    pub(super) fn refresh(&mut self, c: &[f64], scale: f64) -> bool {
        let done = if self.dim <= dense::MAX_DIM {
            dense::cholesky(c, self.dim, scale, &mut self.a)
        } else {
            self.refresh_large(c, scale)
        };
        let mut smallest = f64::INFINITY;
        let mut largest = 0.0_f64;
        for &pivot in self.a.iter().step_by(self.dim + 1) {
            // Written so that a NaN pivot makes `smallest` NaN.
            smallest = if pivot >= smallest { smallest } else { pivot };
            largest = largest.max(pivot);
        }
        self.condition = (largest / smallest).powi(2);
        done && smallest > 0.0 && largest.is_finite()
    }

    fn refresh_large(&mut self, c: &[f64], scale: f64) -> bool {
        let dim = self.dim;
        kernels::scale_lower_into(c, dim, scale, &mut self.a);
        let a = MatMut::from_column_major_slice_mut(&mut self.a, dim, dim);
        let done = llt::factor::cholesky_in_place(a, Default::default(), Par::Seq, self.work.stack(), params());
        // Products read what is above the diagonal of each band, and the factorisation leaves its scratch there.
        for j in 1..dim {
            self.a[j * dim..][j - j % BAND..j].fill(0.0);
        }
        done.is_ok()
    }
}

/// Smaller leaves than faer's default of 64, which cost more at a few hundred dimensions.
fn params() -> Spec<llt::factor::LltParams, f64> {
    Spec::new(llt::factor::LltParams { recursion_threshold: 16, ..faer::Auto::<f64>::auto() })
}
