//! A factor A of the covariance, `A A^T = C`, by Cholesky or from the eigensystem.
//!
//! Any such A gives the same sampling distribution, and `A^-1 (x - m) / sigma` is the sample's own z, so no inverse is
//! needed. Cholesky costs `n^3 / 3` against about `9 n^3` for the eigensystem. From the eigensystem we take the
//! symmetric root `A = B D B^T`, for which `A^-1 = C^(-1/2)` as the equations are usually written.

mod cholesky;
mod eigen;

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use serde::{Deserialize, Serialize};

use crate::error::CheckpointError;
use crate::serde_floats::{self, Floats};
use crate::strategy::expect_len;
use cholesky::Cholesky;
use eigen::Eigen;

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

/// A factor of a covariance as it was at the last refresh.
#[derive(Clone, Debug)]
pub(super) enum Factor {
    Cholesky(Cholesky),
    Eigen(Eigen),
}

/// A factor's part of a checkpoint.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FactorState<'a> {
    #[serde(with = "serde_floats")]
    a: Floats<'a>,
    /// Empty for Cholesky.
    #[serde(with = "serde_floats")]
    inverse: Floats<'a>,
    condition: f64,
}

impl Factor {
    /// The factor of the identity.
    pub(super) fn identity(dim: usize, method: Factorisation) -> Self {
        match method {
            Factorisation::Cholesky => Self::Cholesky(Cholesky::identity(dim)),
            Factorisation::Eigen => Self::Eigen(Eigen::identity(dim)),
        }
    }

    /// Makes it the factor of the identity.
    pub(super) fn reset(&mut self) {
        match self {
            Self::Cholesky(factor) => factor.reset(),
            Self::Eigen(factor) => factor.reset(),
        }
    }

    /// `out <- mean + scale A z` for one or many columns z.
    pub(super) fn sample(&self, z: &[f64], mean: &[f64], scale: f64, out: &mut [f64]) {
        match self {
            Self::Cholesky(factor) => factor.sample(z, mean, scale, out),
            Self::Eigen(factor) => factor.sample(z, mean, scale, out),
        }
    }

    /// `y <- A^-1 y`.
    pub(super) fn whiten(&mut self, y: &mut [f64]) {
        match self {
            Self::Cholesky(factor) => factor.whiten(y),
            Self::Eigen(factor) => factor.whiten(y),
        }
    }

    /// Factors `scale c` (column-major, lower triangle). Returns whether it could; what is not positive definite or not
    /// finite leaves the factor of the identity.
    pub(super) fn refresh(&mut self, c: &[f64], scale: f64) -> bool {
        let done = match self {
            Self::Cholesky(factor) => factor.refresh(c, scale),
            Self::Eigen(factor) => factor.refresh(c, scale),
        };
        if !done {
            self.reset();
        }
        done
    }

    /// The condition number of C; for Cholesky a lower bound of it.
    pub(super) fn condition(&self) -> f64 {
        match self {
            Self::Cholesky(factor) => factor.condition,
            Self::Eigen(factor) => factor.condition,
        }
    }

    pub(super) fn save(&self) -> FactorState<'_> {
        match self {
            Self::Cholesky(Cholesky { a, condition, .. }) => {
                FactorState { a: a.into(), inverse: Floats::default(), condition: *condition }
            }
            Self::Eigen(Eigen { a, inverse, condition, .. }) => {
                FactorState { a: a.into(), inverse: inverse.into(), condition: *condition }
            }
        }
    }

    /// Checks the lengths of a saved factor.
    pub(super) fn check(&self, what: &'static str, state: &FactorState<'_>) -> Result<(), CheckpointError> {
        let expected = self.save();
        expect_len(what, expected.a.len(), state.a.len())?;
        expect_len(what, expected.inverse.len(), state.inverse.len())
    }

    /// Takes over a saved factor that [`check`](Self::check) found fitting.
    pub(super) fn load(&mut self, state: &FactorState<'_>) {
        match self {
            Self::Cholesky(factor) => factor.load(&state.a, state.condition),
            Self::Eigen(factor) => factor.load(&state.a, &state.inverse, state.condition),
        }
    }
}

/// Memory that faer asks for, of no meaning between calls: a copy is new memory of the same size.
struct Workspace {
    request: StackReq,
    memory: MemBuffer,
}

impl Workspace {
    fn new(request: StackReq) -> Self {
        Self { request, memory: MemBuffer::new(request) }
    }

    fn stack(&mut self) -> &mut MemStack {
        MemStack::new(&mut self.memory)
    }
}

impl Clone for Workspace {
    fn clone(&self) -> Self {
        Self::new(self.request)
    }
}

impl std::fmt::Debug for Workspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workspace").field("request", &self.request).finish_non_exhaustive()
    }
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
            // The second time over what the first has left.
            for _ in 0..2 {
                assert!(factor.refresh(&c, 1.0));
            }
            // Columns of A, as A times the unit vectors.
            let mut a = vec![0.0; dim * dim];
            factor.sample(&identity(dim), &vec![0.0; dim], 1.0, &mut a);
            for i in 0..dim {
                for j in 0..dim {
                    let product: f64 = (0..dim).map(|k| a[k * dim + i] * a[k * dim + j]).sum();
                    assert!((product - c[j * dim + i]).abs() < rounding, "{method:?} {i} {j}");
                }
            }
            let z: Vec<f64> = (0..dim).map(|i| 0.5 - i as f64).collect();
            let mut y = vec![0.0; dim];
            factor.sample(&z, &vec![0.0; dim], 1.0, &mut y);
            factor.whiten(&mut y);
            let worst = y.iter().zip(&z).map(|(back, z)| (back - z).abs()).fold(0.0, f64::max);
            assert!(worst < rounding, "{method:?} {dim}: {worst:e}");
            assert!(factor.condition() >= 1.0);
        }
    }

    #[test]
    fn what_is_not_positive_definite_or_not_finite_is_refused() {
        for method in [Factorisation::Cholesky, Factorisation::Eigen] {
            for bad in [[1.0, 2.0, 2.0, 1.0], [f64::NAN; 4], [f64::INFINITY, 0.0, 0.0, 1.0], [0.0; 4]] {
                let mut factor = Factor::identity(2, method);
                assert!(!factor.refresh(&bad, 1.0), "{method:?} {bad:?}");
                let mut sample = [0.0; 2];
                factor.sample(&[3.0, 4.0], &[0.0; 2], 1.0, &mut sample);
                assert_eq!((sample, factor.condition()), ([3.0, 4.0], 1.0), "left at the identity");
            }
        }
    }
}
