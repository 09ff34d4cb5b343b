//! How long an evaluation takes on the virtual clock.

use luminary::scheduler::Ticket;
use luminary_math::WideRng;

/// Log-normal durations with median 1: the logarithm of a duration is normal with mean 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Durations {
    /// Standard deviation of the logarithm. At 0 every evaluation takes 1.
    pub(super) sigma: f64,
}

impl Durations {
    /// Durations of this coefficient of variation: sigma^2 = ln(1 + cv^2).
    pub(super) fn with_coefficient_of_variation(cv: f64) -> Self {
        Self { sigma: (cv * cv).ln_1p().sqrt() }
    }

    /// The duration of a ticket. It follows from the ticket's seed alone, so that a ticket takes the same time whoever
    /// evaluates it.
    pub(super) fn of(self, ticket: &Ticket) -> f64 {
        let normal = WideRng::from_path(ticket.seed, "duration").normal();
        (self.sigma * normal).exp()
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use luminary::scheduler::{TicketId, TicketKind};

    use super::*;

    fn ticket(number: u64) -> Ticket {
        let id = TicketId::new(number);
        let kind = TicketKind::Value;
        Ticket { id, emitter: None, generation: 0, row: 0, kind, solution: Vec::new(), seed: id.seed(1) }
    }

    #[test]
    fn durations_are_log_normal_with_median_1() {
        let sigma = 1.5;
        let n = 20_000;
        let mut logarithms: Vec<f64> = (0..n).map(|i| Durations { sigma }.of(&ticket(i)).ln()).collect();
        logarithms.sort_by(f64::total_cmp);
        let median = logarithms[logarithms.len() / 2];
        let variance = logarithms.iter().map(|x| x * x).sum::<f64>() / n as f64;
        // Four standard errors: sigma sqrt(pi / 2n) of the median, sigma^2 sqrt(2 / n) of the variance.
        assert!(median.abs() < 4.0 * sigma * (FRAC_PI_2 / n as f64).sqrt(), "median of the logarithms {median}");
        let tolerance = 4.0 * sigma * sigma * (2.0 / n as f64).sqrt();
        assert!((variance - sigma * sigma).abs() < tolerance, "variance of the logarithms {variance}");
    }

    #[test]
    fn without_variance_every_evaluation_takes_1() {
        assert!((0..100).all(|i| Durations { sigma: 0.0 }.of(&ticket(i)) == 1.0));
    }
}
