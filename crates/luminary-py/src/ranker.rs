//! The engine's rankers by their Python names, and the columns that they read.

use luminary::archive::{ColumnData, ExtraColumn, Status};
use luminary::emitter::{Emitter, Feedback, NamedColumns};
use luminary::ranker::{Column, RankerConfig};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;

use crate::convert::{OrRaise, slice};

/// A column of what an archive reported, or of what was told with the rows: its name and one number for each row.
pub(crate) type ColumnArray<'py> = (String, PyReadonlyArray1<'py, f64>);

/// The ranker of this name.
pub(crate) fn ranker_config(name: &str) -> PyResult<RankerConfig> {
    Ok(match name {
        "imp" => RankerConfig::Improvement,
        "2imp" => RankerConfig::TwoStageImprovement,
        "obj" => RankerConfig::Objective,
        "2obj" => RankerConfig::TwoStageObjective,
        "rd" => RankerConfig::RandomDirection,
        "2rd" => RankerConfig::TwoStageRandomDirection,
        "nov" => RankerConfig::ReportedNovelty,
        "density" => RankerConfig::KernelDensity,
        "nslc" => RankerConfig::Nslc { diversity: None },
        "nslc_classic" => RankerConfig::nslc_classic(),
        _ => return Err(PyValueError::new_err(format!("expected a native ranker, found {name:?}"))),
    })
}

/// Rows from best to worst by Pareto fronts of novelty, local competition and perhaps a third value.
#[pyfunction]
#[pyo3(signature = (novelty, local_competition, diversity=None))]
pub(crate) fn pareto_order<'py>(
    py: Python<'py>,
    novelty: PyReadonlyArray1<'py, f64>,
    local_competition: PyReadonlyArray1<'py, f64>,
    diversity: Option<PyReadonlyArray1<'py, f64>>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let third = "diversity".to_owned();
    let ranker = RankerConfig::Nslc { diversity: diversity.as_ref().map(|_| third.clone()) };
    let mut ranker = ranker.build(&[]).or_raise()?;
    let mut arrays = vec![("novelty".to_owned(), novelty), ("local_competition".to_owned(), local_competition)];
    arrays.extend(diversity.map(|diversity| (third, diversity)));
    let n_rows = slice(&arrays[0].1)?.len();
    let columns = Columns::new(&arrays, n_rows)?;
    let zeros = vec![0.0; n_rows];
    let status = vec![Status::Rejected; n_rows];
    let feedback = columns.in_feedback(Feedback::new(&[], &zeros, &[], &status, &zeros));
    let mut ranking = Vec::new();
    ranker.rank(&feedback, &mut ranking);
    Ok(PyArray1::from_iter(py, ranking.into_iter().map(|row| row as i64)))
}

/// The columns of a feedback beside those that every archive reports.
pub(crate) struct Columns<'a> {
    columns: Vec<ExtraColumn>,
    values: Vec<ColumnData<'a>>,
}

impl<'a> Columns<'a> {
    /// Checks that each column has one number for each row.
    pub(crate) fn new(arrays: &'a [ColumnArray<'_>], n_rows: usize) -> PyResult<Self> {
        let mut values = Vec::new();
        for (name, array) in arrays {
            let column = slice(array)?;
            if column.len() != n_rows {
                let found = column.len();
                return Err(PyValueError::new_err(format!("expected {n_rows} values of {name}, found {found}")));
            }
            values.push(ColumnData::F64(column));
        }
        Ok(Self { columns: arrays.iter().map(|(name, _)| ExtraColumn::new(name.as_str(), 1)).collect(), values })
    }

    /// Refuses an emitter that would read another column.
    pub(crate) fn check(&self, emitter: &dyn Emitter) -> PyResult<()> {
        let is_missing = |column: &Column| name_of(column).is_none_or(|name| self.get(name).is_none());
        match emitter.requires().iter().find(|column| is_missing(column)) {
            Some(column) => Err(PyKeyError::new_err(format!("expected the {column} of each row, found none"))),
            None => Ok(()),
        }
    }

    /// The feedback with these columns.
    pub(crate) fn in_feedback(&'a self, feedback: Feedback<'a>) -> Feedback<'a> {
        let mut feedback = feedback.with_extras(NamedColumns::new(&self.columns, &self.values, 0));
        feedback.novelty = self.get("novelty");
        feedback.local_competition = self.get("local_competition");
        feedback.density = self.get("density");
        feedback
    }

    fn get(&self, name: &str) -> Option<&'a [f64]> {
        let position = self.columns.iter().position(|column| column.name == name)?;
        self.values[position].as_f64()
    }
}

/// What Python calls a column; none for columns that no archive of Python's reports.
fn name_of(column: &Column) -> Option<&str> {
    match column {
        Column::Novelty => Some("novelty"),
        Column::LocalCompetition => Some("local_competition"),
        Column::Density => Some("density"),
        Column::Named(name) => Some(name),
        _ => None,
    }
}
