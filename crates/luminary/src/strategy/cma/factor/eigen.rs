//! The symmetric root from the eigensystem, `A = B D B^T`, with its inverse.

use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::linalg::matmul::matmul;
use faer::prelude::*;
use faer::{Accum, ColMut, Par};

use super::{Workspace, identity, set_identity};
use crate::kernels;

/// The symmetric A with `A A = C`.
#[derive(Clone, Debug)]
pub(in crate::strategy::cma) struct Eigen {
    dim: usize,
    /// Column-major A.
    pub(super) a: Vec<f64>,
    /// Column-major A^-1: no triangular solve can stand in for it.
    pub(super) inverse: Vec<f64>,
    /// The condition number of C.
    pub(super) condition: f64,
    work: Workspace,
    /// B, column by column.
    vectors: Vec<f64>,
    /// Columns of B times powers of the eigenvalues.
    scaled_vectors: Vec<f64>,
    /// The diagonal of D^2.
    values: Vec<f64>,
    /// What is to be whitened, while the result takes its place.
    unwhitened: Vec<f64>,
}

impl Eigen {
    pub(super) fn identity(dim: usize) -> Self {
        let with_vectors = ComputeEigenvectors::Yes;
        let request = evd::self_adjoint_evd_scratch::<f64>(dim, with_vectors, Par::Seq, Default::default());
        Self {
            dim,
            a: identity(dim),
            inverse: identity(dim),
            condition: 1.0,
            work: Workspace::new(request),
            vectors: vec![0.0; dim * dim],
            scaled_vectors: vec![0.0; dim * dim],
            values: vec![0.0; dim],
            unwhitened: vec![0.0; dim],
        }
    }

    pub(super) fn reset(&mut self) {
        set_identity(&mut self.a, self.dim);
        set_identity(&mut self.inverse, self.dim);
        self.condition = 1.0;
    }

    /// Takes over a factor that was saved.
    pub(super) fn load(&mut self, a: &[f64], inverse: &[f64], condition: f64) {
        self.a.copy_from_slice(a);
        self.inverse.copy_from_slice(inverse);
        self.condition = condition;
    }

    /// `out <- mean + scale A z` for one or many columns z.
    pub(super) fn sample(&self, z: &[f64], mean: &[f64], scale: f64, out: &mut [f64]) {
        let n_columns = z.len() / self.dim;
        let a = MatRef::from_column_major_slice(&self.a, self.dim, self.dim);
        let z = MatRef::from_column_major_slice(z, self.dim, n_columns);
        let product = MatMut::from_column_major_slice_mut(out, self.dim, n_columns);
        matmul(product, Accum::Replace, a, z, scale, Par::Seq);
        kernels::add_to_rows(out, mean);
    }

    /// `y <- A^-1 y`.
    pub(super) fn whiten(&mut self, y: &mut [f64]) {
        self.unwhitened.copy_from_slice(y);
        let inverse = MatRef::from_column_major_slice(&self.inverse, self.dim, self.dim);
        let unwhitened = ColRef::from_slice(&self.unwhitened);
        matmul(ColMut::from_slice_mut(y), Accum::Replace, inverse, unwhitened, 1.0, Par::Seq);
    }

    /// Factors `scale c`. Returns whether it could; if not, the factor is left undefined.
    pub(super) fn refresh(&mut self, c: &[f64], scale: f64) -> bool {
        let dim = self.dim;
        kernels::scale_lower_into(c, dim, scale, &mut self.a);
        if !kernels::all_finite(&self.a) {
            return false;
        }
        let c = MatRef::from_column_major_slice(&self.a, dim, dim);
        let vectors = MatMut::from_column_major_slice_mut(&mut self.vectors, dim, dim);
        let values = faer::diag::DiagMut::from_slice_mut(&mut self.values);
        let stack = self.work.stack();
        let done = evd::self_adjoint_evd(c, values, Some(vectors), Par::Seq, stack, Default::default());
        let smallest = self.values.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = self.values.iter().copied().fold(0.0, f64::max);
        if done.is_err() || !(smallest > 0.0 && largest.is_finite()) {
            return false;
        }
        self.condition = largest / smallest;
        for (target, power) in [(&mut self.a, 0.25_f64), (&mut self.inverse, -0.25)] {
            // B D^p (B D^p)^T with D^p twice makes B D^(2p) B^T.
            for (j, &value) in self.values.iter().enumerate() {
                let column = j * dim..(j + 1) * dim;
                let scale = value.powf(power);
                kernels::scale_into(&self.vectors[column.clone()], scale, &mut self.scaled_vectors[column]);
            }
            let scaled = MatRef::from_column_major_slice(&self.scaled_vectors, dim, dim);
            let target = MatMut::from_column_major_slice_mut(target, dim, dim);
            matmul(target, Accum::Replace, scaled, scaled.transpose(), 1.0, Par::Seq);
        }
        true
    }
}
