//! How new solutions are made from elites.

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

use super::{EliteSource, check_sigma};
use crate::error::ConfigError;
use crate::kernels;

/// An operator that makes solutions from drawn elites.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Operator {
    /// An elite plus noise: `theta_i + sigma N(0, I)`.
    Gaussian {
        /// Standard deviation of the noise: one number for all components, or one for each.
        sigma: Vec<f64>,
    },
    /// An elite plus noise and a stretch along the line to another elite (Vassiliades and Mouret, 2018, Eq. 2):
    /// `theta_i + sigma_1 N(0, I) + sigma_2 N(0, 1) (theta_j - theta_i)`.
    IsoLine {
        /// Standard deviation of the isotropic noise, the paper's sigma_1.
        iso_sigma: f64,
        /// Standard deviation of the stretch along the line, the paper's sigma_2.
        line_sigma: f64,
    },
}

impl Operator {
    pub(super) fn check(&self, solution_dim: usize) -> Result<(), ConfigError> {
        match self {
            Self::Gaussian { sigma } => check_sigmas(sigma, solution_dim),
            Self::IsoLine { iso_sigma, line_sigma } => {
                check_sigma("iso_sigma", *iso_sigma)?;
                check_sigma("line_sigma", *line_sigma)
            }
        }
    }

    /// Writes solutions varied from drawn elites, or from `x0` while there are none.
    pub(super) fn vary(&self, elites: &dyn EliteSource, x0: &[f64], rng: &mut WideRng, rows: &mut [f64]) {
        rng.fill_normal(rows);
        match self {
            Self::Gaussian { sigma } => {
                for row in rows.chunks_exact_mut(x0.len()) {
                    let parent = elites.draw_solution(rng).unwrap_or(x0);
                    scale_noise_around(parent, sigma, row);
                }
            }
            Self::IsoLine { iso_sigma, line_sigma } => {
                for row in rows.chunks_exact_mut(x0.len()) {
                    let parent = elites.draw_solution(rng).unwrap_or(x0);
                    let other = elites.draw_solution(rng).unwrap_or(x0);
                    let stretch = line_sigma * rng.normal();
                    kernels::iso_line(row, *iso_sigma, parent, other, stretch);
                }
            }
        }
    }
}

/// Turns noise into `parent + sigma noise`.
pub(super) fn scale_noise_around(parent: &[f64], sigma: &[f64], noise: &mut [f64]) {
    match sigma {
        [sigma] => kernels::add_noise(noise, *sigma, parent),
        _ => {
            for ((noise, sigma), parent) in noise.iter_mut().zip(sigma).zip(parent) {
                *noise = parent + sigma * *noise;
            }
        }
    }
}

/// Checks standard deviations: one for all components, or one for each.
pub(super) fn check_sigmas(sigma: &[f64], solution_dim: usize) -> Result<(), ConfigError> {
    sigma.iter().try_for_each(|&sigma| check_sigma("sigma", sigma))?;
    let found = sigma.len();
    match found == 1 || found == solution_dim {
        true => Ok(()),
        false => Err(ConfigError::Length { what: "sigma", expected: solution_dim, found }),
    }
}
