//! The `[problem]` section: a built-in domain, or the shape of a problem that is evaluated elsewhere.

use std::collections::BTreeMap;

use luminary::preset::Preset;
use luminary::problem::ProblemSpec;
use luminary_domains::{Domain, DomainError};

use super::error::Fault;
use super::setting::{Section, Setting};
use super::{BoundsSettings, Goal, Labels, ProblemConfig};

const MAX_MEASURES: usize = 1_000;

/// Reads the problem and its shape; `evaluator` is the section of that name, if it is there.
pub(super) fn read(section: &mut Section, evaluator: Option<Section>) -> Result<(ProblemConfig, ProblemSpec), Fault> {
    match evaluator {
        Some(evaluator) => read_external(section, evaluator),
        None => read_domain(section),
    }
}

/// Without a program: a domain, or the shape of a problem that is evaluated by hand.
fn read_domain(section: &mut Section) -> Result<(ProblemConfig, ProblemSpec), Fault> {
    if let Some(measures) = section.take("measures") {
        return read_by_hand(section, &measures);
    }
    let names = Domain::ALL.map(|domain| (domain.name(), domain));
    let list = names.map(|(name, _)| format!("{name:?}")).join(", ");
    let expected = format!("one of {list} (or a program in a section [evaluator])");
    let help = "`luminary list` shows the domains, `luminary init` writes a configuration with every setting";
    let domain = section.require_as("domain", &expected).map_err(|fault| fault.with_help(help))?.choice(&names)?;
    if let Some(setting) = section.take("goal") {
        return Err(setting.fault("no goal for a domain, whose objective is always maximised"));
    }
    let n_setting = section.take("n");
    let n = match &n_setting {
        Some(setting) => setting.count_in_range()?,
        None => domain.paper_settings().n_components,
    };
    let built = domain.build(n).map_err(|error| match (&n_setting, error) {
        (Some(setting), DomainError::TooFewComponents { minimum, .. }) => {
            setting.fault(&format!("an integer >= {minimum} for the domain {domain}"))
        }
        (_, error) => Fault::missing("problem.n", &error.to_string()),
    })?;
    Ok((ProblemConfig::Domain { name: domain.name().into(), n }, built.spec()))
}

#[cfg(not(unix))]
fn read_external(section: &mut Section, _: Section) -> Result<(ProblemConfig, ProblemSpec), Fault> {
    let _ = section;
    Err(Fault::missing("evaluator", "no such section, because external evaluators need a Unix system"))
}

#[cfg(unix)]
fn read_external(section: &mut Section, evaluator: Section) -> Result<(ProblemConfig, ProblemSpec), Fault> {
    let evaluator = Box::new(super::evaluator::read(evaluator)?);
    if let Some(setting) = section.take("domain") {
        return Err(setting.fault("no domain beside the section [evaluator]"));
    }
    let measures = section.require("measures")?;
    let Shape { n, measure_bounds, labels, goal } = read_shape(section, &measures)?;
    let program = evaluator.command.iter().rfind(|part| !part.contains('{')).map_or("program", String::as_str);
    let name = match section.take("name") {
        Some(setting) => setting.string()?.to_owned(),
        None => {
            std::path::Path::new(program).file_stem().map_or("program".into(), |stem| stem.to_string_lossy().into())
        }
    };
    let spec = ProblemSpec { solution_dim: n, measure_bounds: measure_bounds.clone() };
    Ok((ProblemConfig::External { name, n, measure_bounds, labels, goal, evaluator }, spec))
}

fn read_by_hand(section: &mut Section, measures: &Setting) -> Result<(ProblemConfig, ProblemSpec), Fault> {
    if let Some(setting) = section.take("domain") {
        return Err(setting.fault("no domain beside `measures`, which are those of another problem"));
    }
    let Shape { n, measure_bounds, labels, goal } = read_shape(section, measures)?;
    let name = section.take("name").map_or(Ok("by hand".to_owned()), |setting| setting.string().map(str::to_owned))?;
    let spec = ProblemSpec { solution_dim: n, measure_bounds: measure_bounds.clone() };
    let extras = BTreeMap::new();
    Ok((ProblemConfig::Custom { name, n, measure_bounds, labels, goal, extras }, spec))
}

/// What settings may say about a problem that is given: what it is called, its goal, and what else it tells of a solution.
pub(super) fn read_given(
    section: &mut Section,
    evaluator: Option<Section>,
    given: &mut ProblemConfig,
) -> Result<(), Fault> {
    if let ProblemConfig::Custom { name, n, measure_bounds, labels, goal, extras } = given {
        if let Some(setting) = section.take("name") {
            *name = setting.string()?.to_owned();
        }
        *labels = read_labels(section, measure_bounds.len(), *n)?;
        *goal = read_goal(section)?;
        if let Some(mut evaluator) = evaluator {
            *extras = read_extras_of(&mut evaluator)?;
            evaluator.finish()?;
        }
    }
    Ok(())
}

