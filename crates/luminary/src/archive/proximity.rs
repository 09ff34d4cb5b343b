//! An archive without cells: what is novel enough comes in (novelty search; Lehman and Stanley, "Abandoning Objectives",
//! Evolutionary Computation 2011).

use serde::{Deserialize, Serialize};

use super::nearest::{Neighbour, mean_distance, nearest};
use super::population::{Population, PopulationState};
use super::{
    AddReport, Archive, ArchiveConfig, ArchiveStats, Batch, Best, Elite, EliteColumns, ExtraColumn, NonFinite,
    ReportColumn, Status,
};
use crate::error::{CallError, CheckpointError, ConfigError};
use crate::message_pack;

/// Settings of a [`ProximityArchive`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProximityConfig {
    /// Where each measure is expected to lie, for figures and rankers; infinite where nothing is known.
    pub measure_bounds: Vec<(f64, f64)>,
    /// How many of the nearest elites the novelty of a row looks at.
    pub n_neighbours: usize,
    /// The novelty that a row needs.
    pub novelty_threshold: f64,
    /// Whether rows compete with their neighbours.
    #[serde(default)]
    pub competition: Competition,
    /// How the threshold falls when nothing is novel enough any more; it stays if absent.
    #[serde(default)]
    pub decay: Option<ThresholdDecay>,
}

/// Whether rows compete with their neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Competition {
    /// Novelty alone counts.
    #[default]
    None,
    /// A row that is not novel enough replaces its nearest neighbour if it is better, and the report counts the
    /// neighbours each row beats (Lehman and Stanley, "Evolving a Diversity of Virtual Creatures through Novelty Search
    /// and Local Competition", GECCO 2011).
    Local,
}

/// How the novelty threshold falls.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThresholdDecay {
    /// Factor for the threshold, in `[0, 1]`.
    pub rate: f64,
    /// How many batches in a row without a novel row that takes.
    pub n_batches: usize,
    /// Lowest threshold.
    pub minimum: f64,
}

/// Elites that lie apart from each other. All rows of a batch are judged against the archive before it.
#[derive(Clone, Debug)]
pub struct ProximityArchive {
    config: ProximityConfig,
    population: Population,
    threshold: f64,
    n_batches_without: usize,
    neighbours: Vec<Neighbour>,
    /// Slot of the nearest elite of each row that is better than it, and the row.
    replacements: Vec<(usize, usize)>,
}

impl ProximityArchive {
    pub(super) fn new(archive: &ArchiveConfig, config: &ProximityConfig) -> Result<Self, ConfigError> {
        let population = Population::new(archive, &config.measure_bounds)?;
        if config.n_neighbours == 0 {
            return Err(ConfigError::TooFew { what: "the archive's neighbours", minimum: 1, found: 0 });
        }
        let check = |what, expected, value: f64, is_right: bool| match is_right {
            true => Ok(()),
            false => Err(ConfigError::Value { what, expected, found: value }),
        };
        let threshold = config.novelty_threshold;
        check("novelty_threshold", "finite", threshold, threshold.is_finite())?;
        if let Some(ThresholdDecay { rate, n_batches, minimum }) = config.decay {
            check("the decay rate of the novelty threshold", "within [0, 1]", rate, (0.0..=1.0).contains(&rate))?;
            check("the lowest novelty threshold", "finite", minimum, minimum.is_finite())?;
            if n_batches == 0 {
                return Err(ConfigError::TooFew { what: "batches before a decay", minimum: 1, found: 0 });
            }
        }
        Ok(Self {
            config: config.clone(),
            population,
            threshold,
            n_batches_without: 0,
            neighbours: Vec::new(),
            replacements: Vec::new(),
        })
    }

    /// The settings the archive was built from.
    pub fn config(&self) -> &ProximityConfig {
        &self.config
    }

    /// The novelty that a row needs at the moment.
    pub fn novelty_threshold(&self) -> f64 {
        self.threshold
    }

