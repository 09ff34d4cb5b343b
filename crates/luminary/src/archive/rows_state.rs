//! The elites' part of an archive's saved state.

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use super::column::{Column, ColumnData, ExtraColumn};
use super::elite::Best;
use super::rows::Rows;
use crate::error::CheckpointError;
use crate::serde_floats::{self, Floats};

/// All columns of [`Rows`].
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RowsState<'a> {
    #[serde(with = "serde_floats")]
    objectives: Floats<'a>,
    #[serde(with = "serde_floats")]
    measures: Floats<'a>,
    #[serde(with = "serde_floats")]
    solutions: Floats<'a>,
    extras: Vec<ExtraState>,
    /// The numbers of the rows, eight bytes each. States of version 0.1 have none.
    #[serde(default)]
    numbers: Option<ByteBuf>,
}

/// The bytes of an extra column's values.
#[derive(Debug, Serialize, Deserialize)]
struct ExtraState {
    values: ByteBuf,
}

/// The shape that rows must have to be those of an archive.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowsShape<'a> {
    pub(super) solution_dim: usize,
    pub(super) measure_dim: usize,
    pub(super) extra_columns: &'a [ExtraColumn],
}

impl<'a> RowsState<'a> {
    pub(super) fn of(rows: &'a Rows) -> Self {
        let extra = |values: &Column| ExtraState { values: ByteBuf::from(values.data().to_le_bytes()) };
        Self {
            objectives: (&rows.objectives).into(),
            measures: (&rows.measures).into(),
            solutions: (&rows.solutions).into(),
            extras: rows.extras.iter().map(extra).collect(),
            numbers: Some(ByteBuf::from(ColumnData::U64(&rows.numbers).to_le_bytes())),
        }
    }

    /// Number of elites.
    pub(super) fn len(&self) -> usize {
        self.objectives.len()
    }

    /// Checks that every column has the length it has in an archive of this shape, and that the rows are among the first
    /// `n_offered`.
    pub(super) fn check(&self, shape: RowsShape<'_>, n_offered: u64) -> Result<(), CheckpointError> {
        let n_elites = self.len();
        expect_column(n_elites, shape.measure_dim, self.measures.len())?;
        expect_column(n_elites, shape.solution_dim, self.solutions.len())?;
        expect_column(shape.extra_columns.len(), 1, self.extras.len())?;
        for (column, extra) in shape.extra_columns.iter().zip(&self.extras) {
            expect_column(n_elites, column.width.saturating_mul(column.dtype.size()), extra.values.len())?;
        }
        let Some(numbers) = &self.numbers else { return Ok(()) };
        expect_column(n_elites, size_of::<u64>(), numbers.len())?;
        match read_numbers(numbers).find(|&number| number >= n_offered) {
            None => Ok(()),
            Some(late) => Err(CheckpointError::Mismatch {
                what: "archive's row numbers",
                expected: format!("numbers below {n_offered}"),
                found: late.to_string(),
            }),
        }
    }

    /// Copies the columns, which were checked, into rows: not moved, so that reserved room stays.
    pub(super) fn load_into(&self, rows: &mut Rows, n_offered: u64) {
        rows.clear();
        rows.objectives.extend_from_slice(&self.objectives);
        rows.measures.extend_from_slice(&self.measures);
        rows.solutions.extend_from_slice(&self.solutions);
        for (values, extra) in rows.extras.iter_mut().zip(&self.extras) {
            values.extend_from_le_bytes(&extra.values);
        }
        match &self.numbers {
            Some(numbers) => rows.numbers.extend(read_numbers(numbers)),
            // As if they had come last, so that their age is counted from now on.
            None => rows.numbers.resize(self.objectives.len(), n_offered.saturating_sub(1)),
        }
    }
}

/// Checks that a saved best solution is one of an archive of this shape. States of version 0.1 have no extra values of it.
pub(super) fn check_best(best: Option<&Best>, shape: RowsShape<'_>) -> Result<(), CheckpointError> {
    let Some(best) = best else { return Ok(()) };
    expect_column(1, shape.solution_dim, best.solution.len())?;
    expect_column(1, shape.measure_dim, best.measures.len())?;
    if !best.extras.is_empty() {
        expect_column(shape.extra_columns.len(), 1, best.extras.len())?;
    }
    for (column, values) in shape.extra_columns.iter().zip(&best.extras) {
        if values.len() != 0 {
            expect_column(1, column.width, values.len())?;
        }
        if values.data().dtype() != column.dtype {
            return Err(CheckpointError::Mismatch {
                what: "archive's best solution",
                expected: format!("{:?} in {}", column.dtype, column.name),
                found: format!("{:?}", values.data().dtype()),
            });
        }
    }
    Ok(())
}

/// A saved best solution with a column for every extra value, which is empty if it was not saved.
pub(super) fn complete_best(best: Option<Best>, extra_columns: &[ExtraColumn]) -> Option<Best> {
    best.map(|mut best| {
        if best.extras.is_empty() {
            best.extras = extra_columns.iter().map(|column| Column::new(column.dtype)).collect();
        }
        best
    })
}

/// Checks the length of a column.
pub(super) fn expect_column(n_rows: usize, width: usize, found: usize) -> Result<(), CheckpointError> {
    match n_rows as u128 * width as u128 {
        expected if expected == found as u128 => Ok(()),
        expected => Err(CheckpointError::Mismatch {
            what: "archive columns",
            expected: format!("{expected} values"),
            found: found.to_string(),
        }),
    }
}

fn read_numbers(bytes: &[u8]) -> impl Iterator<Item = u64> {
    let (numbers, _) = bytes.as_chunks::<8>();
    numbers.iter().map(|&number| u64::from_le_bytes(number))
}
