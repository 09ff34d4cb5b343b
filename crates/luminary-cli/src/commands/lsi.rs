//! lsi: latent space illumination.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use luminary::preset::Preset;
use luminary_lsi::domains::PromptPair;
use luminary_lsi::experiment::{COLLAGE, Comparison, DomainConfig, Experiment, ExperimentError, Models, Study};
use luminary_run::config::Override;
use luminary_run::driver::{ResumeOptions, Run};
use luminary_run::stop::StopFlag;
use luminary_run::summary::Status;

use super::Outcome;
use super::run::{one_line, quoted, unused_folder};
use crate::args::ResumeArgs;
use crate::args_lsi::{CompareArgs, DomainArg, ExperimentArgs, LsiArgs, LsiCommand};
use crate::display;
use crate::failure::{Failure, INTERRUPTED};
use crate::numbers::{elapsed, grouped, maybe_score, score};
use crate::signals;

pub(crate) fn lsi(args: &LsiArgs) -> Outcome {
    if let Some(LsiCommand::Compare(args)) = &args.command {
        return compare(args);
    }
    let preset = preset(&args.algorithm)?;
    let mut overrides = args.run.overrides().map_err(Failure::input)?;
    overrides.extend(args.seed.map(|seed| Override::new("--seed", "run.seed", seed.to_string())));
    let experiment = experiment(&args.experiment)?;
    let stop = signals::stop_flag()?;
    tell(args.quiet, "loading the networks and looking for a start")?;
    let study = experiment.build()?;
    let config = study.config(preset, &overrides)?;
    let name = format!("{}-{preset}-seed{}", config.problem.name(), config.run.seed);
    let out = args.out.clone().unwrap_or_else(|| unused_folder(&name));
    let run = study.create(&out, config)?;
    finish(&study, run, &stop, args.quiet)
}

/// Continues a run that `luminary lsi` has begun.
pub(super) fn resume(args: &ResumeArgs) -> Outcome {
    let stop = signals::stop_flag()?;
    let options = ResumeOptions { iterations: args.iterations, threads: args.threads, from_start: args.from_start };
    let (study, run) = Study::resume(&args.dir, options)?;
    finish(&study, run, &stop, args.quiet)
}

/// Runs, draws and prints.
fn finish(study: &Study, run: Run, stop: &StopFlag, quiet: bool) -> Outcome {
    let mut watch = display::choose(&run, stop, quiet);
    let summary = study.execute(run, stop, watch.as_mut())?;
    drop(watch);
    if summary.status == Status::Interrupted {
        let hint = format!("continue with: luminary resume {}", quoted(&summary.folder));
        eprintln!("stopped after iteration {} and saved; {hint}", grouped(summary.iterations));
        return Ok(ExitCode::from(INTERRUPTED));
    }
    super::plot::draw_at_end(&summary.folder)?;
    tell(quiet, &format!("{}, heatmap.png, {COLLAGE}", one_line(&summary)))?;
    Ok(ExitCode::SUCCESS)
}

fn compare(args: &CompareArgs) -> Outcome {
    let overrides = args.run.overrides().map_err(Failure::input)?;
    let experiment = experiment(&args.experiment)?;
    let stop = signals::stop_flag_of_trials()?;
    tell(args.quiet, "loading the networks and looking for a start")?;
    let study = experiment.build()?;
    let mut tell_trial = |trial: &luminary_run::summary::Summary| {
        if !args.quiet {
            eprintln!(
                "{} seed {}: QD score {}, coverage {:.2} %, best {}, {}",
                trial.algorithm,
                trial.seed,
                score(trial.qd_score),
                trial.coverage_percent,
                maybe_score(trial.best),
                elapsed(trial.seconds)
            );
        }
    };
    match Comparison::run(&study, &args.out, args.trials, &overrides, &stop, &mut tell_trial)? {
        Some(comparison) => {
            tell(args.quiet, comparison.markdown().trim_end())?;
            Ok(ExitCode::SUCCESS)
        }
        None => {
            eprintln!("stopped; the same command continues with the trials that are left");
            Ok(ExitCode::from(INTERRUPTED))
        }
    }
}

