//! ASK and TELL: the loop around emitters and archive.

mod archives;
mod bandit;
mod config;
mod parallel;
mod run;
mod snapshot;

use std::ops::Range;

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

pub use bandit::{BanditConfig, Reselect};
pub use config::{EmitterGroup, InitialPopulation, Pool, SchedulerConfig};
pub use parallel::Threads;
pub use run::{Observer, Stage};
pub(crate) use snapshot::SchedulerState;

use crate::archive::{AddReport, Archive, Batch, ColumnData, NonFinite};
use crate::emitter::{Emitter, EmitterShape, Feedback};
use crate::error::{CallError, ConfigError};
use crate::restart::RestartCounts;
use crate::strategy::MAX_BATCH_SIZE;
use archives::elites_of;
use bandit::Bandit;

/// Emitters around a shared archive.
///
/// Callers who evaluate themselves alternate [`ask`](Self::ask) and [`tell`](Self::tell); with gradient emitters,
/// [`ask_gradients`](Self::ask_gradients) and [`tell_gradients`](Self::tell_gradients) come first in each iteration.
/// Rust problems can be handed to [`run`](Self::run) instead. A failed call changes nothing.
pub struct Scheduler {
    config: SchedulerConfig,
    archive: Box<dyn Archive>,
    result: Option<Box<dyn Archive>>,
    emitters: Vec<Box<dyn Emitter>>,
    bandit: Option<Bandit>,
    progress: Progress,
    round: Round,
    threads: Threads,
}

/// Where a run stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Progress {
    phase: Phase,
    initial_done: bool,
    initial_rng: WideRng,
    iterations: u64,
    evaluations: u64,
    n_invalid: u64,
}

/// What the last call was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Phase {
    Ready,
    InitialAsked,
    GradientsAsked,
    GradientsTold,
    Asked,
}

/// The call that must come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NextCall {
    /// [`Scheduler::ask`].
    Ask,
    /// [`Scheduler::tell`], with the values of [`Scheduler::asked_solutions`].
    Tell,
    /// [`Scheduler::ask_gradients`].
    AskGradients,
    /// [`Scheduler::tell_gradients`], with the values of [`Scheduler::asked_solutions`].
    TellGradients,
}

impl NextCall {
    fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Tell => "tell",
            Self::AskGradients => "ask_gradients",
            Self::TellGradients => "tell_gradients",
        }
    }
}

/// Buffers of one round of ask and tell, reused for ever.
#[derive(Default)]
struct Round {
    /// Rows of each emitter, in order; empty for one that does not take part.
    rows: Vec<Range<usize>>,
    n_rows: usize,
    solutions: Vec<f64>,
    novelty: Vec<f64>,
    nearest: Vec<f64>,
    report: AddReport,
    result_report: AddReport,
}

impl Scheduler {
    pub(crate) fn new(
        config: SchedulerConfig,
        mut archive: Box<dyn Archive>,
        custom: Vec<Box<dyn Emitter>>,
    ) -> Result<Self, ConfigError> {
        let result = config.build_result(archive.as_mut())?;
        let mut emitters: Vec<Box<dyn Emitter>> = Vec::new();
        let configs = config.emitters.iter().flat_map(|group| (0..group.count).map(|_| &group.emitter));
        for (i, emitter) in configs.enumerate() {
            emitter.check_can_learn()?;
            emitters.push(emitter.build(&EmitterShape {
                solution_dim: config.archive.solution_dim,
                measure_bounds: archive.measure_bounds(),
                seed: config.seed,
                path: &format!("emitter/{i}"),
            })?);
        }
        emitters.extend(custom);
        if emitters.is_empty() {
            return Err(ConfigError::TooFew { what: "the number of emitters", minimum: 1, found: 0 });
        }
        if let Some(initial) = config.initial {
            if initial.n_solutions == 0 {
                return Err(ConfigError::TooFew { what: "initial solutions", minimum: 1, found: 0 });
            }
            if initial.n_solutions > MAX_BATCH_SIZE {
                let found = initial.n_solutions;
                return Err(ConfigError::TooMany { what: "initial solutions", maximum: MAX_BATCH_SIZE, found });
            }
            if !(initial.sigma.is_finite() && initial.sigma >= 0.0) {
                let (what, expected) = ("the initial sigma", "finite and >= 0");
                return Err(ConfigError::Value { what, expected, found: initial.sigma });
            }
        }
        let bandit = match config.pool {
            Pool::All => None,
            Pool::Bandit(bandit) => {
                bandit.check(emitters.len())?;
                Some(Bandit::new(bandit, emitters.len()))
            }
        };
        let progress = Progress {
            phase: Phase::Ready,
            initial_done: config.initial.is_none(),
            initial_rng: WideRng::from_path(config.seed, "initial"),
            iterations: 0,
            evaluations: 0,
            n_invalid: 0,
        };
        let (round, threads) = (Round::default(), Threads::default());
        Ok(Self { config, archive, result, emitters, bandit, progress, round, threads })
    }

