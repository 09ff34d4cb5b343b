//! Products of matrices whose rows have as many numbers as a hidden layer.
//!
//! Every entry is one sum in a fixed order and nothing is fused, so that all instruction sets give the same bits.

use luminary_math::{Level, dispatch};

use super::network::HIDDEN;

/// Rows of a tile, whose sums stay in registers.
const ROWS: usize = 4;
/// Columns of a tile.
const COLUMNS: usize = 16;

/// The left factor of a product, read row by row or column by column.
#[derive(Clone, Copy)]
pub(super) struct Left<'a> {
    values: &'a [f32],
    row_step: usize,
    column_step: usize,
}

impl<'a> Left<'a> {
    /// Rows of `n_columns` numbers, as they are.
    pub(super) fn rows(values: &'a [f32], n_columns: usize) -> Self {
        Self { values, row_step: n_columns, column_step: 1 }
    }

    /// The transpose of rows of `n_numbers` numbers each.
    pub(super) fn transposed(values: &'a [f32], n_numbers: usize) -> Self {
        Self { values, row_step: 1, column_step: n_numbers }
    }

    #[inline(always)]
    fn at(&self, row: usize, column: usize) -> f32 {
        self.values[row * self.row_step + column * self.column_step]
    }
}

/// `out <- start + left right`, where `start` is added to each row.
pub(super) fn multiply(left: Left<'_>, right: &[f32], start: &[f32; HIDDEN], out: &mut [f32]) {
    multiply_at(Level::best(), left, right, start, out);
}

dispatch! {
    fn multiply_at(level: Level, left: Left<'_>, right: &[f32], start: &[f32; HIDDEN], out: &mut [f32]) {
        let n_rows = out.len() / HIDDEN;
        let n_tiled = n_rows - n_rows % ROWS;
        for column in (0..HIDDEN).step_by(COLUMNS) {
            for row in (0..n_tiled).step_by(ROWS) {
                tile::<ROWS>(left, right, start, out, row, column);
            }
            for row in n_tiled..n_rows {
                tile::<1>(left, right, start, out, row, column);
            }
        }
    }
}

#[inline(always)]
fn tile<const N: usize>(
    left: Left<'_>,
    right: &[f32],
    start: &[f32; HIDDEN],
    out: &mut [f32],
    row: usize,
    column: usize,
) {
    let start: &[f32; COLUMNS] = start[column..].first_chunk().expect("tiles lie within a row");
    let mut sums = [*start; N];
    for (k, right) in right.chunks_exact(HIDDEN).enumerate() {
        let right: &[f32; COLUMNS] = right[column..].first_chunk().expect("tiles lie within a row");
        for n in 0..N {
            let factor = left.at(row + n, k);
            for i in 0..COLUMNS {
                sums[n][i] += factor * right[i];
            }
        }
    }
    for n in 0..N {
        out[(row + n) * HIDDEN + column..][..COLUMNS].copy_from_slice(&sums[n]);
    }
}

#[cfg(test)]
mod tests {
    use luminary_math::WideRng;

    use super::*;

    fn numbers(n: usize, seed: u64) -> Vec<f32> {
        let mut rng = WideRng::new(seed);
        (0..n).map(|_| rng.uniform() as f32 - 0.5).collect()
    }

    #[test]
    fn products_agree_with_their_formula_and_all_instruction_sets_with_each_other() {
        for (n_rows, n_columns) in [(1, 1), (3, 2), (4, 5), (7, 128), (32, 10)] {
            let left = numbers(n_rows * n_columns, 1);
            let right = numbers(n_columns * HIDDEN, 2);
            let start: [f32; HIDDEN] = numbers(HIDDEN, 3).try_into().unwrap();
            let mut out = vec![f32::NAN; n_rows * HIDDEN];
            multiply_at(Level::BASELINE, Left::rows(&left, n_columns), &right, &start, &mut out);
            for (at, &found) in out.iter().enumerate() {
                let row = at / HIDDEN;
                let column = at % HIDDEN;
                let mut expected = start[column];
                (0..n_columns).for_each(|k| expected += left[row * n_columns + k] * right[k * HIDDEN + column]);
                assert_eq!(found, expected, "{n_rows} {n_columns} {row} {column}");
            }
            let flipped: Vec<f32> = (0..left.len()).map(|at| left[at % n_rows * n_columns + at / n_rows]).collect();
            for level in Level::available() {
                let mut again = vec![f32::NAN; out.len()];
                multiply_at(level, Left::transposed(&flipped, n_rows), &right, &start, &mut again);
                assert_eq!(again, out, "{level:?}");
            }
        }
    }
}
