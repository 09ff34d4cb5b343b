//! What an archive with cells is saved as.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_bytes::Bytes;

use super::CellArchive;
use super::candidates::Candidate;
use super::cells::Cells;
use super::noise::NoiseLevel;
use crate::archive::elite::Best;
use crate::archive::rows_state::{RowsShape, RowsState, check_best, complete_best, expect_column};
use crate::archive::stats::RunningSum;
use crate::archive::{ArchiveConfig, CellIdx};
use crate::error::CheckpointError;
use crate::serde_floats::{self, Floats};

/// Everything an archive with cells has learnt; its configuration is saved beside it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CellState<'a> {
    #[serde(with = "serde_floats")]
    thresholds: Floats<'a>,
    visits: Cow<'a, [u64]>,
    cells: Cow<'a, [CellIdx]>,
    #[serde(flatten)]
    rows: RowsState<'a>,
    objective_sum: RunningSum,
    best: Cow<'a, Option<Best>>,
    /// Rows ever offered. Absent in states of version 0.1.
    #[serde(default)]
    n_offered: Option<u64>,
    /// Of an archive with sliding boundaries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sliding: Option<SlidingState<'a>>,
    /// Of an archive that corrects its elites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    noise: Option<NoiseState<'a>>,
}

/// The candidates behind the elites.
#[derive(Debug, Serialize, Deserialize)]
struct NoiseState<'a> {
    level: NoiseLevel,
    /// Of each elite's cell, in the order of the elites.
    candidates: Vec<Cow<'a, [Candidate]>>,
}

/// What sliding boundaries remember.
#[derive(Debug, Serialize, Deserialize)]
struct SlidingState<'a> {
    borders: Cow<'a, [Vec<f64>]>,
    n_remembered: u64,
    recent: RowsState<'a>,
}

/// More than any run counts, and far from overflowing.
const MAX_COUNT: u64 = u64::MAX / 2;

impl CellState<'_> {
    /// Checks that the state is one of an archive of this configuration with `n_cells` cells.
    pub(crate) fn check(&self, config: &ArchiveConfig, n_cells: usize) -> Result<(), CheckpointError> {
        let shape = RowsShape {
            solution_dim: config.solution_dim,
            measure_dim: config.measure_dim(),
            extra_columns: &config.extra_columns,
        };
        expect_column(n_cells, 1, self.thresholds.len())?;
        expect_column(n_cells, 1, self.visits.len())?;
        expect_column(self.cells.len(), 1, self.rows.len())?;
        let most_visits = self.visits.iter().copied().max().unwrap_or(0);
        let n_offered = self.n_offered();
        let n_remembered = self.sliding.as_ref().map_or(0, |sliding| sliding.n_remembered);
        if let Some(found) = [most_visits, n_offered, n_remembered].into_iter().find(|&count| count > MAX_COUNT) {
            return Err(CheckpointError::Mismatch {
                what: "archive's counts",
                expected: format!("at most {MAX_COUNT}"),
                found: found.to_string(),
            });
        }
        self.rows.check(shape, n_offered)?;
        if let Some(sliding) = &self.sliding {
            sliding.recent.check(shape, n_offered)?;
        }
        check_best(self.best.as_ref().as_ref(), shape)?;
        let best = self.best.as_ref().as_ref().and_then(|best| best.cell);
        match wrong_cell(&self.cells, n_cells).or(best.filter(|cell| cell.index() >= n_cells)) {
            None => Ok(()),
            Some(cell) => Err(CheckpointError::Mismatch {
                what: "archive cells",
                expected: format!("distinct cells below {n_cells}"),
                found: cell.index().to_string(),
            }),
        }
    }
}

/// The first cell that does not exist or came before.
fn wrong_cell(cells: &[CellIdx], n_cells: usize) -> Option<CellIdx> {
    let mut taken = vec![0_u64; n_cells.div_ceil(64)];
    cells.iter().copied().find(|cell| {
        let bit = 1 << (cell.index() % 64);
        match taken.get_mut(cell.index() / 64).filter(|taken| cell.index() < n_cells && **taken & bit == 0) {
            Some(taken) => {
                *taken |= bit;
                false
            }
            None => true,
        }
    })
}

/// As much of a state as tells how large its archive is, which stays where it was read.
#[derive(Debug, Deserialize)]
pub(crate) struct CellStateSize<'a> {
    #[serde(borrow)]
    thresholds: &'a Bytes,
    objectives: &'a Bytes,
    measures: &'a Bytes,
    solutions: &'a Bytes,
    extras: Vec<ExtraSize<'a>>,
}

#[derive(Debug, Deserialize)]
struct ExtraSize<'a> {
    #[serde(borrow)]
    values: &'a Bytes,
}

impl CellStateSize<'_> {
    /// Checks that an archive of this configuration with `n_cells` cells is as large as the saved one.
    pub(crate) fn check(&self, config: &ArchiveConfig, n_cells: usize) -> Result<(), CheckpointError> {
        let number = size_of::<f64>();
        let n_elites = self.objectives.len() / number;
        expect_column(n_cells, number, self.thresholds.len())?;
        expect_column(n_elites, number, self.objectives.len())?;
        expect_column(n_elites, number.saturating_mul(config.measure_dim()), self.measures.len())?;
        expect_column(n_elites, number.saturating_mul(config.solution_dim), self.solutions.len())?;
        expect_column(config.extra_columns.len(), 1, self.extras.len())?;
        for (column, extra) in config.extra_columns.iter().zip(&self.extras) {
            expect_column(n_elites, column.width.saturating_mul(column.dtype.size()), extra.values.len())?;
        }
        Ok(())
    }
}

