//! What emitters may know of an archive.

use luminary_math::WideRng;

use crate::archive::Archive;

/// An archive as emitters see it: read-only.
pub trait EliteSource: Sync {
    /// Number of elites.
    fn n_elites(&self) -> usize;

    /// The solution of the `i`-th elite, `i < n_elites()`. Cheaper than [`elite`](Self::elite).
    fn elite_solution(&self, i: usize) -> &[f64];

    /// Everything about the `i`-th elite, `i < n_elites()`.
    fn elite(&self, i: usize) -> EliteView<'_>;

    /// Draws an elite, uniformly unless the archive has a way of its own, or `None` while there is none. An archive
    /// that draws otherwise overrides this method alone; the other ways to draw go through it.
    fn draw_index(&self, rng: &mut WideRng) -> Option<usize> {
        match self.n_elites() {
            0 => None,
            n => Some(rng.below(n)),
        }
    }

    /// The solution of a drawn elite, or `None` while there is none. Cheaper than [`draw`](Self::draw).
    fn draw_solution(&self, rng: &mut WideRng) -> Option<&[f64]> {
        self.draw_index(rng).map(|i| self.elite_solution(i))
    }

    /// Draws a solution of which another evaluation would tell most, or `None` while there is nothing: an elite, unless the
    /// archive knows of noise.
    fn draw_doubtful(&self, rng: &mut WideRng) -> Option<&[f64]> {
        self.draw_solution(rng)
    }

    /// Standard deviation of the objective between evaluations of the same solution; zero unless the archive knows of noise.
    fn noise_deviation(&self) -> f64 {
        0.0
    }

    /// Draws an elite, or `None` while there is none.
    fn draw(&self, rng: &mut WideRng) -> Option<EliteView<'_>> {
        self.draw_index(rng).map(|i| self.elite(i))
    }
}

/// One elite.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct EliteView<'a> {
    /// The solution.
    pub solution: &'a [f64],
    /// Its objective.
    pub objective: f64,
    /// Its measures.
    pub measures: &'a [f64],
    /// How many rows have landed in its cell, if the archive counts them.
    pub visits: Option<u64>,
    /// How long it has been an elite, if the archive knows.
    pub age: Option<u64>,
}

impl<'a> EliteView<'a> {
    /// An elite of which no visits and no age are known.
    pub fn new(solution: &'a [f64], objective: f64, measures: &'a [f64]) -> Self {
        Self { solution, objective, measures, visits: None, age: None }
    }

    /// The same with its visits.
    pub fn with_visits(self, visits: u64) -> Self {
        Self { visits: Some(visits), ..self }
    }

    /// The same with its age.
    pub fn with_age(self, age: u64) -> Self {
        Self { age: Some(age), ..self }
    }
}

impl<A: Archive> EliteSource for A {
    fn n_elites(&self) -> usize {
        self.len()
    }

    fn elite_solution(&self, i: usize) -> &[f64] {
        self.nth_elite(i).solution
    }

    fn draw_doubtful(&self, rng: &mut WideRng) -> Option<&[f64]> {
        Archive::draw_doubtful(self, rng)
    }

    fn noise_deviation(&self) -> f64 {
        Archive::noise_deviation(self)
    }

    fn elite(&self, i: usize) -> EliteView<'_> {
        let elite = self.nth_elite(i);
        let view = EliteView::new(elite.solution, elite.objective, elite.measures);
        EliteView { visits: elite.visits, age: elite.age, ..view }
    }
}
