//! Cells of an archive: a grid, centroids, categories, or a grid with sliding boundaries.

use luminary::archive::{
    CategoricalConfig, CellsConfig, CentroidSource, CvtConfig, GridConfig, MAX_CELLS, SlidingBoundariesConfig,
};
use luminary::preset::CVT_MEASURES;
use luminary::problem::ProblemSpec;

use super::archive::read_count;
use super::error::Fault;
use super::setting::{Section, Setting};

/// The archive for which the paper gives its learning rate.
pub(super) const REFERENCE_CELLS: usize = 100 * 100;

/// A grid by its resolution, or a CVT by its number of cells; the kind may say which.
pub(super) fn read_cells(section: &mut Section, spec: &ProblemSpec, kind: Option<&str>) -> Result<CellsConfig, Fault> {
    let k = spec.measure_dim();
    let resolution = section.take("resolution");
    let n_cells = section.take("cells");
    let sources = [("k_means", Centroids::KMeans), ("sobol", Centroids::Sobol), ("uniform", Centroids::Uniform)];
    let centroids = section.take("centroids").map_or(Ok(Centroids::KMeans), |setting| setting.choice(&sources))?;
    let seed = section.take("centroid_seed").map_or(Ok(0), |setting| setting.integer_in_range())?;
    let is_cvt = match kind {
        Some(name) => name == "cvt",
        None => n_cells.is_some() || (resolution.is_none() && k >= CVT_MEASURES),
    };
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
    let n_cells = n_cells.map_or(Ok(REFERENCE_CELLS), |setting| setting.count_in_range())?;
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

pub(super) fn product(counts: &[usize]) -> Option<usize> {
    counts.iter().try_fold(1_usize, |product, &n| product.checked_mul(n))
}

/// About ten thousand cells, as in the paper, whatever the number of measures.
fn default_resolution(n_measures: usize) -> Vec<usize> {
    let intervals = (REFERENCE_CELLS as f64).powf(1.0 / n_measures as f64).round() as usize;
    vec![intervals.max(2); n_measures]
}

fn read_resolution(setting: &Setting, n_measures: usize) -> Result<Vec<usize>, Fault> {
    let counts = read_counts(setting, n_measures)?;
    check_product(setting, &counts)?;
    Ok(counts)
}

fn check_product(setting: &Setting, counts: &[usize]) -> Result<(), Fault> {
    if product(counts).is_none_or(|n_cells| n_cells > MAX_CELLS) {
        let found = counts.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
        return Err(setting.fault_found(&format!("at most {MAX_CELLS} cells in all"), found));
    }
    Ok(())
}

pub(super) fn read_categories(section: &mut Section, spec: &ProblemSpec) -> Result<CellsConfig, Fault> {
    let k = spec.measure_dim();
    let expected = format!("{k} lists of names, one for each measure");
    let setting = section.require_as("categories", &expected)?;
    let names = |list: &Setting| list.list(&expected)?.iter().map(|name| Ok(name.string()?.to_owned())).collect();
    let categories: Vec<Vec<String>> = setting.list(&expected)?.iter().map(names).collect::<Result<_, Fault>>()?;
    if categories.len() != k {
        return Err(setting.fault(&expected));
    }
    if let Some(measure) = categories.iter().position(Vec::is_empty) {
        let found = format!("none for measure {measure}");
        return Err(setting.fault_found("at least one name for each measure", found));
    }
    for names in &categories {
        if let Some(i) = (1..names.len()).find(|&i| names[..i].contains(&names[i])) {
            return Err(setting.fault_found("distinct names for each measure", format!("{:?} twice", names[i])));
        }
    }
    check_product(&setting, &categories.iter().map(Vec::len).collect::<Vec<_>>())?;
    Ok(CellsConfig::Categorical(CategoricalConfig { categories }))
}

pub(super) fn read_sliding(section: &mut Section, spec: &ProblemSpec) -> Result<CellsConfig, Fault> {
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
