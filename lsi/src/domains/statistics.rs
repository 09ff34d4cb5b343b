//! How w is distributed when z is drawn from N(0, I).

use burn_tensor::Tensor;
use luminary_math::WideRng;

use crate::networks::Generator;
use crate::place::to_vec;
use crate::tape::Var;

use super::LsiError;

/// Mean and deviation of each component of w, and how far from the mean w usually is.
#[derive(Clone, Debug)]
pub struct LatentStatistics {
    /// The mean: the one the generator was stored with, or else that of the samples.
    pub mean: Tensor<1>,
    /// The standard deviation of each component.
    pub deviation: Tensor<1>,
    /// The mean over samples of the length of `(w - mean) / deviation`.
    pub typical_norm: f64,
}

/// Samples mapped at once.
const CHUNK: usize = 500;

impl LatentStatistics {
    /// Maps `n_samples` draws of z.
    ///
    /// # Errors
    ///
    /// Fewer than two samples, or a component of w that does not vary.
    pub fn sample(generator: &dyn Generator, n_samples: usize, seed: u64) -> Result<Self, LsiError> {
        LsiError::check_count("samples of w", 2, n_samples)?;
        let dim = generator.latent_dim();
        let rows = sample_w(generator, n_samples, &mut WideRng::from_path(seed, "statistics"));

        let n = n_samples as f64;
        let sample_mean: Vec<f64> = (0..dim).map(|i| column(&rows, dim, i).sum::<f64>() / n).collect();
        let deviation: Vec<f64> = (0..dim)
            .map(|i| (column(&rows, dim, i).map(|w| (w - sample_mean[i]).powi(2)).sum::<f64>() / (n - 1.0)).sqrt())
            .collect();
        if let Some(component) = deviation.iter().position(|&deviation| deviation == 0.0) {
            return Err(LsiError::Constant { component, n_samples });
        }
        let mean = generator.stored_mean().map_or(sample_mean, |mean| to_vec(mean.clone()));
        let norm = |row: &[f64]| (0..dim).map(|i| ((row[i] - mean[i]) / deviation[i]).powi(2)).sum::<f64>().sqrt();
        let typical_norm = rows.chunks_exact(dim).map(norm).sum::<f64>() / n;
        let tensor = |values| generator.place().tensor(values, [dim]);
        Ok(Self { mean: tensor(mean), deviation: tensor(deviation), typical_norm })
    }
}

impl LatentStatistics {
    /// Samples of w, standardised and moved towards the mean: 1 leaves them where they are, 0 is the mean.
    pub(super) fn standardised_samples(
        &self,
        generator: &dyn Generator,
        n_samples: usize,
        truncation: f64,
        rng: &mut WideRng,
    ) -> Vec<f64> {
        let (mean, deviation) = (to_vec(self.mean.clone()), to_vec(self.deviation.clone()));
        let mut rows = sample_w(generator, n_samples, rng);
        for row in rows.chunks_exact_mut(mean.len()) {
            for (i, w) in row.iter_mut().enumerate() {
                *w = truncation * (*w - mean[i]) / deviation[i];
            }
        }
        rows
    }
}

/// Rows of w from draws of z.
fn sample_w(generator: &dyn Generator, n_samples: usize, rng: &mut WideRng) -> Vec<f64> {
    let dim = generator.latent_dim();
    let mut rows = Vec::with_capacity(n_samples * dim);
    while rows.len() < n_samples * dim {
        let n = CHUNK.min(n_samples - rows.len() / dim);
        let mut z = vec![0.0; n * dim];
        rng.fill_normal(&mut z);
        rows.extend(to_vec(generator.map(Var::constant(generator.place().tensor(z, [n, dim]))).into_value()));
    }
    rows
}

fn column(rows: &[f64], dim: usize, index: usize) -> impl Iterator<Item = f64> {
    rows.iter().skip(index).step_by(dim).copied()
}
