//! The `[algorithm]` section: a preset and what differs from it.

use luminary::emitter::Selection;
use luminary::preset::{MANY_COMPONENTS, Preset, StepSizes};
use luminary::problem::ProblemSpec;
use luminary::restart::RestartConfig;
use luminary::scheduler::{BanditConfig, Reselect};
use luminary::strategy::GradientConfig;
use luminary::strategy::{BoundsRule, MAX_BATCH_SIZE, Variant};

use super::error::Fault;
use super::names::{RankerName, StrategyName};
use super::problem::Defaults;
use super::setting::{Section, Setting};
use super::{AlgorithmSettings, BoundsSettings, Jacobians, ProblemConfig};

/// Reads the section; what it leaves open follows from the problem.
pub(super) fn read(
    section: &mut Section,
    problem: &ProblemConfig,
    spec: &ProblemSpec,
) -> Result<AlgorithmSettings, Fault> {
    let presets = Preset::ALL.map(|preset| (preset.name(), preset));
    let preset = section.take("preset").map_or(Ok(Preset::CmaMae), |setting| setting.choice(&presets))?;
    let dim = spec.solution_dim;
    let bounds = section.take("bounds").map(|setting| read_bounds(setting, dim)).transpose()?;
    let defaults = Defaults::of(preset, problem, spec, bounds.as_ref());
    let variants = [("standard", Variant::Standard), ("published", Variant::Published)];
    let strategies = StrategyName::ALL.map(|strategy| (strategy.name(), strategy));
    let selections = [("mu", Selection::Mu), ("filter", Selection::Filter)];
    let optional = |section: &mut Section, key| take_if_it_applies(section, key, preset);
    let jacobians = section.take("jacobians").map(|setting| read_jacobians(&setting, preset)).transpose()?;
    // A strategy needs a better half to learn from; a gradient emitter spends one evaluation on the gradient.
    let smallest_batch = match preset {
        Preset::MapElites | Preset::MapElitesLine => 1,
        Preset::CmaMega | Preset::CmaMaega => 3,
        Preset::Auto if jacobians == Some(Jacobians::Given) => 3,
        _ => 2,
    };
    let sigma = section.take("sigma");
    // Whoever gives a step size knows it.
    let step_sizes = match sigma {
        None if preset == Preset::Auto => StepSizes::Several,
        _ => StepSizes::Sigma,
    };
    let emitters = section.take("emitters").map_or(Ok(15), |setting| setting.count_in_range())?;
    Ok(AlgorithmSettings {
        preset,
        variant: section.take("variant").map_or(Ok(Variant::Standard), |setting| setting.choice(&variants))?,
        sigma: sigma.map_or(Ok(defaults.sigma), |setting| setting.number_in_range())?,
        step_sizes,
        line_sigma: section.take("line_sigma").map_or(Ok(0.2), |setting| setting.number_in_range())?,
        emitters,
        batch_size: section
            .take("batch_size")
            .map_or(Ok(36), |setting| setting.count(smallest_batch, MAX_BATCH_SIZE))?,
        x0: read_x0(section.take("x0"), dim, bounds.as_ref())?,
        strategy: optional(section, "strategy")?
            .map_or(Ok(default_strategy(preset, dim)), |setting| setting.choice(&strategies))?,
        gradient: read_gradient(section, defaults.eta)?,
        jacobians,
        ranker: optional(section, "ranker")?.map(|setting| setting.choice(&RankerName::choices())).transpose()?,
        selection: optional(section, "selection")?.map(|setting| setting.choice(&selections)).transpose()?,
        restart: optional(section, "restart")?.map(read_restart).transpose()?,
        bounds,
        bandit: section.take("bandit").map(|setting| read_bandit(setting, emitters)).transpose()?,
        noise: None,
    })
}

/// Only the automatic preset can have its Jacobians from either: the names of the others say where they are from. For those
/// without gradients it changes nothing, so that studies can compare both.
fn read_jacobians(setting: &Setting, preset: Preset) -> Result<Jacobians, Fault> {
    let sources = [("given", Jacobians::Given), ("estimated", Jacobians::Estimated)];
    match setting.choice(&sources)? {
        Jacobians::Estimated if preset.needs_gradients() => {
            Err(setting.fault(&format!("\"given\" for {preset}; cma_maega_df estimates them")))
        }
        Jacobians::Given if preset == Preset::CmaMaegaDf => {
            Err(setting.fault(&format!("\"estimated\" for {preset}; cma_maega takes those of the problem")))
        }
        source => Ok(source),
    }
}

/// The automatic preset knows better than a full covariance matrix for many components.
fn default_strategy(preset: Preset, dim: usize) -> StrategyName {
    match preset {
        Preset::Auto if dim >= MANY_COMPONENTS => StrategyName::LmMaEs,
        _ => StrategyName::CmaEs,
    }
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
    let lower = read_bound(&section.require("lower")?, dim)?;
    let upper_setting = section.require("upper")?;
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
    let learning_rate = section.take("gradient_step").map_or(Ok(eta), |setting| setting.number_in_range())?;
    Ok(if is_adam { GradientConfig::adam(learning_rate) } else { GradientConfig::Ascent { learning_rate } })
}

fn read_restart(setting: Setting) -> Result<RestartConfig, Fault> {
    let expected = setting.expected();
    match setting.string().map_err(|_| setting.fault(&expected))? {
        "basic" => Ok(RestartConfig::BASIC),
        "no_improvement" | "no-improvement" => Ok(RestartConfig::NO_IMPROVEMENT),
        text => {
            let every = text.strip_prefix("every ").and_then(|count| count.trim().parse().ok()).filter(|&n| n > 0);
            let every: u32 = every.ok_or_else(|| setting.fault(&expected))?;
            Ok(RestartConfig { no_improvement: false, every: Some(every) })
        }
    }
}

fn read_bandit(setting: Setting, n_emitters: usize) -> Result<BanditConfig, Fault> {
    let mut section = setting.into_section()?;
    let active =
        section.require_as("active", &format!("the emitters at work in an iteration, of {n_emitters} in all"))?;
    let mut config = BanditConfig::new(active.count(1, n_emitters)?);
    if let Some(setting) = section.take("zeta") {
        config.zeta = setting.number_in_range()?;
    }
    if let Some(setting) = section.take("reselect") {
        config.reselect = setting.choice(&[("restarted", Reselect::Restarted), ("all", Reselect::All)])?;
    }
    section.finish()?;
    Ok(config)
}