    /// Sets the novelty that a row needs from now on: for callers whose numbers have another precision.
    ///
    /// # Errors
    /// A threshold that is not finite; nothing changes then.
    pub fn set_novelty_threshold(&mut self, threshold: f64) -> Result<(), ConfigError> {
        if !threshold.is_finite() {
            return Err(ConfigError::Value { what: "novelty_threshold", expected: "finite", found: threshold });
        }
        self.threshold = threshold;
        Ok(())
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

    /// The novelty of each row of measures against the archive as it is, and how many of its neighbours a row with this
    /// objective beats. While the archive is empty novelty is the threshold itself.
    ///
    /// # Errors
    /// Lengths that do not belong together.
    pub fn compute_novelty(&self, measures: &[f64], objectives: &[f64]) -> Result<(Vec<f64>, Vec<f64>), CallError> {
        let expected = objectives.len() * self.measure_dim();
        if measures.len() != expected {
            let found = measures.len();
            return Err(CallError::Length { what: "measures", shape: "rows x measures", expected, found });
        }
        let mut neighbours = Vec::new();
        let rows = measures.chunks_exact(self.measure_dim()).zip(objectives);
        Ok(rows
            .map(|(measures, &objective)| {
                nearest(&self.population.rows.measures, measures, self.config.n_neighbours, &mut neighbours);
                (self.novelty_of(&neighbours), self.n_beaten(objective, &neighbours))
            })
            .unzip())
    }

    fn novelty_of(&self, neighbours: &[Neighbour]) -> f64 {
        if neighbours.is_empty() { self.threshold } else { mean_distance(neighbours) }
    }

    fn n_beaten(&self, objective: f64, neighbours: &[Neighbour]) -> f64 {
        let objectives = &self.population.rows.objectives;
        neighbours.iter().filter(|neighbour| objectives[neighbour.point] < objective).count() as f64
    }

    /// Judges every row against the archive as it is, noting who would replace whom.
    fn judge(&mut self, batch: &Batch<'_>, report: &mut AddReport) {
        let mut neighbours = std::mem::take(&mut self.neighbours);
        self.replacements.clear();
        for row in 0..batch.n_rows() {
            if report.status[row] == Status::Invalid {
                continue;
            }
            let objective = batch.objectives[row];
            nearest(&self.population.rows.measures, batch.measures_of(row), self.config.n_neighbours, &mut neighbours);
            let novelty = self.novelty_of(&neighbours);
            let is_novel = novelty >= self.threshold;
            report.delta[row] = objective;
            if is_novel {
                report.status[row] = Status::New;
            }
            if let Some(column) = &mut report.novelty {
                column[row] = novelty;
            }
            if self.config.competition == Competition::None {
                continue;
            }
            if let Some(column) = &mut report.local_competition {
                column[row] = self.n_beaten(objective, &neighbours);
            }
            if let (false, Some(nearest)) = (is_novel, neighbours.first()) {
                report.delta[row] = objective - self.population.rows.objectives[nearest.point];
                if report.delta[row] > 0.0 {
                    report.status[row] = Status::Improved;
                    self.replacements.push((nearest.point, row));
                }
            }
        }
        self.neighbours = neighbours;
    }

    /// Seats the novel rows, and of those that would replace the same elite the best, the first on ties.
    fn insert(&mut self, batch: &Batch<'_>, report: &AddReport) {
        let first = self.population.n_offered;
        for row in (0..batch.n_rows()).filter(|&row| report.status[row] == Status::New) {
            self.population.push(batch, row, first + row as u64);
        }
        self.replacements.sort_unstable();
        let better = |&best: &usize, next: &usize| batch.objectives[*next] > batch.objectives[best];
        for group in self.replacements.chunk_by(|a, b| a.0 == b.0) {
            let rows = group.iter().map(|&(_, row)| row);
            let best = rows.reduce(|best, next| if better(&best, &next) { next } else { best });
            let row = best.expect("a group has at least one row");
            self.population.replace(group[0].0, batch, row, first + row as u64);
        }
    }

    /// Lowers the threshold after enough batches without a novel row.
    fn decay_threshold(&mut self, report: &AddReport) {
        let is_without = !report.status.contains(&Status::New);
        self.n_batches_without = if is_without { self.n_batches_without + 1 } else { 0 };
        let Some(decay) = self.config.decay else { return };
        if self.n_batches_without >= decay.n_batches {
            self.threshold = (self.threshold * decay.rate).max(decay.minimum);
            self.n_batches_without = 0;
        }
    }
}

impl Archive for ProximityArchive {
    fn report_columns(&self) -> &[ReportColumn] {
        match self.config.competition {
            Competition::None => &[ReportColumn::Novelty],
            Competition::Local => &[ReportColumn::Novelty, ReportColumn::LocalCompetition],
        }
    }

    fn add(&mut self, batch: &Batch<'_>, policy: NonFinite, report: &mut AddReport) -> Result<(), CallError> {
        self.check(batch, policy)?;
        report.begin(batch, self.report_columns());
        if batch.n_rows() > 0 {
            self.judge(batch, report);
            self.insert(batch, report);
            self.decay_threshold(report);
            self.population.finish(batch, report);
        }
        Ok(())
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
        self.population.stats(self.len())
    }

    fn best(&self) -> Option<&Best> {
        self.population.best.as_ref()
    }

    fn clear(&mut self) {
        self.population.clear();
        self.threshold = self.config.novelty_threshold;
        self.n_batches_without = 0;
    }

    fn forget_elites(&mut self) {
        self.population.clear();
    }

    fn columns(&self) -> Option<EliteColumns<'_>> {
        Some(self.population.rows.columns())
    }

    fn bytes_in_use(&self) -> usize {
        self.population.rows.bytes_in_use()
    }

    fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        let state = ProximityState {
            population: self.population.save(),
            threshold: self.threshold,
            n_batches_without: self.n_batches_without,
        };
        Ok(rmp_serde::to_vec_named(&state)?)
    }

    fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        let state: ProximityState<'_> = message_pack::from_slice(bytes)?;
        self.population.load(state.population, usize::MAX)?;
        self.threshold = state.threshold;
        self.n_batches_without = state.n_batches_without;
        Ok(())
    }
}

#[derive(Serialize, Deserialize)]
struct ProximityState<'a> {
    population: PopulationState<'a>,
    threshold: f64,
    n_batches_without: usize,
}
