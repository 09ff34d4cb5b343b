//! Groups of emitters that share the places of an iteration: who improves the archive more per evaluation gets more of them.
//!
//! Emitters of different kinds are good at different problems and at different times, and nobody knows beforehand which.
//! The rate of improvement is measured for each group over the evaluations of the last iterations; all but a few places,
//! which every group keeps so that it can show when its time has come, are dealt out in proportion to it.

use serde::{Deserialize, Serialize};

use super::active::Turn;
use crate::error::{CheckpointError, ConfigError};
use crate::strategy::expect_len;

/// Settings of groups that share places. The groups are those of
/// [`SchedulerConfig::emitters`](super::SchedulerConfig::emitters); emitters that were given beside them are one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharesConfig {
    /// Emitters that take part in an iteration.
    pub n_active: usize,
    /// Emitters of each group that always take part.
    pub least: usize,
    /// Evaluations after which what a group has brought counts about a third.
    pub memory: u64,
}

/// What is known of each group.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Shares {
    config: SharesConfig,
    groups: Vec<Group>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Group {
    /// Its first emitter.
    first: usize,
    n_emitters: usize,
    n_active: usize,
    /// By how much it has improved the archive; what is long ago counts less.
    gain: f64,
    /// Evaluations it has made, those of long ago counting less.
    n_evaluations: f64,
}

impl Shares {
    /// Groups of these sizes. They share alike at first.
    pub(super) fn new(config: SharesConfig, sizes: &[usize]) -> Result<Self, ConfigError> {
        let sizes: Vec<usize> = sizes.iter().copied().filter(|&size| size > 0).collect();
        let smallest = sizes.iter().copied().min().unwrap_or(0);
        let n_emitters: usize = sizes.iter().sum();
        if config.n_active == 0 {
            return Err(ConfigError::TooFew { what: "active emitters", minimum: 1, found: 0 });
        }
        if n_emitters < config.n_active {
            let what = "emitters that share places";
            return Err(ConfigError::TooFew { what, minimum: config.n_active, found: n_emitters });
        }
        if config.least > smallest {
            let what = "emitters of the smallest group";
            return Err(ConfigError::TooFew { what, minimum: config.least, found: smallest });
        }
        if config.least * sizes.len() > config.n_active {
            let what = "active emitters";
            return Err(ConfigError::TooFew { what, minimum: config.least * sizes.len(), found: config.n_active });
        }
        if config.memory == 0 {
            return Err(ConfigError::TooFew { what: "evaluations that are remembered", minimum: 1, found: 0 });
        }
        let mut first = 0;
        let mut groups = Vec::with_capacity(sizes.len());
        for n_emitters in sizes {
            groups.push(Group { first, n_emitters, n_active: 0, gain: 0.0, n_evaluations: 0.0 });
            first += n_emitters;
        }
        let mut shares = Self { config, groups };
        shares.fill_places();
        Ok(shares)
    }

    pub(super) fn is_active(&self, emitter: usize) -> bool {
        self.groups.iter().any(|group| (group.first..group.first + group.n_active).contains(&emitter))
    }

    /// Notes what an active emitter did.
    pub(super) fn note(&mut self, emitter: usize, turn: &Turn) {
        let keep = (-(turn.n_emitted as f64) / self.config.memory as f64).exp();
        for group in &mut self.groups {
            group.gain *= keep;
            group.n_evaluations *= keep;
            if (group.first..group.first + group.n_emitters).contains(&emitter) {
                group.gain += turn.gain;
                group.n_evaluations += turn.n_emitted as f64;
            }
        }
    }

