//! The section of the archive: which kind, and what each kind asks for.

use std::path::PathBuf;

use luminary::archive::{
    ArchiveKind, CellsConfig, Competition, DensityConfig, DiscountConfig, DnsConfig, LearningRate, PerceptronConfig,
    ProximityConfig, ThresholdDecay, UpdateRule,
};
use luminary::preset::Preset;
use luminary::problem::ProblemSpec;
use luminary::ranker::RankerConfig;

use super::cells::{product, read_categories, read_cells, read_sliding};
use super::error::Fault;
use super::fit::fits;
use super::setting::{Section, Setting};
use super::{AlgorithmSettings, ArchiveSettings, Goal, ProblemConfig};

/// Nearest elites by which novelty is measured, as usual in novelty search.
const NOVELTY_NEIGHBOURS: usize = 15;
/// Fitter neighbours by which dominated novelty is measured, as in the paper.
const DOMINATED_NEIGHBOURS: usize = 3;
/// Elites of dominated novelty search, whose cost grows with their square.
const DNS_CAPACITY: usize = 1_000;
/// Measures that a density is computed from, as in pyribs.
const DENSITY_BUFFER: usize = 10_000;

/// How fast a discount model follows what exceeds it, as in the paper on most domains.
const DISCOUNT_LEARNING_RATE: f64 = 0.1;

const RULES: [(&str, UpdateRule); 2] = [("sequential", UpdateRule::Sequential), ("batch", UpdateRule::Batch)];

/// What the archive's defaults depend on, and what it has to go with.
pub(super) struct Context<'a> {
    /// Evaluations of the whole run.
    pub(super) evaluations: u64,
    pub(super) problem: &'a ProblemConfig,
    pub(super) algorithm: &'a AlgorithmSettings,
}

pub(super) fn read(section: &mut Section, spec: &ProblemSpec, context: &Context<'_>) -> Result<ArchiveSettings, Fault> {
    let (mut kind, result) = read_kind(section, spec, context)?;
    let learning_rate = match &kind {
        ArchiveKind::Discount { .. } => read_discount_learning_rate(section)?,
        kind => match take_of_thresholds(section, "learning_rate", kind)? {
            Some(setting) => read_learning_rate(&setting, context.evaluations)?,
            None => LearningRate::Auto { budget: context.evaluations.max(1) },
        },
    };
    let update = take_of_thresholds(section, "update", &kind)?;
    let update = update.map_or(Ok(UpdateRule::default()), |setting| setting.choice(&RULES))?;
    let min_f = read_min_f(section, &kind, context)?;
    if let ArchiveKind::Discount { discount, .. } = &mut kind {
        discount.learning_rate = learning_rate;
        discount.min_f = context.problem.goal().turn(min_f);
    }
    // Costs are counted from the worst one that is worth keeping, so that the QD score grows with every elite.
    let default_offset = match context.problem.goal() {
        Goal::Maximise => 0.0,
        Goal::Minimise => min_f,
    };
    let qd_score_offset =
        section.take("qd_score_offset").map_or(Ok(default_offset), |setting| setting.number_in_range())?;
    let from = section.take("from").map_or(Ok(Vec::new()), |setting| read_from(&setting))?;
    Ok(ArchiveSettings { kind, result, learning_rate, min_f, qd_score_offset, update, from })
}

/// Where elites come from at the start. Paths become absolute, so that a run can be resumed from anywhere.
fn read_from(setting: &Setting) -> Result<Vec<PathBuf>, Fault> {
    let expected = setting.expected();
    let absolute = |setting: &Setting| match std::path::absolute(setting.string()?) {
        Ok(path) => Ok(path),
        Err(error) => Err(setting.fault(&format!("{expected} ({error})"))),
    };
    if setting.is_string() {
        return Ok(vec![absolute(setting)?]);
    }
    setting.list(&expected)?.iter().map(absolute).collect()
}

/// Whether an archive can keep a threshold in each cell. Cells that move cannot.
pub(super) fn has_thresholds(kind: &ArchiveKind) -> bool {
    match kind {
        ArchiveKind::Cells(cells) => !matches!(cells, CellsConfig::SlidingBoundaries(_)),
        _ => false,
    }
}

/// Whether a model keeps the thresholds.
pub(super) fn has_discount(kind: &ArchiveKind) -> bool {
    matches!(kind, ArchiveKind::Discount { .. })
}

/// A setting of thresholds, which not every archive has.
fn take_of_thresholds(section: &mut Section, key: &'static str, kind: &ArchiveKind) -> Result<Option<Setting>, Fault> {
    match section.take(key) {
        Some(setting) if !has_thresholds(kind) => {
            let name = kind.name();
            Err(setting.fault(&format!("no such setting for kind = {name:?}, which keeps no thresholds in cells")))
        }
        setting => Ok(setting),
    }
}

/// The kind of archive, and the cells of the result archive beside one that keeps no elites.
fn read_kind(
    section: &mut Section,
    spec: &ProblemSpec,
    context: &Context<'_>,
) -> Result<(ArchiveKind, Option<CellsConfig>), Fault> {
    let Some(name) = read_name(section, context)? else {
        return Ok((ArchiveKind::Cells(read_cells(section, spec, None)?), None));
    };
    let measure_bounds = spec.measure_bounds.clone();
    let kind = match name {
        "categorical" => ArchiveKind::Cells(read_categories(section, spec)?),
        "sliding_boundaries" => ArchiveKind::Cells(read_sliding(section, spec)?),
        "proximity" => ArchiveKind::Proximity(read_proximity(section, measure_bounds, context)?),
        "dns" => ArchiveKind::Dns(DnsConfig {
            measure_bounds,
            capacity: read_count(section, "capacity", DNS_CAPACITY)?,
            n_neighbours: read_count(section, "neighbours", DOMINATED_NEIGHBOURS)?,
        }),
        "density" => {
            let density = read_density(section, measure_bounds)?;
            return Ok((ArchiveKind::Density(density), Some(read_cells(section, spec, None)?)));
        }
        "discount" => {
            let discount = DiscountConfig::new(measure_bounds);
            let kind = ArchiveKind::Discount { discount, perceptron: PerceptronConfig::default() };
            return Ok((kind, Some(read_cells(section, spec, None)?)));
        }
        _ => ArchiveKind::Cells(read_cells(section, spec, Some(name))?),
    };
    Ok((kind, None))
}

