//! elite, replay: everything about one elite.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use luminary_run::config::{RenderConfig, RunConfig};
use luminary_run::elite::{EliteRecord, Replay, find, render, replay as evaluate_again};
use luminary_run::export::{self, Which};
use luminary_run::folder::Manifest;
use serde_json::json;

use super::Outcome;
use super::look::print_json;
use crate::args::ArchiveArg;
use crate::args_elite::{ChoiceArgs, EliteArgs, ReplayArgs};
use crate::failure::{FAILED, Failure};
use crate::numbers::elapsed;

pub(crate) fn elite(args: &EliteArgs) -> Outcome {
    let (config, elite) = load(&args.dir, &args.choice, args.archive)?;
    if let Some(path) = &args.npy {
        export::write_vector(&elite.solution, path)?;
        writeln!(io::stdout(), "{}", path.display())?;
    } else if args.json {
        print_json(&elite)?;
    } else {
        print_elite(&elite, &config)?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn replay(args: &ReplayArgs) -> Outcome {
    let (config, elite) = load(&args.dir, &args.choice, args.archive)?;
    let picture = match &args.render {
        None => None,
        Some(path) => Some((path, render_config(&config, &args.command)?)),
    };
    let replay = evaluate_again(&config, &elite)?;
    if let Some((path, command)) = &picture {
        // Whoever waits for it can end it with Ctrl-C.
        render(command, &elite, path, None).map_err(|error| Failure::Message(error.to_string(), FAILED))?;
    }
    if args.json {
        print_json(&json!({ "elite": elite, "replay": replay }))?;
    } else {
        print_replay(&replay, &elite)?;
        if let Some((path, _)) = &picture {
            writeln!(io::stdout(), "picture      {}", path.display())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The configuration of a run and the chosen elite.
fn load(dir: &Path, choice: &ChoiceArgs, archive: ArchiveArg) -> Result<(RunConfig, EliteRecord), Failure> {
    let config = Manifest::read(dir)?.config;
    let scheduler = export::load(dir)?;
    let which = match archive {
        ArchiveArg::Result => Which::Result,
        ArchiveArg::Search => Which::Search,
    };
    let elite = find(which.of(&scheduler), config.goal(), &choice.choice());
    let elite = elite.map_err(|error| Failure::input(error.to_string()))?;
    let elite = elite.with_origin(config.run.seed, |number| scheduler.ticket_of_row(number));
    Ok((config, elite))
}

/// The command that was given, or that of the run.
fn render_config(config: &RunConfig, command: &[String]) -> Result<RenderConfig, Failure> {
    if !command.is_empty() {
        return Ok(RenderConfig::new(command.to_vec(), &config.problem));
    }
    config.render.clone().ok_or_else(|| {
        Failure::input(
            "expected a command to draw the elite with, found none: name it in the section [render] of the \
             configuration, or behind `--`, such as: -- python3 draw.py {output}",
        )
    })
}

fn print_elite(elite: &EliteRecord, config: &RunConfig) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let labels = config.problem.labels();
    writeln!(out, "{:<12} {:?}", "objective", elite.objective)?;
    let names = labels.measures.join(", ");
    writeln!(out, "{:<12} {:?} ({names})", "measures", elite.measures)?;
    let intervals = elite.intervals.as_ref().map_or(String::new(), |intervals| format!(" {intervals:?}"));
    writeln!(out, "{:<12} {}{intervals}", "cell", elite.cell)?;
    if let Some(threshold) = elite.threshold {
        writeln!(out, "{:<12} {threshold:?}", "threshold")?;
    }
    if let Some(visits) = elite.visits {
        writeln!(out, "{:<12} {visits}", "visits")?;
    }
    if let Some(evaluations) = elite.evaluations {
        writeln!(out, "{:<12} {evaluations}, from which objective and measures are estimated", "evaluations")?;
    }
    if let Some(seed) = elite.seed {
        writeln!(out, "{:<12} {seed}", "seed")?;
    }
    for (name, values) in &elite.extras {
        writeln!(out, "{name:<12} {values:?}")?;
    }
    writeln!(out, "{:<12} {:?}", "solution", elite.solution)
}

fn print_replay(replay: &Replay, elite: &EliteRecord) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "cell         {}", elite.cell)?;
    writeln!(out, "objective    {:?}", replay.objective)?;
    writeln!(out, "measures     {:?}", replay.measures)?;
    for (name, values) in &replay.extras {
        writeln!(out, "{name:<12} {values:?}")?;
    }
    writeln!(out, "time         {}", elapsed(replay.seconds))?;
    if replay.repeats {
        return writeln!(out, "repeats      yes, to the bit");
    }
    let why = match elite.seed {
        _ if elite.evaluations.is_some_and(|evaluations| evaluations > 1) => {
            "the archive has an estimate from several evaluations, and this is one".into()
        }
        Some(seed) => format!("the evaluator was given the same seed, {seed}, so it uses chance of its own"),
        None => "its seed is not known (in completion order, and where solutions were injected), so another was given"
            .into(),
    };
    writeln!(out, "repeats      no: {why}")?;
    for difference in &replay.differences {
        let by = difference.found - difference.expected;
        writeln!(out, "  {}: was {:?}, is {:?} ({by:+.3e})", difference.what, difference.expected, difference.found)?;
    }
    Ok(())
}
