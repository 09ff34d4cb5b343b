//! demo, run, resume: everything that spends time.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use luminary::scheduler::Order;
use luminary_run::RunError;
use luminary_run::config::{ChosenOverIssue, Override, RunConfig};
use luminary_run::disk::Disk;
use luminary_run::driver::{ResumeOptions, Run};
#[cfg(unix)]
use luminary_run::external::{Crew, read_hosts};
use luminary_run::folder::{MeasuresSeen, State};
use luminary_run::stop::StopFlag;
use luminary_run::summary::Summary;
use luminary_run::text::visible;

use super::{Outcome, read_settings};
use crate::args::{DemoArgs, ResumeArgs, RunArgs};
use crate::display::{self, Speech};
use crate::failure::{Failure, INTERRUPTED, quoted};
use crate::numbers::{best_score, elapsed, grouped, percent, score};
use crate::signals;

pub(crate) fn demo(args: &DemoArgs) -> Outcome {
    // The paper's settings, its learning rate among them.
    let demo = [("problem.domain", "lp-sphere"), ("archive.learning_rate", "0.01"), ("run.figures", "true")];
    let mut overrides: Vec<_> = demo.map(|(key, value)| Override::new("demo", key, value)).into();
    overrides.extend(args.overrides());
    let config = RunConfig::read(None, &overrides)?;
    let out = args.out.clone().unwrap_or_else(|| unused_folder("demo"));
    start(&out, config, LiveView::Off, Speech::of_flag(args.quiet))
}

pub(crate) fn run(args: &RunArgs) -> Outcome {
    let settings = read_settings(&args.config)?;
    let speech = Speech::of_flag(args.quiet);
    settings.tell(speech);
    let mut config = settings.config;
    if let Some(ChosenOverIssue { over_issue, .. }) = settings.over_issue {
        config.run.order = Order::Completion { over_issue };
    }
    tell_of_order(&config, settings.over_issue, speech);
    let named = args.out.clone().or_else(|| settings.out.map(PathBuf::from));
    let view = if args.serve { LiveView::On } else { LiveView::Off };
    start(&named.unwrap_or_else(|| folder_for(&config)), config, view, speech)
}

/// Tells what completion order comes to, where that is not what everybody expects.
fn tell_of_order(config: &RunConfig, chosen: Option<ChosenOverIssue>, speech: Speech) {
    if speech.is_quiet() || config.run.order == Order::Rows {
        return;
    }
    if let Some(chosen) = chosen {
        eprintln!("note: {chosen}");
    }
    if !config.problem.is_program() {
        eprintln!(
            "note: a problem in this process is evaluated an iteration at a time, in which completion order gains no time"
        );
    }
}

/// A new folder under runs/ that is named after the run.
pub(super) fn folder_for(config: &RunConfig) -> PathBuf {
    let safe = |c: char| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
    let name: String = config.problem.name().chars().map(safe).collect();
    unused_folder(&format!("{name}-{}-seed{}", config.algorithm.preset, config.run.seed))
}

/// Whether a run is served to browsers while it runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LiveView {
    On,
    Off,
}

fn start(out: &Path, config: RunConfig, view: LiveView, speech: Speech) -> Outcome {
    let stop = signals::stop_flag()?;
    let mut centroids = display::Centroids::new(speech);
    let run = Run::create_watched(Disk::default(), out, config, &mut |share| centroids.show(share))?;
    drop(centroids);
    let _serving = match view {
        LiveView::On => Some(super::serve::beside(out)?),
        LiveView::Off => None,
    };
    execute_and_print(run, &stop, speech)
}

pub(crate) fn resume(args: &ResumeArgs) -> Outcome {
    if luminary_run::sweep::is_sweep(&args.dir) {
        return super::sweep::resume(args);
    }
    if super::lsi::is_experiment(&args.dir) {
        return super::lsi::resume();
    }
    let stop = signals::stop_flag()?;
    execute_and_print(Run::resume(&args.dir, options(args)?)?, &stop, Speech::of_flag(args.quiet))
}

