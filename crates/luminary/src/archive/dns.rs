//! Dominated novelty search (Bahlous-Boldi, Faldor et al., "Dominated Novelty Search: Rethinking Local Competition in
//! Quality-Diversity", GECCO 2025): a population of limited size whose members are far from fitter ones.

use serde::{Deserialize, Serialize};

use super::nearest::{Neighbour, keep_nearest, mean_distance, squared_distance};
use super::population::{Population, PopulationState};
use super::rows::Rows;
use super::{
    AddReport, Archive, ArchiveConfig, ArchiveStats, Batch, Best, Elite, EliteColumns, ExtraColumn, NonFinite,
    ReportColumn, Status,
};
use crate::error::{CallError, CheckpointError, ConfigError};
use crate::message_pack;

/// Settings of a [`DnsArchive`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DnsConfig {
    /// Where each measure is expected to lie, for figures and rankers; infinite where nothing is known.
    pub measure_bounds: Vec<(f64, f64)>,
    /// Size of the population.
    pub capacity: usize,
    /// How many of the nearest fitter solutions a score looks at.
    pub n_neighbours: usize,
}

/// Of elites and each batch together, the solutions with the highest dominated novelty.
///
/// The dominated novelty of a solution is the mean distance to its nearest fitter neighbours; infinite for one that none
/// beats. As in pyribs, equally good solutions count as fitter. Elites are in ascending order of it, once the population
/// is full.
#[derive(Clone, Debug)]
pub struct DnsArchive {
    config: DnsConfig,
    population: Population,
    /// The elites before a batch.
    before: Rows,
}

impl DnsArchive {
    pub(super) fn new(archive: &ArchiveConfig, config: &DnsConfig) -> Result<Self, ConfigError> {
        let population = Population::new(archive, &config.measure_bounds)?;
        for (what, found) in [("capacity", config.capacity), ("the archive's neighbours", config.n_neighbours)] {
            if found == 0 {
                return Err(ConfigError::TooFew { what, minimum: 1, found });
            }
        }
        let before = population.rows.clone();
        Ok(Self { config: config.clone(), population, before })
    }

    /// The settings the archive was built from.
    pub fn config(&self) -> &DnsConfig {
        &self.config
    }

    /// The elite whose measures are nearest, if there is any.
    ///
    /// # Errors
    /// A wrong number of measures.
    pub fn nearest_elite(&self, measures: &[f64]) -> Result<Option<Elite<'_>>, CallError> {
        Ok(self.nearest_slot(measures)?.map(|slot| self.nth_elite(slot)))
    }

    /// The position of that elite, as in [`nth_elite`](Archive::nth_elite).
    ///
    /// # Errors
    /// A wrong number of measures.
    pub fn nearest_slot(&self, measures: &[f64]) -> Result<Option<usize>, CallError> {
        self.population.nearest_slot(measures)
    }

    /// The dominated novelty of each solution of a population within that population.
    ///
    /// # Errors
    /// Lengths that do not belong together.
    pub fn compute_dominated_novelty(&self, measures: &[f64], objectives: &[f64]) -> Result<Vec<f64>, CallError> {
        let dim = self.measure_dim();
        let expected = objectives.len() * dim;
        if measures.len() != expected {
            let found = measures.len();
            return Err(CallError::Length { what: "measures", shape: "rows x measures", expected, found });
        }
        let solutions: Vec<(&[f64], f64)> =
            measures.chunks_exact(dim).zip(objectives).map(|(measures, &objective)| (measures, objective)).collect();
        Ok(dominated_novelty(&solutions, self.config.n_neighbours))
    }

    /// Makes the chosen solutions the population: elites before the batch by slot, then rows of the batch.
    fn rebuild(&mut self, batch: &Batch<'_>, chosen: &[Candidate]) {
        std::mem::swap(&mut self.before, &mut self.population.rows);
        self.population.forget_elites();
        let extras = self.before.extra_data();
        let elites = self.before.batch(&extras);
        let first = self.population.n_offered;
        for candidate in chosen {
            match *candidate {
                Candidate::Elite(slot) => self.population.push(&elites, slot, self.before.numbers[slot]),
                Candidate::Row(row) => self.population.push(batch, row, first + row as u64),
            }
        }
    }
}

