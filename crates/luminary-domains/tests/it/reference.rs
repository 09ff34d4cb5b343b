//! Each domain as plainly as it can be written, in the paper's own terms.

use std::f64::consts::TAU;

use luminary_domains::Domain;

/// What a plain loop computes, with the size of what it added up: the yardstick for rounding errors.
pub(crate) struct Reference {
    pub(crate) objective: f64,
    pub(crate) objective_size: f64,
    pub(crate) measures: [f64; 2],
    pub(crate) measure_sizes: [f64; 2],
}

pub(crate) fn evaluate(domain: Domain, x: &[f64]) -> Reference {
    match domain {
        Domain::LpSphere => linear_projection(x, |x| (x - 2.048).powi(2), |term| term(-5.12) * x.len() as f64),
        Domain::LpRastrigin => {
            let term = |x: f64| 10.0 + (x - 2.048).powi(2) - 10.0 * (TAU * (x - 2.048)).cos();
            linear_projection(x, term, |term| term(-5.12) * x.len() as f64)
        }
        Domain::LpPlateau => {
            let term = |x: f64| if x.abs() <= 5.12 { 0.0 } else { (x.abs() - 5.12).powi(2) };
            linear_projection(x, term, |_| 100.0 * x.len() as f64)
        }
        Domain::Arm => arm(x),
    }
}

fn linear_projection<T: Fn(f64) -> f64>(x: &[f64], term: T, worst: impl Fn(&T) -> f64) -> Reference {
    let worst = worst(&term);
    let raw: f64 = x.iter().map(|&x| term(x)).sum();
    let (first, second) = x.split_at(x.len() / 2);
    let clip = |x: &f64| if x.abs() <= 5.12 { *x } else { 5.12 / x };
    Reference {
        objective: 100.0 * (raw - worst) / (0.0 - worst),
        objective_size: 100.0 * (raw + worst) / worst,
        measures: [first, second].map(|half| half.iter().map(clip).sum()),
        measure_sizes: [first, second].map(|half| half.iter().map(|x| clip(x).abs()).sum()),
    }
}

fn arm(angles: &[f64]) -> Reference {
    let n = angles.len() as f64;
    let mean = angles.iter().sum::<f64>() / n;
    let mean_square = angles.iter().map(|angle| angle * angle).sum::<f64>() / n;
    let variance = angles.iter().map(|angle| (angle - mean).powi(2)).sum::<f64>() / n;
    let mut measures = [0.0; 2];
    let mut heading = 0.0f64;
    for angle in angles {
        heading += angle;
        measures[0] += heading.cos();
        measures[1] += heading.sin();
    }
    Reference {
        objective: 100.0 * (1.0 - variance),
        objective_size: 100.0 * (1.0 + mean_square),
        measures,
        measure_sizes: [n; 2],
    }
}
