//! What all formats write: the rows, and the columns that hold several numbers.

use luminary::archive::{Archive, Elite};

use crate::config::Goal;

/// An archive as a table.
pub(super) struct Table<'a> {
    /// One row each, ordered by cell, so that a table does not depend on when cells were first found.
    pub(super) rows: Vec<Row<'a>>,
    /// What comes after `cell`, `objective`, `threshold` and `visits`.
    pub(super) vectors: Vec<Vector>,
}

/// One row.
pub(super) struct Row<'a> {
    pub(super) cell: u64,
    /// With the user's sign, like the threshold.
    pub(super) objective: f64,
    pub(super) threshold: f64,
    pub(super) visits: u64,
    elite: Elite<'a>,
}

/// A list of numbers that every row has.
pub(super) struct Vector {
    pub(super) name: String,
    pub(super) width: usize,
    /// Whether a list of one is a number: extra columns, but not a single measure or component.
    pub(super) may_be_number: bool,
    source: Source,
}

/// Where the numbers come from.
#[derive(Clone, Copy)]
enum Source {
    Measures,
    /// An extra column, by its position.
    Extra(usize),
    Solution,
}

impl<'a> Table<'a> {
    pub(super) fn of(archive: &'a dyn Archive, goal: Goal) -> Self {
        let row = |(number, elite): (usize, Elite<'a>)| Row {
            cell: elite.cell.map_or(number, |cell| cell.index()) as u64,
            objective: goal.turn(elite.objective),
            threshold: goal.turn(elite.threshold.unwrap_or(elite.objective)),
            visits: elite.visits.unwrap_or(0),
            elite,
        };
        let mut rows: Vec<_> = archive.elites().enumerate().map(row).collect();
        rows.sort_unstable_by_key(|row| row.cell);
        let vector = |name: &str, width, source| {
            let may_be_number = matches!(source, Source::Extra(_));
            Vector { name: name.to_owned(), width, may_be_number, source }
        };
        let mut vectors = vec![vector("measures", archive.measure_dim(), Source::Measures)];
        for (i, column) in archive.extra_columns().iter().enumerate() {
            vectors.push(vector(&column.name, column.width, Source::Extra(i)));
        }
        vectors.push(vector("solution", archive.solution_dim(), Source::Solution));
        Self { rows, vectors }
    }
}

impl<'a> Row<'a> {
    /// The numbers of a vector.
    pub(super) fn values(&self, vector: &Vector) -> &'a [f64] {
        match vector.source {
            Source::Measures => self.elite.measures,
            Source::Extra(column) => {
                self.elite.extra(column).as_f64().expect("runs have extra columns of double precision")
            }
            Source::Solution => self.elite.solution,
        }
    }
}

impl Vector {
    /// Names of the columns, where each number has one of its own.
    pub(super) fn columns(&self) -> Box<dyn Iterator<Item = String> + '_> {
        match self.may_be_number {
            true => Box::new(column_names(&self.name, self.width)),
            false => Box::new((0..self.width).map(|i| format!("{}_{i}", self.name))),
        }
    }
}

/// Columns of extras: the name itself for a single number, `name_0`, `name_1`, ... for several.
pub(crate) fn column_names(name: &str, width: usize) -> impl Iterator<Item = String> {
    (0..width).map(move |i| if width == 1 { name.to_owned() } else { format!("{name}_{i}") })
}
