//! reproduce: the experiments of the paper.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use luminary::strategy::Variant;
use luminary_reproduce::document::{self, Origin};
use luminary_reproduce::pool::Event;
use luminary_reproduce::results::variant_name;
use luminary_reproduce::{Experiment, Results, Study};

use super::Outcome;
use super::sweep::n_jobs_or_all_cores;
use crate::args_reproduce::{ExperimentArg, ReproduceArgs, VariantArg};
use crate::display::{Speech, Trials};
use crate::failure::{Failure, INTERRUPTED};
use crate::signals;

pub(crate) fn reproduce(args: &ReproduceArgs) -> Outcome {
    let studies = studies(args)?;
    let are_complete = if args.no_run { look_up(&studies, args)? } else { run(&studies, args)? };
    if !are_complete {
        eprintln!("stopped; the same command continues with the trials that are left");
        return Ok(ExitCode::from(INTERRUPTED));
    }
    if let Some(folder) = &args.document {
        write_document(args, folder)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs the studies one after another; false if they were stopped.
fn run(studies: &[Study], args: &ReproduceArgs) -> Result<bool, Failure> {
    let (stop, n_jobs) = (signals::stop_flag_of_trials()?, n_jobs_or_all_cores(args.jobs));
    for study in studies {
        let display =
            Trials::new(format!("{} ({})", study.experiment, variant_name(study.variant)), Speech::of_flag(args.quiet));
        let results = study.run(&args.out, n_jobs, &stop, &|event| display.show(&event))?;
        drop(display);
        if !results.is_complete() {
            tell(&results, &results.trials_path(&args.out), Speech::of_flag(args.quiet))?;
            return Ok(false);
        }
        write_page(&results, args)?;
    }
    Ok(true)
}

/// Writes the pages of what is there. That trials are missing is no fault, but having none at all is.
fn look_up(studies: &[Study], args: &ReproduceArgs) -> Result<bool, Failure> {
    let mut n_finished = 0;
    for study in studies {
        let results = study.finished(&args.out, &warn)?;
        n_finished += results.n_finished();
        if results.n_finished() > 0 {
            write_page(&results, args)?;
        }
    }
    if n_finished == 0 {
        let folder = args.out.display();
        return Err(Failure::input(format!("expected finished trials of the experiment in {folder}, found none")));
    }
    Ok(true)
}

fn write_page(results: &Results, args: &ReproduceArgs) -> Result<(), Failure> {
    let path = document::write_page(results, &args.out)?;
    Ok(tell(results, &path, Speech::of_flag(args.quiet))?)
}

fn write_document(args: &ReproduceArgs, folder: &Path) -> Result<(), Failure> {
    let is_frontier = args.experiment == ExperimentArg::Frontier;
    let studies: Vec<_> = match is_frontier {
        true => Experiment::FRONTIER.map(|experiment| (experiment, Variant::Standard)).to_vec(),
        false => document::STUDIES.to_vec(),
    };
    let mut all = Vec::new();
    for (experiment, variant) in studies {
        all.push(study(args, experiment, variant).finished(&args.out, &warn)?);
    }
    let origin = Origin { command: command(args, folder), commit: args.commit.clone() };
    let path = match is_frontier {
        true => document::write_frontier(&all, &origin, folder)?,
        false => document::write_document(&all, &origin, folder)?,
    };
    if !args.quiet {
        writeln!(io::stdout(), "the document is {}", path.display())?;
    }
    Ok(())
}

/// The command that makes the document from finished trials.
fn command(args: &ReproduceArgs, folder: &Path) -> String {
    let experiment = if args.experiment == ExperimentArg::Frontier { "frontier" } else { "all" };
    let mut text = format!("luminary reproduce {experiment} --no-run");
    for (flag, value) in [("--trials", args.trials), ("--iterations", args.iterations)] {
        if let Some(value) = value {
            text += &format!(" {flag} {value}");
        }
    }
    if let Some(only) = &args.only {
        text += &format!(" --only {only}");
    }
    format!("{text} --document {}", folder.display())
}

/// What the arguments ask for, without experiments of which nothing is left.
fn studies(args: &ReproduceArgs) -> Result<Vec<Study>, Failure> {
    let variant = match args.variant {
        VariantArg::Published => Variant::Published,
        VariantArg::Standard => Variant::Standard,
    };
    let experiments = experiments(args.experiment).iter();
    let mut studies: Vec<_> = experiments.map(|&experiment| study(args, experiment, variant)).collect();
    studies.retain(|study| !study.cells.is_empty());
    if studies.is_empty() {
        return Err(Failure::input("--only: expected domains and algorithms of the experiment, found none of them"));
    }
    Ok(studies)
}

fn study(args: &ReproduceArgs, experiment: Experiment, variant: Variant) -> Study {
    let study = Study::new(experiment, variant, args.iterations).only(&args.only.clone().unwrap_or_default());
    let n_trials = args.trials.unwrap_or(study.n_trials);
    study.trials(n_trials)
}

fn experiments(named: ExperimentArg) -> &'static [Experiment] {
    match named {
        ExperimentArg::Main => &[Experiment::Main],
        ExperimentArg::Alpha => &[Experiment::Alpha],
        ExperimentArg::MinF => &[Experiment::MinF],
        ExperimentArg::Resolution => &[Experiment::Resolution],
        ExperimentArg::N1000 => &[Experiment::N1000],
        ExperimentArg::N1000Resolution => &[Experiment::N1000Resolution],
        ExperimentArg::All => &Experiment::ALL,
        ExperimentArg::Frontier => &Experiment::FRONTIER,
    }
}

fn warn(event: Event<'_>) {
    if let Event::Damaged { path, message } = event {
        eprintln!("warning: {} is damaged and counts as missing: {message}", path.display());
    }
}

fn tell(results: &Results, path: &Path, speech: Speech) -> io::Result<()> {
    if speech.is_quiet() {
        return Ok(());
    }
    let (stem, n_finished, n_planned) = (results.file_stem(), results.n_finished(), results.n_planned());
    let score = results.score();
    writeln!(io::stdout(), "{stem}: {n_finished} of {n_planned} trials, {score}; see {}", path.display())
}
