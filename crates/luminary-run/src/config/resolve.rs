//! From the tree of a file to the resolved configuration: checks every value and fills in defaults.

use luminary::archive::{ArchiveKind, NonFinite};
use luminary::preset::Preset;
use luminary::ranker::RankerConfig;
use luminary::scheduler::Order;

use super::error::Fault;
use super::setting::{Section, Setting};
use super::tree::Table;
use super::{ProblemConfig, RunConfig, RunSettings, algorithm, archive, problem};

/// Iterations of the paper's experiments.
const DEFAULT_ITERATIONS: u64 = 10_000;
/// A curve needs no more points than this.
const METRICS_LINES: u64 = 1_000;
/// More threads than this are a typing mistake.
pub(super) const MAX_THREADS: usize = 4_096;
/// Work that a crash may cost.
const CHECKPOINT_SECONDS: f64 = 60.0;

/// Fills in every default and checks every value. A problem that is given need not be in the file.
pub(super) fn resolve(table: Table, given: Option<ProblemConfig>) -> Result<RunConfig, Fault> {
    let mut root = Section::root(table);
    let (mut problem, mut archive_section) = (root.section("problem")?, root.section("archive")?);
    let (mut algorithm, mut run) = (root.section("algorithm")?, root.section("run")?);
    let evaluator = root.take("evaluator").map(Setting::into_section).transpose()?;
    root.finish()?;
    let (problem_config, spec) = match given {
        Some(given) => {
            let spec = given.spec().map_err(|error| Fault::missing("problem", &error.to_string()))?;
            (given, spec)
        }
        None => problem::read(&mut problem, evaluator)?,
    };
    let run_settings = read_run(&mut run)?;
    let (mut algorithm_settings, defaults) = algorithm::read(&mut algorithm, &problem_config, &spec)?;
    let evaluations = algorithm_settings.evaluations_per_iteration().saturating_mul(run_settings.iterations);
    let context = archive::Context {
        evaluations,
        alpha: defaults.alpha,
        problem: &problem_config,
        algorithm: &algorithm_settings,
    };
    let archive_settings = archive::read(&mut archive_section, &spec, &context)?;
    // An archive that estimates densities has no cells whose visits could be counted.
    let estimates_density = matches!(archive_settings.kind, ArchiveKind::Density(_));
    if estimates_density && algorithm_settings.preset == Preset::DensityDescent {
        algorithm_settings.ranker.get_or_insert(RankerConfig::KernelDensity);
    }
    for section in [problem, archive_section, algorithm, run] {
        section.finish()?;
    }
    Ok(RunConfig {
        problem: problem_config,
        archive: archive_settings,
        algorithm: algorithm_settings,
        run: run_settings,
    })
}

/// Only the output folder.
pub(super) fn out(table: Table) -> Result<Option<String>, Fault> {
    let mut run = Section::root(table).section("run")?;
    run.take("out").map(|setting| setting.string().map(str::to_owned)).transpose()
}

fn read_run(section: &mut Section) -> Result<RunSettings, Fault> {
    let iterations = section.take("iterations").map_or(Ok(DEFAULT_ITERATIONS), |setting| setting.integer(1))?;
    let threads = match section.take("threads").map(|setting| setting.count(0, MAX_THREADS)).transpose()? {
        None | Some(0) => std::thread::available_parallelism().map_or(1, usize::from),
        Some(threads) => threads,
    };
    let policies = [("reject", NonFinite::Reject), ("fail", NonFinite::Fail)];
    // Where the folder goes is the caller's business; here it only has to be a name.
    section.take("out").map(|setting| setting.string().map(drop)).transpose()?;
    Ok(RunSettings {
        seed: section.take("seed").map_or(Ok(0), |setting| setting.integer(0))?,
        iterations,
        threads,
        metrics_every: match section.take("metrics_every") {
            Some(setting) => setting.integer(1)?,
            None => iterations.div_ceil(METRICS_LINES),
        },
        checkpoint_seconds: section
            .take("checkpoint_seconds")
            .map_or(Ok(CHECKPOINT_SECONDS), |setting| setting.positive())?,
        checkpoint_iterations: section.take("checkpoint_iterations").map(|setting| setting.integer(1)).transpose()?,
        figures: section.take("figures").map_or(Ok(false), |setting| setting.bool())?,
        non_finite: section.take("non_finite").map_or(Ok(NonFinite::Reject), |setting| setting.choice(&policies))?,
        order: read_order(section)?,
    })
}

fn read_order(section: &mut Section) -> Result<Order, Fault> {
    let orders = [("rows", Order::Rows), ("completion", Order::COMPLETION)];
    let order = section.take("order").map_or(Ok(Order::Rows), |setting| setting.choice(&orders))?;
    match (order, section.take("over_issue")) {
        (order, None) => Ok(order),
        (Order::Completion { .. }, Some(setting)) => {
            let over_issue = setting.number("a number within [1, 16]", |value| (1.0..=16.0).contains(&value))?;
            Ok(Order::Completion { over_issue })
        }
        (Order::Rows, Some(setting)) => Err(setting.fault("no over_issue without order = \"completion\"")),
    }
}
