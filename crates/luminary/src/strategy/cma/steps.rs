//! The ranked rows of a generation, as steps from where they were drawn.

/// Rows by rank. The equations speak of them as `y_i = (x_i - m) / sigma`, with the mean and the step size that they
/// were drawn with, and `C^(-1/2) y_i` is their z.
#[derive(Clone, Copy)]
pub(super) struct Steps<'a> {
    pub(super) solutions: &'a [f64],
    /// The normal samples behind the solutions.
    pub(super) z: &'a [f64],
    /// Rows, best first.
    pub(super) ranking: &'a [usize],
    pub(super) mean: &'a [f64],
    pub(super) sigma: f64,
}

impl<'a> Steps<'a> {
    /// The best `n_parents` steps, and the others.
    pub(super) fn split_at(self, n_parents: usize) -> (Self, Self) {
        let (parents, others) = self.ranking.split_at(n_parents);
        (Self { ranking: parents, ..self }, Self { ranking: others, ..self })
    }

    /// The solution of a row.
    pub(super) fn x(&self, row: usize) -> &'a [f64] {
        let n = self.mean.len();
        &self.solutions[row * n..][..n]
    }

    /// The normal sample behind a row.
    pub(super) fn z(&self, row: usize) -> &'a [f64] {
        let n = self.mean.len();
        &self.z[row * n..][..n]
    }
}
