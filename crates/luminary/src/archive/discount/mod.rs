//! Discount model search (Tjanaka et al., 2026): a model of the threshold at every point of measure space takes the place
//! of thresholds in cells.

mod network;
mod perceptron;
mod products;

pub use perceptron::{Perceptron, PerceptronConfig};

use std::fmt::Debug;

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use super::population::check_bounds;
use super::{
    AddReport, Archive, ArchiveConfig, ArchiveKind, ArchiveStats, Batch, Best, Elite, ExtraColumn, LearningRate,
    NonFinite, ReportColumn, Status,
};
use crate::error::{CallError, CheckpointError, ConfigError};
use crate::message_pack;
use crate::serde_floats;

/// A model of the threshold, learnt from examples.
pub trait DiscountModel: Debug + Send + Sync {
    /// Writes what the model says at each row of measures. Something that is not finite says that it has failed: the
    /// rows are refused then.
    fn predict(&self, measures: &[f64], out: &mut [f64]);

    /// Learns one target for each row of measures; returns the loss of each epoch.
    fn train(&mut self, measures: &[f64], targets: &[f64]) -> Vec<f64>;

    /// Forgets everything it has learnt.
    fn reset(&mut self);

    /// Everything the model has learnt, as bytes for [`load_bytes`](Self::load_bytes).
    ///
    /// # Errors
    /// When it cannot be saved.
    fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        Err(CheckpointError::Unsupported { what: "discount model" })
    }

    /// Takes over what [`to_bytes`](Self::to_bytes) of a model of the same settings returned.
    ///
    /// # Errors
    /// Bytes that belong to another model; this one is unchanged then.
    fn load_bytes(&mut self, _bytes: &[u8]) -> Result<(), CheckpointError> {
        Err(CheckpointError::Unsupported { what: "discount model" })
    }
}

/// Settings of a [`DiscountArchive`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DiscountConfig {
    /// Where each measure is expected to lie.
    pub measure_bounds: Vec<(f64, f64)>,
    /// How fast the model follows rows that exceed it: a number, because a model has no cells to convert it by.
    pub learning_rate: LearningRate,
    /// What the model is taught where there is no elite.
    pub min_f: f64,
    /// How many cells the first training takes.
    pub n_initial: usize,
    /// How many empty cells every other training takes.
    pub n_empty: usize,
    /// Which rows a training takes.
    pub examples: Examples,
    /// Seed of the choice of cells, and of a perceptron.
    pub seed: u64,
}

impl DiscountConfig {
    /// The paper's settings for most domains: a learning rate of 0.1, 1,000 cells at first and then 100.
    pub fn new(measure_bounds: Vec<(f64, f64)>) -> Self {
        Self {
            measure_bounds,
            learning_rate: LearningRate::Fixed(0.1),
            min_f: 0.0,
            n_initial: 1000,
            n_empty: 100,
            examples: Examples::SinceTraining,
            seed: 0,
        }
    }

    /// The learning rate as a number.
    fn alpha(&self) -> Result<f64, ConfigError> {
        match self.learning_rate {
            LearningRate::Fixed(alpha) if (0.0..=1.0).contains(&alpha) => Ok(alpha),
            LearningRate::Fixed(found) => {
                Err(ConfigError::Value { what: "the archive learning rate", expected: "within [0, 1]", found })
            }
            LearningRate::At { .. } | LearningRate::Auto { .. } => Err(ConfigError::Conflict(
                "expected a number as the learning rate of a discount archive, found one that follows from cells",
            )),
        }
    }
}

/// Which rows a training of the model takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Examples {
    /// All that were added since the last training, however many calls they came in.
    #[default]
    SinceTraining,
    /// The last batch, as in pyribs.
    LastBatch,
}

/// Judges rows by a model of the threshold. It keeps no elites: that is what the result archive beside it is for, whose
/// empty cells the model is taught too.
#[derive(Debug)]
pub struct DiscountArchive {
    solution_dim: usize,
    extra_columns: Vec<ExtraColumn>,
    config: DiscountConfig,
    alpha: f64,
    model: Box<dyn DiscountModel>,
    rng: WideRng,
    /// The rows that the next training takes.
    told: Option<Told>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Told {
    /// Whether the model has been taught these rows.
    #[serde(default)]
    is_taught: bool,
    #[serde(with = "serde_floats")]
    objectives: Vec<f64>,
    #[serde(with = "serde_floats")]
    measures: Vec<f64>,
    #[serde(with = "serde_floats")]
    discounts: Vec<f64>,
}

/// What a training was about.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Training {
    /// Measures of the rows that were taught, row by row.
    pub solution_measures: Vec<f64>,
    /// What the model was taught there.
    pub solution_targets: Vec<f64>,
    /// Centres of empty cells, row by row, where the model was taught `min_f`.
    pub empty_measures: Vec<f64>,
    /// The loss of each epoch.
    pub losses: Vec<f64>,
}

