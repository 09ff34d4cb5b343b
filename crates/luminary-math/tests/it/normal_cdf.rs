//! The distribution that normals are held against, also by the example that looks far into the tails.

/// The normal distribution function: its power series near zero, a continued fraction in the tails.
pub(crate) fn normal_cdf(x: f64) -> f64 {
    let density = (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
    if x.abs() < 3.0 {
        let (mut term, mut sum) = (x, x);
        for k in 1..60 {
            term *= x * x / f64::from(2 * k + 1);
            sum += term;
        }
        0.5 + density * sum
    } else {
        let upper = density / (1..100).rev().fold(x.abs(), |rest, k| x.abs() + f64::from(k) / rest);
        if x < 0.0 { upper } else { 1.0 - upper }
    }
}
