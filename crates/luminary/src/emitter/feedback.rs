//! What an emitter is told about the rows it was asked for.

use crate::archive::{ColumnData, ExtraColumn, Status};

/// What became of rows, row by row. Columns that not every archive reports are absent unless somebody asked for them.
///
/// A row with [`Status::Invalid`] has no value: its evaluation failed, was not finite, or never came back. Its other
/// columns mean nothing.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Feedback<'a> {
    /// `n_rows x solution_dim`.
    pub solutions: &'a [f64],
    /// `n_rows`.
    pub objectives: &'a [f64],
    /// `n_rows x measure_dim`.
    pub measures: &'a [f64],
    /// What became of each row.
    pub status: &'a [Status],
    /// Improvement over the threshold.
    pub delta: &'a [f64],
    /// Visits of the row's cell before it.
    pub visits: Option<&'a [u64]>,
    /// Mean distance to the nearest elites before the batch.
    pub novelty: Option<&'a [f64]>,
    /// How many of the nearest elites the row beats.
    pub local_competition: Option<&'a [f64]>,
    /// Mean distance to the nearest fitter rows; infinite for a row that none beats.
    pub dominated_novelty: Option<&'a [f64]>,
    /// How densely rows lay around it before the batch.
    pub density: Option<&'a [f64]>,
    /// Further columns that the archive reports, by name.
    pub reported: NamedColumns<'a>,
    /// The extra values that were told with the rows, by name.
    pub extras: NamedColumns<'a>,
}

impl<'a> Feedback<'a> {
    /// Feedback with the columns that every archive reports. The others are added by the `with_` methods.
    pub fn new(
        solutions: &'a [f64],
        objectives: &'a [f64],
        measures: &'a [f64],
        status: &'a [Status],
        delta: &'a [f64],
    ) -> Self {
        Self {
            solutions,
            objectives,
            measures,
            status,
            delta,
            visits: None,
            novelty: None,
            local_competition: None,
            dominated_novelty: None,
            density: None,
            reported: NamedColumns::default(),
            extras: NamedColumns::default(),
        }
    }

    /// The same with the visits of each row's cell.
    pub fn with_visits(self, visits: &'a [u64]) -> Self {
        Self { visits: Some(visits), ..self }
    }

    /// The same with the novelty of each row.
    pub fn with_novelty(self, novelty: &'a [f64]) -> Self {
        Self { novelty: Some(novelty), ..self }
    }

    /// The same with the number of neighbours each row beats.
    pub fn with_local_competition(self, local_competition: &'a [f64]) -> Self {
        Self { local_competition: Some(local_competition), ..self }
    }

    /// The same with the dominated novelty of each row.
    pub fn with_dominated_novelty(self, dominated_novelty: &'a [f64]) -> Self {
        Self { dominated_novelty: Some(dominated_novelty), ..self }
    }

    /// The same with the density around each row.
    pub fn with_density(self, density: &'a [f64]) -> Self {
        Self { density: Some(density), ..self }
    }

    /// The same with further columns of the archive's report.
    pub fn with_reported(self, reported: NamedColumns<'a>) -> Self {
        Self { reported, ..self }
    }

    /// The same with the extra values told with the rows.
    pub fn with_extras(self, extras: NamedColumns<'a>) -> Self {
        Self { extras, ..self }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.objectives.len()
    }

    /// The measures of one row.
    pub fn measures_of(&self, row: usize) -> &'a [f64] {
        let width = self.measures.len() / self.n_rows();
        &self.measures[row * width..][..width]
    }

    /// Whether a row has a value, so that it can be ranked.
    pub fn has_value(&self, row: usize) -> bool {
        self.status[row] != Status::Invalid
    }

    /// Number of rows that changed the archive.
    pub fn n_accepted(&self) -> usize {
        self.status.iter().filter(|status| status.is_accepted()).count()
    }

    /// The column of this name, one number a row: of the archive's report, or else of the extra values.
    pub fn named(&self, name: &str) -> Option<&'a [f64]> {
        let n_rows = self.n_rows();
        self.reported.get(name, n_rows).or_else(|| self.extras.get(name, n_rows))
    }
}

/// Columns with names: the rows of a feedback within buffers of all rows.
#[derive(Clone, Copy, Debug, Default)]
pub struct NamedColumns<'a> {
    columns: &'a [ExtraColumn],
    values: &'a [ColumnData<'a>],
    first_row: usize,
}

impl<'a> NamedColumns<'a> {
    /// Columns with one buffer each, of which the feedback's rows start at `first_row`.
    pub fn new(columns: &'a [ExtraColumn], values: &'a [ColumnData<'a>], first_row: usize) -> Self {
        Self { columns, values, first_row }
    }

    /// The values of `n_rows` rows, if there is such a column of numbers of double precision.
    fn get(&self, name: &str, n_rows: usize) -> Option<&'a [f64]> {
        let position = self.columns.iter().position(|column| column.name == name)?;
        let width = self.columns[position].width;
        let values = self.values.get(position)?.as_f64()?;
        Some(&values[self.first_row * width..][..n_rows * width])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_columns_are_cut_to_the_rows_and_the_report_comes_first() {
        let columns = [ExtraColumn::new("age", 1), ExtraColumn::new("gait", 2)];
        let age = [0.0, 1.0, 2.0, 3.0];
        let gait = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5];
        let values = [ColumnData::F64(&age), ColumnData::F64(&gait)];
        let extras = NamedColumns::new(&columns, &values, 2);
        let status = [Status::New; 2];
        let feedback = Feedback::new(&[], &[0.0; 2], &[0.0; 2], &status, &[0.0; 2]).with_extras(extras);
        assert_eq!(feedback.named("age"), Some(&[2.0, 3.0][..]));
        assert_eq!(feedback.named("gait"), Some(&[2.0, 2.5, 3.0, 3.5][..]));
        assert_eq!(feedback.named("height"), None);
        let reported_age = [7.0, 8.0];
        let reported_values = [ColumnData::F64(&reported_age)];
        let feedback = feedback.with_reported(NamedColumns::new(&columns[..1], &reported_values, 0));
        assert_eq!(feedback.named("age"), Some(&[7.0, 8.0][..]));
    }
}