impl CellState<'_> {
    /// What version 0.1 did not count, it counted by cell.
    fn n_offered(&self) -> u64 {
        self.n_offered.unwrap_or_else(|| self.visits.iter().fold(0, |sum, &visits| sum.saturating_add(visits)))
    }
}

impl CellArchive {
    pub(super) fn save(&self) -> CellState<'_> {
        CellState {
            thresholds: (&self.store.thresholds).into(),
            visits: (&self.store.visits).into(),
            cells: (&self.store.cells).into(),
            rows: RowsState::of(&self.store.rows),
            objective_sum: self.objective_sum,
            best: Cow::Borrowed(&self.best),
            n_offered: Some(self.n_offered),
            sliding: self.save_sliding(),
            noise: self.save_noise(),
        }
    }

    /// Takes over a saved state after checking that it belongs to an archive of this configuration.
    pub(crate) fn load(&mut self, state: CellState<'_>) -> Result<(), CheckpointError> {
        state.check(&self.config, self.n_cells())?;
        self.check_sliding(state.sliding.as_ref())?;
        self.check_noise(&state)?;
        let n_offered = state.n_offered();
        // Copied into the reserved columns, not moved, so that adding goes on without allocating.
        let store = &mut self.store;
        store.thresholds.copy_from_slice(&state.thresholds);
        store.visits.copy_from_slice(&state.visits);
        store.cells.clear();
        store.cells.extend_from_slice(&state.cells);
        state.rows.load_into(&mut store.rows, n_offered);
        store.reindex();
        self.objective_sum = state.objective_sum;
        self.best = complete_best(state.best.into_owned(), &self.config.extra_columns);
        self.n_offered = n_offered;
        if let (Some(candidates), Some(state)) = (&mut self.noise, state.noise) {
            let of_cells = state.candidates.into_iter().map(Cow::into_owned);
            candidates.restore(state.level, self.store.cells.iter().copied().zip(of_cells));
        }
        if let (Cells::SlidingBoundaries(boundaries), Some(recent), Some(state)) =
            (&mut self.cells, &mut self.recent, state.sliding)
        {
            boundaries.set_borders(state.borders.into_owned());
            recent.n_remembered = state.n_remembered;
            state.recent.load_into(&mut recent.rows, n_offered);
        }
        Ok(())
    }

    fn save_noise(&self) -> Option<NoiseState<'_>> {
        let candidates = self.noise.as_ref()?;
        let of_cell = |cell: &CellIdx| Cow::Borrowed(&*candidates.of_cell[cell.index()]);
        Some(NoiseState { level: candidates.level, candidates: self.store.cells.iter().map(of_cell).collect() })
    }

    /// Checks that there are candidates for each elite if there should be, and that they could be those of this archive.
    fn check_noise(&self, state: &CellState<'_>) -> Result<(), CheckpointError> {
        let mismatch = |expected: String, found: String| {
            Err(CheckpointError::Mismatch { what: "candidates of elites", expected, found })
        };
        match (&self.noise, &state.noise) {
            (None, None) => Ok(()),
            (Some(_), None) => mismatch("some, because the archive handles noise".into(), "none".into()),
            (None, Some(_)) => mismatch("none, because the archive does not handle noise".into(), "some".into()),
            (Some(noise), Some(saved)) => {
                if saved.candidates.len() != state.cells.len() {
                    return mismatch(
                        format!("those of {} cells", state.cells.len()),
                        saved.candidates.len().to_string(),
                    );
                }
                let shape = RowsShape {
                    solution_dim: self.config.solution_dim,
                    measure_dim: self.config.measure_dim(),
                    extra_columns: &self.config.extra_columns,
                };
                let n_offered = state.n_offered();
                let is_good = |candidate: &Candidate| candidate.is_of(shape, &noise.config, n_offered);
                let number = 1..=noise.config.candidates;
                let bad = saved
                    .candidates
                    .iter()
                    .position(|of_cell| !number.contains(&of_cell.len()) || !of_cell.iter().all(is_good));
                match bad {
                    None => Ok(()),
                    Some(slot) => mismatch(
                        format!("1 to {} of the archive's shape for each elite", noise.config.candidates),
                        format!("others for elite {slot}"),
                    ),
                }
            }
        }
    }

    fn save_sliding(&self) -> Option<SlidingState<'_>> {
        let (Cells::SlidingBoundaries(boundaries), Some(recent)) = (&self.cells, &self.recent) else { return None };
        Some(SlidingState {
            borders: boundaries.all_borders().into(),
            n_remembered: recent.n_remembered,
            recent: RowsState::of(&recent.rows),
        })
    }

    /// Checks that there are borders and recent rows if there should be, and that they could be those of this archive.
    fn check_sliding(&self, state: Option<&SlidingState<'_>>) -> Result<(), CheckpointError> {
        let mismatch = |expected: String, found: String| {
            Err(CheckpointError::Mismatch { what: "sliding boundaries", expected, found })
        };
        match (&self.cells, &self.recent, state) {
            (Cells::SlidingBoundaries(boundaries), Some(recent), Some(state)) => {
                let expected = state.n_remembered.min(recent.capacity as u64);
                if state.recent.len() as u64 != expected {
                    return mismatch(format!("{expected} recent rows"), state.recent.len().to_string());
                }
                match boundaries.could_be(&state.borders) {
                    true => Ok(()),
                    false => mismatch("ascending borders for each measure".into(), format!("{:?}", state.borders)),
                }
            }
            (Cells::SlidingBoundaries(_), ..) => mismatch("borders".into(), "none".into()),
            (_, _, Some(_)) => mismatch("none, because the cells do not slide".into(), "some".into()),
            (_, _, None) => Ok(()),
        }
    }
}
