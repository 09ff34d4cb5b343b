//! Tickets on their way to Python, and what is said about them.

use luminary::archive::{AddReport, ColumnData};
use luminary::scheduler::{Answer, Effect, SchedulerConfig, Ticket, TicketKind, Told};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::convert::{slice, status_number};

/// Number, solution, seed, kind, emitter, generation and row, in the order of the fields of Python's `Ticket`.
pub(crate) type TicketAnswer<'py> = (u64, Bound<'py, PyArray1<f64>>, u64, &'static str, Option<usize>, u64, usize);

/// Effect, status and value, in the order of the fields of Python's `Told`.
pub(crate) type ToldAnswer = (&'static str, Option<i32>, Option<f64>);

/// Status and value of each solution that was injected.
pub(crate) type InjectedAnswer<'py> = (Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<f64>>);

pub(crate) fn injected_answer<'py>(py: Python<'py>, report: AddReport) -> InjectedAnswer<'py> {
    let status = report.status.iter().map(|&status| status_number(status)).collect();
    (PyArray1::from_vec(py, status), PyArray1::from_vec(py, report.delta))
}

pub(crate) fn ticket_answers<'py>(py: Python<'py>, tickets: Vec<Ticket>) -> Vec<TicketAnswer<'py>> {
    let answer = |ticket: Ticket| {
        let solution = PyArray1::from_vec(py, ticket.solution);
        let kind = kind_name(ticket.kind);
        (ticket.id.get(), solution, ticket.seed, kind, ticket.emitter, ticket.generation, ticket.row)
    };
    tickets.into_iter().map(answer).collect()
}

pub(crate) fn told_answer(told: Told) -> ToldAnswer {
    let effect = match told.effect {
        Effect::Waits => "waits",
        Effect::Completed => "completed",
        Effect::Counted => "counted",
        Effect::Stale => "stale",
        Effect::Repeated => "repeated",
    };
    (effect, told.status.map(status_number), told.improvement)
}

/// The result of a ticket in arrays of Python.
pub(crate) fn answer<'a>(
    objective: f64,
    measures: &'a PyReadonlyArray1<'_, f64>,
    jacobian: Option<&'a PyReadonlyArray2<'_, f64>>,
) -> PyResult<Answer<'a>> {
    let jacobian = jacobian.map(slice).transpose()?;
    Ok(Answer { jacobian, ..Answer::new(objective, slice(measures)?) })
}

/// How many numbers each extra column of a run has.
pub(crate) fn extra_widths(config: &SchedulerConfig) -> Vec<usize> {
    config.archive.extra_columns.iter().map(|column| column.width).collect()
}

/// The extras of a row, which lie one after the other, by column.
pub(crate) fn columns<'a>(extras: &'a [f64], widths: &[usize]) -> PyResult<Vec<ColumnData<'a>>> {
    let expected: usize = widths.iter().sum();
    if extras.len() != expected {
        let message = format!("expected {expected} numbers in extra fields, found {}", extras.len());
        return Err(PyValueError::new_err(message));
    }
    let mut rest = extras;
    let mut take = |&width: &usize| {
        let (column, later) = rest.split_at(width);
        rest = later;
        ColumnData::F64(column)
    };
    Ok(widths.iter().map(&mut take).collect())
}

fn kind_name(kind: TicketKind) -> &'static str {
    match kind {
        TicketKind::Value => "value",
        TicketKind::Gradient => "gradient",
    }
}