impl DiscountArchive {
    /// Checks the settings.
    ///
    /// # Errors
    /// Settings out of range.
    pub fn new(
        solution_dim: usize,
        config: DiscountConfig,
        model: Box<dyn DiscountModel>,
    ) -> Result<Self, ConfigError> {
        let kind = ArchiveKind::Custom { measure_bounds: config.measure_bounds.clone() };
        Self::of(&ArchiveConfig::new(solution_dim, kind), config, model)
    }

    pub(super) fn of(
        archive: &ArchiveConfig,
        config: DiscountConfig,
        model: Box<dyn DiscountModel>,
    ) -> Result<Self, ConfigError> {
        archive.check()?;
        check_bounds(&config.measure_bounds)?;
        if !config.min_f.is_finite() {
            return Err(ConfigError::Value { what: "min_f", expected: "finite", found: config.min_f });
        }
        Ok(Self {
            solution_dim: archive.solution_dim,
            extra_columns: archive.extra_columns.clone(),
            alpha: config.alpha()?,
            rng: stream(config.seed),
            config,
            model,
            told: None,
        })
    }

    /// The settings the archive was built from.
    pub fn config(&self) -> &DiscountConfig {
        &self.config
    }

    /// The model.
    pub fn model(&self) -> &dyn DiscountModel {
        self.model.as_ref()
    }

    /// Teaches the model `min_f` at the centres of empty cells: what comes before the first batch.
    ///
    /// # Errors
    /// A result archive without cells, or of other measures.
    pub fn init_model(&mut self, result: &dyn Archive) -> Result<Training, CallError> {
        let empty_measures = self.empty_centres(self.config.n_initial, result)?;
        self.init_model_at(empty_measures)
    }

    /// As [`init_model`](Self::init_model), at points of the caller's choice.
    ///
    /// # Errors
    /// Measures of the wrong length.
    pub fn init_model_at(&mut self, empty_measures: Vec<f64>) -> Result<Training, CallError> {
        self.teach(Vec::new(), Vec::new(), empty_measures)
    }

    /// Teaches the model the rows that were added, and `min_f` at the centres of empty cells.
    ///
    /// The target of a row that exceeds its discount lies between the two by the learning rate, as the thresholds of
    /// CMA-MAE do; otherwise it is the discount.
    ///
    /// # Errors
    /// Nothing was added yet, or a result archive without cells or of other measures.
    pub fn train_model(&mut self, result: &dyn Archive) -> Result<Training, CallError> {
        self.last_told()?;
        let empty_measures = self.empty_centres(self.config.n_empty, result)?;
        self.train_model_at(empty_measures)
    }

    /// As [`train_model`](Self::train_model), with points of the caller's choice for the empty cells.
    ///
    /// # Errors
    /// Nothing was added yet, or measures of the wrong length.
    pub fn train_model_at(&mut self, empty_measures: Vec<f64>) -> Result<Training, CallError> {
        let told = self.last_told()?;
        let alpha = self.alpha;
        let target = |(&f, &discount): (&f64, &f64)| match f > discount {
            true => (1.0 - alpha) * discount + alpha * f,
            false => discount,
        };
        let targets = told.objectives.iter().zip(&told.discounts).map(target).collect();
        let measures = told.measures.clone();
        let training = self.teach(measures, targets, empty_measures)?;
        if let Some(told) = &mut self.told {
            told.is_taught = true;
        }
        Ok(training)
    }

    /// Keeps rows for the next training.
    fn remember(&mut self, rows: Told) {
        match &mut self.told {
            Some(told) if !told.is_taught && self.config.examples == Examples::SinceTraining => {
                told.objectives.extend(rows.objectives);
                told.measures.extend(rows.measures);
                told.discounts.extend(rows.discounts);
            }
            told => *told = Some(rows),
        }
    }

    fn last_told(&self) -> Result<&Told, CallError> {
        self.told.as_ref().ok_or(CallError::Order { expected: "add", found: "train_model" })
    }

    fn teach(
        &mut self,
        solution_measures: Vec<f64>,
        solution_targets: Vec<f64>,
        empty_measures: Vec<f64>,
    ) -> Result<Training, CallError> {
        let found = empty_measures.len();
        let n_chosen = found / self.measure_dim();
        let expected = n_chosen * self.measure_dim();
        if found != expected {
            return Err(CallError::Length { what: "empty_measures", shape: "rows x measures", expected, found });
        }
        let measures = [solution_measures.as_slice(), &empty_measures].concat();
        let mut targets = solution_targets.clone();
        targets.resize(targets.len() + n_chosen, self.config.min_f);
        let losses = self.model.train(&measures, &targets);
        Ok(Training { solution_measures, solution_targets, empty_measures, losses })
    }