/// The experiment of a file or of the small models, with the flags on top.
fn experiment(args: &ExperimentArgs) -> Result<Experiment, Failure> {
    let mut experiment = match (&args.experiment, args.domain) {
        (Some(path), _) => Experiment::read(path)?,
        (None, Some(DomainArg::Stylegan)) => Experiment::digits_stylegan(),
        (None, _) => Experiment::digits(),
    };
    if let (Some(generator), Some(clip)) = (&args.generator, &args.clip) {
        if args.experiment.is_none() {
            // The digits' prompts and constants mean nothing to other models: theirs are the paper's.
            experiment.domain = match experiment.domain {
                DomainConfig::StyleGan(_) => DomainConfig::StyleGan(Default::default()),
                DomainConfig::StyleGan2(_) => DomainConfig::StyleGan2(Default::default()),
            };
        }
        experiment.models = Models::Files { generator: absolute(generator)?, clip: absolute(clip)? };
    }
    match &mut experiment.domain {
        DomainConfig::StyleGan(config) => {
            if args.cutouts.is_some() {
                return Err(Failure::input("--cutouts: expected the domain stylegan2, found stylegan"));
            }
            apply(args, &mut config.objective, &mut config.measures, &mut config.measure_bounds, |text| {
                Ok(text.to_owned())
            })?;
        }
        DomainConfig::StyleGan2(config) => {
            config.cutouts.count = args.cutouts.unwrap_or(config.cutouts.count);
            apply(args, &mut config.objective, &mut config.measures, &mut config.measure_bounds, prompt_pair)?;
        }
    }
    Ok(experiment)
}

fn apply<M>(
    args: &ExperimentArgs,
    objective: &mut String,
    measures: &mut Vec<M>,
    bounds: &mut Vec<(f64, f64)>,
    measure: impl Fn(&str) -> Result<M, Failure>,
) -> Result<(), Failure> {
    if let Some(prompt) = &args.objective {
        *objective = prompt.clone();
    }
    if !args.measure.is_empty() {
        *measures = args.measure.iter().map(|text| measure(text)).collect::<Result<_, _>>()?;
        let first = bounds.first().copied().unwrap_or((-1.0, 1.0));
        bounds.resize(measures.len(), first);
    }
    match args.bounds.as_slice() {
        [] => {}
        [all] => *bounds = vec![parse_bounds(all)?; measures.len()],
        each => *bounds = each.iter().map(|text| parse_bounds(text)).collect::<Result<_, _>>()?,
    }
    Ok(())
}

fn prompt_pair(text: &str) -> Result<PromptPair, Failure> {
    match text.split('|').map(str::trim).collect::<Vec<_>>().as_slice() {
        [first, second] if !first.is_empty() && !second.is_empty() => Ok(PromptPair::new(*first, *second)),
        _ => Err(Failure::input(format!("--measure: expected two prompts such as 'thin|bold', found {text:?}"))),
    }
}

fn parse_bounds(text: &str) -> Result<(f64, f64), Failure> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[low, high]) => Ok((low, high)),
        _ => Err(Failure::input(format!("--bounds: expected two numbers such as -0.3,0.3, found {text:?}"))),
    }
}

fn preset(name: &str) -> Result<Preset, Failure> {
    Comparison::PRESETS.into_iter().find(|preset| preset.name() == name).ok_or_else(|| {
        let names = Comparison::PRESETS.map(Preset::name).join(", ");
        Failure::input(format!("--algorithm: expected one of {names}, found {name:?}"))
    })
}

/// A path that still holds when the run is resumed from another folder.
fn absolute(path: &Path) -> Result<std::path::PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}

fn tell(quiet: bool, text: &str) -> io::Result<()> {
    if quiet { Ok(()) } else { writeln!(io::stdout(), "{text}") }
}

impl From<ExperimentError> for Failure {
    fn from(error: ExperimentError) -> Self {
        match error {
            ExperimentError::Run(error) => Self::Run(error),
            other => Self::input(other.to_string()),
        }
    }
}
