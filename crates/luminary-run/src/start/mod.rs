//! Elites to start from: those of other runs, or of tables as `export` writes them.
//!
//! A run that starts from elites keeps a copy of them in its folder, so that it can be resumed, and started again from its
//! beginning, whatever becomes of where they came from.

mod merge;
#[cfg(feature = "parquet")]
mod parquet;
mod table;

use std::fs;
use std::io::Write;
use std::path::Path;

use luminary::archive::{Batch, ColumnData, ExtraColumn};
use luminary::scheduler::Scheduler;

pub use merge::merge;

use crate::config::{Goal, RunConfig};
#[cfg(feature = "parquet")]
use crate::disk::open_regular;
use crate::error::RunError;
use crate::export::{self, Which, column_names};
use crate::folder::{Manifest, RunFolder, START, replace};
use table::Columns;

/// Elites as plain numbers, row by row. Objectives have the user's sign.
#[derive(Clone, Debug, PartialEq)]
pub struct Elites {
    /// Objectives.
    pub objectives: Vec<f64>,
    /// Measures.
    pub measures: Vec<f64>,
    /// Solutions.
    pub solutions: Vec<f64>,
    /// One buffer for each extra column of the run.
    pub extras: Vec<Vec<f64>>,
}

const NO_ELITE: &str = "expected at least one elite, found none";

/// What the rows of a run look like.
struct Shape {
    solution_dim: usize,
    measure_dim: usize,
    columns: Vec<ExtraColumn>,
    goal: Goal,
}

impl Shape {
    fn of(config: &RunConfig) -> Result<Self, RunError> {
        let spec = config.problem.spec()?;
        Ok(Self {
            solution_dim: spec.solution_dim,
            measure_dim: spec.measure_dim(),
            columns: config.problem.extra_columns(),
            goal: config.goal(),
        })
    }
}

impl Elites {
    /// Reads everything that a configuration starts from; none if it starts from nothing.
    ///
    /// # Errors
    /// What is neither a run nor a table, and elites that are not of this run's shape or goal.
    pub fn read(config: &RunConfig) -> Result<Option<Self>, RunError> {
        if config.archive.from.is_empty() {
            return Ok(None);
        }
        let shape = Shape::of(config)?;
        let mut all = Self::empty(&shape);
        for path in &config.archive.from {
            let some = if path.is_dir() { of_run(path, &shape) } else { of_table(path, &shape) }?;
            if some.objectives.is_empty() {
                return Err(refused(path, NO_ELITE));
            }
            all.append(some);
        }
        Ok(Some(all))
    }

    /// What the run in this folder started from: its own copy or, if it was killed before it had one, what the
    /// configuration says.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(crate) fn of_folder(folder: &Path, config: &RunConfig) -> Result<Option<Self>, RunError> {
        let copy = folder.join(START);
        match !config.archive.from.is_empty() && copy.exists() {
            true => of_table(&copy, &Shape::of(config)?).map(Some),
            false => Self::read(config),
        }
    }

    /// Writes the copy that a run folder keeps. Numbers read back to the same bits.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn write_copy(&self, folder: &RunFolder, config: &RunConfig) -> Result<(), RunError> {
        let path = folder.file(START);
        let shape = Shape::of(config)?;
        let written = replace(folder.disk(), &path, |writer| self.write_csv(&shape, writer));
        written.map_err(RunError::io("write", &path))
    }

    /// Puts the elites into the archives of a run that has not begun.
    ///
    /// # Errors
    /// Elites that the archive refuses.
    pub fn inject(&self, scheduler: &mut Scheduler, config: &RunConfig) -> Result<(), RunError> {
        let goal = config.goal();
        let objectives: Vec<f64> = self.objectives.iter().map(|&objective| goal.turn(objective)).collect();
        let extras: Vec<_> = self.extras.iter().map(|values| ColumnData::F64(values)).collect();
        let batch =
            Batch { solutions: &self.solutions, objectives: &objectives, measures: &self.measures, extras: &extras };
        let fail = |error: luminary::error::CallError| refused(&config.archive.from[0], &error.to_string());
        scheduler.inject(&batch).map(drop).map_err(fail)
    }

    fn empty(shape: &Shape) -> Self {
        let extras = vec![Vec::new(); shape.columns.len()];
        Self { objectives: Vec::new(), measures: Vec::new(), solutions: Vec::new(), extras }
    }

    fn append(&mut self, other: Self) {
        self.objectives.extend(other.objectives);
        self.measures.extend(other.measures);
        self.solutions.extend(other.solutions);
        self.extras.iter_mut().zip(other.extras).for_each(|(all, some)| all.extend(some));
    }

    fn write_csv(&self, shape: &Shape, writer: &mut impl Write) -> std::io::Result<()> {
        let numbered = |name: &str, n: usize| (0..n).map(|i| format!("{name}_{i}")).collect::<Vec<_>>();
        let mut names = vec!["objective".to_owned()];
        names.extend(numbered("measures", shape.measure_dim));
        names.extend(shape.columns.iter().flat_map(|column| column_names(&column.name, column.width)));
        names.extend(numbered("solution", shape.solution_dim));
        writeln!(writer, "{}", names.join(","))?;
        for (row, objective) in self.objectives.iter().enumerate() {
            let part = |values: &'_ [f64], width: usize| values[row * width..][..width].to_vec();
            let mut numbers = vec![*objective];
            numbers.extend(part(&self.measures, shape.measure_dim));
            for (values, column) in self.extras.iter().zip(&shape.columns) {
                numbers.extend(part(values, column.width));
            }
            numbers.extend(part(&self.solutions, shape.solution_dim));
            // `{:?}` writes the shortest digits that read back to the same bits.
            let texts: Vec<String> = numbers.iter().map(|number| format!("{number:?}")).collect();
            writeln!(writer, "{}", texts.join(","))?;
        }
        Ok(())
    }
}

