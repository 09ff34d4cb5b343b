//! Which emitters take part in the next iteration.

use super::bandit::Bandit;
use super::config::{Pool, SchedulerConfig};
use super::shares::Shares;
use crate::archive::Status;
use crate::error::ConfigError;

/// The emitters that take part.
pub(super) enum ActiveEmitters {
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
        match config.pool {
            Pool::All => Ok(Self::All),
            Pool::Bandit(bandit) => {
                bandit.check(n_emitters)?;
                Ok(Self::Bandit(Bandit::new(bandit, n_emitters)))
            }
            Pool::Shares(shares) => {
                let mut sizes: Vec<usize> = config.emitters.iter().map(|group| group.count).collect();
                let n_configured: usize = sizes.iter().sum();
                sizes.push(n_emitters.saturating_sub(n_configured));
                Ok(Self::Shares(Shares::new(shares, &sizes)?))
            }
        }
    }

    /// Whether all take part, so that nobody needs to be told what they did.
    pub(super) fn are_all(&self) -> bool {
        matches!(self, Self::All)
    }

    pub(super) fn is_active(&self, emitter: usize) -> bool {
        match self {
            Self::All => true,
            Self::Bandit(bandit) => bandit.is_active(emitter),
            Self::Shares(shares) => shares.is_active(emitter),
        }
    }

    /// Notes what an active emitter did; places are given anew by [`fill_places`](Self::fill_places).
    pub(super) fn note(&mut self, emitter: usize, turn: &Turn) {
        match self {
            Self::All => {}
            Self::Bandit(bandit) => bandit.note(emitter, turn.n_emitted, turn.n_accepted, turn.restarts),
            Self::Shares(shares) => shares.note(emitter, turn),
        }
    }

    pub(super) fn fill_places(&mut self) {
        match self {
            Self::All => {}
            Self::Bandit(bandit) => bandit.fill_places(),
            Self::Shares(shares) => shares.fill_places(),
        }
    }
}

/// By how much rows have improved the archive. The first solution of a cell without a threshold counts nothing.
pub(crate) fn gain(status: &[Status], delta: &[f64]) -> f64 {
    let rows = status.iter().zip(delta).filter(|(status, _)| status.is_accepted());
    rows.map(|(_, &delta)| delta).filter(|delta| delta.is_finite()).sum()
}
