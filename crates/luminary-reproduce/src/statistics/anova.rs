//! Two-way analysis of variance with interaction, for any number of observations per cell.

use serde::Serialize;

use super::error::StatisticsError;
use super::p_value::PValue;
use super::table::{Cell, ScoreTable};

/// An F test: the variance that an effect explains against the variance within cells.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// Sum of squares of the effect.
    pub sum_of_squares: f64,
    /// Degrees of freedom of the effect.
    pub df: usize,
    /// Degrees of freedom of the error term.
    pub df_error: usize,
    /// Mean square of the effect over the mean square of the error.
    pub f: f64,
    /// Probability of an F at least this large without the effect.
    pub p: PValue,
}

/// Two-way analysis of variance of scores over algorithm and domain.
///
/// The two main effects are those of type III, which compare means that give every cell the same weight. For balanced
/// data all types coincide; the interaction, which the paper reports, is the same in all of them in any case.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TwoWayAnova {
    /// Main effect of the algorithm.
    pub algorithm: Effect,
    /// Main effect of the domain.
    pub domain: Effect,
    /// Interaction: whether what the algorithm does to the score depends on the domain.
    pub interaction: Effect,
    /// Mean of the squared deviations within cells: the estimate of the error variance.
    pub mean_square_error: f64,
}

impl ScoreTable {
    /// Two-way analysis of variance with interaction.
    ///
    /// # Errors
    ///
    /// One observation per cell, or no variance within any cell: there is no error term then.
    pub fn two_way_anova(&self) -> Result<TwoWayAnova, StatisticsError> {
        let (n_algorithms, n_domains) = (self.algorithms().len(), self.domains().len());
        let error = ErrorEstimate::of(self.cells().iter().copied(), "all domains")?;
        let algorithm = weighted_squares_of_means(n_algorithms, n_domains, |a, d| self.cell(a, d));
        let domain = weighted_squares_of_means(n_domains, n_algorithms, |d, a| self.cell(a, d));
        let interaction = interaction_sum_of_squares(self);
        Ok(TwoWayAnova {
            algorithm: error.test(algorithm, n_algorithms - 1),
            domain: error.test(domain, n_domains - 1),
            interaction: error.test(interaction, (n_algorithms - 1) * (n_domains - 1)),
            mean_square_error: error.mean_square,
        })
    }
}

impl std::fmt::Display for Effect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "F({}, {}) = {:.2}, {}", self.df, self.df_error, self.f, self.p)
    }
}

/// The error term of F and t tests: the variance within cells.
#[derive(Clone, Copy)]
pub(super) struct ErrorEstimate {
    pub(super) mean_square: f64,
    pub(super) df: usize,
}

impl ErrorEstimate {
    /// Pools the variance within the given cells.
    pub(super) fn of(cells: impl Iterator<Item = Cell>, scope: &str) -> Result<Self, StatisticsError> {
        let (mut n_cells, mut n, mut within) = (0, 0.0, 0.0);
        for cell in cells {
            n_cells += 1;
            n += cell.n;
            within += cell.within;
        }
        let observations = n as usize;
        let scope = scope.to_owned();
        if observations == n_cells {
            return Err(StatisticsError::NoReplicates { scope, observations, cells: n_cells });
        }
        if within == 0.0 {
            return Err(StatisticsError::NoVariance { scope });
        }
        let df = observations - n_cells;
        Ok(Self { mean_square: within / df as f64, df })
    }

    /// The F test of an effect against this error term.
    pub(super) fn test(self, sum_of_squares: f64, df: usize) -> Effect {
        let f = sum_of_squares / df as f64 / self.mean_square;
        Effect { sum_of_squares, df, df_error: self.df, f, p: PValue::of_f(f, df, self.df) }
    }
}

