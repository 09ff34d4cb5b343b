//! The workers of a program, started one at a time: a program that cannot start then fails once, and not a hundred times.

use crate::config::RunConfig;
use crate::error::RunError;
use crate::evaluate::Evaluator;
#[cfg(unix)]
use crate::{
    config::ProblemConfig,
    external::{Entry, ExternalConfig, Protocol, Transcript},
    external_batch::ExternalBatch,
    rows::{Evaluated, Wants, evaluate_rows},
};

/// What was said to and by a program until it had evaluated the start.
#[cfg(unix)]
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Conversation {
    /// What was said, in order, with control characters as escapes.
    pub entries: Vec<Entry>,
    /// The last lines of its standard error (and standard output, in the files protocol).
    pub errors: Vec<String>,
    /// How long the first worker took to start.
    pub start_seconds: f64,
}

/// Evaluators that take one batch each at a time: one of a domain, as many of a program as it has workers.
pub(super) struct Workers {
    pub(super) evaluators: Vec<Evaluator>,
    /// The longest start.
    pub(super) start_seconds: f64,
    #[cfg(unix)]
    transcript: Transcript,
}

impl Workers {
    /// What evaluates a domain, or the first worker of a program.
    ///
    /// # Errors
    /// A worker that does not start, and a problem that is evaluated elsewhere.
    #[cfg(unix)]
    pub(super) fn start_first(config: &RunConfig) -> Result<Self, RunError> {
        let transcript = Transcript::default();
        let started = std::time::Instant::now();
        let first: Evaluator = match &config.problem {
            ProblemConfig::External { .. } => start_worker(config, 0, Some(transcript.clone()))?,
            problem => problem.evaluator()?,
        };
        let start_seconds = started.elapsed().as_secs_f64();
        Ok(Self { evaluators: vec![first], start_seconds, transcript })
    }

    /// What evaluates a domain.
    ///
    /// # Errors
    /// A problem that is evaluated elsewhere.
    #[cfg(not(unix))]
    pub(super) fn start_first(config: &RunConfig) -> Result<Self, RunError> {
        Ok(Self { evaluators: vec![config.problem.evaluator()?], start_seconds: 0.0 })
    }

    /// The first worker.
    pub(super) fn first(&mut self) -> &mut Evaluator {
        &mut self.evaluators[0]
    }

    /// Starts the other workers of a program, one after the other.
    ///
    /// # Errors
    /// A worker that does not start.
    #[cfg(unix)]
    pub(super) fn start_others(&mut self, config: &RunConfig) -> Result<(), RunError> {
        let n_workers = external(config).map_or(1, |external| external.workers);
        for worker in 1..n_workers {
            let started = std::time::Instant::now();
            self.evaluators.push(start_worker(config, worker, None)?);
            self.start_seconds = self.start_seconds.max(started.elapsed().as_secs_f64());
        }
        Ok(())
    }

    /// A domain has no others.
    ///
    /// # Errors
    /// None.
    #[cfg(not(unix))]
    pub(super) fn start_others(&mut self, _: &RunConfig) -> Result<(), RunError> {
        Ok(())
    }

    /// What a program has said so far.
    #[cfg(unix)]
    pub(super) fn conversation(&self) -> Option<Conversation> {
        let entries = self.transcript.entries();
        if entries.is_empty() {
            return None;
        }
        Some(Conversation { entries, errors: self.transcript.errors(), start_seconds: self.start_seconds })
    }

    /// Has the start evaluated once more, or twice in one request if a run would send several solutions at a time. Programs
    /// that answer only once, write something behind their answer, look at the first solution only, or give other values
    /// the second time, show it here. With files each evaluation is a process of its own, which knows of no other.
    ///
    /// # Errors
    /// An evaluator that cannot go on.
    #[cfg(unix)]
    pub(super) fn ask_again(&mut self, config: &RunConfig, objective: f64) -> Result<Vec<String>, RunError> {
        let speaks = |external: &&ExternalConfig| external.protocol == Protocol::JsonLines;
        let Some(external) = external(config).filter(speaks) else { return Ok(Vec::new()) };
        let n_rows = usize::try_from(config.evaluations_per_iteration()).unwrap_or(usize::MAX);
        let n_asked = external.rows_in_request(n_rows).min(2);
        let n_before = self.transcript.entries().len();
        let solutions = config.algorithm.x0.repeat(n_asked);
        let Evaluated { results, notes, .. } = evaluate_rows(self.first(), config, Wants::of(config), 1, &solutions)?;
        let entries = self.transcript.entries().split_off(n_before);
        let n_requests = entries.iter().filter(|entry| matches!(entry, Entry::Sent(_))).count();
        let mut warnings = Vec::new();
        if n_requests > 1 || !notes.is_empty() {
            let answer = entries.iter().find_map(|entry| match entry {
                Entry::Received(text) => Some(format!("; the answer was {text}")),
                Entry::Sent(_) => None,
            });
            let causes: String = notes.iter().map(|note| format!("\n  {note}")).collect();
            let answer = answer.unwrap_or_default();
            let fails = match n_asked {
                1 => "a second request fails, and a run sends many",
                _ => "a request of two solutions fails, and a run sends several",
            };
            warnings.push(format!("{fails}{answer}{causes}"));
        } else if results.objectives.iter().any(|again| *again != objective) {
            let turn = |objective: f64| config.goal().turn(objective);
            let again: Vec<f64> = results.objectives.iter().map(|&again| turn(again)).collect();
            let first = turn(objective);
            warnings.push(format!(
                "the start has objective {first} at first and {again:?} when it is evaluated again: the evaluator uses \
                 chance, or remembers what came before; see `luminary check --pilot`"
            ));
        }
        Ok(warnings)
    }

    /// Domains can be asked again.
    ///
    /// # Errors
    /// None.
    #[cfg(not(unix))]
    pub(super) fn ask_again(&mut self, _: &RunConfig, _: f64) -> Result<Vec<String>, RunError> {
        Ok(Vec::new())
    }
}

/// The program of a run, if one evaluates.
#[cfg(unix)]
pub(super) fn external(config: &RunConfig) -> Option<&ExternalConfig> {
    match &config.problem {
        ProblemConfig::External { evaluator, .. } => Some(evaluator),
        _ => None,
    }
}

#[cfg(unix)]
fn start_worker(config: &RunConfig, worker: usize, transcript: Option<Transcript>) -> Result<Evaluator, RunError> {
    let external = external(config).expect("only programs have workers");
    let spec = config.problem.spec()?;
    let batch = ExternalBatch::start_one(external, spec, config.goal(), worker, transcript)?;
    Ok(Box::new(batch))
}