/// The name of the kind, if one is given or the algorithm knows but one: a kind that the algorithm can search.
fn read_name(section: &mut Section, context: &Context<'_>) -> Result<Option<&'static str>, Fault> {
    let fits = fits(context.problem, context.algorithm);
    let Some(setting) = section.take("kind") else {
        if context.algorithm.preset == Preset::Dms {
            return Ok(Some("discount"));
        }
        // Without a name it is a grid or centroids, and who can work with one can work with the other.
        return match fits.iter().find(|fit| !fit.allows("grid")) {
            Some(fit) => Err(section.require_as("kind", &fit.expected()).err().expect("there is no kind")),
            None => Ok(None),
        };
    };
    let name = setting.choice(&ArchiveKind::ALL.map(|(name, _)| (name, name)))?;
    match fits.iter().find(|fit| !fit.allows(name)) {
        Some(fit) => Err(setting.fault(&fit.expected())),
        None => Ok(Some(name)),
    }
}

fn read_density(section: &mut Section, measure_bounds: Vec<(f64, f64)>) -> Result<DensityConfig, Fault> {
    let bandwidth = section.require("bandwidth")?;
    Ok(DensityConfig {
        measure_bounds,
        buffer_size: read_count(section, "buffer_size", DENSITY_BUFFER)?,
        bandwidth: bandwidth.number_in_range()?,
        seed: section.take("buffer_seed").map_or(Ok(0), |setting| setting.integer_in_range())?,
    })
}

/// A number of things, at least one.
pub(super) fn read_count(section: &mut Section, key: &'static str, default: usize) -> Result<usize, Fault> {
    section.take(key).map_or(Ok(default), |setting| setting.count_in_range())
}

fn read_proximity(
    section: &mut Section,
    measure_bounds: Vec<(f64, f64)>,
    context: &Context<'_>,
) -> Result<ProximityConfig, Fault> {
    let novelty_threshold = section.require("novelty_threshold")?.number_in_range()?;
    let n_neighbours = read_count(section, "neighbours", NOVELTY_NEIGHBOURS)?;
    let competition = read_competition(section, context)?;
    let decay = match section.take("threshold_decay") {
        None => None,
        Some(setting) => {
            let mut section = setting.into_section()?;
            let decay = ThresholdDecay {
                rate: section.require("rate")?.number_in_range()?,
                n_batches: read_count(&mut section, "batches", 1)?,
                minimum: section.take("min").map_or(Ok(0.0), |setting| setting.number_in_range())?,
            };
            section.finish()?;
            Some(decay)
        }
    };
    Ok(ProximityConfig { measure_bounds, n_neighbours, novelty_threshold, competition, decay })
}

/// Whether neighbours compete. A ranker that asks who wins needs them to.
fn read_competition(section: &mut Section, context: &Context<'_>) -> Result<Competition, Fault> {
    let is_needed = matches!(context.algorithm.ranker, Some(RankerConfig::Nslc { .. }));
    let Some(setting) = section.take("local_competition") else {
        return Ok(if is_needed { Competition::Local } else { Competition::None });
    };
    match setting.bool()? {
        true => Ok(Competition::Local),
        false if is_needed => Err(setting.fault("true for the ranker \"nslc\", which counts beaten neighbours")),
        false => Ok(Competition::None),
    }
}

/// The threshold of an empty cell. Zero is the usual worst of what is maximised, and no worst of costs at all.
fn read_min_f(section: &mut Section, kind: &ArchiveKind, context: &Context<'_>) -> Result<f64, Fault> {
    let keeps_thresholds = context.algorithm.preset.anneals() || has_discount(kind);
    match context.problem.goal() {
        Goal::Minimise if keeps_thresholds => {
            let expected = "the worst objective worth keeping, because zero is no default for goal = \"minimise\"";
            section.require_as("min_f", expected)?.number_in_range()
        }
        _ => section.take("min_f").map_or(Ok(0.0), |setting| setting.number_in_range()),
    }
}

/// The learning rate of a discount model, which has no cells that one could follow from.
fn read_discount_learning_rate(section: &mut Section) -> Result<LearningRate, Fault> {
    let expected = "a number within [0, 1] for kind = \"discount\"";
    let in_range = |alpha: f64| (0.0..=1.0).contains(&alpha);
    let alpha = section
        .take("learning_rate")
        .map_or(Ok(DISCOUNT_LEARNING_RATE), |setting| setting.number(expected, in_range))?;
    Ok(LearningRate::Fixed(alpha))
}

fn read_learning_rate(setting: &Setting, evaluations: u64) -> Result<LearningRate, Fault> {
    let expected = setting.expected();
    let in_range = |alpha: f64| (0.0..=1.0).contains(&alpha);
    if !setting.is_string() {
        return Ok(LearningRate::Fixed(setting.number(&expected, in_range)?));
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
    at().ok_or_else(|| setting.fault(&expected))
}
