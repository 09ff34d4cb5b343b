//! What the program does.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use luminary::preset::Preset;
use luminary_lsi::DeviceChoice;
use luminary_lsi::domains::PromptPair;
use luminary_lsi::experiment::{
    COLLAGE, Comparison, DomainConfig, Experiment, ExperimentError, FACE_GENERATOR, Models, Study, fetch_faces,
};
use luminary_run::config::Override;
use luminary_run::driver::{ResumeOptions, Run};
use luminary_run::folder::State;
use luminary_run::stop::StopFlag;

use luminary_cli::{
    Failure, INTERRUPTED, Outcome, Speech, choose_display, draw_at_end, elapsed, grouped, maybe_score, one_line,
    quoted, score, stop_flag, stop_flag_of_trials, unused_folder,
};

use crate::args::{
    Arguments, Command, CompareArgs, DeviceArg, DomainArg, ExperimentArgs, FetchArgs, FetchedModels, ModelArg,
    ResumeArgs,
};

/// Does what the command line says.
pub(crate) fn lsi(args: &Arguments) -> Outcome {
    match &args.command {
        None => run(args),
        Some(Command::Compare(args)) => compare(args),
        Some(Command::Resume(args)) => resume(args),
        Some(Command::Fetch(FetchArgs { what: FetchedModels::Faces, out })) => {
            fetch_faces(out.as_deref().unwrap_or(&default_models())).map_err(failure)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn run(args: &Arguments) -> Outcome {
    let preset = preset(&args.algorithm)?;
    let mut overrides = args.run.overrides().map_err(Failure::input)?;
    overrides.extend(args.seed.map(|seed| Override::new("--seed", "run.seed", seed.to_string())));
    let experiment = experiment(&args.experiment)?;
    let stop = stop_flag()?;
    tell(Speech::of_flag(args.quiet), "loading the networks and looking for a start")?;
    let study = experiment.build().map_err(failure)?;
    let config = study.config(preset, &overrides).map_err(failure)?;
    let name = format!("{}-{preset}-seed{}", config.problem.name(), config.run.seed);
    let out = args.out.clone().unwrap_or_else(|| unused_folder(&name));
    let run = study.create(&out, config).map_err(failure)?;
    finish(&study, run, &stop, Speech::of_flag(args.quiet))
}

fn resume(args: &ResumeArgs) -> Outcome {
    let options = ResumeOptions {
        iterations: args.iterations,
        threads: args.threads,
        from_start: args.from_start,
        ..Default::default()
    };
    let stop = stop_flag()?;
    let (study, run) = Study::resume(&args.dir, options).map_err(failure)?;
    finish(&study, run, &stop, Speech::of_flag(args.quiet))
}

/// Runs, draws and prints.
fn finish(study: &Study, run: Run, stop: &StopFlag, speech: Speech) -> Outcome {
    let mut watch = choose_display(&run, stop, speech);
    let summary = study.execute(run, stop, watch.as_mut()).map_err(failure)?;
    drop(watch);
    if summary.status == State::Interrupted {
        let hint = format!("continue with: luminary resume {}", quoted(&summary.folder));
        eprintln!("stopped after iteration {} and saved; {hint}", grouped(summary.iterations));
        return Ok(ExitCode::from(INTERRUPTED));
    }
    draw_at_end(&summary.folder)?;
    tell(speech, &format!("{}, heatmap.png, {COLLAGE}", one_line(&summary)))?;
    Ok(ExitCode::SUCCESS)
}

fn compare(args: &CompareArgs) -> Outcome {
    let overrides = args.run.overrides().map_err(Failure::input)?;
    let experiment = experiment(&args.experiment)?;
    let stop = stop_flag_of_trials()?;
    tell(Speech::of_flag(args.quiet), "loading the networks and looking for a start")?;
    let study = experiment.build().map_err(failure)?;
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
    let comparison = Comparison::run(&study, &args.out, args.trials, &overrides, &stop, &mut tell_trial);
    match comparison.map_err(failure)? {
        Some(comparison) => {
            tell(Speech::of_flag(args.quiet), comparison.markdown().trim_end())?;
            Ok(ExitCode::SUCCESS)
        }
        None => {
            eprintln!("stopped; the same command continues with the trials that are left");
            Ok(ExitCode::from(INTERRUPTED))
        }
    }
}

/// The experiment that the flags ask for.
fn experiment(args: &ExperimentArgs) -> Result<Experiment, Failure> {
    let mut experiment = described(args)?;
    experiment.device = match args.device {
        Some(DeviceArg::Cpu) => DeviceChoice::Cpu,
        Some(DeviceArg::Wgpu) => DeviceChoice::Wgpu,
        Some(DeviceArg::Cuda) => DeviceChoice::Cuda,
        None => experiment.device,
    };
    Ok(experiment)
}

/// The experiment of a file or of the small models, with the flags on top.
fn described(args: &ExperimentArgs) -> Result<Experiment, Failure> {
    if args.model == Some(ModelArg::Faces) {
        return faces(args);
    }
    if args.models.is_some() || args.face.is_some() {
        return Err(Failure::input("--models, --face: expected --model faces with them"));
    }
    let mut experiment = match (&args.experiment, args.domain) {
        (Some(path), _) => Experiment::read(path).map_err(failure)?,
        (None, Some(DomainArg::Stylegan)) => Experiment::digits_stylegan(),
        (None, _) => Experiment::digits(),
    };
    if let (Some(generator), Some(clip)) = (&args.generator, &args.clip) {
        if args.experiment.is_none() {
            // The digits' prompts and constants mean nothing to other models: theirs are the paper's.
            experiment.domain = match experiment.domain {
                DomainConfig::StyleGan(_) => DomainConfig::StyleGan(Default::default()),
                _ => DomainConfig::StyleGan2(Default::default()),
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
        // Faces of a file: what it says is all there is.
        DomainConfig::Faces(_) => refuse_prompts(args)?,
    }
    Ok(experiment)
}

/// Faces that smile, or that resemble a given one.
fn faces(args: &ExperimentArgs) -> Result<Experiment, Failure> {
    refuse_prompts(args)?;
    let folder = absolute(args.models.as_deref().unwrap_or(&default_models()))?;
    if !folder.join(FACE_GENERATOR).exists() {
        let message = format!("expected {FACE_GENERATOR} in {}, found none", folder.display());
        return Err(Failure::input(format!("{message}; `luminary lsi fetch faces` obtains it")));
    }
    match &args.face {
        Some(image) => Experiment::faces_like(&folder, image).map_err(failure),
        None => Ok(Experiment::faces(&folder)),
    }
}

fn refuse_prompts(args: &ExperimentArgs) -> Result<(), Failure> {
    let given = [
        ("--objective", args.objective.is_some()),
        ("--measure", !args.measure.is_empty()),
        ("--bounds", !args.bounds.is_empty()),
        ("--cutouts", args.cutouts.is_some()),
        ("--domain", args.domain.is_some()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => Err(Failure::input(format!("{flag}: expected a model with prompts, found faces"))),
        None => Ok(()),
    }
}

/// Where fetched models are kept, unless somebody wants another place.
fn default_models() -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = variable("XDG_DATA_HOME")
        .or_else(|| variable("LOCALAPPDATA"))
        .or_else(|| variable("HOME").map(|home| home.join(".local/share")));
    data.unwrap_or_default().join("luminary/faces")
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
fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}

fn tell(speech: Speech, text: &str) -> io::Result<()> {
    match speech {
        Speech::Usual => writeln!(io::stdout(), "{text}"),
        Speech::Quiet => Ok(()),
    }
}

fn failure(error: ExperimentError) -> Failure {
    match error {
        ExperimentError::Run(error) => Failure::Run(error),
        other => Failure::input(other.to_string()),
    }
}