    /// The solutions to evaluate next, row by row.
    ///
    /// The first call of a run with an initial population returns that population.
    ///
    /// # Errors
    /// When another call is due.
    pub fn ask(&mut self) -> Result<&[f64], CallError> {
        match self.progress.phase {
            Phase::Ready if !self.progress.initial_done => self.ask_initial(),
            Phase::Ready if !self.needs_gradients() => self.ask_emitters(),
            Phase::GradientsTold => self.ask_emitters(),
            _ => return Err(self.order_error("ask")),
        }
        Ok(self.asked_solutions())
    }

    fn ask_initial(&mut self) {
        let initial = self.config.initial.expect("an initial population is due only if there is one");
        self.round.rows.clear();
        self.round.rows.resize(self.emitters.len(), 0..0);
        self.round.n_rows = initial.n_solutions;
        let solutions = &mut self.round.solutions;
        solutions.resize(initial.n_solutions * self.config.archive.solution_dim, 0.0);
        self.progress.initial_rng.fill_normal(solutions);
        solutions.iter_mut().for_each(|component| *component *= initial.sigma);
        self.progress.phase = Phase::InitialAsked;
    }

    fn ask_emitters(&mut self) {
        self.lay_out_rows(|emitter| emitter.batch_size());
        let dim = self.config.archive.solution_dim;
        let elites = elites_of(self.archive.as_ref(), self.result.as_deref());
        let Round { rows, solutions, .. } = &mut self.round;
        parallel::for_each_emitter(self.threads, &mut self.emitters, rows, solutions, dim, &|emitter, _, solutions| {
            emitter.ask(elites, solutions);
        });
        self.progress.phase = Phase::Asked;
    }

    /// The solutions whose gradients are wanted next, row by row.
    ///
    /// # Errors
    /// When another call is due, or no active emitter uses gradients.
    pub fn ask_gradients(&mut self) -> Result<&[f64], CallError> {
        if self.progress.phase != Phase::Ready || !self.needs_gradients() {
            return Err(self.order_error("ask_gradients"));
        }
        self.lay_out_rows(|emitter| emitter.n_gradients());
        let Round { rows, solutions, .. } = &mut self.round;
        let dim = self.config.archive.solution_dim;
        parallel::for_each_emitter(self.threads, &mut self.emitters, rows, solutions, dim, &|emitter, _, solutions| {
            emitter.ask_gradients(solutions);
        });
        self.progress.phase = Phase::GradientsAsked;
        Ok(self.asked_solutions())
    }

    /// Gives each active emitter its rows.
    fn lay_out_rows(&mut self, n_rows_of: impl Fn(&dyn Emitter) -> usize) {
        let Round { rows, n_rows, solutions, .. } = &mut self.round;
        rows.clear();
        *n_rows = 0;
        for (i, emitter) in self.emitters.iter().enumerate() {
            let is_active = self.bandit.as_ref().is_none_or(|bandit| bandit.is_active(i));
            let start = *n_rows;
            *n_rows += if is_active { n_rows_of(emitter.as_ref()) } else { 0 };
            rows.push(start..*n_rows);
        }
        solutions.resize(*n_rows * self.config.archive.solution_dim, 0.0);
    }

    /// Takes objectives and measures of the rows last asked for.
    ///
    /// # Errors
    /// When another call is due, for wrong lengths, and by the configured policy for values that are not finite.
    pub fn tell(&mut self, objectives: &[f64], measures: &[f64]) -> Result<(), CallError> {
        self.tell_with_extras(objectives, measures, &[])
    }

    /// Like [`tell`](Self::tell), with one buffer for each extra column of the archive.
    pub fn tell_with_extras(
        &mut self,
        objectives: &[f64],
        measures: &[f64],
        extras: &[&[f64]],
    ) -> Result<(), CallError> {
        let policy = self.config.non_finite.unwrap_or(NonFinite::Fail);
        self.tell_observed(objectives, measures, extras, policy, &mut ())
    }

    fn tell_observed(
        &mut self,
        objectives: &[f64],
        measures: &[f64],
        extras: &[&[f64]],
        policy: NonFinite,
        observer: &mut dyn Observer,
    ) -> Result<(), CallError> {
        let phase = self.progress.phase;
        if !matches!(phase, Phase::InitialAsked | Phase::Asked) {
            return Err(self.order_error("tell"));
        }
        self.check_rows(objectives, measures)?;
        if phase == Phase::Asked {
            self.compute_novelty(measures);
        }
        self.add(objectives, measures, extras, policy)?;
        observer.stage_done(Stage::Add);
        if phase == Phase::InitialAsked {
            self.progress.initial_done = true;
        } else {
            self.learn(objectives, measures, observer);
            self.progress.iterations += 1;
            self.progress.evaluations += objectives.len() as u64;
        }
        if let Some(result) = &self.result {
            self.archive.learn(result.as_ref());
        }
        self.progress.phase = Phase::Ready;
        Ok(())
    }

