//! trial and sweep: many runs at once.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use luminary_run::config::{Idle, Override};
use luminary_run::driver::ResumeOptions;
use luminary_run::stop::StopFlag;
use luminary_run::sweep::{Axis, Estimate, Plan, Sweep, SweepTable};

use super::run::unused_folder;
use super::{Outcome, with_source};
use crate::args::{ManyArgs, ResumeArgs, SweepArgs, TrialArgs, split_setting};
use crate::display::{Many, Speech};
use crate::failure::{FAILED, Failure, INTERRUPTED, quoted};
use crate::numbers::{elapsed, grouped};
use crate::signals;

pub(crate) fn trial(args: &TrialArgs) -> Outcome {
    start(&args.many, &[], args.trials, "trial")
}

pub(crate) fn sweep(args: &SweepArgs) -> Outcome {
    let axes = args.vary.iter().map(|text| read_axis(text)).collect::<Result<Vec<_>, _>>()?;
    start(&args.many, &axes, args.trials, "sweep")
}

fn start(args: &ManyArgs, axes: &[Axis], n_trials: u64, name: &str) -> Outcome {
    let stop = signals::stop_flag()?;
    let seeds = match &args.seeds {
        Some(text) => read_seeds(text)?,
        None => (0..n_trials).collect(),
    };
    let speech = Speech::of_flag(args.quiet);
    let plan = with_source(&args.config, |source, overrides| {
        refuse_seed(overrides, axes)?;
        let plan = Plan::new(source, overrides, axes, &seeds)?;
        tell_of_idle(&Plan::without_effect(source, overrides, axes)?, axes, speech)?;
        refuse_repetition(&plan)?;
        Ok(plan)
    })?;
    let out = args.out.clone().unwrap_or_else(|| unused_folder(name));
    let sweep = Sweep::start(&out, plan)?;
    execute(&sweep, &out, args.jobs, &stop, speech)
}

/// Tells of settings that change nothing in any run; whoever varies one would do the same run several times.
fn tell_of_idle(idle: &[Idle], axes: &[Axis], speech: Speech) -> Result<(), Failure> {
    let words = |one: &Idle| format!("{} changes nothing in any of these runs: it is {}", one.name, one.scope);
    if let Some(varied) = idle.iter().find(|one| axes.iter().any(|axis| axis.flag == one.name)) {
        let expected = "expected a setting that changes something in one of these runs";
        return Err(Failure::input(format!("{}: {expected}, found one that is {}", varied.name, varied.scope)));
    }
    if !speech.is_quiet() {
        idle.iter().for_each(|one| eprintln!("note: {}", words(one)));
    }
    Ok(())
}

/// Each trial has a seed of its own, so one that is given would be silently without effect.
fn refuse_seed(overrides: &[Override], axes: &[Axis]) -> Result<(), Failure> {
    let given = overrides.iter().map(|setting| (&setting.flag, &setting.key));
    let varied = axes.iter().map(|axis| (&axis.flag, &axis.key));
    match given.chain(varied).find(|(_, key)| *key == "run.seed") {
        Some((flag, _)) => Err(Failure::input(format!(
            "{flag}: expected the seeds of several runs as --seeds 0..5, or their number as --trials 5, found run.seed"
        ))),
        None => Ok(()),
    }
}

/// The same run again adds nothing, and would count as another trial.
fn refuse_repetition(plan: &Plan) -> Result<(), Failure> {
    match plan.repetition() {
        Some((first, again)) => Err(Failure::input(format!(
            "expected runs that differ, found {} and {} with the same settings",
            first.name, again.name
        ))),
        None => Ok(()),
    }
}

/// Continues a sweep.
pub(super) fn resume(args: &ResumeArgs) -> Outcome {
    if super::run::options(args)? != ResumeOptions::default() {
        return Err(Failure::input(
            "a sweep is continued as it was planned: expected no flag but --quiet, such as --iterations or --threads",
        ));
    }
    let stop = signals::stop_flag()?;
    execute(&Sweep::open(&args.dir)?, &args.dir, None, &stop, Speech::of_flag(args.quiet))
}

fn execute(sweep: &Sweep<'_>, folder: &Path, n_jobs: Option<usize>, stop: &StopFlag, speech: Speech) -> Outcome {
    let n_jobs = n_jobs_or_all_cores(n_jobs);
    let display = Many::new(sweep.plan(), folder, n_jobs, speech);
    let outcome = sweep.execute(n_jobs, stop, &|event| display.show(&event))?;
    drop(display);
    for run in sweep.plan().runs.iter().filter(|run| run.config.run.figures) {
        let path = folder.join(&run.name);
        if outcome.table.runs.iter().any(|finished| finished.folder == path) {
            super::plot::draw_at_end(&path)?;
        }
    }
    if !speech.is_quiet() {
        let paths = format!("{} and {}", folder.join("summary.csv").display(), folder.join("summary.json").display());
        writeln!(io::stdout(), "{}results in {paths}", render(&outcome.table))?;
    }
    if !outcome.failed.is_empty() {
        let message = format!("{} of {} runs failed", outcome.failed.len(), sweep.plan().runs.len());
        return Err(Failure::Message(message, FAILED));
    }
    if outcome.n_interrupted > 0 {
        let n = outcome.n_interrupted;
        eprintln!("stopped and saved with {n} runs left; continue with: luminary resume {}", quoted(folder));
        return Ok(ExitCode::from(INTERRUPTED));
    }
    Ok(ExitCode::SUCCESS)
}

