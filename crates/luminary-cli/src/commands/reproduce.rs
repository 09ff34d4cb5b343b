//! reproduce: the experiments of the paper.

use std::io::{self, Write};
use std::process::ExitCode;

use luminary::strategy::Variant;
use luminary_reproduce::results::variant_name;
use luminary_reproduce::{Experiment, Results, Study};

use super::Outcome;
use super::sweep::n_jobs_or_all_cores;
use crate::args::{ExperimentArg, ReproduceArgs, VariantArg};
use crate::display::Trials;
use crate::failure::{Failure, INTERRUPTED};
use crate::signals;

pub(crate) fn reproduce(args: &ReproduceArgs) -> Outcome {
    let studies = studies(args)?;
    let (stop, n_jobs) = (signals::stop_flag_of_trials()?, n_jobs_or_all_cores(args.jobs));
    for study in &studies {
        let display = Trials::new(format!("{} ({})", study.experiment, variant_name(study.variant)), args.quiet);
        let results = study.run(&args.out, n_jobs, &stop, &|event| display.show(&event))?;
        drop(display);
        if !args.quiet {
            tell(&results, args)?;
        }
        if !results.is_complete() {
            eprintln!("stopped; the same command continues with the trials that are left");
            return Ok(ExitCode::from(INTERRUPTED));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What the arguments ask for, without experiments of which nothing is left.
fn studies(args: &ReproduceArgs) -> Result<Vec<Study>, Failure> {
    let variant = match args.variant {
        VariantArg::Published => Variant::Published,
        VariantArg::Standard => Variant::Standard,
    };
    let only = args.only.clone().unwrap_or_default();
    let study = |&experiment: &Experiment| {
        let study = Study::new(experiment, variant, args.iterations).only(&only);
        let n_trials = args.trials.unwrap_or(study.n_trials);
        study.trials(n_trials)
    };
    let mut studies: Vec<_> = experiments(args.experiment).iter().map(study).collect();
    studies.retain(|study| !study.cells.is_empty());
    if studies.is_empty() {
        return Err(Failure::input("--only: expected domains and algorithms of the experiment, found none of them"));
    }
    Ok(studies)
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
    }
}

fn tell(results: &Results, args: &ReproduceArgs) -> io::Result<()> {
    let (n_finished, n_planned) = (results.n_finished(), results.n_planned());
    let path = results.trials_path(&args.out);
    writeln!(io::stdout(), "{}: {n_finished} of {n_planned} trials in {}", results.file_stem(), path.display())
}
