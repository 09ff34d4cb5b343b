//! Whole runs, from an empty folder to the end, of every kind that writes to a folder in its own way.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Duration;

use luminary::problem::{Evaluate, EvaluateError, ProblemSpec, Request, Results, RowFailure};
use luminary::scheduler::Ticket;
use luminary_run::by_hand::{ByHand, Message};
use luminary_run::config::{RunConfig, Source};
use luminary_run::disk::Disk;
use luminary_run::driver::{ResumeOptions, Run};
use luminary_run::evaluate::{Outcome, Pool};
use luminary_run::export;
use luminary_run::folder::history::{HISTORY, read_history};
use luminary_run::folder::{Durations, MANIFEST, MetricsLog, MetricsRow, State};
use luminary_run::stop::StopFlag;
use luminary_run::summary::Summary;
use tempfile::TempDir;

/// A kind of run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// A built-in problem, with a second process that goes on to more iterations.
    BuiltIn,
    /// An evaluator that fails now and then and has something to say.
    Failing,
    /// A run that starts from elites.
    Started,
    /// Tickets that are asked for and told by hand, each time by another process.
    ByHand,
    /// Completion order, with a worker that gets ticket after ticket and fails now and then.
    ByTicket,
}

pub(crate) const LIVES: [Life; 5] = [Life::BuiltIn, Life::Failing, Life::Started, Life::ByHand, Life::ByTicket];

/// The name of the run folder.
pub(crate) const RUN: &str = "run";

const ITERATIONS: u64 = 4;

/// An empty folder, in memory if the system has a place for that: thousands of runs are synced at every step.
pub(crate) fn empty_folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

type Lived = Result<(), Box<dyn Error>>;

impl Life {
    /// Begins the run in a folder, or goes on with it, until it is finished.
    pub(crate) fn live(self, disk: &Disk, path: &Path) -> Lived {
        if self == Self::ByHand {
            return by_hand(disk, path);
        }
        if !path.join(MANIFEST).exists() {
            self.execute(Run::create_on(disk.clone(), path, config(self, ITERATIONS / 2))?)?;
        }
        let options = ResumeOptions { iterations: Some(ITERATIONS), ..ResumeOptions::default() };
        self.execute(Run::resume_on(disk.clone(), path, options)?)
    }

    fn execute(self, run: Run) -> Lived {
        let stop = StopFlag::default();
        match self {
            Self::Failing => run.execute_with(Box::new(Moody { n_batches: 0 }), &stop, &mut ())?,
            Self::ByTicket => run.execute_by_ticket(Box::new(Alone::default()), &stop, &mut ())?,
            _ => run.execute(&stop, &mut ())?,
        };
        Ok(())
    }
}

