//! check: a configuration and its evaluator, tried before any budget is spent.

use std::io::{self, Write};
use std::process::ExitCode;

use luminary_run::check::{Check, Design, Pilot, pilot};
use luminary_run::config::{Goal, RunConfig};
use luminary_run::text::visible;
#[cfg(unix)]
use luminary_run::{check::Conversation, external::Entry};

use super::{Outcome, read_settings};
use crate::args::CheckArgs;
use crate::failure::{FAILED, Failure};
use crate::numbers::{bytes, elapsed, grouped};

/// Measures that are ordered almost alike say the same twice.
const STRONG_CORRELATION: f64 = 0.9;

pub(crate) fn check(args: &CheckArgs) -> Outcome {
    let settings = read_settings(&args.config)?;
    let config = &settings.config;
    let check = luminary_run::check::check(config)?;
    print_plan(&check, config)?;
    print_start(&check, config)?;
    for warning in &check.warnings {
        writeln!(io::stdout(), "warning: {warning}")?;
    }
    for note in &settings.notes {
        writeln!(io::stdout(), "warning: {note}")?;
    }
    if !check.faults.is_empty() {
        let message = format!("expected a value for the start, found none: {}", check.faults.join("\n  "));
        return Err(Failure::Message(printable_lines(&message), FAILED));
    }
    if !check.objective.is_finite() {
        return Err(Failure::input("expected a finite objective for the start, found none"));
    }
    if !check.worker_faults.is_empty() {
        let message =
            format!("expected a value of every worker, found none of some: {}", check.worker_faults.join("\n  "));
        return Err(Failure::Message(printable_lines(&message), FAILED));
    }
    if let Some(n_solutions) = args.n_pilot() {
        let pilot = pilot(config, n_solutions)?;
        print_pilot(&pilot, config)?;
        if pilot.objective.is_none() {
            return Err(Failure::Message("expected values from the pilot, found none".into(), FAILED));
        }
    }
    writeln!(io::stdout(), "ready")?;
    Ok(ExitCode::SUCCESS)
}

/// What would be run.
fn print_plan(check: &Check, config: &RunConfig) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let alpha = check.alpha.map_or(String::new(), |alpha| format!(", learning rate {alpha:.6}"));
    let bounds: Vec<_> = check.measure_bounds.iter().map(|(lower, upper)| format!("[{lower}, {upper}]")).collect();
    writeln!(
        out,
        "problem      {}, {} components, measures in {}",
        check.problem,
        check.solution_dim,
        bounds.join(" x ")
    )?;
    let kind = config.archive.kind.name();
    let size = match (check.capacity, check.archive_bytes) {
        (Some(n_elites), Some(size)) => {
            let places = if config.archive.cells().is_some() { "cells" } else { "elites at most" };
            format!("{} {places}, up to {}", grouped(n_elites as u64), bytes(size))
        }
        _ => "elites without limit".into(),
    };
    let start = match check.n_elites {
        0 => String::new(),
        n_elites => format!(", {} elites to start from", grouped(n_elites as u64)),
    };
    writeln!(out, "archive      {kind}, {size}{alpha}{start}")?;
    let algorithm = &config.algorithm;
    let bandit = algorithm.bandit.map_or(String::new(), |bandit| format!(", {} of them at a time", bandit.n_active));
    writeln!(
        out,
        "algorithm    {}, {} emitters of {} evaluations{bandit}",
        algorithm.preset, algorithm.emitters, algorithm.batch_size
    )?;
    writeln!(
        out,
        "budget       {} iterations, {} evaluations, {} threads",
        grouped(config.run.iterations),
        grouped(check.evaluations),
        config.run.threads
    )
}

/// What came of the first evaluation, and what was said on the way.
fn print_start(check: &Check, config: &RunConfig) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(conversation) = &check.conversation {
        print_conversation(conversation, check.seconds)?;
    }
    if !check.faults.is_empty() {
        return Ok(());
    }
    let extras: String = check.extras.iter().map(|(name, values)| format!(", {name} {values:?}")).collect();
    let minimised = if config.goal() == Goal::Minimise { " (minimised)" } else { "" };
    let objective = check.objective;
    let measures = &check.measures;
    writeln!(
        io::stdout(),
        "evaluation   objective {objective:?}{minimised}, measures {measures:?}{extras} at the start"
    )
}

#[cfg(unix)]
fn print_conversation(conversation: &Conversation, seconds: f64) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for entry in &conversation.entries {
        match entry {
            Entry::Sent(text) => writeln!(out, "sent         {text}")?,
            Entry::Received(text) => writeln!(out, "received     {text}")?,
        }
    }
    for line in &conversation.errors {
        writeln!(out, "its errors   {}", visible(line))?;
    }
    let start = elapsed(conversation.start_seconds);
    writeln!(out, "time         {start} to start, {} for the evaluation", elapsed(seconds))
}