    /// Takes objectives, measures and Jacobians of the rows last asked for by [`ask_gradients`](Self::ask_gradients).
    /// The solutions are offered to the archive too. A Jacobian that is not finite makes its emitter restart.
    ///
    /// # Errors
    /// As [`tell`](Self::tell).
    pub fn tell_gradients(&mut self, objectives: &[f64], measures: &[f64], jacobians: &[f64]) -> Result<(), CallError> {
        self.tell_gradients_with_extras(objectives, measures, jacobians, &[])
    }

    /// Like [`tell_gradients`](Self::tell_gradients), with one buffer for each extra column of the archive.
    pub fn tell_gradients_with_extras(
        &mut self,
        objectives: &[f64],
        measures: &[f64],
        jacobians: &[f64],
        extras: &[&[f64]],
    ) -> Result<(), CallError> {
        let policy = self.config.non_finite.unwrap_or(NonFinite::Fail);
        self.take_gradients(objectives, measures, jacobians, extras, policy)
    }

    fn take_gradients(
        &mut self,
        objectives: &[f64],
        measures: &[f64],
        jacobians: &[f64],
        extras: &[&[f64]],
        policy: NonFinite,
    ) -> Result<(), CallError> {
        if self.progress.phase != Phase::GradientsAsked {
            return Err(self.order_error("tell_gradients"));
        }
        self.check_rows(objectives, measures)?;
        let size = (1 + self.archive.measure_dim()) * self.config.archive.solution_dim;
        let (expected, found) = (self.round.n_rows * size, jacobians.len());
        if expected != found {
            let shape = "rows x (1 + measures) x solution_dim";
            return Err(CallError::Length { what: "jacobians", shape, expected, found });
        }
        self.add(objectives, measures, extras, policy)?;
        for (emitter, rows) in self.emitters.iter_mut().zip(&self.round.rows) {
            if !rows.is_empty() {
                emitter.tell_gradients(&jacobians[rows.start * size..rows.end * size]);
            }
        }
        self.progress.evaluations += objectives.len() as u64;
        self.progress.phase = Phase::GradientsTold;
        Ok(())
    }

    fn compute_novelty(&mut self, measures: &[f64]) {
        let Round { rows, n_rows, novelty, nearest, .. } = &mut self.round;
        let (elites, k) = (elites_of(self.archive.as_ref(), self.result.as_deref()), self.archive.measure_dim());
        for (emitter, rows) in self.emitters.iter().zip(rows) {
            let Some(n_neighbours) = emitter.novelty_neighbours() else { continue };
            novelty.resize(*n_rows, 0.0);
            let own = &mut novelty[rows.clone()];
            elites.novelty(&measures[rows.start * k..rows.end * k], n_neighbours, nearest, own);
        }
    }

    /// Both archives take the rows.
    fn add(
        &mut self,
        objectives: &[f64],
        measures: &[f64],
        extras: &[&[f64]],
        policy: NonFinite,
    ) -> Result<(), CallError> {
        let Self { archive, result, round, threads, .. } = self;
        let Round { solutions, report, result_report, .. } = round;
        let extras: Vec<ColumnData<'_>> = extras.iter().map(|&values| values.into()).collect();
        let batch = Batch { solutions, objectives, measures, extras: &extras };
        match result {
            None => archive.add(&batch, policy, report)?,
            Some(result) => {
                let reports = (report, result_report);
                archives::add_to_both(*threads, archive.as_mut(), result.as_mut(), &batch, policy, reports)?;
            }
        }
        self.progress.n_invalid += self.round.report.n_invalid as u64;
        Ok(())
    }

