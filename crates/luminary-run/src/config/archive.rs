//! The section of the archive: which kind, and what each kind asks for.

use luminary::archive::{
    ArchiveKind, CategoricalConfig, CellsConfig, CentroidSource, Competition, CvtConfig, DensityConfig, DnsConfig,
    GridConfig, LearningRate, MAX_CELLS, ProximityConfig, SlidingBoundariesConfig, ThresholdDecay, UpdateRule,
};
use luminary::preset::Preset;
use luminary::problem::ProblemSpec;

use super::error::Fault;
use super::setting::{Section, Setting};
use super::{ArchiveSettings, Goal};

/// The archive for which the paper gives its learning rate.
const REFERENCE_CELLS: usize = 100 * 100;
/// Nearest elites by which novelty is measured, as usual in novelty search.
const NOVELTY_NEIGHBOURS: usize = 15;
/// Fitter neighbours by which dominated novelty is measured, as in the paper.
const DOMINATED_NEIGHBOURS: usize = 3;
/// Elites of dominated novelty search, whose cost grows with their square.
const DNS_CAPACITY: usize = 1_000;
/// Measures that a density is computed from, as in pyribs.
const DENSITY_BUFFER: usize = 10_000;

const RULES: [(&str, UpdateRule); 2] = [("sequential", UpdateRule::Sequential), ("batch", UpdateRule::Batch)];

/// What the archive's defaults depend on.
#[derive(Clone, Copy)]
pub(super) struct Context {
    /// Evaluations of the whole run.
    pub(super) evaluations: u64,
    pub(super) alpha: f64,
    pub(super) goal: Goal,
    pub(super) preset: Preset,
}

pub(super) fn read(section: &mut Section, spec: &ProblemSpec, context: Context) -> Result<ArchiveSettings, Fault> {
    let (kind, result) = read_kind(section, spec, context.preset)?;
    let has_thresholds = match &kind {
        ArchiveKind::Cells(cells) => has_thresholds(cells),
        _ => false,
    };
    // Where there are no thresholds, settings about them are not known.
    let mut take_for_thresholds = |key| if has_thresholds { section.take(key) } else { None };
    let learning_rate = match take_for_thresholds("learning_rate") {
        Some(setting) => read_learning_rate(&setting, context.evaluations)?,
        None => default_learning_rate(&kind, context.alpha),
    };
    let update = take_for_thresholds("update").map_or(Ok(UpdateRule::default()), |setting| setting.choice(&RULES))?;
    let min_f = read_min_f(section, context)?;
    // Costs are counted from the worst one that is worth keeping, so that the QD score grows with every elite.
    let default_offset = match context.goal {
        Goal::Maximise => 0.0,
        Goal::Minimise => min_f,
    };
    let qd_score_offset = section.take("qd_score_offset").map_or(Ok(default_offset), |setting| setting.finite())?;
    Ok(ArchiveSettings { kind, result, learning_rate, min_f, qd_score_offset, update })
}

/// Whether cells can keep a threshold each. Those that move cannot.
pub(super) fn has_thresholds(cells: &CellsConfig) -> bool {
    !matches!(cells, CellsConfig::SlidingBoundaries(_))
}

/// The kind of archive, and the cells of the result archive beside one that keeps no elites.
fn read_kind(
    section: &mut Section,
    spec: &ProblemSpec,
    preset: Preset,
) -> Result<(ArchiveKind, Option<CellsConfig>), Fault> {
    let Some(setting) = section.take("kind") else {
        return Ok((ArchiveKind::Cells(read_cells(section, spec, None)?), None));
    };
    let name = setting.choice(&ArchiveKind::ALL.map(|(name, _)| (name, name)))?;
    let keeps_thresholds = matches!(preset, Preset::CmaMae | Preset::CmaMaega);
    if keeps_thresholds && !["grid", "cvt", "categorical"].contains(&name) {
        let expected =
            format!("\"grid\", \"cvt\" or \"categorical\" for {preset}, which keeps a threshold in each cell");
        return Err(setting.fault(&expected));
    }
    let measure_bounds = spec.measure_bounds.clone();
    let kind = match name {
        "categorical" => ArchiveKind::Cells(read_categories(section, spec)?),
        "sliding_boundaries" => ArchiveKind::Cells(read_sliding(section, spec)?),
        "proximity" => ArchiveKind::Proximity(read_proximity(section, measure_bounds)?),
        "dns" => ArchiveKind::Dns(DnsConfig {
            measure_bounds,
            capacity: read_count(section, "capacity", DNS_CAPACITY)?,
            n_neighbours: read_count(section, "neighbours", DOMINATED_NEIGHBOURS)?,
        }),
        "density" => {
            let bandwidth = section.require("bandwidth", "the width of the kernel, in units of the measures")?;
            let density = DensityConfig {
                measure_bounds,
                buffer_size: read_count(section, "buffer_size", DENSITY_BUFFER)?,
                bandwidth: bandwidth.positive()?,
                seed: section.take("buffer_seed").map_or(Ok(0), |setting| setting.integer(0))?,
            };
            return Ok((ArchiveKind::Density(density), Some(read_cells(section, spec, None)?)));
        }
        _ => ArchiveKind::Cells(read_cells(section, spec, Some(name))?),
    };
    Ok((kind, None))
}

fn read_count(section: &mut Section, key: &'static str, default: usize) -> Result<usize, Fault> {
    section.take(key).map_or(Ok(default), |setting| setting.count(1, MAX_CELLS))
}