/// The extras of a problem that is given, as those of a program are read.
#[cfg(unix)]
fn read_extras_of(section: &mut Section) -> Result<BTreeMap<String, usize>, Fault> {
    let extras = section.take("extras").map(super::evaluator::read_extras).transpose()?;
    Ok(extras.map(|extras| extras.0).unwrap_or_default())
}

/// Where there are no programs, nobody reads extras.
#[cfg(not(unix))]
fn read_extras_of(_section: &mut Section) -> Result<BTreeMap<String, usize>, Fault> {
    Ok(BTreeMap::new())
}

/// What a file says about a problem that is no domain.
struct Shape {
    n: usize,
    measure_bounds: Vec<(f64, f64)>,
    labels: Labels,
    goal: Goal,
}

fn read_shape(section: &mut Section, measures: &Setting) -> Result<Shape, Fault> {
    let n = section.require("n")?.count_in_range()?;
    let measure_bounds = read_measures(measures)?;
    let labels = read_labels(section, measure_bounds.len(), n)?;
    let goal = read_goal(section)?;
    Ok(Shape { n, measure_bounds, labels, goal })
}

fn read_goal(section: &mut Section) -> Result<Goal, Fault> {
    let goals = [
        ("maximise", Goal::Maximise),
        ("minimise", Goal::Minimise),
        ("maximize", Goal::Maximise),
        ("minimize", Goal::Minimise),
    ];
    section.take("goal").map_or(Ok(Goal::default()), |setting| setting.choice(&goals))
}

fn read_measures(setting: &Setting) -> Result<Vec<(f64, f64)>, Fault> {
    let rows = setting.list(&setting.expected())?;
    if rows.is_empty() || rows.len() > MAX_MEASURES {
        return Err(setting.fault(&format!("1 to {MAX_MEASURES} measures")));
    }
    let bounds = |row: &Setting| {
        let pair = row.list("a lower and an upper bound")?;
        let [lower, upper] = pair.as_slice() else { return Err(row.fault("a lower and an upper bound")) };
        match (lower.finite()?, upper.finite()?) {
            (lower, upper) if lower < upper && (upper - lower).is_finite() => Ok((lower, upper)),
            (lower, upper) if lower < upper => {
                Err(row.fault_found("bounds whose distance is a finite number", format!("[{lower:e}, {upper:e}]")))
            }
            (lower, upper) => Err(row.fault_found("lower < upper", format!("[{lower}, {upper}]"))),
        }
    };
    rows.iter().map(bounds).collect()
}

fn read_labels(section: &mut Section, n_measures: usize, n_components: usize) -> Result<Labels, Fault> {
    let mut labels = Labels::numbered(n_measures);
    if let Some(setting) = section.take("objective_name") {
        labels.objective = setting.string()?.to_owned();
    }
    if let Some(setting) = section.take("measure_names") {
        labels.measures = read_names(&setting, n_measures, "measure")?;
    }
    if let Some(setting) = section.take("component_names") {
        labels.components = read_names(&setting, n_components, "component")?;
    }
    Ok(labels)
}

/// One name for each of `n` things.
fn read_names(setting: &Setting, n: usize, thing: &str) -> Result<Vec<String>, Fault> {
    let names = setting.list(&setting.expected())?;
    if names.len() != n {
        return Err(setting.fault(&format!("{n} names, one for each {thing}")));
    }
    names.iter().map(|name| name.string().map(str::to_owned)).collect()
}

/// Step sizes where the user gave none.
pub(super) struct Defaults {
    pub(super) sigma: f64,
    pub(super) eta: f64,
}

impl Defaults {
    /// The paper's on its domains; elsewhere a fifth of the narrowest bounds, or what the preset has if there are none.
    pub(super) fn of(
        preset: Preset,
        problem: &ProblemConfig,
        spec: &ProblemSpec,
        bounds: Option<&BoundsSettings>,
    ) -> Self {
        let domain = match problem {
            ProblemConfig::Domain { name, .. } => name.parse::<Domain>().ok(),
            _ => None,
        };
        if let Some(paper) = domain.map(Domain::paper_settings) {
            let sigma = match preset {
                Preset::MapElites => paper.map_elites_sigma,
                Preset::MapElitesLine => paper.line_sigma_1,
                Preset::CmaMega | Preset::CmaMaega => paper.sigma_g,
                // Made to need no tuning.
                Preset::CmaMaegaDf | Preset::Auto => preset.for_problem(spec).sigma,
                _ => paper.cma_sigma0,
            };
            return Self { sigma, eta: paper.eta };
        }
        let narrowest = bounds.map_or(f64::INFINITY, BoundsSettings::narrowest);
        let is_of_solutions = !preset.needs_gradients() && preset != Preset::CmaMaegaDf;
        let sigma = match narrowest.is_finite() && is_of_solutions {
            true => 0.2 * narrowest,
            false => preset.for_problem(&ProblemSpec { solution_dim: 1, ..spec.clone() }).sigma,
        };
        Self { sigma, eta: 1.0 }
    }
}
