//! show, list: everything that only looks.

use std::io::{self, Write};
use std::process::ExitCode;

use luminary::archive::ArchiveKind;
use luminary::preset::Preset;
use luminary_domains::Domain;
use luminary_run::config::{ArchiveSettings, ProblemConfig, RankerName, RunConfig, StrategyName, settings};
use luminary_run::folder::{Manifest, State};
use luminary_run::summary::Summary;
use luminary_run::text::visible;

use terminal_size::{Width, terminal_size_of};

use super::Outcome;
use super::run::{causes, outside};
use crate::args::{ListArg, ListArgs, ShowArgs};
use crate::numbers::{best_score, elapsed, grouped, score};

pub(crate) fn show(args: &ShowArgs) -> Outcome {
    if luminary_run::sweep::is_sweep(&args.dir) {
        let table = luminary_run::sweep::read_table(&args.dir)?;
        if args.json {
            print_json(&table)?
        } else {
            write!(io::stdout(), "{}", super::sweep::render(&table))?
        }
        return Ok(ExitCode::SUCCESS);
    }
    let summary = Summary::read_to_last_call(&args.dir)?;
    if args.json {
        print_json(&summary)?
    } else {
        print_summary(&summary, &Manifest::read(&args.dir)?.config)?
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn print_json(value: &impl serde::Serialize) -> io::Result<()> {
    let text = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
    writeln!(io::stdout(), "{text}")
}

/// Evaluations without a value. Those of an iteration that is not whole are counted by cause only.
fn n_without_value(summary: &Summary) -> u64 {
    summary.invalid.max(summary.failures.values().sum())
}

fn print_summary(summary: &Summary, config: &RunConfig) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let status = match &summary.status {
        State::Created => "created; nobody has begun".into(),
        State::Finished => "finished".into(),
        State::Interrupted => match config.problem {
            ProblemConfig::Custom { .. } => {
                "interrupted; the program that made it, or `luminary ask` and `luminary tell`, continue it".into()
            }
            _ => "interrupted; `luminary resume` continues it".into(),
        },
        State::Running => "running".into(),
        State::Failed { cause } => {
            let lines: Vec<_> = cause.lines().map(visible).collect();
            format!("failed: {}", lines.join("\n             "))
        }
    };
    let restarts = summary.restarts_by_cause.map_or(String::new(), |counts| {
        let parts = [
            ("degenerate", counts.degenerate),
            ("converged", counts.converged),
            ("diverged", counts.diverged),
            ("flat", counts.flat),
            ("no improvement", counts.no_improvement),
            ("timeout", counts.timeout),
        ];
        let named: Vec<_> =
            parts.iter().filter(|part| part.1 > 0).map(|part| format!("{} {}", part.1, part.0)).collect();
        if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) }
    });
    let mut rows = vec![
        ("run", summary.folder.display().to_string()),
        ("status", status),
        ("problem", summary.problem.clone()),
        ("algorithm", format!("{}, seed {}", summary.algorithm, summary.seed)),
        ("iterations", format!("{} of {}", grouped(summary.iterations), grouped(summary.iterations_wanted))),
        ("evaluations", grouped(summary.evaluations)),
        ("time", elapsed(summary.seconds)),
        ("QD score", format!("{} (sum {})", score(summary.qd_score), score(summary.qd_score_sum))),
        ("coverage", coverage(summary, &config.archive)),
        ("best", best_score(summary.best, summary.mean)),
        ("mean", best_score(summary.mean, summary.best)),
        ("restarts", format!("{}{restarts}", grouped(summary.restarts))),
        (
            "no value",
            causes(summary).map_or("0".into(), |causes| format!("{} ({causes})", grouped(n_without_value(summary)))),
        ),
    ];
    if summary.measures_seen.as_ref().is_some_and(|seen| seen.rows > 0) {
        rows.push(("measures", outside(summary).unwrap_or_else(|| "all within their bounds".into())));
    }
    for (name, value) in rows {
        writeln!(out, "{name:<12} {value}")?;
    }
    Ok(())
}

/// How full the archive is. One without a limit is never full, and what it holds is all that can be said.
fn coverage(summary: &Summary, archive: &ArchiveSettings) -> String {
    let elites = grouped(summary.elites as u64);
    if archive.capacity().is_none() {
        return format!("{elites} elites, without limit");
    }
    let places = if archive.cells().is_some() { "cells" } else { "elites" };
    format!("{:.2} % ({elites} of {} {places})", summary.coverage_percent, grouped(summary.cells as u64))
}

pub(crate) fn list(args: &ListArgs) -> Outcome {
    match args.what {
        Some(ListArg::Settings) => list_settings()?,
        None => list_names()?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Every setting: its path in a line, and what it is below.
fn list_settings() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let room = terminal_width().saturating_sub(SETTING_INDENT).max(LIST_ROOM);
    for (path, text) in settings::list() {
        writeln!(out, "{path}")?;
        for line in wrapped(&text, room) {
            writeln!(out, "{:SETTING_INDENT$}{line}", "")?;
        }
    }
    Ok(())
}

fn terminal_width() -> usize {
    terminal_size_of(io::stdout()).map_or(usize::MAX, |(Width(width), _)| width.into())
}

fn list_names() -> io::Result<()> {
    let room = terminal_width().saturating_sub(LIST_INDENT).max(LIST_ROOM);
    let mut out = io::stdout().lock();
    let mut section = |title: &str, rows: Vec<(&str, &str)>| -> io::Result<()> {
        writeln!(out, "{title}")?;
        for (name, description) in rows {
            for (i, line) in wrapped(description, room).iter().enumerate() {
                writeln!(out, "  {:<27} {line}", if i == 0 { name } else { "" })?;
            }
        }
        Ok(())
    };
    section("domains", Domain::ALL.map(|domain| (domain.name(), domain.description())).to_vec())?;
    section("algorithms", Preset::ALL.map(|preset| (preset.name(), preset.description())).to_vec())?;
    section("archives", ArchiveKind::ALL.to_vec())?;
    section("rankers", RankerName::ALL.map(|ranker| (ranker.name, ranker.description)).to_vec())?;
    section("strategies", StrategyName::ALL.map(|strategy| (strategy.name(), strategy.description())).to_vec())
}

/// Where descriptions of settings begin.
const SETTING_INDENT: usize = 4;
/// Where descriptions begin.
const LIST_INDENT: usize = 30;
/// Narrower columns of text are not worth reading.
const LIST_ROOM: usize = 16;

/// A text in lines of at most `width` characters, cut between words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_words_only() {
        assert_eq!(wrapped("new, improved, rest", 14), ["new, improved,", "rest"]);
        assert_eq!(wrapped("unbreakable word", 4), ["unbreakable", "word"]);
        assert_eq!(wrapped("all in one", usize::MAX), ["all in one"]);
    }
}
