//! From the tree of a file to the resolved configuration: checks every value and fills in defaults.

use luminary::archive::{
    CellsConfig, CentroidSource, CvtConfig, GridConfig, LearningRate, MAX_CELLS, NonFinite, UpdateRule,
};
use luminary::emitter::Selection;
use luminary::preset::Preset;
use luminary::problem::ProblemSpec;
use luminary::restart::RestartRule;
use luminary::strategy::gradient::GradientConfig;
use luminary::strategy::{BoundsRule, Variant};

use super::error::Fault;
use super::names::{RankerName, StrategyName};
use super::problem::{self, Defaults};
use super::setting::{Section, Setting};
use super::tree::Table;
use super::{AlgorithmSettings, ArchiveSettings, BoundsSettings, ProblemConfig, RunConfig, RunSettings};

/// The archive for which the paper gives its learning rate.
const REFERENCE_CELLS: usize = 100 * 100;
/// Iterations of the paper's experiments.
const DEFAULT_ITERATIONS: u64 = 10_000;
/// A curve needs no more points than this.
const METRICS_LINES: u64 = 1_000;
/// Limits that keep a typing mistake from exhausting the memory before anything can be said about it.
const MAX_EMITTERS: usize = 100_000;
const MAX_BATCH: usize = 10_000_000;
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
    let (algorithm_settings, defaults) = read_algorithm(&mut algorithm, &problem_config, &spec)?;
    let budget = Budget {
        evaluations: (algorithm_settings.emitters as u64)
            .saturating_mul(algorithm_settings.batch_size as u64)
            .saturating_mul(run_settings.iterations),
    };
    let archive_settings = read_archive(&mut archive, &spec, defaults.alpha, budget)?;
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