/// What the flags of `resume` say.
pub(super) fn options(args: &ResumeArgs) -> Result<ResumeOptions, Failure> {
    Ok(ResumeOptions {
        iterations: args.iterations,
        threads: args.threads,
        from_start: args.from_start,
        #[cfg(unix)]
        crew: match (&args.hosts, args.workers) {
            (Some(text), _) => {
                let hosts = read_hosts(text).map_err(|error| Failure::input(format!("--hosts: {error}")))?;
                Some(Crew::On(hosts))
            }
            (None, workers) => workers.map(|workers| Crew::Here(workers.into())),
        },
    })
}

fn execute_and_print(run: Run, stop: &StopFlag, speech: Speech) -> Outcome {
    let wants_figures = run.config().run.figures;
    let Some(summary) = execute(run, stop, speech)? else { return Ok(ExitCode::from(INTERRUPTED)) };
    let figures = if wants_figures { super::plot::draw_at_end(&summary.folder)? } else { Vec::new() };
    if !speech.is_quiet() {
        let pictures = figures.iter().filter_map(|path| Some(format!(", {}", path.file_name()?.to_str()?)));
        writeln!(io::stdout(), "{}{}", one_line(&summary), pictures.collect::<String>())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs to the end, or says how to go on and returns nothing.
fn execute(run: Run, stop: &StopFlag, speech: Speech) -> Result<Option<Summary>, Failure> {
    let mut watch = display::choose(&run, stop, speech);
    let folder = run.path().to_owned();
    let executed = run.execute(stop, watch.as_mut());
    drop(watch);
    let summary = executed.map_err(|error| match error {
        // It never began, and resuming would not help.
        RunError::NoEvaluator { .. } => Failure::Run(error),
        error => Failure::Stopped(error, folder),
    })?;
    if summary.status == State::Interrupted {
        let hint = format!("continue with: luminary resume {}", quoted(&summary.folder));
        eprintln!("stopped after iteration {} and saved; {hint}", grouped(summary.iterations));
        return Ok(None);
    }
    Ok(Some(summary))
}

/// What a run came to, with its paths, in one line.
pub fn one_line(summary: &Summary) -> String {
    format!(
        "{} on {}: QD score {}, coverage {:.2} %, best {}, {} evaluations in {}{}{}; results in {}",
        summary.algorithm,
        summary.problem,
        score(summary.qd_score),
        summary.coverage_percent,
        best_score(summary.best, summary.mean),
        grouped(summary.evaluations),
        elapsed(summary.seconds),
        causes(summary)
            .map_or(String::new(), |causes| format!(", {} without a value ({causes})", grouped(summary.invalid))),
        outside(summary).map_or(String::new(), |outside| format!(", {outside}")),
        summary.folder.join("result.parquet").display(),
    )
}

/// Why rows have no value, with how many, the most frequent cause first; nothing if all have one.
pub(crate) fn causes(summary: &Summary) -> Option<String> {
    let mut causes: Vec<_> = summary.failures.iter().collect();
    causes.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let words: Vec<_> =
        causes.iter().map(|(cause, count)| format!("{} {}", grouped(**count), visible(cause))).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// How many rows had measures outside their bounds, with the range that was seen; nothing if none had.
pub(super) fn outside(summary: &Summary) -> Option<String> {
    let seen = summary.measures_seen.as_ref().filter(|seen| seen.outside > 0)?;
    let share = percent(seen.share_outside());
    Some(format!("{share} of rows outside the measure bounds (seen: {})", ranges(seen)))
}

/// The range of each measure.
fn ranges(seen: &MeasuresSeen) -> String {
    let range = |(lowest, highest): (&f64, &f64)| format!("{} to {}", score(*lowest), score(*highest));
    seen.lowest.iter().zip(&seen.highest).map(range).collect::<Vec<_>>().join(", ")
}

/// `runs/name`, or the first of `runs/name-2`, `runs/name-3`, ... that does not exist.
pub fn unused_folder(name: &str) -> PathBuf {
    let runs = Path::new("runs");
    let numbered = (2..).map(|i| runs.join(format!("{name}-{i}")));
    std::iter::once(runs.join(name))
        .chain(numbered)
        .find(|path| !path.exists())
        .expect("there is always another number")
}
