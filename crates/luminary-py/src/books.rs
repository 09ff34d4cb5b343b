//! The books of a run whose rows are told one by one: the journal of its calls, and where its measures were.

use std::path::PathBuf;

use luminary::archive::{AddReport, Batch, ColumnData};
use luminary::scheduler::{Answer, Call, Scheduler, TicketId};
use luminary_run::RunError;
use luminary_run::driver::Ledger;
use luminary_run::folder::Journal;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::convert::OrRaise;

/// Where a run's calls about tickets are entered when they are made.
pub(crate) struct Books {
    pub(crate) journal: Journal,
    pub(crate) path: PathBuf,
    pub(crate) ledger: Ledger,
}

impl Books {
    /// Enters the last call of a scheduler.
    pub(crate) fn enter(&mut self, scheduler: &Scheduler, call: Call) -> PyResult<()> {
        self.ledger.note_call(scheduler.archive().measure_bounds(), &call);
        self.journal.append(scheduler.n_calls(), call).map_err(RunError::io("append to", &self.path)).or_raise()
    }

    /// Solutions that nobody asked for enter the archives and the journal, which has one in each line.
    pub(crate) fn inject(&mut self, scheduler: &mut Scheduler, batch: &Batch<'_>) -> PyResult<AddReport> {
        let all = batch.solutions.iter().chain(batch.objectives).chain(batch.measures);
        if let Some(value) = all.into_iter().find(|value| !value.is_finite()) {
            return Err(PyValueError::new_err(format!("expected finite numbers, found {value}")));
        }
        let archive = scheduler.archive();
        let n_rows = batch.objectives.len();
        let fits = batch.solutions.len() == n_rows * archive.solution_dim()
            && batch.measures.len() == n_rows * archive.measure_dim();
        if !fits {
            return scheduler.inject(batch).or_raise();
        }
        let widths: Vec<usize> = archive.extra_columns().iter().map(|column| column.width).collect();
        let mut whole = AddReport::default();
        for row in 0..n_rows {
            let solutions = batch.solution_of(row);
            let objectives = &batch.objectives[row..=row];
            let measures = batch.measures_of(row);
            let extras: Vec<ColumnData<'_>> =
                batch.extras.iter().zip(&widths).map(|(values, &width)| values.row(row, width)).collect();
            let report = scheduler.inject(&Batch { solutions, objectives, measures, extras: &extras }).or_raise()?;
            whole.status.extend(report.status);
            whole.delta.extend(report.delta);
            let solution = solutions.to_vec();
            let measures = measures.to_vec();
            let extras = numbers(&extras);
            self.enter(scheduler, Call::Inject { solution, objective: objectives[0], measures, extras })?;
        }
        Ok(whole)
    }

    /// Returns once everything entered is on disk.
    pub(crate) fn sync(&self) -> PyResult<()> {
        self.journal.sync().map_err(RunError::io("sync", &self.path)).or_raise()
    }
}

/// A result as the journal has it.
pub(crate) fn told(id: TicketId, answer: &Answer<'_>) -> Call {
    Call::Tell {
        id,
        objective: answer.objective,
        measures: answer.measures.to_vec(),
        jacobian: answer.jacobian.map(<[f64]>::to_vec),
        extras: numbers(answer.extras),
    }
}

/// Extra columns as the journal has them: those of a run are numbers of double precision.
fn numbers(extras: &[ColumnData<'_>]) -> Vec<Vec<f64>> {
    extras.iter().filter_map(|column| Some(column.as_f64()?.to_vec())).collect()
}