fn read_archive(
    section: &mut Section,
    spec: &ProblemSpec,
    alpha: f64,
    budget: Budget,
) -> Result<ArchiveSettings, Fault> {
    let cells = read_cells(section, spec)?;
    let n_cells = match &cells {
        CellsConfig::Grid(grid) => product(&grid.resolution).unwrap_or(usize::MAX),
        CellsConfig::Cvt(cvt) => cvt.n_cells,
    };
    let learning_rate = match section.take("learning_rate") {
        Some(setting) => read_learning_rate(&setting, budget)?,
        None if n_cells == REFERENCE_CELLS => LearningRate::Fixed(alpha),
        None => LearningRate::At { alpha, cells: REFERENCE_CELLS },
    };
    let rules = [("sequential", UpdateRule::Sequential), ("batch", UpdateRule::Batch)];
    Ok(ArchiveSettings {
        cells,
        learning_rate,
        min_f: section.take("min_f").map_or(Ok(0.0), |setting| setting.finite())?,
        qd_score_offset: section.take("qd_score_offset").map_or(Ok(0.0), |setting| setting.finite())?,
        update: section.take("update").map_or(Ok(UpdateRule::default()), |setting| setting.choice(&rules))?,
    })
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
                    return Err(setting.fault(&format!("at most {MAX_CELLS} cells in all")));
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

fn read_algorithm(
    section: &mut Section,
    problem: &ProblemConfig,
    spec: &ProblemSpec,
) -> Result<(AlgorithmSettings, Defaults), Fault> {
    let presets = Preset::ALL.map(|preset| (preset.name(), preset));
    let preset = section.take("preset").map_or(Ok(Preset::CmaMae), |setting| setting.choice(&presets))?;
    let dim = spec.solution_dim;
    let bounds = section.take("bounds").map(|setting| read_bounds(setting, dim)).transpose()?;
    let defaults = Defaults::of(preset, problem, spec, bounds.as_ref());
    let variants = [("standard", Variant::Standard), ("published", Variant::Published)];
    let strategies = StrategyName::ALL.map(|strategy| (strategy.name(), strategy));
    let selections = [("mu", Selection::Mu), ("filter", Selection::Filter)];
    let optional = |section: &mut Section, key| take_if_it_applies(section, key, preset);
    // A strategy needs a better half to learn from; a gradient emitter spends one evaluation on the gradient.
    let smallest_batch = match preset {
        Preset::MapElites | Preset::MapElitesLine => 1,
        Preset::CmaMega | Preset::CmaMaega => 3,
        _ => 2,
    };
    let settings = AlgorithmSettings {
        preset,
        variant: section.take("variant").map_or(Ok(Variant::Standard), |setting| setting.choice(&variants))?,
        sigma: section.take("sigma").map_or(Ok(defaults.sigma), |setting| setting.positive())?,
        line_sigma: section.take("line_sigma").map_or(Ok(0.2), |setting| setting.positive())?,
        emitters: section.take("emitters").map_or(Ok(15), |setting| setting.count(1, MAX_EMITTERS))?,
        batch_size: section.take("batch_size").map_or(Ok(36), |setting| setting.count(smallest_batch, MAX_BATCH))?,
        x0: read_x0(section.take("x0"), dim, bounds.as_ref())?,
        strategy: optional(section, "strategy")?
            .map_or(Ok(StrategyName::CmaEs), |setting| setting.choice(&strategies))?,
        gradient: read_gradient(section, defaults.eta)?,
        ranker: optional(section, "ranker")?.map(|setting| setting.choice(&RankerName::CHOICES)).transpose()?,
        selection: optional(section, "selection")?.map(|setting| setting.choice(&selections)).transpose()?,
        restart: optional(section, "restart")?.map(read_restart).transpose()?,
        bounds,
    };
    Ok((settings, defaults))
}

/// A setting of emitters that rank; the MAP-Elites variants do not.
fn take_if_it_applies(section: &mut Section, key: &'static str, preset: Preset) -> Result<Option<Setting>, Fault> {
    match section.take(key) {
        Some(setting) if matches!(preset, Preset::MapElites | Preset::MapElitesLine) => {
            Err(setting.fault(&format!("no such setting for {preset}, whose emitters neither rank nor adapt")))
        }
        setting => Ok(setting),
    }
}

fn read_x0(setting: Option<Setting>, dim: usize, bounds: Option<&BoundsSettings>) -> Result<Vec<f64>, Fault> {
    let Some(setting) = setting else { return Ok(default_x0(dim, bounds)) };
    let x0 = if setting.is_list() {
        let values = setting.list("a list")?;
        if values.len() != dim {
            return Err(setting.fault(&format!("{dim} numbers, one for each component")));
        }
        values.iter().map(Setting::finite).collect::<Result<_, _>>()?
    } else {
        vec![setting.number(&format!("a finite number or a list of {dim}"), f64::is_finite)?; dim]
    };
    if let Some(bounds) = bounds {
        let within = |i: usize| (bounds.lower[i]..=bounds.upper[i]).contains(&x0[i]);
        if let Some(i) = (0..dim).find(|&i| !within(i)) {
            let expected = format!("a start within the bounds [{}, {}]", bounds.lower[i], bounds.upper[i]);
            return Err(setting.fault_found(&expected, format!("{} in component {i}", x0[i])));
        }
    }
    Ok(x0)
}

/// The origin, or the middle of the bounds where the origin is outside.
fn default_x0(dim: usize, bounds: Option<&BoundsSettings>) -> Vec<f64> {
    let Some(bounds) = bounds else { return vec![0.0; dim] };
    let start = |(&lower, &upper): (&f64, &f64)| match (lower.is_finite(), upper.is_finite()) {
        _ if (lower..=upper).contains(&0.0) => 0.0,
        (true, true) => lower + (upper - lower) / 2.0,
        (true, false) => lower,
        _ => upper,
    };
    bounds.lower.iter().zip(&bounds.upper).map(start).collect()
}

fn read_bounds(setting: Setting, dim: usize) -> Result<BoundsSettings, Fault> {
    let whole = setting.clone();
    let mut section = setting.into_section()?;
    let lower = read_bound(&section.require("lower", "a number or a list of them")?, dim)?;
    let upper_setting = section.require("upper", "a number or a list of them")?;
    let upper = read_bound(&upper_setting, dim)?;
    let rule = match section.take("rule") {
        None => BoundsRule::default(),
        Some(setting) => {
            let rules = [
                ("clip", BoundsRule::Clip),
                ("reflect", BoundsRule::Reflect),
                ("resample", BoundsRule::Resample { max_tries: 100 }),
            ];
            setting.choice(&rules)?
        }
    };
    section.finish()?;
    let is_good = |i: usize| lower[i] < upper[i] && lower[i] < f64::INFINITY && upper[i] > f64::NEG_INFINITY;
    if let Some(i) = (0..dim).find(|&i| !is_good(i)) {
        let found = format!("[{}, {}] in component {i}", lower[i], upper[i]);
        return Err(whole.fault_found("lower < upper", found));
    }
    Ok(BoundsSettings { lower, upper, rule })
}

fn read_bound(setting: &Setting, dim: usize) -> Result<Vec<f64>, Fault> {
    let not_nan = |value: f64| !value.is_nan();
    if !setting.is_list() {
        return Ok(vec![setting.number(&format!("a number or a list of {dim}"), not_nan)?; dim]);
    }
    let values = setting.list("a list")?;
    if values.len() != dim {
        return Err(setting.fault(&format!("{dim} numbers, one for each component")));
    }
    values.iter().map(|value| value.number("a number", not_nan)).collect()
}

fn read_gradient(section: &mut Section, eta: f64) -> Result<GradientConfig, Fault> {
    let is_adam = match section.take("gradient") {
        None => false,
        Some(setting) => setting.choice(&[("ascent", false), ("adam", true)])?,
    };
    let learning_rate = section.take("gradient_step").map_or(Ok(eta), |setting| setting.positive())?;
    Ok(if is_adam { GradientConfig::adam(learning_rate) } else { GradientConfig::Ascent { learning_rate } })
}

fn read_restart(setting: Setting) -> Result<RestartRule, Fault> {
    let expected = "\"basic\", \"no_improvement\", or text like \"every 50\"";
    match setting.string().map_err(|_| setting.fault(expected))? {
        "basic" => Ok(RestartRule::BASIC),
        "no_improvement" | "no-improvement" => Ok(RestartRule::NO_IMPROVEMENT),
        text => {
            let every = text.strip_prefix("every ").and_then(|count| count.trim().parse().ok()).filter(|&n| n > 0);
            let every: u32 = every.ok_or_else(|| setting.fault(expected))?;
            Ok(RestartRule { no_improvement: false, every: Some(every) })
        }
    }
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
        non_finite: section.take("non_finite").map_or(Ok(NonFinite::Reject), |setting| setting.choice(&policies))?,
    })
}
