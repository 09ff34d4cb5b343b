//! Recombination weights.

/// The weights of the number of parents at hand. Filter selection changes that number from call to call, so they are
/// kept until it does.
#[derive(Clone, Debug)]
pub(super) struct ParentWeights {
    pub(super) weights: Vec<f64>,
    pub(super) mu_eff: f64,
}

impl ParentWeights {
    /// For up to `batch_size` parents, starting with the better half.
    pub(super) fn new(batch_size: usize) -> Self {
        let mut weights = Self { weights: Vec::with_capacity(batch_size), mu_eff: 1.0 };
        weights.prepare((batch_size / 2).max(1));
        weights
    }

    /// Makes the weights those of `n_parents >= 1` parents. Returns whether that changed them.
    pub(super) fn prepare(&mut self, n_parents: usize) -> bool {
        if self.weights.len() == n_parents {
            return false;
        }
        self.weights.resize(n_parents, 0.0);
        self.mu_eff = recombination_weights(&mut self.weights);
        true
    }
}

/// Writes the normalised weights of `weights.len()` parents, `w_i ~ ln(mu + 1/2) - ln i` (Hansen's tutorial, Eq. 49
/// with mu parents), and returns `mu_eff = 1 / sum w_i^2`.
pub fn recombination_weights(weights: &mut [f64]) -> f64 {
    let top = (weights.len() as f64 + 0.5).ln();
    for (i, weight) in weights.iter_mut().enumerate() {
        *weight = top - ((i + 1) as f64).ln();
    }
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
    1.0 / weights.iter().map(|weight| weight * weight).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_positive_decreasing_and_sum_to_one() {
        for n_parents in 1..50 {
            let mut weights = vec![0.0; n_parents];
            let mu_eff = recombination_weights(&mut weights);
            assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            assert!(weights.is_sorted_by(|a, b| a > b) && weights.iter().all(|&w| w > 0.0));
            assert!((1.0..=n_parents as f64 + 1e-12).contains(&mu_eff));
        }
    }
}