/// Type III sum of squares of the factor that the first argument of `cell` counts: Yates' weighted squares of means.
///
/// A level's mean m_i is the plain average of its cell means. It has the variance sigma^2 / w_i with
/// w_i = n_other^2 / sum_j (1 / n_ij), and the sum of squares is that of the m_i around their mean, weighted by w_i
/// (F. Yates, "The analysis of multiple classifications with unequal numbers in the different classes", 1934).
fn weighted_squares_of_means(n_levels: usize, n_other: usize, cell: impl Fn(usize, usize) -> Cell) -> f64 {
    let others = 0..n_other;
    let mean = |i: usize| others.clone().map(|j| cell(i, j).mean).sum::<f64>() / n_other as f64;
    let weight = |i: usize| (n_other * n_other) as f64 / others.clone().map(|j| 1.0 / cell(i, j).n).sum::<f64>();
    let levels: Vec<(f64, f64)> = (0..n_levels).map(|i| (mean(i), weight(i))).collect();
    let total_weight: f64 = levels.iter().map(|(_, w)| w).sum();
    let centre = levels.iter().map(|(m, w)| w * m).sum::<f64>() / total_weight;
    levels.iter().map(|(m, w)| w * (m - centre) * (m - centre)).sum()
}

/// What an additive model, algorithm effect plus domain effect, leaves unexplained of the cell means.
fn interaction_sum_of_squares(table: &ScoreTable) -> f64 {
    let (n_algorithms, n_domains) = (table.algorithms().len(), table.domains().len());
    let effects = additive_algorithm_effects(table);
    let mut sum = 0.0;
    for d in 0..n_domains {
        let column = || (0..n_algorithms).map(|a| (table.cell(a, d), effects[a]));
        let n: f64 = column().map(|(cell, _)| cell.n).sum();
        let domain_effect = column().map(|(cell, effect)| cell.n * (cell.mean - effect)).sum::<f64>() / n;
        sum += column().map(|(cell, effect)| cell.n * (cell.mean - effect - domain_effect).powi(2)).sum::<f64>();
    }
    sum
}

/// Least squares effects of the algorithms in the additive model, relative to the first algorithm.
///
/// Eliminating the domain effects from the normal equations leaves, for all algorithms a but the first,
/// sum_b (delta_ab n_a. - sum_d n_ad n_bd / n_.d) effect_b = sum_d n_ad (mean_ad - mean_.d).
/// The matrix is positive definite because no cell is empty.
fn additive_algorithm_effects(table: &ScoreTable) -> Vec<f64> {
    let (n_algorithms, n_domains) = (table.algorithms().len(), table.domains().len());
    let order = n_algorithms - 1;
    let mut matrix = vec![vec![0.0; order]; order];
    let mut rhs = vec![0.0; order];
    for d in 0..n_domains {
        let column: Vec<Cell> = (0..n_algorithms).map(|a| table.cell(a, d)).collect();
        let n: f64 = column.iter().map(|cell| cell.n).sum();
        let mean = column.iter().map(|cell| cell.n * cell.mean).sum::<f64>() / n;
        for a in 0..order {
            let row = column[a + 1];
            matrix[a][a] += row.n;
            rhs[a] += row.n * (row.mean - mean);
            for b in 0..order {
                matrix[a][b] -= row.n * column[b + 1].n / n;
            }
        }
    }
    let mut effects = vec![0.0];
    effects.extend(solve_positive_definite(matrix, rhs));
    effects
}

/// Solves a symmetric positive definite system by elimination, which needs no pivoting.
fn solve_positive_definite(mut matrix: Vec<Vec<f64>>, mut rhs: Vec<f64>) -> Vec<f64> {
    let order = rhs.len();
    for pivot in 0..order {
        for row in pivot + 1..order {
            let factor = matrix[row][pivot] / matrix[pivot][pivot];
            for column in pivot..order {
                matrix[row][column] -= factor * matrix[pivot][column];
            }
            rhs[row] -= factor * rhs[pivot];
        }
    }
    for row in (0..order).rev() {
        let known: f64 = (row + 1..order).map(|column| matrix[row][column] * rhs[column]).sum();
        rhs[row] = (rhs[row] - known) / matrix[row][row];
    }
    rhs
}
