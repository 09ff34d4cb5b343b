//! What figures need of a run folder, as plain data.

use std::path::{Path, PathBuf};

use luminary::archive::{Cells as EngineCells, CellsConfig};
use luminary_plot::{Archive, Cells, Goal, Measure, Style};
use luminary_run::RunError;
use luminary_run::config::{self, Labels, RunConfig};
use luminary_run::export;
use luminary_run::folder::{MANIFEST, METRICS, Manifest, MetricsLog, MetricsRow};
use luminary_run::summary::Summary;
use luminary_run::sweep;

/// A run, read from its folder.
#[derive(Clone)]
pub(crate) struct RunData {
    pub(crate) title: String,
    /// Name in legends.
    pub(crate) label: String,
    pub(crate) seed: u64,
    pub(crate) labels: Labels,
    pub(crate) summary: Summary,
    pub(crate) metrics: Vec<MetricsRow>,
    /// The result archive as a heatmap shows it; absent if it has no cells.
    pub(crate) archive: Option<Archive>,
    /// The measures with their names and bounds.
    pub(crate) axes: Vec<Measure>,
    /// Objectives of all elites, with the user's sign.
    pub(crate) objectives: Vec<f64>,
    /// Measures of all elites, row by row.
    pub(crate) measures: Vec<f64>,
    /// Solutions of all elites, row by row.
    pub(crate) solutions: Vec<f64>,
    config: RunConfig,
}

/// Runs that differ in their seed only.
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) runs: Vec<RunData>,
}

impl RunData {
    /// Reads a run folder at its newest valid checkpoint.
    pub(crate) fn read(folder: &Path) -> Result<Self, RunError> {
        let config = Manifest::read(folder)?.config;
        let path = folder.join(METRICS);
        let metrics = MetricsLog::read(&path).map_err(RunError::io("read", &path))?;
        let scheduler = export::load(folder)?;
        let result = scheduler.result();
        let labels = config.problem.labels();
        let bounds = result.measure_bounds();
        let names = labels.measures.iter().cloned().chain((1..).map(|i| format!("measure {i}")));
        let axes: Vec<_> = names.zip(bounds).map(|(name, &(lower, upper))| Measure::new(name, lower, upper)).collect();
        let objectives: Vec<_> = result.elites().map(|elite| config.goal().turn(elite.objective)).collect();
        let archive = result.cells().map(|cells| Archive {
            measures: axes.clone(),
            cells: cells_of(cells),
            elite_cells: result.elites().filter_map(|elite| elite.cell).map(|cell| cell.index()).collect(),
            objectives: objectives.clone(),
        });
        let preset = config.algorithm.preset;
        Ok(Self {
            title: format!("{preset} on {}", config.problem.title()),
            label: preset.to_string(),
            seed: config.run.seed,
            labels,
            summary: Summary::read(folder)?,
            metrics,
            archive,
            axes,
            objectives,
            measures: result.elites().flat_map(|elite| elite.measures).copied().collect(),
            solutions: result.elites().flat_map(|elite| elite.solution).copied().collect(),
            config,
        })
    }

    /// How its figures look.
    pub(crate) fn style(&self) -> Style {
        let goal = match self.config.goal() {
            config::Goal::Maximise => Goal::Maximise,
            config::Goal::Minimise => Goal::Minimise,
        };
        Style { goal, ..Style::default() }
    }

    /// The figures in one line.
    pub(crate) fn note(&self) -> String {
        let borders = match self.config.archive.cells() {
            Some(CellsConfig::SlidingBoundaries(_)) => ", sliding borders drawn at equal distances",
            _ => "",
        };
        format!(
            "QD score {:.2}, coverage {:.2} %, seed {}{borders}",
            self.summary.qd_score, self.summary.coverage_percent, self.seed
        )
    }

    /// Whether the archive can be full.
    pub(crate) fn has_limit(&self) -> bool {
        self.config.archive.capacity().is_some()
    }

    /// Whether two runs differ in their seed only.
    fn is_trial_of(&self, other: &Self) -> bool {
        let mut config = other.config.clone();
        config.run.seed = self.config.run.seed;
        config.run.threads = self.config.run.threads;
        config.run.figures = self.config.run.figures;
        config == self.config
    }
}

fn cells_of(cells: &EngineCells) -> Cells {
    match cells {
        EngineCells::Grid(grid) => Cells::Grid { resolution: grid.config().resolution.clone() },
        EngineCells::Categorical(cells) => Cells::Grid { resolution: cells.config().resolution() },
        // Intervals of unequal width are drawn alike.
        EngineCells::SlidingBoundaries(cells) => Cells::Grid { resolution: cells.config().resolution.clone() },
        EngineCells::Cvt(cvt) => Cells::Centroids { points: cvt.centroids().to_vec() },
    }
}

/// Reads runs and sweeps and puts runs that differ in their seed only together.
pub(crate) fn read_groups(folders: &[PathBuf]) -> Result<Vec<Group>, RunError> {
    let mut groups: Vec<Group> = Vec::new();
    for folder in folders {
        if sweep::is_sweep(folder) {
            for run in sweep::read_plan(folder)?.runs {
                let path = folder.join(&run.name);
                if path.join(MANIFEST).exists() {
                    let name = (!run.group.is_empty()).then_some(run.group);
                    put(&mut groups, RunData::read(&path)?, name);
                }
            }
        } else {
            put(&mut groups, RunData::read(folder)?, None);
        }
    }
    tell_apart(&mut groups);
    Ok(groups)
}

fn put(groups: &mut Vec<Group>, run: RunData, name: Option<String>) {
    let own = groups.iter_mut().find(|group| group.runs.iter().any(|other| run.is_trial_of(other)));
    match own {
        Some(group) => group.runs.push(run),
        None => groups.push(Group { name: name.unwrap_or_else(|| run.label.clone()), runs: vec![run] }),
    }
}

/// Groups of the same name get the name of their first folder too.
fn tell_apart(groups: &mut [Group]) {
    let names: Vec<_> = groups.iter().map(|group| group.name.clone()).collect();
    for group in groups {
        if names.iter().filter(|&name| *name == group.name).count() > 1 {
            let folder = group.runs.first().and_then(|run| run.summary.folder.file_name());
            group.name = format!("{} ({})", group.name, folder.unwrap_or_default().to_string_lossy());
        }
    }
}