fn read_categories(section: &mut Section, spec: &ProblemSpec) -> Result<CellsConfig, Fault> {
    let k = spec.measure_dim();
    let expected = format!("{k} lists of names, one for each measure");
    let setting = section.require("categories", &expected)?;
    let names = |list: &Setting| list.list(&expected)?.iter().map(|name| Ok(name.string()?.to_owned())).collect();
    let categories: Vec<Vec<String>> = setting.list(&expected)?.iter().map(names).collect::<Result<_, Fault>>()?;
    if categories.len() != k || categories.iter().any(Vec::is_empty) {
        return Err(setting.fault(&expected));
    }
    Ok(CellsConfig::Categorical(CategoricalConfig { categories }))
}

fn read_sliding(section: &mut Section, spec: &ProblemSpec) -> Result<CellsConfig, Fault> {
    let resolution = match section.take("resolution") {
        Some(setting) => read_resolution(&setting, spec.measure_dim())?,
        None => default_resolution(spec.measure_dim()),
    };
    let defaults = SlidingBoundariesConfig::new(resolution, spec.measure_bounds.clone());
    Ok(CellsConfig::SlidingBoundaries(SlidingBoundariesConfig {
        remap_frequency: read_count(section, "remap_frequency", defaults.remap_frequency)?,
        buffer_capacity: read_count(section, "buffer_capacity", defaults.buffer_capacity)?,
        ..defaults
    }))
}

fn read_proximity(section: &mut Section, measure_bounds: Vec<(f64, f64)>) -> Result<ProximityConfig, Fault> {
    let expected = "the distance that a solution needs from its neighbours, in units of the measures";
    let novelty_threshold = section.require("novelty_threshold", expected)?.finite()?;
    let n_neighbours = read_count(section, "neighbours", NOVELTY_NEIGHBOURS)?;
    let competes = section.take("local_competition").map_or(Ok(false), |setting| setting.bool())?;
    let competition = if competes { Competition::Local } else { Competition::None };
    let decay = match section.take("threshold_decay") {
        None => None,
        Some(setting) => {
            let mut section = setting.into_section()?;
            let rate = section.require("rate", "a factor for the threshold within [0, 1]")?;
            let decay = ThresholdDecay {
                rate: rate.number("a number within [0, 1]", |rate| (0.0..=1.0).contains(&rate))?,
                n_batches: read_count(&mut section, "batches", 1)?,
                minimum: section.take("min").map_or(Ok(0.0), |setting| setting.finite())?,
            };
            section.finish()?;
            Some(decay)
        }
    };
    Ok(ProximityConfig { measure_bounds, n_neighbours, novelty_threshold, competition, decay })
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

/// A grid by its resolution, or a CVT by its number of cells; the kind may say which.
fn read_cells(section: &mut Section, spec: &ProblemSpec, kind: Option<&str>) -> Result<CellsConfig, Fault> {
    let k = spec.measure_dim();
    let resolution = section.take("resolution");
    let n_cells = section.take("cells");
    let sources = [("k_means", Centroids::KMeans), ("sobol", Centroids::Sobol), ("uniform", Centroids::Uniform)];
    let centroids = section.take("centroids").map_or(Ok(Centroids::KMeans), |setting| setting.choice(&sources))?;
    let seed = section.take("centroid_seed").map_or(Ok(0), |setting| setting.integer(0))?;
    let is_cvt = kind.map_or(n_cells.is_some(), |name| name == "cvt");
    let other = if is_cvt { &resolution } else { &n_cells };
    if let Some(setting) = other {
        return Err(match kind {
            None => {
                setting.fault_found("either `resolution` (a grid) or `cells` (a tessellation by centroids)", "both")
            }
            Some("cvt") => setting.fault("no resolution, but `cells`, for kind = \"cvt\""),
            Some(_) => setting.fault("no number of cells, but `resolution`, for kind = \"grid\""),
        });
    }
    if !is_cvt {
        let resolution = match &resolution {
            Some(setting) => read_resolution(setting, k)?,
            None => default_resolution(k),
        };
        return Ok(CellsConfig::Grid(GridConfig::new(resolution, spec.measure_bounds.clone())));
    }
    let n_cells = n_cells.map_or(Ok(REFERENCE_CELLS), |setting| setting.count(1, MAX_CELLS))?;
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
    let counts = read_counts(setting, n_measures)?;
    if product(&counts).is_none_or(|n_cells| n_cells > MAX_CELLS) {
        let found = counts.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
        return Err(setting.fault_found(&format!("at most {MAX_CELLS} cells in all"), found));
    }
    Ok(counts)
}

/// The paper's learning rate, converted if the archive is not the paper's.
fn default_learning_rate(kind: &ArchiveKind, alpha: f64) -> LearningRate {
    match kind {
        ArchiveKind::Cells(cells) if cells.n_cells() != REFERENCE_CELLS => {
            LearningRate::At { alpha, cells: REFERENCE_CELLS }
        }
        _ => LearningRate::Fixed(alpha),
    }
}

fn read_counts(setting: &Setting, n_measures: usize) -> Result<Vec<usize>, Fault> {
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

fn read_learning_rate(setting: &Setting, evaluations: u64) -> Result<LearningRate, Fault> {
    let expected = "a number within [0, 1], \"auto\", or text like \"0.01 at 100x100\"";
    let in_range = |alpha: f64| (0.0..=1.0).contains(&alpha);
    if !setting.is_string() {
        return Ok(LearningRate::Fixed(setting.number(expected, in_range)?));
    }
    let text = setting.string()?;
    if text == "auto" {
        return Ok(LearningRate::Auto { budget: evaluations.max(1) });
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