/// The elites of the result archive of a run, as its newest checkpoint has them, in the order of tables.
fn of_run(path: &Path, shape: &Shape) -> Result<Elites, RunError> {
    let config = Manifest::read(path)?.config;
    let found = Shape::of(&config)?;
    check_number(path, "components of a solution", shape.solution_dim, found.solution_dim)?;
    check_number(path, "measures", shape.measure_dim, found.measure_dim)?;
    if found.goal != shape.goal {
        let name = |goal: Goal| match goal {
            Goal::Maximise => "maximises",
            Goal::Minimise => "minimises",
        };
        let message = format!("expected a run that {}, found one that {}", name(shape.goal), name(found.goal));
        return Err(refused(path, &message));
    }
    let place = |wanted: &ExtraColumn| {
        found.columns.iter().position(|column| column == wanted).ok_or_else(|| {
            let message = format!("expected the extra column {:?} of width {}", wanted.name, wanted.width);
            refused(path, &format!("{message}, found none"))
        })
    };
    let places: Vec<usize> = shape.columns.iter().map(place).collect::<Result<_, _>>()?;
    let scheduler = export::load(path)?;
    let archive = Which::Result.of(&scheduler);
    let mut numbered: Vec<_> = archive.elites().enumerate().collect();
    numbered.sort_by_key(|(number, elite)| elite.cell.map_or(*number, |cell| cell.index()));
    let mut elites = Elites::empty(shape);
    for (_, elite) in numbered {
        elites.objectives.push(found.goal.turn(elite.objective));
        elites.measures.extend_from_slice(elite.measures);
        elites.solutions.extend_from_slice(elite.solution);
        for (values, &place) in elites.extras.iter_mut().zip(&places) {
            values.extend_from_slice(elite.extra(place).as_f64().expect("runs have columns of double precision"));
        }
    }
    Ok(elites)
}

/// The rows of a table.
fn of_table(path: &Path, shape: &Shape) -> Result<Elites, RunError> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let columns = match extension {
        "csv" => {
            let text = fs::read_to_string(path).map_err(RunError::io("read", path))?;
            Columns::of_csv(&text)
        }
        #[cfg(feature = "parquet")]
        "parquet" => {
            let file = open_regular(path).map_err(RunError::io("read", path))?;
            parquet::read(file)
        }
        _ => {
            let found = if path.exists() { "another file" } else { "nothing there" };
            Err(format!("expected a run folder, or a table that ends with .csv or .parquet, found {found}"))
        }
    };
    let columns = columns.map_err(|message| refused(path, &message))?;
    elites_of(&columns, shape).map_err(|message| refused(path, &message))
}

fn elites_of(columns: &Columns, shape: &Shape) -> Result<Elites, String> {
    if columns.is_empty() {
        return Err(NO_ELITE.into());
    }
    let extra = |column: &ExtraColumn| {
        let names: Vec<String> = column_names(&column.name, column.width).collect();
        columns.rows(&column.name, &names)
    };
    Ok(Elites {
        objectives: columns.rows("objective", &["objective".to_owned()])?,
        measures: columns.numbered("measures", shape.measure_dim)?,
        solutions: columns.numbered("solution", shape.solution_dim)?,
        extras: shape.columns.iter().map(extra).collect::<Result<_, _>>()?,
    })
}

fn check_number(path: &Path, what: &str, expected: usize, found: usize) -> Result<(), RunError> {
    match expected == found {
        true => Ok(()),
        false => Err(refused(path, &format!("expected {expected} {what}, found {found}"))),
    }
}

fn refused(path: &Path, message: &str) -> RunError {
    RunError::Start { path: path.to_owned(), message: message.to_owned() }
}
