//! Rankers by Pareto fronts: non-dominated sorting with crowding distance (Deb et al., 2002, NSGA-II).

use super::{Column, RankOutcome, Ranker};
use crate::emitter::Feedback;
use crate::error::CheckpointError;
use crate::restart::FLATNESS;
use crate::strategy::expect_len;

/// Ranks by Pareto fronts of novelty, local competition and perhaps a third value, all maximised; within a front the
/// rows with the emptiest surroundings come first.
#[derive(Clone, Debug)]
pub struct ParetoRanker {
    diversity: Option<String>,
    /// The rows that have a value.
    rows: Vec<usize>,
    /// Their values, one column after the other.
    columns: Vec<Vec<f64>>,
}

impl ParetoRanker {
    /// A ranker by novelty and local competition, and by the column of this name as third value.
    pub fn new(diversity: Option<String>) -> Self {
        let n_columns = if diversity.is_some() { 3 } else { 2 };
        Self { diversity, rows: Vec::new(), columns: vec![Vec::new(); n_columns] }
    }

    /// The feedback's columns.
    fn values<'a>(&self, feedback: &Feedback<'a>) -> impl Iterator<Item = &'a [f64]> {
        let third = self.diversity.as_deref().map(|name| feedback.named(name));
        let columns = [Some(feedback.novelty), Some(feedback.local_competition), third];
        columns.into_iter().flatten().map(|column| column.expect("the feedback has every column its ranker requires"))
    }
}

impl Ranker for ParetoRanker {
    fn rank(&mut self, feedback: &Feedback<'_>, ranking: &mut Vec<usize>) -> RankOutcome {
        let mut rows = std::mem::take(&mut self.rows);
        let mut columns = std::mem::take(&mut self.columns);
        rows.clear();
        rows.extend((0..feedback.n_rows()).filter(|&row| feedback.has_value(row)));
        for (column, values) in columns.iter_mut().zip(self.values(feedback)) {
            column.clear();
            // Minus zero becomes zero, which it is equal to.
            column.extend(rows.iter().map(|&row| values[row] + 0.0));
        }
        ranking.clear();
        for mut front in pareto_fronts(&columns) {
            sort_by_crowding(&columns, &mut front);
            ranking.extend(front.into_iter().map(|i| rows[i]));
        }
        // Unlike pyribs, which compares the first and the last row alone: these may be alike when others are not.
        let is_flat = rows.len() >= 2 && columns.iter().all(|column| span(column) < FLATNESS);
        self.rows = rows;
        self.columns = columns;
        RankOutcome::alike_if(is_flat)
    }

    fn requires(&self) -> Vec<Column> {
        let mut columns = vec![Column::Novelty, Column::LocalCompetition];
        columns.extend(self.diversity.clone().map(Column::Named));
        columns
    }

    /// Nothing: a ranking depends on its own rows alone.
    fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        Ok(Vec::new())
    }

    fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        expect_len("Pareto ranker", 0, bytes.len())
    }
}

/// The rows of these columns by Pareto front: those that no other row beats, then those that only the first beat, and so
/// on. A row beats another if it is at least as large in all columns and larger in one.
///
/// Within a front rows are in the order in which the sort of Deb et al. finds them, which is that of pyribs: those
/// dominated by the first row of the front before come first.
fn pareto_fronts(columns: &[Vec<f64>]) -> Vec<Vec<usize>> {
    let n_rows = columns.first().map_or(0, Vec::len);
    let beats = |a: usize, b: usize| {
        columns.iter().all(|column| column[a] >= column[b]) && columns.iter().any(|column| column[a] > column[b])
    };
    let mut n_better: Vec<usize> =
        (0..n_rows).map(|row| (0..n_rows).filter(|&other| beats(other, row)).count()).collect();
    let mut fronts = Vec::new();
    let mut front: Vec<usize> = (0..n_rows).filter(|&row| n_better[row] == 0).collect();
    while !front.is_empty() {
        let mut next = Vec::new();
        for &row in &front {
            for other in (0..n_rows).filter(|&other| beats(row, other)) {
                n_better[other] -= 1;
                if n_better[other] == 0 {
                    next.push(other);
                }
            }
        }
        fronts.push(std::mem::replace(&mut front, next));
    }
    fronts
}

/// Sorts a front by crowding distance, the largest first; ties keep their order (Deb et al., 2002, Section III.B).
fn sort_by_crowding(columns: &[Vec<f64>], front: &mut [usize]) {
    let n = front.len();
    let mut distances = vec![0.0; n];
    let mut order: Vec<usize> = (0..n).collect();
    for column in columns {
        let value = |i: usize| column[front[i]];
        // From the largest on: of equals, the first is at the top and the last at the bottom.
        order.sort_unstable();
        order.sort_by(|&a, &b| value(b).total_cmp(&value(a)));
        let top = order[0];
        let bottom = order[n - 1];
        let span = value(top) - value(bottom);
        if span > 0.0 && span.is_finite() {
            for neighbours in order.windows(3) {
                distances[neighbours[1]] += (value(neighbours[0]) - value(neighbours[2])) / span;
            }
        }
        distances[top] = f64::INFINITY;
        distances[bottom] = f64::INFINITY;
    }
    order.sort_unstable();
    order.sort_by(|&a, &b| distances[b].total_cmp(&distances[a]));
    let sorted: Vec<usize> = order.iter().map(|&i| front[i]).collect();
    front.copy_from_slice(&sorted);
}

/// Largest minus smallest value; zero for equal values, also infinite ones.
fn span(column: &[f64]) -> f64 {
    let largest = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let smallest = column.iter().copied().fold(f64::INFINITY, f64::min);
    if largest == smallest { 0.0 } else { largest - smallest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fronts_peel_off_one_by_one() {
        // 0 and 1 beat nobody alike; 2 is beaten by both, 3 by all.
        let columns = [vec![3.0, 1.0, 1.0, 0.0], vec![1.0, 3.0, 1.0, 0.0]];
        assert_eq!(pareto_fronts(&columns), [vec![0, 1], vec![2], vec![3]]);
        assert_eq!(pareto_fronts(&[vec![1.0; 3], vec![2.0; 3]]), [vec![0, 1, 2]], "equal rows do not beat each other");
        assert!(pareto_fronts(&[Vec::new(), Vec::new()]).is_empty());
    }

    #[test]
    fn the_ends_of_a_front_come_first_then_the_emptiest_places() {
        // On a line: the gaps around rows 2 and 3 are 4 and 5 of 9, around row 1 it is 2.
        let columns = [vec![0.0, 1.0, 2.0, 5.0, 9.0], vec![9.0, 8.0, 7.0, 4.0, 0.0]];
        let mut front = vec![0, 1, 2, 3, 4];
        sort_by_crowding(&columns, &mut front);
        assert_eq!(front, [0, 4, 3, 2, 1]);
    }

    #[test]
    fn infinite_values_leave_a_ranking() {
        let columns = [vec![f64::INFINITY, f64::INFINITY, 1.0, 2.0], vec![0.0, 1.0, 5.0, 4.0]];
        let fronts = pareto_fronts(&columns);
        assert_eq!(fronts, [vec![1, 2, 3], vec![0]]);
        let mut front = fronts[0].clone();
        sort_by_crowding(&columns, &mut front);
        front.sort_unstable();
        assert_eq!(front, [1, 2, 3]);
        assert_eq!(span(&[f64::INFINITY; 2]), 0.0);
    }
}
