//! What figures need of a run folder, as plain data.

use std::path::{Path, PathBuf};

use luminary::archive::{Archive as EngineArchive, Cells as EngineCells, CellsConfig};
use luminary_plot::{Archive, Cells, Goal, Measure, ReportField, Style};
use luminary_run::RunError;
use luminary_run::config::{self, Labels, RunConfig};
use luminary_run::export::{self, Which};
use luminary_run::folder::{MANIFEST, METRICS, Manifest, MetricsLog, MetricsRow};
use luminary_run::summary::Summary;
use luminary_run::sweep;

/// A run, read from its folder.
#[derive(Clone)]
pub(crate) struct RunData {
    pub(crate) title: String,
    pub(crate) seed: u64,
    pub(crate) labels: Labels,
    pub(crate) summary: Summary,
    pub(crate) metrics: Vec<MetricsRow>,
    /// The archive as a heatmap shows it; absent if it has no cells.
    pub(crate) archive: Option<Archive>,
    /// The measures with their names and bounds.
    pub(crate) axes: Vec<Measure>,
    /// Objectives of all elites, with the user's sign.
    pub(crate) objectives: Vec<f64>,
    /// Measures of all elites, row by row.
    pub(crate) measures: Vec<f64>,
    /// Solutions of all elites, row by row.
    pub(crate) solutions: Vec<f64>,
    /// What else the archive knows of each elite: threshold, visits, extras.
    pub(crate) fields: Vec<ReportField>,
    /// What the run was made with.
    pub(crate) manifest: Manifest,
    which: Which,
}

/// Runs that differ in their seed only.
pub(crate) struct Group {
    /// What may tell it from other groups: names of settings with their values.
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) runs: Vec<RunData>,
}

impl RunData {
    /// Reads one archive of a run folder at its newest valid checkpoint.
    pub(crate) fn read(folder: &Path, which: Which) -> Result<Self, RunError> {
        let manifest = Manifest::read(folder)?;
        let config = &manifest.config;
        let path = folder.join(METRICS);
        let metrics = MetricsLog::read(&path).map_err(RunError::io("read", &path))?;
        let scheduler = export::load(folder)?;
        let shown = which.of(&scheduler);
        let labels = config.problem.labels();
        let bounds = shown.measure_bounds();
        let names = labels.measures.iter().cloned().chain((labels.measures.len()..).map(|i| format!("measure {i}")));
        let axes: Vec<_> = names.zip(bounds).map(|(name, &(lower, upper))| Measure::new(name, lower, upper)).collect();
        let objectives: Vec<_> = shown.elites().map(|elite| config.goal().turn(elite.objective)).collect();
        let archive = shown.cells().map(|cells| Archive {
            measures: axes.clone(),
            cells: cells_of(cells),
            elite_cells: shown.elites().filter_map(|elite| elite.cell).map(|cell| cell.index()).collect(),
            objectives: objectives.clone(),
        });
        Ok(Self {
            title: format!("{} on {}", config.algorithm.preset, config.problem.title()),
            seed: config.run.seed,
            labels,
            summary: Summary::read_to_last_call(folder)?,
            metrics,
            archive,
            axes,
            objectives,
            measures: shown.elites().flat_map(|elite| elite.measures).copied().collect(),
            solutions: shown.elites().flat_map(|elite| elite.solution).copied().collect(),
            fields: fields_of(shown, config.goal()),
            which,
            manifest,
        })
    }

    /// How its figures look.
    pub(crate) fn style(&self) -> Style {
        let goal = match self.config().goal() {
            config::Goal::Maximise => Goal::Maximise,
            config::Goal::Minimise => Goal::Minimise,
        };
        Style { goal, algorithm: Some(self.config().algorithm.preset.to_string()), ..Style::default() }
    }

    /// The settings of the run.
    pub(crate) fn config(&self) -> &RunConfig {
        &self.manifest.config
    }

    /// The figures in one line.
    pub(crate) fn note(&self) -> String {
        let borders = match self.config().archive.cells() {
            Some(CellsConfig::SlidingBoundaries(_)) => ", sliding borders drawn at equal distances",
            _ => "",
        };
        match self.which {
            Which::Result => format!(
                "QD score {:.2}, coverage {:.2} %, seed {}{borders}",
                self.summary.qd_score, self.summary.coverage_percent, self.seed
            ),
            // The figures of a run are those of its result.
            Which::Search => format!("the archive that is searched, seed {}{borders}", self.seed),
        }
    }