/// A text of several lines without control characters of a program's output.
fn printable_lines(text: &str) -> String {
    text.lines().map(visible).collect::<Vec<_>>().join("\n")
}

fn print_pilot(pilot: &Pilot, config: &RunConfig) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let n_solutions = grouped(pilot.n_solutions as u64);
    let design = match pilot.design {
        Design::Uniform => "drawn uniformly within the bounds",
        Design::Normal => "drawn normally around x0 with sigma, like the first iteration",
    };
    writeln!(out, "pilot        {n_solutions} solutions, {design}, each evaluated twice")?;
    let time = |share: f64| pilot.times.quantile(share).map_or("?".into(), brief);
    let [fastest, median, slow, slowest] = [0.0, 0.5, 0.95, 1.0].map(time);
    writeln!(out, "  time       median {median}, 95 % within {slow}, from {fastest} to {slowest}")?;
    let n_failed: usize = pilot.failures.values().map(|(count, _)| count).sum();
    writeln!(out, "  failures   {n_failed} of {}", grouped(2 * pilot.n_solutions as u64))?;
    for (cause, (count, words)) in &pilot.failures {
        let words = printable_lines(words).replace('\n', "\n      ");
        writeln!(out, "    {count} {cause}, the first: {words}")?;
    }
    let Some((lowest, highest)) = pilot.objective else { return Ok(()) };
    let noise = pilot.objective_noise.map_or(String::new(), |noise| format!(", noise {}", short(noise)));
    writeln!(out, "  objective  from {} to {}{noise}", short(lowest), short(highest))?;
    for (i, measure) in pilot.measures.iter().enumerate() {
        let Some((lowest, highest)) = measure.seen else { continue };
        let (lower, upper) = measure.configured;
        let outside = 100.0 * measure.n_outside as f64 / measure.n_seen as f64;
        let noise = measure.noise.map_or(String::new(), |noise| {
            let cells = measure.noise_in_cells.map_or(String::new(), |cells| format!(" ({} cells)", short(cells)));
            format!(", noise {}{cells}", short(noise))
        });
        writeln!(
            out,
            "  measure {i}  from {} to {}, configured [{lower}, {upper}], {outside:.0} % outside{noise}",
            short(lowest),
            short(highest)
        )?;
    }
    for &(i, j, correlation) in &pilot.correlations {
        match correlation {
            None => writeln!(out, "  measures {i} and {j}: one of them is constant")?,
            Some(rho) => {
                let warning =
                    if rho.abs() > STRONG_CORRELATION { ": they say almost the same, choose another" } else { "" };
                writeln!(out, "  measures {i} and {j}: rank correlation {rho:.2}{warning}")?;
            }
        }
    }
    if let Some((n_hit, n_cells)) = pilot.cells {
        writeln!(out, "  cells      {} of {} hit", grouped(n_hit as u64), grouped(n_cells as u64))?;
    }
    print_proposal(&mut out, pilot, config)
}

/// What to set, as it stands in a configuration.
fn print_proposal(out: &mut impl Write, pilot: &Pilot, config: &RunConfig) -> io::Result<()> {
    let proposal = &pilot.proposal;
    let mut lines = Vec::new();
    let mut propose = |key: &str, value: Option<String>| lines.extend(value.map(|value| format!("{key} = {value}")));
    let pairs = |ranges: &Vec<(f64, f64)>| -> String {
        let pairs: Vec<_> = ranges.iter().map(|(lower, upper)| format!("[{lower:?}, {upper:?}]")).collect();
        format!("[{}]", pairs.join(", "))
    };
    propose("problem.measures", proposal.measures.as_ref().map(pairs));
    propose("archive.resolution", proposal.resolution.as_ref().map(|cells| format!("{cells:?}")));
    let differs = |min_f: &f64| *min_f != config.archive.min_f;
    propose("archive.min_f", proposal.min_f.filter(differs).map(|min_f| format!("{min_f:?}")));
    propose("problem.noisy", proposal.noisy.map(|noisy| noisy.to_string()));
    propose("evaluator.time_limit", proposal.time_limit.map(|seconds| format!("{seconds:?}")));
    propose("evaluator.start_time_limit", proposal.start_time_limit.map(|seconds| format!("{seconds:?}")));
    if !lines.is_empty() {
        writeln!(out, "  proposed, from this pilot alone:\n    {}", lines.join("\n    "))?;
    }
    Ok(())
}

/// A time that may be far below a second.
fn brief(seconds: f64) -> String {
    match seconds {
        _ if seconds < 1e-3 => format!("{:.0} µs", 1e6 * seconds),
        _ if seconds < 0.1 => format!("{:.1} ms", 1e3 * seconds),
        _ => elapsed(seconds),
    }
}

/// Four digits, whatever the size.
fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".into()
    } else if (1e-3..1e6).contains(&size) {
        let decimals = (3 - size.log10().floor() as i32).max(0) as usize;
        format!("{value:.decimals$}")
    } else {
        format!("{value:.3e}")
    }
}
