//! The tutorial's equations written out with loops, against which CMA-ES is held generation by generation.

use super::*;

/// What a generation changes, with the covariance in full.
struct Distribution {
    mean: Vec<f64>,
    sigma: f64,
    p_s: Vec<f64>,
    p_c: Vec<f64>,
    c: Vec<Vec<f64>>,
}

impl Distribution {
    fn of(strategy: &CmaEs) -> Self {
        Self {
            mean: strategy.mean.clone(),
            sigma: strategy.sigma,
            p_s: strategy.p_s.clone(),
            p_c: strategy.p_c.clone(),
            c: strategy.covariance.to_rows(),
        }
    }

    /// What equations 41 to 47 make of it. The rates and the weights of the ranks are the strategy's, which have tests of
    /// their own.
    fn told(&self, strategy: &CmaEs, solutions: &[f64], ranking: &[usize]) -> Self {
        let n = self.mean.len();
        let Weights { parents, others, rates, .. } = &strategy.weights;
        let Rates { mu_eff, c_c, c_s, c_1, c_mu, d_s } = *rates;
        let z = |row: usize, i: usize| strategy.z[row * n + i];
        let y = |row: usize, i: usize| (solutions[row * n + i] - self.mean[i]) / self.sigma;
        let parent_mean = |value: &dyn Fn(usize, usize) -> f64, i: usize| -> f64 {
            parents.iter().zip(ranking).map(|(weight, &row)| weight * value(row, i)).sum()
        };
        let components = || 0..n;

        let mean = components().map(|i| self.mean[i] + self.sigma * parent_mean(&y, i)).collect();
        let gain = (c_s * (2.0 - c_s) * mu_eff).sqrt();
        let p_s: Vec<f64> = components().map(|i| (1.0 - c_s) * self.p_s[i] + gain * parent_mean(&z, i)).collect();
        let squared_length = p_s.iter().map(|p| p * p).sum::<f64>() / n as f64;
        let sigma = self.sigma * (c_s / d_s * (squared_length - 1.0) / 2.0).min(1.0).exp();

        let generations = (strategy.evaluations / strategy.shape.batch_size as u64) as f64;
        let stalled = squared_length / (1.0 - (1.0 - c_s).powf(2.0 * generations)) >= 2.0 + 4.0 / (n as f64 + 1.0);
        let h = if stalled { 0.0 } else { 1.0 };
        let (step_scale, rank_one) = match strategy.config.variant {
            Variant::Standard => (1.0, c_1),
            Variant::Published => (self.sigma, c_1 * c_1),
        };
        let gain = h * (c_c * (2.0 - c_c) * mu_eff).sqrt() * step_scale;
        let p_c: Vec<f64> = components().map(|i| (1.0 - c_c) * self.p_c[i] + gain * parent_mean(&y, i)).collect();

        let weight_of = |rank: usize| match rank.checked_sub(parents.len()) {
            None => parents[rank],
            Some(other) => {
                let squared_length: f64 = components().map(|i| z(ranking[rank], i).powi(2)).sum();
                others.get(other).map_or(0.0, |weight| weight * n as f64 / squared_length)
            }
        };
        let weight_sum: f64 = parents.iter().chain(others).sum();
        let decay = 1.0 + c_1 * (1.0 - h) * c_c * (2.0 - c_c) - c_1 - c_mu * weight_sum;
        let entry = |i: usize, j: usize| {
            let rank_mu: f64 =
                (0..ranking.len()).map(|rank| weight_of(rank) * y(ranking[rank], i) * y(ranking[rank], j)).sum();
            decay * self.c[i][j] + rank_one * p_c[i] * p_c[j] + c_mu * rank_mu
        };
        let c = components().map(|i| components().map(|j| entry(i, j)).collect()).collect();
        Self { mean, sigma, p_s, p_c, c }
    }

    /// The largest difference, relative to numbers that are larger than one.
    fn distance(&self, other: &Self) -> f64 {
        let numbers = |distribution: &Self| -> Vec<f64> {
            let Self { mean, sigma, p_s, p_c, c } = distribution;
            [mean, p_s, p_c].into_iter().chain(c).flatten().copied().chain([*sigma]).collect()
        };
        let difference = |(x, y): (f64, f64)| (x - y).abs() / x.abs().max(1.0);
        numbers(self).into_iter().zip(numbers(other)).map(difference).fold(0.0, f64::max)
    }
}

#[test]
fn every_generation_follows_the_equations() {
    const BATCH_SIZE: usize = 12;
    const N_DRAWN: usize = 15;
    for (variant, active) in
        [(Variant::Standard, false), (Variant::Standard, true), (Variant::Published, false), (Variant::Published, true)]
    {
        // In sixty dimensions terms of the covariance wait.
        for dim in [1, 5, 60] {
            let shape = StrategyShape { dim, batch_size: BATCH_SIZE, sigma0: 0.5, bounds: None };
            let mut strategy = CmaEs::new(&CmaConfig { variant, active, ..CmaConfig::default() }, shape).unwrap();
            let mut rng = WideRng::new(5);
            let mut solutions = vec![0.0; N_DRAWN * dim];
            for generation in 0..25 {
                strategy.ask(&mut rng, &mut solutions);
                let mut ranking: Vec<usize> = (0..N_DRAWN).collect();
                // A slope at first, for a path that is long, then a bowl.
                let cost = |row: &usize| match generation {
                    0..15 => solutions[row * dim],
                    _ => solutions[row * dim..][..dim].iter().map(|x| x * x).sum(),
                };
                ranking.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
                // Whole batches, and some with rows missing.
                ranking.truncate(BATCH_SIZE - generation % 4);
                let before = Distribution::of(&strategy);
                strategy.tell(&solutions, &ranking, ranking.len() / 2);
                let distance = Distribution::of(&strategy).distance(&before.told(&strategy, &solutions, &ranking));
                // Rounding of sums of a few dozen terms.
                assert!(distance < 1e-12, "{variant:?}, active {active}, n = {dim}: {distance:e} in {generation}");
            }
        }
    }
}
