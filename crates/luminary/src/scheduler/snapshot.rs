//! The scheduler's part of a checkpoint.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::bandit::Bandit;
use super::{Phase, Progress, Scheduler, SchedulerConfig};
use crate::archive::ArchiveState;
use crate::emitter::EmitterState;
use crate::error::CheckpointError;
use crate::serde_floats::{self, Floats};
use crate::strategy::expect_len;

/// Everything a scheduler has learnt; its configuration is saved beside it.
#[derive(Serialize, Deserialize)]
pub(crate) struct SchedulerState<'a> {
    progress: Cow<'a, Progress>,
    archive: ArchiveState,
    result: Option<ArchiveState>,
    emitters: Vec<EmitterState<'a>>,
    bandit: Option<Cow<'a, Bandit>>,
    rows: Cow<'a, [Range<usize>]>,
    n_rows: usize,
    #[serde(with = "serde_floats")]
    solutions: Floats<'a>,
}

impl SchedulerState<'_> {
    /// Checks that archive and emitters are as large as the configuration says, so that building it takes no more
    /// memory than the saved scheduler did.
    pub(crate) fn check_size(&self, config: &SchedulerConfig, n_custom: usize) -> Result<(), CheckpointError> {
        self.archive.check(&config.archive)?;
        if let Some(config) = &config.result {
            match &self.result {
                Some(result) => result.check(config)?,
                None => expect_len("result archives", 1, 0)?,
            }
        }
        let counts = config.emitters.iter().map(|group| group.count);
        expect_len("emitters", counts.fold(n_custom, usize::saturating_add), self.emitters.len())
    }
}

impl Scheduler {
    pub(crate) fn save(&self) -> Result<SchedulerState<'_>, CheckpointError> {
        // Rows that were told already have done their work; only those of a round in progress matter.
        let (rows, n_rows, solutions): (&[Range<usize>], usize, &[f64]) = match self.progress.phase {
            Phase::Ready | Phase::GradientsTold => (&[], 0, &[]),
            Phase::InitialAsked | Phase::GradientsAsked | Phase::Asked => {
                (&self.round.rows, self.round.n_rows, &self.round.solutions)
            }
        };
        Ok(SchedulerState {
            progress: Cow::Borrowed(&self.progress),
            archive: ArchiveState::of(self.archive.as_ref())?,
            result: self.result.as_deref().map(ArchiveState::of).transpose()?,
            emitters: self.emitters.iter().map(|emitter| emitter.save()).collect::<Result<_, _>>()?,
            bandit: self.bandit.as_ref().map(Cow::Borrowed),
            rows: rows.into(),
            n_rows,
            solutions: solutions.into(),
        })
    }

    /// Takes over a saved state; the scheduler must be freshly built from the configuration saved with it.
    pub(crate) fn load(&mut self, state: SchedulerState<'_>) -> Result<(), CheckpointError> {
        state.archive.load_into(self.archive.as_mut())?;
        expect_len("result archives", self.result.iter().len(), state.result.iter().len())?;
        if let (Some(result), Some(state)) = (&mut self.result, state.result) {
            state.load_into(result.as_mut())?;
        }
        expect_len("emitters", self.emitters.len(), state.emitters.len())?;
        for (emitter, state) in self.emitters.iter_mut().zip(state.emitters) {
            emitter.load(state)?;
        }
        expect_len("bandits", self.bandit.iter().len(), state.bandit.iter().len())?;
        if let (Some(bandit), Some(state)) = (&mut self.bandit, state.bandit) {
            bandit.load(state.into_owned())?;
        }
        self.progress = state.progress.into_owned();
        if !self.progress.initial_done && self.config.initial.is_none() {
            return Err(CheckpointError::Mismatch {
                what: "progress",
                expected: "no initial population to come, because the configuration has none".into(),
                found: "one".into(),
            });
        }
        self.load_round(&state.rows, state.n_rows, &state.solutions)
    }

    /// The rows of a round in progress are laid out anew and must come out as saved.
    fn load_round(&mut self, rows: &[Range<usize>], n_rows: usize, solutions: &[f64]) -> Result<(), CheckpointError> {
        match self.progress.phase {
            Phase::Ready | Phase::GradientsTold => return Ok(()),
            Phase::InitialAsked => {
                let n_initial = self.config.initial.map_or(0, |initial| initial.n_solutions);
                expect_len("initial population", n_initial, n_rows)?;
                self.round.rows.resize(self.emitters.len(), 0..0);
                self.round.n_rows = n_rows;
            }
            Phase::GradientsAsked => self.lay_out_rows(|emitter| emitter.n_gradients()),
            Phase::Asked => self.lay_out_rows(|emitter| emitter.batch_size()),
        }
        if self.round.rows != rows {
            return Err(CheckpointError::Mismatch {
                what: "rows of the round in progress",
                expected: format!("{:?}", self.round.rows),
                found: format!("{rows:?}"),
            });
        }
        expect_len("asked solutions", self.round.n_rows * self.config.archive.solution_dim, solutions.len())?;
        self.round.solutions.clear();
        self.round.solutions.extend_from_slice(solutions);
        Ok(())
    }
}
