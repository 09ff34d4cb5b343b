//! From the tree of a file to the resolved configuration: checks every value and fills in defaults.

use luminary::archive::{
    CellsConfig, CentroidSource, CvtConfig, GridConfig, LearningRate, MAX_CELLS, NonFinite, UpdateRule,
};
use luminary::preset::Preset;
use luminary::problem::ProblemSpec;
use luminary::scheduler::Order;

use super::error::Fault;
use super::setting::{Section, Setting};
use super::tree::Table;
use super::{ArchiveSettings, Goal, ProblemConfig, RunConfig, RunSettings, algorithm, problem};

/// The archive for which the paper gives its learning rate.
const REFERENCE_CELLS: usize = 100 * 100;
/// Iterations of the paper's experiments.
const DEFAULT_ITERATIONS: u64 = 10_000;
/// A curve needs no more points than this.
const METRICS_LINES: u64 = 1_000;
/// More threads than this are a typing mistake.
const MAX_THREADS: usize = 4_096;
/// Work that a crash may cost.
const CHECKPOINT_SECONDS: f64 = 60.0;

/// Fills in every default and checks every value. A problem that is given need not be in the file.
pub(super) fn resolve(table: Table, given: Option<ProblemConfig>) -> Result<RunConfig, Fault> {
    let mut root = Section::root(table);
    let (mut problem, mut archive) = (root.section("problem")?, root.section("archive")?);
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
    let (algorithm_settings, defaults) = algorithm::read(&mut algorithm, &problem_config, &spec)?;
    let evaluations = algorithm_settings.evaluations_per_iteration().saturating_mul(run_settings.iterations);
    let context = Context {
        budget: Budget { evaluations },
        alpha: defaults.alpha,
        goal: problem_config.goal(),
        preset: algorithm_settings.preset,
    };
    let archive_settings = read_archive(&mut archive, &spec, context)?;
    for section in [problem, archive, algorithm, run] {
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

/// Evaluations of the whole run.
#[derive(Clone, Copy)]
struct Budget {
    evaluations: u64,
}

/// What the archive's defaults depend on.
#[derive(Clone, Copy)]
struct Context {
    budget: Budget,
    alpha: f64,
    goal: Goal,
    preset: Preset,
}

fn read_archive(section: &mut Section, spec: &ProblemSpec, context: Context) -> Result<ArchiveSettings, Fault> {
    let Context { budget, alpha, .. } = context;
    let cells = read_cells(section, spec)?;
    let n_cells = cells.n_cells();
    let learning_rate = match section.take("learning_rate") {
        Some(setting) => read_learning_rate(&setting, budget)?,
        None if n_cells == REFERENCE_CELLS => LearningRate::Fixed(alpha),
        None => LearningRate::At { alpha, cells: REFERENCE_CELLS },
    };
    let rules = [("sequential", UpdateRule::Sequential), ("batch", UpdateRule::Batch)];
    let min_f = read_min_f(section, context)?;
    // Costs are counted from the worst one that is worth keeping, so that the QD score grows with every elite.
    let default_offset = match context.goal {
        Goal::Maximise => 0.0,
        Goal::Minimise => min_f,
    };
    Ok(ArchiveSettings {
        cells,
        learning_rate,
        min_f,
        qd_score_offset: section.take("qd_score_offset").map_or(Ok(default_offset), |setting| setting.finite())?,
        update: section.take("update").map_or(Ok(UpdateRule::default()), |setting| setting.choice(&rules))?,
    })
}

/// The threshold of an empty cell. Zero is the usual worst of what is maximised, and no worst of costs at all.
fn read_min_f(section: &mut Section, context: Context) -> Result<f64, Fault> {
    let has_thresholds = matches!(context.preset, Preset::CmaMae | Preset::CmaMaega);
    match context.goal {
        Goal::Minimise if has_thresholds => {
            let expected = "the worst objective worth keeping, because zero is no default for goal = \"minimise\"";
            section.require("min_f", expected)?.finite()
        }
        _ => section.take("min_f").map_or(Ok(0.0), |setting| setting.finite()),
    }
}

/// A grid by its resolution, or a CVT by its number of cells.
fn read_cells(section: &mut Section, spec: &ProblemSpec) -> Result<CellsConfig, Fault> {
    let k = spec.measure_dim();
    let resolution = section.take("resolution");
    let n_cells = section.take("cells");
    let sources = [("k_means", Centroids::KMeans), ("sobol", Centroids::Sobol), ("uniform", Centroids::Uniform)];
    let centroids = section.take("centroids").map_or(Ok(Centroids::KMeans), |setting| setting.choice(&sources))?;
    let seed = section.take("centroid_seed").map_or(Ok(0), |setting| setting.integer(0))?;
    let Some(n_cells_setting) = n_cells else {
        let resolution = match &resolution {
            Some(setting) => {
                let counts = read_resolution(setting, k)?;
                if product(&counts).is_none_or(|n_cells| n_cells > MAX_CELLS) {
                    let found = counts.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
                    return Err(setting.fault_found(&format!("at most {MAX_CELLS} cells in all"), found));
                }
                counts
            }
            None => default_resolution(k),
        };
        return Ok(CellsConfig::Grid(GridConfig::new(resolution, spec.measure_bounds.clone())));
    };
    if let Some(setting) = resolution {
        let expected = "either `resolution` (a grid) or `cells` (a tessellation by centroids)";
        return Err(setting.fault_found(expected, "both"));
    }
    let n_cells = n_cells_setting.count(1, MAX_CELLS)?;
    let centroids = match centroids {
        Centroids::KMeans => CentroidSource::k_means(n_cells),
        Centroids::Sobol => CentroidSource::Sobol,
        Centroids::Uniform => CentroidSource::Uniform,
    };
    Ok(CellsConfig::Cvt(CvtConfig { n_cells, measure_bounds: spec.measure_bounds.clone(), centroids, seed }))
}

/// Where the centroids of a CVT come from.
#[derive(Clone, Copy)]
enum Centroids {
    KMeans,
    Sobol,
    Uniform,
}

fn product(counts: &[usize]) -> Option<usize> {
    counts.iter().try_fold(1_usize, |product, &n| product.checked_mul(n))
}

/// About ten thousand cells, as in the paper, whatever the number of measures.
fn default_resolution(n_measures: usize) -> Vec<usize> {
    let intervals = (REFERENCE_CELLS as f64).powf(1.0 / n_measures as f64).round() as usize;
    vec![intervals.max(2); n_measures]
}

fn read_resolution(setting: &Setting, n_measures: usize) -> Result<Vec<usize>, Fault> {
    let expected = format!("an integer >= 1, {n_measures} of them, or text like \"100x100\"");
    if setting.is_list() {
        let values = setting.list(&expected)?;
        if values.len() != n_measures {
            return Err(setting.fault(&format!("{n_measures} numbers, one for each measure")));
        }
        values.iter().map(|value| value.count(1, MAX_CELLS)).collect()
    } else if setting.is_string() {
        let parts: Result<Vec<usize>, _> = setting.string()?.split('x').map(|part| part.trim().parse()).collect();
        let parts = parts.map_err(|_| setting.fault(&expected))?;
        if parts.len() != n_measures || parts.contains(&0) {
            return Err(setting.fault(&expected));
        }
        Ok(parts)
    } else {
        Ok(vec![setting.count(1, MAX_CELLS)?; n_measures])
    }
}

fn read_learning_rate(setting: &Setting, budget: Budget) -> Result<LearningRate, Fault> {
    let expected = "a number within [0, 1], \"auto\", or text like \"0.01 at 100x100\"";
    let in_range = |alpha: f64| (0.0..=1.0).contains(&alpha);
    if !setting.is_string() {
        return Ok(LearningRate::Fixed(setting.number(expected, in_range)?));
    }
    let text = setting.string()?;
    if text == "auto" {
        return Ok(LearningRate::Auto { budget: budget.evaluations.max(1) });
    }
    let at = || {
        let (alpha, cells) = text.split_once(" at ")?;
        let alpha = alpha.trim().parse().ok().filter(|&alpha| in_range(alpha))?;
        let counts: Option<Vec<usize>> = cells.split('x').map(|part| part.trim().parse().ok()).collect();
        let cells = product(&counts?).filter(|&n| n > 0)?;
        Some(LearningRate::At { alpha, cells })
    };
    at().ok_or_else(|| setting.fault(expected))
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
