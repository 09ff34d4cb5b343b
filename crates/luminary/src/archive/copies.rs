//! Rows of a batch on their way into the slots they were given.
//!
//! Rows are judged in order, and that is quick; most of the time of adding goes into copying solutions to places all over
//! the archive's memory. Slots are distinct by then, so that pieces of the work own ranges of them.

use super::Batch;
use crate::scheduler::Threads;

/// What is copied by one thread at a time, in numbers: less is not worth waking another for.
const GRAIN: usize = 4096;

/// A row of a batch and the slot that it was given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copy {
    pub(super) slot: u32,
    pub(super) row: u32,
}

/// A range of slots, from `first` on.
pub(super) struct Slots<'a> {
    pub(super) first: usize,
    pub(super) solutions: &'a mut [f64],
    pub(super) measures: &'a mut [f64],
    pub(super) solution_dim: usize,
    pub(super) measure_dim: usize,
}

impl<'a> Slots<'a> {
    fn split_at(self, slot: usize) -> (Self, Self) {
        let Self { first, solutions, measures, solution_dim, measure_dim } = self;
        let (solutions, other_solutions) = solutions.split_at_mut((slot - first) * solution_dim);
        let (measures, other_measures) = measures.split_at_mut((slot - first) * measure_dim);
        let other = Self { first: slot, solutions: other_solutions, measures: other_measures, ..self };
        (Self { first, solutions, measures, solution_dim, measure_dim }, other)
    }

    fn copy(&mut self, batch: &Batch<'_>, Copy { slot, row }: Copy) {
        copy_row(self.solutions, slot as usize - self.first, batch.solutions, row as usize, self.solution_dim);
        copy_row(self.measures, slot as usize - self.first, batch.measures, row as usize, self.measure_dim);
    }

    /// Copies rows into slots that are distinct and in range; the copies are left in another order.
    pub(super) fn copy_all(mut self, threads: Threads, batch: &Batch<'_>, copies: &mut [Copy]) {
        if threads == Threads::One || copies.len() < 2 || copies.len() * self.solution_dim <= GRAIN {
            copies.iter().for_each(|&copy| self.copy(batch, copy));
            return;
        }
        let middle = copies.len() / 2;
        let slot = copies.select_nth_unstable_by_key(middle, |copy| copy.slot).1.slot;
        let (left_copies, right_copies) = copies.split_at_mut(middle);
        let (left, right) = self.split_at(slot as usize);
        threads.join(|| left.copy_all(threads, batch, left_copies), || right.copy_all(threads, batch, right_copies));
    }
}

fn copy_row(out: &mut [f64], at: usize, from: &[f64], row: usize, width: usize) {
    out[at * width..][..width].copy_from_slice(&from[row * width..][..width]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_threads_copies_the_same_rows() {
        let (n_slots, n_rows, solution_dim, measure_dim) = (1000, 400, 37, 2);
        let numbers = |n: usize| (0..n).map(|i| i as f64 + 0.5).collect::<Vec<f64>>();
        let rows = [numbers(n_rows * solution_dim), numbers(n_rows), numbers(n_rows * measure_dim)];
        let batch = Batch { solutions: &rows[0], objectives: &rows[1], measures: &rows[2], extras: &[] };
        let copied = |threads: Threads| {
            let mut solutions = vec![0.0; n_slots * solution_dim];
            let mut measures = vec![0.0; n_slots * measure_dim];
            let slots =
                Slots { first: 0, solutions: &mut solutions, measures: &mut measures, solution_dim, measure_dim };
            // 7 and 1000 have no common divisor, so these are distinct.
            let mut copies: Vec<Copy> =
                (0..n_rows as u32).map(|row| Copy { slot: (3 + 7 * row) % n_slots as u32, row }).collect();
            slots.copy_all(threads, &batch, &mut copies);
            (solutions, measures)
        };
        let (solutions, measures) = copied(Threads::One);
        assert_eq!(solutions[3 * solution_dim..][..solution_dim], rows[0][..solution_dim]);
        assert_eq!(measures[10 * measure_dim..][..measure_dim], rows[2][measure_dim..][..measure_dim]);
        #[cfg(feature = "rayon")]
        for n_threads in [1, 2, 4] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            let with_pool = pool.install(|| copied(Threads::Pool));
            assert!(with_pool == (solutions.clone(), measures.clone()), "{n_threads} threads");
        }
    }
}