    /// Centres of cells of the result archive without an elite, drawn without repetition.
    fn empty_centres(&mut self, n: usize, result: &dyn Archive) -> Result<Vec<f64>, CallError> {
        let Some(cells) = result.cells().filter(|_| result.measure_dim() == self.measure_dim()) else {
            return Err(CallError::Conflict(
                "expected a result archive with cells of the same measures, found another",
            ));
        };
        let mut is_empty = vec![true; cells.n_cells()];
        result.elites().filter_map(|elite| elite.cell).for_each(|cell| is_empty[cell.index()] = false);
        let mut empty: Vec<usize> = (0..cells.n_cells()).filter(|&cell| is_empty[cell]).collect();
        let n_chosen = n.min(empty.len());
        let mut centres = Vec::with_capacity(n_chosen * self.measure_dim());
        for i in 0..n_chosen {
            let other = i + self.rng.below(empty.len() - i);
            empty.swap(i, other);
            centres.extend(cells.centre_of(super::CellIdx::new(empty[i])));
        }
        Ok(centres)
    }
}

fn stream(seed: u64) -> WideRng {
    WideRng::from_path(seed, "archive/empty_cells")
}

impl Archive for DiscountArchive {
    fn add(&mut self, batch: &Batch<'_>, policy: NonFinite, report: &mut AddReport) -> Result<(), CallError> {
        self.check(batch, policy)?;
        let valid: Vec<usize> = (0..batch.n_rows()).filter(|&row| batch.non_finite_in(row).is_none()).collect();
        let mut told = Told {
            is_taught: false,
            objectives: valid.iter().map(|&row| batch.objectives[row]).collect(),
            measures: valid.iter().flat_map(|&row| batch.measures_of(row)).copied().collect(),
            discounts: vec![0.0; valid.len()],
        };
        self.model.predict(&told.measures, &mut told.discounts);
        if let Some(i) = told.discounts.iter().position(|discount| !discount.is_finite()) {
            let what = "the discount model's answers";
            return Err(CallError::NonFinite { what, row: valid[i], value: told.discounts[i] });
        }
        report.begin(batch, &[ReportColumn::Discount]);
        for (&row, &discount) in valid.iter().zip(&told.discounts) {
            report.delta[row] = batch.objectives[row] - discount;
            if batch.objectives[row] > discount {
                report.status[row] = Status::New;
            }
            if let Some(column) = &mut report.discount {
                column[row] = discount;
            }
        }
        if batch.n_rows() > 0 {
            self.remember(told);
        }
        Ok(())
    }

    fn report_columns(&self) -> &[ReportColumn] {
        &[ReportColumn::Discount]
    }

    fn solution_dim(&self) -> usize {
        self.solution_dim
    }

    fn extra_columns(&self) -> &[ExtraColumn] {
        &self.extra_columns
    }

    fn measure_bounds(&self) -> &[(f64, f64)] {
        &self.config.measure_bounds
    }

    fn len(&self) -> usize {
        0
    }

    fn nth_elite(&self, i: usize) -> Elite<'_> {
        panic!("expected an elite below 0, found {i}: a discount archive has none")
    }

    fn keeps_elites(&self) -> bool {
        false
    }

    fn check_result(&self, result: &dyn Archive) -> Result<(), ConfigError> {
        match result.cells() {
            Some(_) => Ok(()),
            None => {
                Err(ConfigError::Conflict("expected a result archive with cells beside a discount archive, found none"))
            }
        }
    }

    fn learn(&mut self, result: &dyn Archive) {
        let training = match self.told {
            None => self.init_model(result),
            Some(_) => self.train_model(result),
        };
        training.expect("the result archive was checked");
    }

    fn stats(&self) -> ArchiveStats {
        ArchiveStats::of(0, std::iter::empty(), 0.0, None)
    }

    fn best(&self) -> Option<&Best> {
        None
    }

    fn clear(&mut self) {
        self.model.reset();
        self.rng = stream(self.config.seed);
        self.told = None;
    }

    fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        let model = ByteBuf::from(self.model.to_bytes()?);
        let state = DiscountState { model, rng: self.rng.clone(), told: self.told.clone() };
        Ok(rmp_serde::to_vec_named(&state)?)
    }

    fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        let state: DiscountState = message_pack::from_slice(bytes)?;
        if let Some(told) = &state.told {
            let n_rows = told.objectives.len();
            super::rows_state::expect_column(n_rows, self.measure_dim(), told.measures.len())?;
            super::rows_state::expect_column(n_rows, 1, told.discounts.len())?;
        }
        self.model.load_bytes(&state.model)?;
        self.rng = state.rng;
        self.told = state.told;
        Ok(())
    }
}

#[derive(Serialize, Deserialize)]
struct DiscountState {
    model: ByteBuf,
    rng: WideRng,
    told: Option<Told>,
}
