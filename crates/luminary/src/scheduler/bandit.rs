//! A bandit over the emitters: those whose solutions change the archive most often take part more often.
//!
//! The score is UCB1 as multi-emitter MAP-Elites uses it (Cully, 2021, Section 3.3): successes per solution emitted,
//! plus `zeta sqrt(ln(all solutions) / own solutions)`; an emitter that never took part comes first.

use serde::{Deserialize, Serialize};

use crate::error::{CheckpointError, ConfigError};
use crate::strategy::expect_len;

/// Settings of the bandit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BanditConfig {
    /// Emitters that take part in an iteration.
    pub n_active: usize,
    /// Weight of exploration.
    pub zeta: f64,
    /// When emitters are chosen anew.
    pub reselect: Reselect,
    /// Who comes first of emitters with the same score.
    #[serde(default)]
    pub ties: Ties,
}

impl BanditConfig {
    /// The exploration weight of the original paper, and re-selection at restarts.
    pub fn new(n_active: usize) -> Self {
        Self { n_active, zeta: 0.05, reselect: Reselect::Restarted, ties: Ties::First }
    }

    pub(super) fn check(&self, n_emitters: usize) -> Result<(), ConfigError> {
        if self.n_active == 0 {
            return Err(ConfigError::TooFew { what: "active emitters", minimum: 1, found: 0 });
        }
        if self.n_active > n_emitters {
            let (minimum, found) = (self.n_active, n_emitters);
            return Err(ConfigError::TooFew { what: "emitters in the bandit's pool", minimum, found });
        }
        if !(self.zeta.is_finite() && self.zeta >= 0.0) {
            return Err(ConfigError::Value { what: "zeta", expected: "finite and >= 0", found: self.zeta });
        }
        Ok(())
    }
}

/// When active emitters are chosen anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reselect {
    /// An emitter gives up its place when it restarts; one that never restarts, after every iteration.
    #[default]
    Restarted,
    /// All places are filled anew after every iteration.
    All,
}

/// Who comes first of emitters with the same score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ties {
    /// The one with the lowest number.
    #[default]
    First,
    /// The one with the highest number, as in pyribs.
    Last,
}

/// What the bandit knows of each emitter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Bandit {
    config: BanditConfig,
    arms: Vec<Arm>,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Arm {
    n_emitted: u64,
    n_accepted: u64,
    restarts_seen: u64,
    is_active: bool,
}

impl Bandit {
    /// All emitters are alike at first, so those with the lowest numbers begin.
    pub(super) fn new(config: BanditConfig, n_emitters: usize) -> Self {
        let mut arms = vec![Arm::default(); n_emitters];
        arms[..config.n_active].iter_mut().for_each(|arm| arm.is_active = true);
        Self { config, arms }
    }

    pub(super) fn is_active(&self, emitter: usize) -> bool {
        self.arms[emitter].is_active
    }

    /// Notes what an active emitter did in an iteration; `restarts` is its total so far, if it ever restarts.
    pub(super) fn note(&mut self, emitter: usize, n_emitted: usize, n_accepted: usize, restarts: Option<u64>) {
        let arm = &mut self.arms[emitter];
        arm.n_emitted += n_emitted as u64;
        arm.n_accepted += n_accepted as u64;
        let restarted = restarts.is_none_or(|restarts| restarts > arm.restarts_seen);
        arm.restarts_seen = restarts.unwrap_or(0);
        if restarted || self.config.reselect == Reselect::All {
            arm.is_active = false;
        }
    }

    /// Gives free places to the emitters with the best scores.
    pub(super) fn fill_places(&mut self) {
        let total: u64 = self.arms.iter().map(|arm| arm.n_emitted).sum();
        let n_active = self.arms.iter().filter(|arm| arm.is_active).count();
        for _ in n_active..self.config.n_active {
            let zeta = self.config.zeta;
            let free = self.arms.iter().enumerate().filter(|(_, arm)| !arm.is_active);
            let scored = free.map(|(i, arm)| (i, arm.score(total, zeta)));
            let best = scored.reduce(|best, next| match self.config.ties {
                Ties::Last if next.1 == best.1 => next,
                _ if next.1 > best.1 => next,
                _ => best,
            });
            let (best, _) = best.expect("the pool has at least n_active emitters");
            self.arms[best].is_active = true;
        }
    }

    pub(super) fn load(&mut self, state: Self) -> Result<(), CheckpointError> {
        expect_len("bandit", self.arms.len(), state.arms.len())?;
        let n_active = state.arms.iter().filter(|arm| arm.is_active).count();
        expect_len("bandit's active emitters", self.config.n_active, n_active)?;
        self.arms = state.arms;
        Ok(())
    }
}

impl Arm {
    fn score(&self, total: u64, zeta: f64) -> f64 {
        if self.n_emitted == 0 {
            return f64::INFINITY;
        }
        let own = self.n_emitted as f64;
        self.n_accepted as f64 / own + zeta * ((total as f64).ln() / own).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untried_emitters_come_first_then_the_successful_ones() {
        let mut bandit = Bandit::new(BanditConfig { reselect: Reselect::All, ..BanditConfig::new(1) }, 3);
        for round in 0..3 {
            assert!(bandit.is_active(round));
            bandit.note(round, 100, if round == 1 { 90 } else { 10 }, Some(0));
            bandit.fill_places();
        }
        assert!(bandit.is_active(1));
    }

    #[test]
    fn only_a_restart_frees_a_place() {
        let mut bandit = Bandit::new(BanditConfig::new(2), 4);
        bandit.note(0, 10, 0, Some(0));
        bandit.note(1, 10, 0, Some(1));
        bandit.fill_places();
        assert!(bandit.is_active(0) && bandit.is_active(2) && !bandit.is_active(1));
    }

    #[test]
    fn of_equals_the_first_or_the_last_takes_a_free_place() {
        for (ties, expected) in [(Ties::First, 1), (Ties::Last, 3)] {
            let mut bandit = Bandit::new(BanditConfig { ties, ..BanditConfig::new(1) }, 4);
            assert!(bandit.is_active(0), "the first begins in any case");
            bandit.note(0, 10, 10, None);
            bandit.fill_places();
            assert!(bandit.is_active(expected));
        }
    }

    #[test]
    fn emitters_that_never_restart_give_way_too() {
        let mut bandit = Bandit::new(BanditConfig::new(1), 2);
        bandit.note(0, 10, 10, None);
        bandit.fill_places();
        assert!(bandit.is_active(1), "the untried emitter's turn");
    }
}
