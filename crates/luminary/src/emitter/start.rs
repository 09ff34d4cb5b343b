//! How emitters that vary elites begin: around a point, or with solutions that somebody gives them.

use serde::{Deserialize, Serialize};

use super::{EliteSource, check_start};
use crate::error::{CheckpointError, ConfigError};
use crate::strategy::{Bounds, MAX_BATCH_SIZE};

/// The parent while there is no elite, the solutions that come before all others, and the bounds of both.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub(super) x0: Vec<f64>,
    pub(super) bounds: Option<Bounds>,
    initial_solutions: Option<Vec<f64>>,
    /// The initial solution that comes next; after the last one the first does.
    next: usize,
}

/// The start's part of a checkpoint.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct StartState {
    next: usize,
}

impl Start {
    /// Checks lengths, and that all numbers are finite and x0 within the bounds.
    pub(super) fn new(
        x0: &[f64],
        initial_solutions: Option<&[f64]>,
        bounds: Option<&Bounds>,
        solution_dim: usize,
    ) -> Result<Self, ConfigError> {
        check_start(x0, solution_dim, bounds)?;
        if let Some(solutions) = initial_solutions {
            check_initial_solutions(solutions, solution_dim)?;
        }
        Ok(Self {
            x0: x0.to_vec(),
            bounds: bounds.cloned(),
            initial_solutions: initial_solutions.map(<[f64]>::to_vec),
            next: 0,
        })
    }

    /// The number of initial solutions, if they are what comes next: while the archive is empty.
    pub(super) fn n_due(&self, elites: &dyn EliteSource) -> Option<usize> {
        let solutions = self.initial_solutions.as_ref()?;
        (elites.n_elites() == 0).then_some(solutions.len() / self.x0.len())
    }

    /// Writes the next initial solutions, moved into the bounds. The first come again after the last.
    pub(super) fn write_initial(&mut self, rows: &mut [f64]) {
        let dim = self.x0.len();
        let solutions = self.initial_solutions.as_ref().expect("there are initial solutions");
        for row in rows.chunks_exact_mut(dim) {
            row.copy_from_slice(&solutions[self.next * dim..][..dim]);
            self.next = (self.next + 1) % (solutions.len() / dim);
        }
        self.repair(rows);
    }

    /// Moves rows into the bounds, if there are any.
    pub(super) fn repair(&self, rows: &mut [f64]) {
        if let Some(bounds) = &self.bounds {
            for row in rows.chunks_exact_mut(self.x0.len()) {
                bounds.repair(row);
            }
        }
    }

    pub(super) fn save(&self) -> StartState {
        StartState { next: self.next }
    }

    pub(super) fn load(&mut self, state: StartState) -> Result<(), CheckpointError> {
        let n_solutions = self.initial_solutions.as_ref().map_or(0, |solutions| solutions.len() / self.x0.len());
        if state.next >= n_solutions.max(1) {
            let expected = format!("a number below {}", n_solutions.max(1));
            let found = state.next.to_string();
            return Err(CheckpointError::Mismatch { what: "next initial solution", expected, found });
        }
        self.next = state.next;
        Ok(())
    }
}

fn check_initial_solutions(solutions: &[f64], solution_dim: usize) -> Result<(), ConfigError> {
    let what = "initial_solutions";
    if solutions.is_empty() {
        return Err(ConfigError::TooFew { what, minimum: 1, found: 0 });
    }
    let found = solutions.len();
    if !found.is_multiple_of(solution_dim) {
        return Err(ConfigError::Length { what, expected: found.next_multiple_of(solution_dim), found });
    }
    if found / solution_dim > MAX_BATCH_SIZE {
        return Err(ConfigError::TooMany { what, maximum: MAX_BATCH_SIZE, found: found / solution_dim });
    }
    match solutions.iter().find(|value| !value.is_finite()) {
        Some(&found) => Err(ConfigError::Value { what, expected: "finite", found }),
        None => Ok(()),
    }
}
