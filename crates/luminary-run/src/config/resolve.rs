//! From the tree of a file to the resolved configuration: checks every value and fills in defaults.

use luminary::archive::{ArchiveKind, NonFinite};
use luminary::preset::Preset;
use luminary::ranker::RankerConfig;
use luminary::scheduler::Order;

use super::error::Fault;
use super::setting::{Section, Setting};
use super::tree::Table;
use super::{
    AlgorithmSettings, ProblemConfig, RunConfig, RunSettings, algorithm, archive, effect, noise, problem, render,
};
use crate::error::RunError;

/// Iterations of the paper's experiments.
const DEFAULT_ITERATIONS: u64 = 10_000;
/// A curve needs no more points than this.
const METRICS_LINES: u64 = 1_000;
/// More threads than this are a typing mistake, which would starve the machine.
pub const MAX_THREADS: usize = 1_024;
/// Work that a crash may cost.
const CHECKPOINT_SECONDS: f64 = 60.0;

/// Fills in every default and checks every value. A problem that is given need not be in the file.
pub(super) fn resolve(table: Table, given: Option<ProblemConfig>) -> Result<RunConfig, Fault> {
    let given_settings = effect::given(&table);
    let mut root = Section::root(table);
    let (mut problem, mut archive_section) = (root.section("problem")?, root.section("archive")?);
    let (mut algorithm, mut run) = (root.section("algorithm")?, root.section("run")?);
    let render_section = root.take_section("render").map(Setting::into_section).transpose()?;
    let evaluator = root.take_section("evaluator").map(Setting::into_section).transpose()?;
    root.finish()?;
    let noise = noise::read(&mut problem, &mut archive_section, &mut algorithm)?;
    let (problem_config, spec) = match given {
        Some(mut given) => {
            problem::read_given(&mut problem, evaluator, &mut given)?;
            let spec = given.spec().map_err(|error| Fault::missing("problem", &error.to_string()))?;
            (given, spec)
        }
        None => problem::read(&mut problem, evaluator)?,
    };
    let mut algorithm_settings = algorithm::read(&mut algorithm, &problem_config, &spec)?;
    algorithm_settings.noise = noise;
    let run_settings = read_run(&mut run, &algorithm_settings)?;
    let evaluations = algorithm_settings.evaluations_per_iteration().saturating_mul(run_settings.iterations);
    let context = archive::Context { evaluations, problem: &problem_config, algorithm: &algorithm_settings };
    let archive_settings = archive::read(&mut archive_section, &spec, &context)?;
    // An archive that estimates densities has no cells whose visits could be counted.
    let estimates_density = matches!(archive_settings.kind, ArchiveKind::Density(_));
    if estimates_density && algorithm_settings.preset == Preset::DensityDescent {
        algorithm_settings.ranker.get_or_insert(RankerConfig::KernelDensity);
    }
    for section in [problem, archive_section, algorithm, run] {
        section.finish()?;
    }
    let render = render_section.map(|section| render::read(section, &problem_config)).transpose()?;
    let config = RunConfig {
        problem: problem_config,
        archive: archive_settings,
        algorithm: algorithm_settings,
        run: run_settings,
        render,
    };
    effect::refuse(&given_settings, &config)?;
    Ok(config)
}

/// As many threads as wanted; all cores for zero.
fn threads_or_all_cores(threads: usize) -> usize {
    match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// Threads that are given outside a configuration: all cores for zero.
///
/// # Errors
/// More than [`MAX_THREADS`].
pub fn check_threads(threads: usize) -> Result<usize, RunError> {
    match threads {
        0..=MAX_THREADS => Ok(threads_or_all_cores(threads)),
        found => Err(RunError::TooManyThreads { found }),
    }
}

/// Only the output folder.
pub(super) fn out(table: Table) -> Result<Option<String>, Fault> {
    let mut run = Section::root(table).section("run")?;
    run.take("out").map(|setting| setting.string().map(str::to_owned)).transpose()
}

/// Only whether the over-issue is given.
pub(super) fn gives_over_issue(table: Table) -> Result<bool, Fault> {
    let mut run = Section::root(table).section("run")?;
    Ok(run.take("over_issue").is_some())
}

fn read_run(section: &mut Section, algorithm: &AlgorithmSettings) -> Result<RunSettings, Fault> {
    let iterations = read_budget(section, algorithm)?;
    let threads = section.take("threads").map_or(Ok(0), |setting| setting.count_in_range())?;
    let policies = [("reject", NonFinite::Reject), ("fail", NonFinite::Fail)];
    // Where the folder goes is the caller's business; here it only has to be a name.
    section.take("out").map(|setting| setting.string().map(drop)).transpose()?;
    Ok(RunSettings {
        seed: section.take("seed").map_or(Ok(0), |setting| setting.integer_in_range())?,
        iterations,
        threads: threads_or_all_cores(threads),
        metrics_every: match section.take("metrics_every") {
            Some(setting) => setting.integer_in_range()?,
            None => iterations.div_ceil(METRICS_LINES),
        },
        checkpoint_seconds: section
            .take("checkpoint_seconds")
            .map_or(Ok(CHECKPOINT_SECONDS), |setting| setting.number_in_range())?,
        checkpoint_iterations: section
            .take("checkpoint_iterations")
            .map(|setting| setting.integer_in_range())
            .transpose()?,
        figures: section.take("figures").map_or(Ok(false), |setting| setting.bool())?,
        non_finite: section.take("non_finite").map_or(Ok(NonFinite::Reject), |setting| setting.choice(&policies))?,
        order: read_order(section)?,
    })
}

/// Iterations, given as such or as evaluations, which are rounded up to whole iterations.
fn read_budget(section: &mut Section, algorithm: &AlgorithmSettings) -> Result<u64, Fault> {
    let iterations = section.take("iterations");
    let evaluations = section.take("evaluations");
    match (iterations, evaluations) {
        (None, None) => Ok(DEFAULT_ITERATIONS),
        (Some(iterations), None) => iterations.integer_in_range(),
        (None, Some(evaluations)) => {
            Ok(evaluations.integer_in_range()?.div_ceil(algorithm.evaluations_per_iteration()))
        }
        (Some(_), Some(evaluations)) => {
            Err(evaluations.fault_found("either `iterations` or `evaluations` as the budget", "both"))
        }
    }
}

fn read_order(section: &mut Section) -> Result<Order, Fault> {
    let orders = [("rows", Order::Rows), ("completion", Order::COMPLETION)];
    let order = section.take("order").map_or(Ok(Order::Rows), |setting| setting.choice(&orders))?;
    match (order, section.take("over_issue")) {
        (order, None) => Ok(order),
        (Order::Completion { .. }, Some(setting)) => Ok(Order::Completion { over_issue: setting.number_in_range()? }),
        (Order::Rows, Some(setting)) => Err(setting.fault("no over_issue without order = \"completion\"")),
    }
}
