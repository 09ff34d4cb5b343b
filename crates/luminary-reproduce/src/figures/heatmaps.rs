//! Heatmaps of first trials, and how alpha blends between optimising and exploring.

use luminary_domains::Domain;
use luminary_plot::{
    Archive, Cells, Comparison, Measure, NamedArchive, Style, alpha_blend, annealing as draw_annealing,
    bimodal_example, comparison,
};

use super::{FigureFile, setting};
use crate::error::ReproduceError;
use crate::experiment::Experiment;
use crate::names::{domain_title, row_title};
use crate::results::{CellResults, Results};

/// Objectives are mapped to this range by the domains; common colours make figures comparable.
const OBJECTIVES: (f64, f64) = (0.0, 100.0);

/// The first trial of each algorithm or setting, a figure for each domain.
pub(super) fn side_by_side(results: &Results) -> Result<Vec<FigureFile>, ReproduceError> {
    let prefix = if results.experiment == Experiment::MinF { "min_f = " } else { "" };
    let columns = (results.experiment == Experiment::MinF).then_some(5);
    let mut files = Vec::new();
    for domain in results.domains() {
        let all = archives(results, domain)?;
        let name = |cell: &CellResults| format!("{prefix}{}", row_title(results.experiment, &cell.cell));
        let note = format!("first trial of each: {}", setting(results));
        let archives: Vec<_> = all.iter().map(|(cell, archive)| NamedArchive { name: name(cell), archive }).collect();
        if archives.is_empty() {
            continue;
        }
        let title = domain_title(domain);
        let spec = Comparison { title, note: &note, objective: "Objective", archives, columns };
        let caption = format!("{}: archives of the first trial of each.", domain_title(domain));
        let kind = format!("heatmaps-{domain}");
        files.push(FigureFile::png(results, &kind, caption, &comparison(&spec, &style())?)?);
    }
    Ok(files)
}

/// The first trial of CMA-MAE with each alpha, a figure for each domain.
pub(super) fn alpha_blends(results: &Results) -> Result<Vec<FigureFile>, ReproduceError> {
    let mut files = Vec::new();
    for domain in results.domains() {
        let all = archives(results, domain)?;
        let rows: Vec<_> = all.iter().map(|(cell, archive)| (cell.cell.alpha, archive)).collect();
        if rows.is_empty() {
            continue;
        }
        let title = format!("CMA-MAE on {}, first trials", domain_title(domain));
        let figure = alpha_blend(&title, "Objective", &rows, &style())?;
        let caption = format!("{}: alpha blends between optimising and exploring.", domain_title(domain));
        files.push(FigureFile::png(results, &format!("heatmaps-{domain}"), caption, &figure)?);
    }
    Ok(files)
}

/// What CMA-MAE climbs on an objective with two peaks; drawn from the definition, without trials.
pub(super) fn annealing(results: &Results) -> Result<FigureFile, ReproduceError> {
    let panels = [0.0, 0.02, 1.0].map(|alpha| bimodal_example(alpha, 60.0));
    let figure = draw_annealing("What CMA-MAE climbs after 60 visits around Y", &panels, &Style::default())?;
    let caption = "How alpha changes f - f_A, which CMA-MAE climbs, on an objective with two peaks.";
    Ok(FigureFile::svg(results, "annealing", caption.into(), &figure))
}

fn style() -> Style {
    Style { color_range: Some(OBJECTIVES), ..Style::default() }
}

/// The archives of a domain's cells whose heatmaps were kept.
fn archives(results: &Results, domain: Domain) -> Result<Vec<(&CellResults, Archive)>, ReproduceError> {
    let mut all = Vec::new();
    for cell in results.of_domain(domain) {
        let heatmap = cell.trials.first().and_then(|(_, record)| record.heatmap.as_ref());
        if let Some(heatmap) = heatmap {
            all.push((cell, archive(cell, heatmap)?));
        }
    }
    Ok(all)
}

fn archive(cell: &CellResults, heatmap: &[Option<f32>]) -> Result<Archive, ReproduceError> {
    let cell = &cell.cell;
    let bounds = cell.domain.build(cell.n)?.spec().measure_bounds;
    let names = match cell.domain {
        Domain::Arm => ["x", "y"],
        _ => ["measure 0", "measure 1"],
    };
    let measures = names.iter().zip(bounds).map(|(name, (lower, upper))| Measure::new(*name, lower, upper)).collect();
    let elites = heatmap.iter().enumerate().filter_map(|(i, objective)| Some((i, f64::from((*objective)?))));
    let (elite_cells, objectives) = elites.unzip();
    Ok(Archive { measures, cells: Cells::Grid { resolution: vec![cell.resolution; 2] }, elite_cells, objectives })
}
