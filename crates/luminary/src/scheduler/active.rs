//! Which emitters take part in the next iteration.

use super::bandit::Bandit;
use super::config::{Pool, SchedulerConfig};
use super::shares::Shares;
use crate::archive::Status;
use crate::error::ConfigError;

/// The emitters that take part: those that always do, and those of the others that have a place.
pub(super) struct ActiveEmitters {
    /// The number of each emitter among those that share places; `None` for one that always takes part.
    numbers: Vec<Option<usize>>,
    pub(super) sharing: Sharing,
}

/// How emitters share the places of an iteration.
pub(super) enum Sharing {
    All,
    Bandit(Bandit),
    Shares(Shares),
}

/// What an emitter did in an iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) n_emitted: usize,
    pub(super) n_accepted: usize,
    /// By how much its solutions have improved the archive.
    pub(super) gain: f64,
    /// Its restarts so far, if it ever restarts.
    pub(super) restarts: Option<u64>,
}

impl ActiveEmitters {
    /// Those of a configuration with so many emitters in all.
    pub(super) fn new(config: &SchedulerConfig, n_emitters: usize) -> Result<Self, ConfigError> {
        let always = config.emitters.iter().flat_map(|group| vec![group.emitter.always_takes_part(); group.count]);
        let mut n_sharing = 0;
        let mut numbers = Vec::with_capacity(n_emitters);
        // Emitters that were given beside the configuration share places.
        for always in always.chain(std::iter::repeat(false)).take(n_emitters) {
            numbers.push((!always).then_some(n_sharing));
            n_sharing += usize::from(!always);
        }
        let sharing = match config.pool {
            Pool::All => Sharing::All,
            Pool::Bandit(bandit) => {
                bandit.check(n_sharing)?;
                Sharing::Bandit(Bandit::new(bandit, n_sharing))
            }
            Pool::Shares(shares) => {
                let sharing = config.emitters.iter().filter(|group| !group.emitter.always_takes_part());
                let mut sizes: Vec<usize> = sharing.map(|group| group.count).collect();
                let n_configured: usize = sizes.iter().sum();
                sizes.push(n_sharing.saturating_sub(n_configured));
                Sharing::Shares(Shares::new(shares, &sizes)?)
            }
        };
        Ok(Self { numbers, sharing })
    }

    /// Whether all take part, so that nobody needs to be told what they did.
    pub(super) fn are_all(&self) -> bool {
        matches!(self.sharing, Sharing::All)
    }

    /// Whether an emitter takes part in every iteration, however places are shared.
    pub(super) fn always_takes_part(&self, emitter: usize) -> bool {
        self.numbers[emitter].is_none()
    }

    pub(super) fn is_active(&self, emitter: usize) -> bool {
        match (&self.sharing, self.numbers[emitter]) {
            (Sharing::All, _) | (_, None) => true,
            (Sharing::Bandit(bandit), Some(emitter)) => bandit.is_active(emitter),
            (Sharing::Shares(shares), Some(emitter)) => shares.is_active(emitter),
        }
    }

    /// Notes what an active emitter did; places are given anew by [`fill_places`](Self::fill_places).
    pub(super) fn note(&mut self, emitter: usize, turn: &Turn) {
        match (&mut self.sharing, self.numbers[emitter]) {
            (Sharing::All, _) | (_, None) => {}
            (Sharing::Bandit(bandit), Some(emitter)) => {
                bandit.note(emitter, turn.n_emitted, turn.n_accepted, turn.restarts);
            }
            (Sharing::Shares(shares), Some(emitter)) => shares.note(emitter, turn),
        }
    }

    pub(super) fn fill_places(&mut self) {
        match &mut self.sharing {
            Sharing::All => {}
            Sharing::Bandit(bandit) => bandit.fill_places(),
            Sharing::Shares(shares) => shares.fill_places(),
        }
    }
}

/// By how much rows have improved the archive. The first solution of a cell without a threshold counts nothing.
pub(crate) fn gain(status: &[Status], delta: &[f64]) -> f64 {
    let rows = status.iter().zip(delta).filter(|(status, _)| status.is_accepted());
    rows.map(|(_, &delta)| delta).filter(|delta| delta.is_finite()).sum()
}
