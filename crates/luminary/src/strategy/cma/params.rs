//! Weights and rates of CMA-ES for a given number of parents.

use crate::strategy::recombination_weights;

/// Rates that follow from the dimension and the weights (Hansen's tutorial, Table 1).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rates {
    pub(super) mu_eff: f64,
    pub(super) c_c: f64,
    pub(super) c_s: f64,
    pub(super) c_1: f64,
    pub(super) c_mu: f64,
    pub(super) d_s: f64,
}

impl Rates {
    fn new(dim: usize, mu_eff: f64) -> Self {
        let n = dim as f64;
        let c_1 = 2.0 / ((n + 1.3).powi(2) + mu_eff);
        let c_s = (mu_eff + 2.0) / (n + mu_eff + 5.0);
        Self {
            mu_eff,
            c_c: (4.0 + mu_eff / n) / (n + 4.0 + 2.0 * mu_eff / n),
            c_s,
            c_1,
            c_mu: (1.0 - c_1).min(2.0 * (mu_eff - 2.0 + 1.0 / mu_eff) / ((n + 2.0).powi(2) + mu_eff)),
            d_s: 1.0 + 2.0 * (((mu_eff - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0) + c_s,
        }
    }

    /// Evaluations after which the factor of the covariance is worth refreshing: sooner, the covariance has hardly
    /// changed.
    pub(super) fn lazy_gap(&self, dim: usize, batch_size: usize) -> f64 {
        0.5 * batch_size as f64 / (dim as f64 * (self.c_1 + self.c_mu))
    }
}

/// Weights by rank with their rates. Filter selection changes the number of parents from call to call, and rows without
/// a value change the number of ranks, so they are computed for the numbers at hand and kept until these change.
#[derive(Clone, Debug)]
pub(super) struct Weights {
    dim: usize,
    active: bool,
    n_ranked: usize,
    /// Positive weights of the parents.
    pub(super) parents: Vec<f64>,
    /// Negative weights of the other ranked rows, empty unless the active update is on.
    pub(super) others: Vec<f64>,
    pub(super) rates: Rates,
}

impl Weights {
    pub(super) fn new(dim: usize, batch_size: usize, active: bool) -> Self {
        let mut weights = Self {
            dim,
            active,
            n_ranked: 0,
            parents: Vec::with_capacity(batch_size),
            others: Vec::with_capacity(batch_size),
            rates: Rates::default(),
        };
        weights.prepare((batch_size / 2).max(1), batch_size);
        weights
    }

    /// Makes the weights those of `n_parents >= 1` parents among `n_ranked` ranked rows.
    pub(super) fn prepare(&mut self, n_parents: usize, n_ranked: usize) {
        if self.parents.len() == n_parents && self.n_ranked == n_ranked {
            return;
        }
        self.n_ranked = n_ranked;
        self.parents.resize(n_parents, 0.0);
        let mu_eff = recombination_weights(&mut self.parents);
        self.rates = Rates::new(self.dim, mu_eff);
        if self.active {
            self.prepare_others();
        }
    }

    /// Negative weights of the ranks behind the parents (Hansen's tutorial, Eqs. 50 to 53). The tutorial has a rank for
    /// each of lambda rows; with fewer ranked rows, the weights are those of a batch of that many.
    fn prepare_others(&mut self) {
        let n_parents = self.parents.len();
        let rates = self.rates;
        let top = (n_parents as f64 + 0.5).ln();
        self.others.clear();
        self.others.extend((n_parents..self.n_ranked).map(|i| top - ((i + 1) as f64).ln()));
        let sum: f64 = self.others.iter().map(|weight| weight.abs()).sum();
        if sum == 0.0 || rates.c_mu == 0.0 {
            self.others.clear();
            return;
        }
        let mu_eff_others = sum * sum / self.others.iter().map(|weight| weight * weight).sum::<f64>();
        let by_rates = 1.0 + rates.c_1 / rates.c_mu;
        let by_mu_eff = 1.0 + 2.0 * mu_eff_others / (rates.mu_eff + 2.0);
        let by_definiteness = (1.0 - rates.c_1 - rates.c_mu) / (self.dim as f64 * rates.c_mu);
        let scale = by_rates.min(by_mu_eff).min(by_definiteness) / sum;
        self.others.iter_mut().for_each(|weight| *weight *= scale);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_the_tutorial_at_ten_dimensions() {
        // Computed by hand for n = 10, mu = 5 parents of lambda = 10.
        let weights = Weights::new(10, 10, false);
        assert!((weights.rates.mu_eff - 3.167_299).abs() < 1e-5, "{:?}", weights.rates);
        assert!((weights.rates.c_1 - 0.015_284).abs() < 1e-5, "{:?}", weights.rates);
        assert!((weights.rates.c_mu - 0.020_154).abs() < 1e-5, "{:?}", weights.rates);
        assert!((weights.rates.c_s - 0.284_429).abs() < 1e-5, "{:?}", weights.rates);
    }

    #[test]
    fn negative_weights_never_cost_positive_definiteness() {
        for dim in [2, 10, 100] {
            let weights = Weights::new(dim, 20, true);
            let sum: f64 = weights.others.iter().sum();
            assert!(sum < 0.0);
            // With each negative step scaled to length n, the decay left must outweigh them all.
            let rates = weights.rates;
            assert!(1.0 - rates.c_1 - rates.c_mu + rates.c_mu * sum * dim as f64 >= -1e-12);
        }
    }

    #[test]
    fn with_fewer_ranked_rows_negative_weights_are_those_of_a_smaller_batch() {
        let mut weights = Weights::new(10, 12, true);
        for (n_parents, n_ranked) in [(4, 9), (5, 9), (5, 12), (9, 9), (6, 12)] {
            weights.prepare(n_parents, n_ranked);
            let mut fresh = Weights::new(10, n_ranked, true);
            fresh.prepare(n_parents, n_ranked);
            assert_eq!(weights.others, fresh.others);
            assert_eq!(weights.others.len(), n_ranked - n_parents);
            assert!(weights.others.is_sorted_by(|a, b| a > b) && weights.others.iter().all(|&weight| weight < 0.0));
        }
    }

    #[test]
    fn a_single_parent_is_allowed() {
        let mut weights = Weights::new(5, 2, false);
        weights.prepare(1, 2);
        assert_eq!(weights.parents, [1.0]);
        assert_eq!(weights.rates.c_mu, 0.0);
        assert!(weights.rates.lazy_gap(5, 2).is_finite());
    }
}