    /// How many elites there can be: cells, or whatever else limits them.
    pub(crate) fn n_places(&self) -> usize {
        self.archive.as_ref().map_or(self.summary.cells.max(self.objectives.len()), Archive::n_cells)
    }

    /// Whether the archive can be full.
    pub(crate) fn has_limit(&self) -> bool {
        self.config().archive.capacity().is_some()
    }

    /// Whether two runs differ in their seed only.
    fn is_trial_of(&self, other: &Self) -> bool {
        let own = self.config();
        let mut config = other.config().clone();
        config.run.seed = own.run.seed;
        config.run.threads = own.run.threads;
        config.run.figures = own.run.figures;
        config == *own
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

/// Numbers of each elite beside objective, measures and solution, with the user's sign.
fn fields_of(archive: &dyn EngineArchive, goal: config::Goal) -> Vec<ReportField> {
    let mut fields = Vec::new();
    let mut push = |name: String, values: Option<Vec<f64>>| {
        if let Some(values) = values.filter(|values| !values.is_empty()) {
            fields.push(ReportField { name, values });
        }
    };
    let elites = || archive.elites();
    push("threshold".into(), elites().map(|elite| elite.threshold.map(|threshold| goal.turn(threshold))).collect());
    push("visits".into(), elites().map(|elite| elite.visits.map(|visits| visits as f64)).collect());
    for (i, column) in archive.extra_columns().iter().enumerate() {
        for k in 0..column.width {
            let name = if column.width == 1 { column.name.clone() } else { format!("{}_{k}", column.name) };
            push(name, elites().map(|elite| elite.extra(i).as_f64().map(|values| values[k])).collect());
        }
    }
    fields
}

/// Reads runs and sweeps and puts runs that differ in their seed only together.
pub(crate) fn read_groups(folders: &[PathBuf], which: Which) -> Result<Vec<Group>, RunError> {
    let mut groups: Vec<Group> = Vec::new();
    for folder in folders {
        if sweep::is_sweep(folder) {
            for planned in sweep::read_plan(folder)?.runs {
                let path = folder.join(&planned.name);
                if path.join(MANIFEST).exists() {
                    put(&mut groups, RunData::read(&path, which)?, settings_of(&planned.group));
                }
            }
        } else {
            put(&mut groups, RunData::read(folder, which)?, Vec::new());
        }
    }
    tell_apart(&mut groups);
    Ok(groups)
}

fn put(groups: &mut Vec<Group>, run: RunData, varied: Vec<(String, String)>) {
    if let Some(group) = groups.iter_mut().find(|group| group.runs.iter().any(|other| run.is_trial_of(other))) {
        group.runs.push(run);
        return;
    }
    let general = [("preset", run.config().algorithm.preset.to_string()), ("problem", run.config().problem.title())];
    let mut settings: Vec<(String, String)> = general.map(|(key, value)| (key.to_owned(), value)).to_vec();
    settings.extend(varied.into_iter().filter(|(key, _)| key != "preset"));
    groups.push(Group { settings, runs: vec![run] });
}

/// The settings in the name of a sweep's group, `key=value,key=value`; commas inside brackets and quotes belong to a value.
fn settings_of(group: &str) -> Vec<(String, String)> {
    let mut parts = vec![String::new()];
    let mut depth = 0_u32;
    for c in group.chars() {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match parts.last_mut() {
            Some(part) if c != ',' || depth > 0 => part.push(c),
            _ => parts.push(String::new()),
        }
    }
    parts.iter().filter_map(|part| part.split_once('=')).map(|(key, value)| (key.into(), value.into())).collect()
}

/// Groups with the same settings are told apart by their first folder.
fn tell_apart(groups: &mut [Group]) {
    let all: Vec<_> = groups.iter().map(|group| group.settings.clone()).collect();
    for group in groups {
        if all.iter().filter(|&settings| *settings == group.settings).count() > 1 {
            let folder = group.runs.first().and_then(|run| run.summary.folder.file_name());
            group.settings.push(("folder".into(), folder.unwrap_or_default().to_string_lossy().into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_cut_at_their_own_commas_only() {
        let found = settings_of("preset=cma_me,resolution=[50, 50]");
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(found, [pair("preset", "cma_me"), pair("resolution", "[50, 50]")]);
        assert!(settings_of("").is_empty());
    }
}