    /// Emitters rank and adapt.
    fn learn(&mut self, objectives: &[f64], measures: &[f64], observer: &mut dyn Observer) {
        let Self { archive, result, emitters, round, threads, config, .. } = self;
        let (elites, dim, k) =
            (elites_of(archive.as_ref(), result.as_deref()), config.archive.solution_dim, archive.measure_dim());
        let Round { rows, solutions, novelty, report, .. } = round;
        let feedback = |rows: Range<usize>, wants_novelty: bool| Feedback {
            solutions: &solutions[rows.start * dim..rows.end * dim],
            objectives: &objectives[rows.clone()],
            measures: &measures[rows.start * k..rows.end * k],
            status: &report.status[rows.clone()],
            delta: &report.delta[rows.clone()],
            visits: &report.visits[rows.clone()],
            novelty: if wants_novelty { &novelty[rows] } else { &[] },
        };
        if *threads == Threads::One {
            for (emitter, rows) in emitters.iter_mut().zip(&*rows).filter(|(_, rows)| !rows.is_empty()) {
                let feedback = feedback(rows.clone(), emitter.novelty_neighbours().is_some());
                emitter.rank(&feedback);
                observer.stage_done(Stage::Rank);
                emitter.adapt(elites, &feedback);
                observer.stage_done(Stage::Adapt);
            }
        } else {
            let tell = |emitter: &mut dyn Emitter, rows: Range<usize>, _: &mut [f64]| {
                let feedback = feedback(rows, emitter.novelty_neighbours().is_some());
                emitter.rank(&feedback);
                emitter.adapt(elites, &feedback);
            };
            parallel::for_each_emitter(*threads, emitters, rows, &mut [], 0, &tell);
            observer.stage_done(Stage::Adapt);
        }
        if let Some(bandit) = &mut self.bandit {
            for (i, rows) in round.rows.iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
                let n_accepted = round.report.status[rows.clone()].iter().filter(|status| status.is_accepted()).count();
                bandit.note(i, rows.len(), n_accepted, emitters[i].restarts().map(|restarts| restarts.total()));
            }
            bandit.fill_places();
        }
    }

    fn check_rows(&self, objectives: &[f64], measures: &[f64]) -> Result<(), CallError> {
        let n_rows = self.round.n_rows;
        let expected = n_rows * self.archive.measure_dim();
        if objectives.len() != n_rows {
            let found = objectives.len();
            return Err(CallError::Length { what: "objectives", shape: "rows", expected: n_rows, found });
        }
        if measures.len() != expected {
            let found = measures.len();
            return Err(CallError::Length { what: "measures", shape: "rows x measures", expected, found });
        }
        Ok(())
    }

    fn order_error(&self, found: &'static str) -> CallError {
        CallError::Order { expected: self.next_call().name(), found }
    }

    /// The call that must come next: after a restored checkpoint it may be the second half of a round.
    pub fn next_call(&self) -> NextCall {
        match self.progress.phase {
            Phase::Ready if self.needs_gradients() => NextCall::AskGradients,
            Phase::Ready | Phase::GradientsTold => NextCall::Ask,
            Phase::InitialAsked | Phase::Asked => NextCall::Tell,
            Phase::GradientsAsked => NextCall::TellGradients,
        }
    }

    /// Whether the next iteration starts with [`ask_gradients`](Self::ask_gradients).
    pub fn needs_gradients(&self) -> bool {
        let is_active = |i| self.bandit.as_ref().is_none_or(|bandit| bandit.is_active(i));
        self.progress.initial_done
            && self.emitters.iter().enumerate().any(|(i, emitter)| is_active(i) && emitter.n_gradients() > 0)
    }

    /// Whether any emitter uses gradients.
    pub fn has_gradient_emitters(&self) -> bool {
        self.emitters.iter().any(|emitter| emitter.n_gradients() > 0)
    }

    /// The rows last asked for.
    pub fn asked_solutions(&self) -> &[f64] {
        &self.round.solutions
    }

    /// What became of the rows last told.
    pub fn last_report(&self) -> &AddReport {
        &self.round.report
    }

    /// The archive the emitters search.
    pub fn archive(&self) -> &dyn Archive {
        self.archive.as_ref()
    }

    /// The elitist archive of everything ever told: what a run is judged by.
    pub fn result(&self) -> &dyn Archive {
        self.result.as_ref().unwrap_or(&self.archive).as_ref()
    }

    /// The configuration the scheduler was built from.
    pub fn config(&self) -> &SchedulerConfig {
        &self.config
    }

    /// Whether ask, evaluation and adaptation use threads. Results do not depend on it.
    pub fn set_threads(&mut self, threads: Threads) {
        self.threads = threads;
    }

    /// Iterations told.
    pub fn iterations(&self) -> u64 {
        self.progress.iterations
    }

    /// Evaluations told, gradient points included, the initial population not.
    pub fn evaluations(&self) -> u64 {
        self.progress.evaluations
    }

    /// Rows whose objective or measures were not finite.
    pub fn n_invalid(&self) -> u64 {
        self.progress.n_invalid
    }

    /// Restarts of all emitters, by cause.
    pub fn restarts(&self) -> RestartCounts {
        self.emitters.iter().filter_map(|emitter| emitter.restarts()).fold(RestartCounts::default(), |a, b| a + b)
    }
}

impl std::fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scheduler").field("progress", &self.progress).finish_non_exhaustive()
    }
}