/// Who may be in the population after a batch.
#[derive(Clone, Copy, Debug)]
enum Candidate {
    Elite(usize),
    Row(usize),
}

/// The mean distance of each solution, given as measures and objective, to its nearest ones that are at least as good.
fn dominated_novelty(solutions: &[(&[f64], f64)], n_neighbours: usize) -> Vec<f64> {
    let mut fitter: Vec<Neighbour> = Vec::new();
    let score = |i: usize| {
        let (measures, objective) = solutions[i];
        let others = solutions.iter().enumerate().filter(|&(j, other)| j != i && other.1 >= objective);
        let neighbours = others.map(|(point, other)| Neighbour { squared: squared_distance(measures, other.0), point });
        fitter.clear();
        // A distance beyond all numbers is none that a mean could be taken of.
        fitter.extend(neighbours.filter(|neighbour| neighbour.squared.is_finite()));
        keep_nearest(n_neighbours, &mut fitter);
        if fitter.is_empty() { f64::INFINITY } else { mean_distance(&fitter) }
    };
    (0..solutions.len()).map(score).collect()
}

impl Archive for DnsArchive {
    fn add(&mut self, batch: &Batch<'_>, policy: NonFinite, report: &mut AddReport) -> Result<(), CallError> {
        self.check(batch, policy)?;
        report.begin(batch, &[ReportColumn::DominatedNovelty]);
        let rows = (0..batch.n_rows()).filter(|&row| report.status[row] != Status::Invalid).map(Candidate::Row);
        let mut candidates: Vec<Candidate> = (0..self.len()).map(Candidate::Elite).chain(rows).collect();
        if candidates.len() == self.len() {
            self.population.finish(batch, report);
            return Ok(());
        }
        let elites = &self.population.rows;
        let dim = elites.measure_dim;
        let solution = |candidate: &Candidate| match *candidate {
            Candidate::Elite(slot) => (&elites.measures[slot * dim..][..dim], elites.objectives[slot]),
            Candidate::Row(row) => (batch.measures_of(row), batch.objectives[row]),
        };
        let solutions: Vec<(&[f64], f64)> = candidates.iter().map(solution).collect();
        let scores = dominated_novelty(&solutions, self.config.n_neighbours);
        for (candidate, &score) in candidates.iter().zip(&scores) {
            let (Candidate::Row(row), Some(column)) = (*candidate, &mut report.dominated_novelty) else { continue };
            column[row] = score;
            report.delta[row] = batch.objectives[row];
        }
        if candidates.len() > self.config.capacity {
            let mut order: Vec<usize> = (0..candidates.len()).collect();
            order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
            let n_dropped = candidates.len() - self.config.capacity;
            candidates = order[n_dropped..].iter().map(|&i| candidates[i]).collect();
        }
        for candidate in &candidates {
            if let Candidate::Row(row) = *candidate {
                report.status[row] = Status::New;
            }
        }
        self.rebuild(batch, &candidates);
        self.population.finish(batch, report);
        Ok(())
    }

    fn report_columns(&self) -> &[ReportColumn] {
        &[ReportColumn::DominatedNovelty]
    }

    fn solution_dim(&self) -> usize {
        self.population.rows.solution_dim
    }

    fn measure_bounds(&self) -> &[(f64, f64)] {
        &self.population.measure_bounds
    }

    fn extra_columns(&self) -> &[ExtraColumn] {
        self.population.extra_columns()
    }

    fn len(&self) -> usize {
        self.population.len()
    }

    fn nth_elite(&self, i: usize) -> Elite<'_> {
        self.population.elite(i)
    }

    fn stats(&self) -> ArchiveStats {
        self.population.stats(self.config.capacity)
    }

    /// The best of the population: a solution that none beats leaves it only for an equally good one.
    fn best(&self) -> Option<&Best> {
        self.population.best.as_ref()
    }

    fn clear(&mut self) {
        self.population.clear();
    }

    fn columns(&self) -> Option<EliteColumns<'_>> {
        Some(self.population.rows.columns())
    }

    fn bytes_in_use(&self) -> usize {
        self.population.rows.bytes_in_use()
    }

    fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        Ok(rmp_serde::to_vec_named(&self.population.save())?)
    }

    fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        let state: PopulationState<'_> = message_pack::from_slice(bytes)?;
        self.population.load(state, self.config.capacity)
    }
}
