//! Scores sorted into cells, one for each algorithm in each domain.

use super::error::{Factor, StatisticsError};

/// One score: a value that an algorithm reached in a domain in one trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation<'a> {
    /// The algorithm.
    pub algorithm: &'a str,
    /// The domain.
    pub domain: &'a str,
    /// The score, such as the normalised QD score.
    pub value: f64,
}

/// Scores of at least two algorithms in at least two domains, all finite and with no cell empty.
#[derive(Clone, Debug)]
pub struct ScoreTable {
    algorithms: Vec<String>,
    domains: Vec<String>,
    /// Row-major: the cell of algorithm `a` in domain `d` is `a * n_domains + d`.
    cells: Vec<Cell>,
}

/// What the analyses need to know of a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    /// Number of observations.
    pub(super) n: f64,
    pub(super) mean: f64,
    /// Sum of squared deviations from the mean.
    pub(super) within: f64,
}

impl ScoreTable {
    /// Sorts observations into cells. Algorithms and domains keep the order in which they first appear.
    ///
    /// # Errors
    ///
    /// Values that are not finite, fewer than two algorithms or domains, and empty cells are refused.
    pub fn new(observations: &[Observation<'_>]) -> Result<Self, StatisticsError> {
        let (mut algorithms, mut domains) = (Vec::new(), Vec::new());
        let mut places = Vec::with_capacity(observations.len());
        for (index, &Observation { algorithm, domain, value }) in observations.iter().enumerate() {
            if !value.is_finite() {
                let (algorithm, domain) = (algorithm.to_owned(), domain.to_owned());
                return Err(StatisticsError::NotFinite { algorithm, domain, value, index });
            }
            places.push((level(&mut algorithms, algorithm), level(&mut domains, domain)));
        }
        for (factor, found) in [(Factor::Algorithm, algorithms.len()), (Factor::Domain, domains.len())] {
            if found < 2 {
                return Err(StatisticsError::TooFewLevels { factor, found });
            }
        }
        let mut values = vec![Vec::new(); algorithms.len() * domains.len()];
        for (&(a, d), observation) in places.iter().zip(observations) {
            values[a * domains.len() + d].push(observation.value);
        }
        if let Some(empty) = values.iter().position(Vec::is_empty) {
            return Err(StatisticsError::EmptyCell {
                algorithm: algorithms[empty / domains.len()].clone(),
                domain: domains[empty % domains.len()].clone(),
            });
        }
        Ok(Self { cells: values.iter().map(|values| Cell::of(values)).collect(), algorithms, domains })
    }

    /// The algorithms, in the order in which they first appeared.
    pub fn algorithms(&self) -> &[String] {
        &self.algorithms
    }

    /// The domains, in the order in which they first appeared.
    pub fn domains(&self) -> &[String] {
        &self.domains
    }

    /// The cell of an algorithm in a domain, both by their place.
    pub(super) fn cell(&self, algorithm: usize, domain: usize) -> Cell {
        self.cells[algorithm * self.domains.len() + domain]
    }

    /// All cells.
    pub(super) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The place of a domain.
    pub(super) fn domain_idx(&self, domain: &str) -> Result<usize, StatisticsError> {
        let place = self.domains.iter().position(|known| known == domain);
        place.ok_or_else(|| StatisticsError::UnknownDomain { domain: domain.into(), known: self.domains.join(", ") })
    }
}

impl Cell {
    fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        // Deviations from the first value rather than the values themselves: equal values then have their own value as
        // the mean, to the bit, and a variance of exactly zero.
        let origin = values[0];
        let mean = origin + values.iter().map(|value| value - origin).sum::<f64>() / n;
        let within = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        Self { n, mean, within }
    }
}

/// The place of `name` among the levels of a factor; a new name becomes the last level.
fn level(levels: &mut Vec<String>, name: &str) -> usize {
    levels.iter().position(|known| known == name).unwrap_or_else(|| {
        levels.push(name.to_owned());
        levels.len() - 1
    })
}