pub(crate) fn config(life: Life, iterations: u64) -> RunConfig {
    let from = match life {
        Life::Started => format!("from = ['{}/tests/faults/start.csv']\n", env!("CARGO_MANIFEST_DIR")),
        _ => String::new(),
    };
    let problem = match life {
        Life::ByHand => "n = 2\nmeasures = [[-1, 1], [-1, 1]]",
        _ => "domain = 'lp-sphere'\nn = 2",
    };
    let order = if life == Life::ByTicket { "order = 'completion'\n" } else { "" };
    let text = format!(
        "[problem]\n{problem}\n[archive]\nresolution = [5, 5]\nlearning_rate = 0.1\nmin_f = -100.0\n{from}\
         [algorithm]\nemitters = 1\nbatch_size = 4\n\
         [run]\niterations = {iterations}\nmetrics_every = 1\ncheckpoint_iterations = 1\ncheckpoint_seconds = 1e6\n\
         threads = 1\nseed = 3\n{order}"
    );
    RunConfig::read(Some(Source::new("test.toml", &text)), &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// An evaluator that has no value for some solutions, always the same ones, and says so.
struct Moody {
    n_batches: u64,
}

impl Evaluate for Moody {
    fn spec(&self) -> ProblemSpec {
        config(Life::Failing, ITERATIONS).problem.spec().unwrap()
    }

    fn has_gradients(&self) -> bool {
        false
    }

    fn evaluate(&mut self, request: &Request<'_>, results: &mut Results) -> Result<(), EvaluateError> {
        self.n_batches += 1;
        for (row, solution) in request.solutions.chunks_exact(2).enumerate() {
            let (objective, measures) = value(solution);
            results.measures[row * 2..][..2].copy_from_slice(&measures);
            results.objectives[row] = objective;
            if request.ticket(row).get() % 4 == 1 {
                results.objectives[row] = f64::NAN;
                results.failures.push(RowFailure { row, reason: "out of fuel".into() });
            }
        }
        Ok(())
    }

    fn take_notes(&mut self) -> Vec<String> {
        vec![format!("batch {} was no pleasure", self.n_batches)]
    }
}

/// One worker with one ticket at a time, so that a run that was interrupted makes the same calls as one that was not.
#[derive(Default)]
struct Alone {
    ticket: Option<Ticket>,
    n_settled: u64,
}

impl Pool for Alone {
    fn n_wanted(&mut self) -> usize {
        usize::from(self.ticket.is_none())
    }

    fn n_workers(&self) -> usize {
        1
    }

    fn submit(&mut self, tickets: &[Ticket]) {
        let [ticket] = tickets else { panic!("expected one ticket, found {tickets:?}") };
        assert!(self.ticket.replace(ticket.clone()).is_none(), "a ticket for somebody who has one");
    }

    fn wait(&mut self, _: Duration, outcomes: &mut Vec<Outcome>) -> Result<(), EvaluateError> {
        let Some(Ticket { id, solution, .. }) = self.ticket.take() else { return Ok(()) };
        self.n_settled += 1;
        let (objective, measures) = value(&solution);
        outcomes.push(match id.get() % 4 {
            1 => Outcome::Failure {
                ticket: id,
                kind: "out of fuel".into(),
                cause: "the tank was empty".into(),
                output: Vec::new(),
            },
            _ => Outcome::Value {
                ticket: id,
                objective,
                measures: measures.to_vec(),
                jacobian: None,
                extras: Vec::new(),
            },
        });
        Ok(())
    }

    fn take_durations(&mut self) -> Durations {
        Durations::NONE
    }

    fn take_notes(&mut self) -> Vec<String> {
        vec![format!("ticket {} was no pleasure", self.n_settled)]
    }
}

pub(crate) fn value(solution: &[f64]) -> (f64, [f64; 2]) {
    let squares: f64 = solution.iter().map(|x| x * x).sum();
    (-squares, [solution[0].clamp(-1.0, 1.0), solution[1].clamp(-1.0, 1.0)])
}

/// Asks for three rows when none is out, and answers all that are; each time anew, as somebody does who remembers
/// nothing.
fn by_hand(disk: &Disk, path: &Path) -> Lived {
    if !path.join(MANIFEST).exists() {
        ByHand::create_on(disk.clone(), path, &config(Life::ByHand, ITERATIONS))?;
    }
    loop {
        let mut run = ByHand::open_on(disk.clone(), path)?;
        let mut tickets = run.scheduler().outstanding();
        if tickets.is_empty() && !run.is_finished() {
            run.ask(3)?;
            run.close()?;
            run = ByHand::open_on(disk.clone(), path)?;
            tickets = run.scheduler().outstanding();
        }
        for ticket in tickets {
            let (objective, measures) = value(&ticket.solution);
            let message = match ticket.id.get() % 5 {
                4 => Message::Failed { id: ticket.id, reason: "dropped".into() },
                _ => Message::Told {
                    id: ticket.id,
                    objective,
                    measures: measures.to_vec(),
                    jacobian: None,
                    extras: Vec::new(),
                },
            };
            run.take(&message)?;
        }
        let is_finished = run.is_finished();
        run.close()?;
        if is_finished && State::read(path)? == State::Finished {
            return Ok(());
        }
    }
}

/// What must be the same of two runs that have ended.
#[derive(Debug, PartialEq)]
pub(crate) struct Essence {
    archives: [Vec<u8>; 2],
    engine: Vec<u8>,
    metrics: Vec<MetricsRow>,
    summary: Summary,
    journal: Option<Vec<u8>>,
}

impl Essence {
    /// Reads a run folder, all of whose files must be readable.
    pub(crate) fn of(path: &Path) -> Self {
        let read = |name: &str| fs::read(path.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let log = path.join("metrics.jsonl");
        let metrics = MetricsLog::read(&log).unwrap();
        assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), metrics.len(), "every line reads");
        if let Ok(text) = fs::read_to_string(path.join("failures.jsonl")) {
            let reads = |line: &str| serde_json::from_str::<serde_json::Value>(line).is_ok();
            assert!(text.lines().all(reads), "a line of failures.jsonl does not read: {text}");
        }
        let summary = Summary::read(path).unwrap();
        assert_eq!(summary.status, State::Finished);
        // Faults may cost moments of the past, but leave none that never was.
        let history = read_history(&path.join(HISTORY)).unwrap();
        let result = export::load(path).unwrap();
        let n_elites = result.result().len();
        for frame in history {
            assert!(frame.iteration <= summary.iterations, "a moment after the end: {frame:?}");
            assert!(frame.result.cells.len() <= n_elites, "more cells than there are elites: {frame:?}");
        }
        Self {
            archives: ["archive.parquet", "result.parquet"].map(read),
            engine: export::load(path).unwrap().to_checkpoint().unwrap(),
            metrics: metrics.into_iter().map(|row| MetricsRow { seconds: 0.0, ..row }).collect(),
            summary: Summary { seconds: 0.0, folder: RUN.into(), ..summary },
            journal: fs::read(path.join("journal.jsonl")).ok(),
        }
    }
}