    /// Deals out the places. Where nobody has brought anything, all share alike.
    pub(super) fn fill_places(&mut self) {
        let n_groups = self.groups.len() as f64;
        let total: f64 = self.groups.iter().map(Group::rate).sum();
        for group in &mut self.groups {
            group.n_active = self.config.least;
        }
        // The group that is furthest behind its share takes the next place; the first of equals.
        let n_places = self.config.n_active;
        for _ in self.config.least * self.groups.len()..n_places {
            let share = |group: &Group| match total > 0.0 && total.is_finite() {
                true => group.rate() / total,
                false => 1.0 / n_groups,
            };
            let debt = |i: usize| share(&self.groups[i]) * n_places as f64 - self.groups[i].n_active as f64;
            let has_room = |&i: &usize| self.groups[i].n_active < self.groups[i].n_emitters;
            let neediest = (0..self.groups.len()).filter(has_room).reduce(|a, b| if debt(b) > debt(a) { b } else { a });
            self.groups[neediest.expect("there are at least as many emitters as places")].n_active += 1;
        }
    }

    pub(super) fn load(&mut self, state: Self) -> Result<(), CheckpointError> {
        expect_len("groups that share places", self.groups.len(), state.groups.len())?;
        // A crafted file may say that more take part than there are.
        for (group, state) in self.groups.iter().zip(&state.groups) {
            expect_len("emitters of a group", group.n_emitters, state.n_emitters)?;
            expect_len("active emitters of a group", state.n_active.min(group.n_emitters), state.n_active)?;
        }
        let n_active = state.groups.iter().map(|group| group.n_active).sum();
        expect_len("active emitters", self.config.n_active, n_active)?;
        for (group, state) in self.groups.iter_mut().zip(state.groups) {
            group.n_active = state.n_active;
            group.gain = state.gain;
            group.n_evaluations = state.n_evaluations;
        }
        Ok(())
    }
}

impl Group {
    /// Improvement per evaluation.
    fn rate(&self) -> f64 {
        if self.n_evaluations > 0.0 { (self.gain / self.n_evaluations).max(0.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(n_active: usize, least: usize, sizes: &[usize]) -> Result<Shares, ConfigError> {
        Shares::new(SharesConfig { n_active, least, memory: 1000 }, sizes)
    }

    fn active(shares: &Shares) -> Vec<usize> {
        let n_emitters = shares.groups.iter().map(|group| group.n_emitters).sum();
        (0..n_emitters).filter(|&emitter| shares.is_active(emitter)).collect()
    }

    fn turn(n_emitted: usize, gain: f64) -> Turn {
        Turn { n_emitted, n_accepted: 0, gain, restarts: None }
    }

    #[test]
    fn groups_share_alike_until_one_brings_more() {
        let mut shares = shares(4, 1, &[4, 4]).unwrap();
        assert_eq!(active(&shares), [0, 1, 4, 5]);
        shares.note(0, &turn(100, 30.0));
        shares.note(4, &turn(100, 10.0));
        shares.fill_places();
        assert_eq!(active(&shares), [0, 1, 2, 4], "three quarters of the improvement, three of four places");
        shares.note(0, &turn(100, 0.0));
        shares.note(4, &turn(5000, 5000.0));
        shares.fill_places();
        assert_eq!(active(&shares), [0, 4, 5, 6], "the past is forgotten, and one place is always kept");
    }

    #[test]
    fn what_counts_is_improvement_per_evaluation() {
        let mut shares = shares(4, 1, &[4, 4]).unwrap();
        shares.note(0, &turn(1000, 30.0));
        shares.note(4, &turn(100, 10.0));
        shares.fill_places();
        assert_eq!(active(&shares), [0, 4, 5, 6]);
    }

    #[test]
    fn settings_that_do_not_fit_are_refused() {
        assert!(shares(0, 0, &[4, 4]).unwrap_err().to_string().contains("active"));
        assert!(shares(9, 1, &[4, 4]).unwrap_err().to_string().contains('9'));
        assert!(shares(4, 3, &[4, 4]).unwrap_err().to_string().contains('6'));
        assert!(shares(4, 2, &[8, 1]).unwrap_err().to_string().contains("smallest"));
    }
}
