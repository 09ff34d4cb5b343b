//! Mean and 95 % confidence interval over trials.

/// Mean over trials with the half-width of its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean of the finite values; NaN if there are none.
    pub mean: f64,
    /// Half the width of the confidence interval; zero with fewer than two finite values.
    pub half_width: f64,
    /// Number of finite values.
    pub n: usize,
}

/// Mean and 95 % confidence interval of the mean: mean ± t(0.975, n - 1) s / sqrt(n), with the quantile of Student's t
/// distribution and the sample standard deviation s. Values that are not finite are left out.
pub fn estimate(values: impl IntoIterator<Item = f64>) -> Estimate {
    let values: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
    let n = values.len();
    if n == 0 {
        return Estimate { mean: f64::NAN, half_width: 0.0, n };
    }
    // Dividing first keeps the sum of huge values finite.
    let mean = values.iter().map(|v| v / n as f64).sum::<f64>();
    if n == 1 {
        return Estimate { mean, half_width: 0.0, n };
    }
    // Deviations in units of the largest one, so that their squares neither overflow nor vanish.
    let largest = values.iter().map(|v| (v - mean).abs()).fold(0.0, f64::max);
    let unit = if largest > 0.0 && largest.is_finite() { largest } else { 1.0 };
    let variance = values.iter().map(|v| ((v - mean) / unit).powi(2)).sum::<f64>() / (n - 1) as f64;
    let half_width = t_975(n - 1) * unit * (variance / n as f64).sqrt();
    Estimate { mean, half_width: if half_width.is_finite() { half_width } else { 0.0 }, n }
}

/// The 0.975 quantile of Student's t distribution.
fn t_975(degrees_of_freedom: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139, 2.200985,
        2.178813, 2.160369, 2.144787, 2.131450, 2.119905, 2.109816, 2.100922, 2.093024, 2.085963, 2.079614, 2.073873,
        2.068658, 2.063899, 2.059539, 2.055529, 2.051831, 2.048407, 2.045230, 2.042272,
    ];
    if (1..=TABLE.len()).contains(&degrees_of_freedom) {
        return TABLE[degrees_of_freedom - 1];
    }
    // Expansion about the normal quantile z (Abramowitz and Stegun, 26.7.5).
    let (z, v): (f64, f64) = (1.959_963_984_540_054, degrees_of_freedom as f64);
    let g_1 = (z.powi(3) + z) / 4.0;
    let g_2 = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let g_3 = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + g_1 / v + g_2 / (v * v) + g_3 / v.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_agrees_with_hand_numbers() {
        // 2, 4, 6: mean 4, s = 2, t(0.975, 2) = 4.302653, half-width 4.302653 * 2 / sqrt(3) = 4.968276.
        let three = estimate([2.0, 4.0, 6.0]);
        assert_eq!((three.mean, three.n), (4.0, 3));
        assert!((three.half_width - 4.968_276).abs() < 1e-5, "{}", three.half_width);
        // 1 to 20: s = sqrt(35), t(0.975, 19) = 2.093024, half-width 2.093024 * sqrt(35 / 20) = 2.768810.
        let twenty = estimate((1..=20).map(f64::from));
        assert!((twenty.mean - 10.5).abs() < 1e-12 && (twenty.half_width - 2.768_810).abs() < 1e-5);
    }

    #[test]
    fn quantiles_go_on_smoothly_after_the_table() {
        for (degrees_of_freedom, t) in
            [(31, 2.039513), (40, 2.021075), (60, 2.000298), (100, 1.983972), (1000, 1.962339)]
        {
            assert!((t_975(degrees_of_freedom) - t).abs() < 2e-6, "{degrees_of_freedom}");
        }
    }

    #[test]
    fn odd_values_are_survived() {
        assert_eq!(estimate([5.0, f64::NAN, f64::INFINITY]), Estimate { mean: 5.0, half_width: 0.0, n: 1 });
        assert!(estimate([]).mean.is_nan());
        let huge = estimate([1e308, 1e308, -1e308]);
        assert!(huge.mean.is_finite() && huge.half_width.is_finite());
        assert_eq!(estimate([3.0; 4]), Estimate { mean: 3.0, half_width: 0.0, n: 4 });
    }
}