/// As many jobs as wanted, or as there are cores.
pub(super) fn n_jobs_or_all_cores(n_jobs: Option<usize>) -> usize {
    n_jobs.filter(|&n| n > 0).unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// The table as text.
pub(super) fn render(table: &SweepTable) -> String {
    let number = |estimate: Option<Estimate>, decimals: usize| match estimate {
        None => "none".to_owned(),
        Some(Estimate { mean, standard_error: None }) => format!("{mean:.decimals$}"),
        Some(Estimate { mean, standard_error: Some(error) }) => format!("{mean:.decimals$} ± {error:.decimals$}"),
    };
    let mut rows = vec![["setting", "runs", "QD score", "coverage %", "best", "time of a run"].map(str::to_owned)];
    for group in &table.groups {
        rows.push([
            if group.group.is_empty() { "all seeds".into() } else { group.group.clone() },
            if group.n_finished == group.n_planned {
                grouped(group.n_planned as u64)
            } else {
                format!("{} of {}", group.n_finished, group.n_planned)
            },
            number(group.qd_score, 2),
            number(group.coverage_percent, 2),
            number(group.best, 2),
            group.seconds.map_or("none".into(), |seconds| elapsed(seconds.mean)),
        ]);
    }
    let width = |i: usize| rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0);
    let widths: [usize; 6] = std::array::from_fn(width);
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (i, (cell, width)) in row.iter().zip(widths).enumerate() {
            // Text to the left, numbers to the right.
            let _ = if i == 0 { write!(line, "{cell:<width$}") } else { write!(line, "  {cell:>width$}") };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// `KEY=VALUE,VALUE`; commas inside brackets and quotes belong to a value.
fn read_axis(text: &str) -> Result<Axis, Failure> {
    let (key, values) = split_setting(text).map_err(|message| Failure::input(format!("--vary: {message}")))?;
    let (mut values_read, mut value, mut depth, mut quote) = (Vec::new(), String::new(), 0_u32, None);
    for c in values.chars() {
        match (c, quote) {
            (',', None) if depth == 0 => {
                values_read.push(std::mem::take(&mut value));
                continue;
            }
            ('[' | '{', None) => depth += 1,
            (']' | '}', None) => depth = depth.saturating_sub(1),
            ('"' | '\'', None) => quote = Some(c),
            (_, Some(open)) if open == c => quote = None,
            _ => {}
        }
        value.push(c);
    }
    values_read.push(value);
    let values: Vec<_> = values_read.iter().map(|value| value.trim().to_owned()).collect();
    if values.iter().any(String::is_empty) {
        return Err(Failure::input(format!("--vary: expected values between the commas, found {text:?}")));
    }
    Ok(Axis { flag: format!("--vary {key}"), key: key.to_owned(), values })
}

/// `1,2,3`, `0..20`, or both.
fn read_seeds(text: &str) -> Result<Vec<u64>, Failure> {
    const MAX: u64 = 1_000_000;
    let bad =
        || Failure::input(format!("--seeds: expected numbers such as 1,2,3 or a range such as 0..20, found {text:?}"));
    let mut seeds = Vec::new();
    for part in text.split(',').map(str::trim) {
        match part.split_once("..") {
            None => seeds.push(part.parse().map_err(|_| bad())?),
            Some((from, to)) => {
                let (from, to): (u64, u64) = (from.parse().map_err(|_| bad())?, to.parse().map_err(|_| bad())?);
                if to <= from || to - from > MAX {
                    return Err(bad());
                }
                seeds.extend(from..to);
            }
        }
    }
    Ok(seeds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_lists_and_ranges() {
        assert_eq!(read_seeds("5, 1..4").unwrap(), [5, 1, 2, 3]);
        for text in ["", "a", "4..4", "9..1", "1..x", "0..99999999999", "-1"] {
            assert!(read_seeds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn axes_are_cut_at_their_own_commas_only() {
        let axis = read_axis("archive.resolution=[50, 50], '1,2' ,0.01 at 10x10").unwrap();
        assert_eq!(axis.key, "archive.resolution");
        assert_eq!(axis.values, ["[50, 50]", "'1,2'", "0.01 at 10x10"]);
        for text in ["sigma", "=1", "sigma=", "sigma=1,,2"] {
            assert!(read_axis(text).is_err(), "{text}");
        }
    }
}
