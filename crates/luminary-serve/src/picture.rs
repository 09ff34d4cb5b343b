//! The archive of a run as bytes: what the page draws.
//!
//! Layout, little-endian: the length of the head (u32), the head as JSON with spaces behind it, so that what follows
//! begins at a multiple of eight; the coordinates of all centroids (f64), if the head says so; the cell of each row (u32)
//! and, for an odd number of rows, four bytes of nothing; then the columns that were asked for (f64).

use std::path::Path;

use axum::body::Bytes;
use luminary::archive::Archive;
use luminary_run::config::{Goal, RunConfig};
use luminary_run::export::{Which, read_columns};
use luminary_run::folder::Manifest;
use luminary_run::summary::Summary;
use serde::Serialize;

use crate::live::{Cells, LiveRun, Row};
use crate::past::{Moment, Past};
use crate::saved::SavedRun;
use crate::shape::{Kind, Shape};

/// Components that can be shown as colours; each is a column to ask for.
const MAX_COMPONENTS: usize = 1000;

/// A number of each elite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Objective,
    Threshold,
    Visits,
    Age,
    Emitter,
    Measure(usize),
    Extra(usize, usize),
    Component(usize),
}

impl Column {
    /// Reads the name that the page uses.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let word = parts.next()?;
        let numbers: Vec<usize> = parts.map(|part| part.parse().ok()).collect::<Option<_>>()?;
        match (word, numbers.as_slice()) {
            ("objective", []) => Some(Self::Objective),
            ("threshold", []) => Some(Self::Threshold),
            ("visits", []) => Some(Self::Visits),
            ("age", []) => Some(Self::Age),
            ("emitter", []) => Some(Self::Emitter),
            ("measure", &[i]) => Some(Self::Measure(i)),
            ("extra", &[i, k]) => Some(Self::Extra(i, k)),
            ("component", &[i]) => Some(Self::Component(i)),
            _ => None,
        }
    }

    pub(crate) fn key(&self) -> String {
        match self {
            Self::Objective => "objective".into(),
            Self::Threshold => "threshold".into(),
            Self::Visits => "visits".into(),
            Self::Age => "age".into(),
            Self::Emitter => "emitter".into(),
            Self::Measure(i) => format!("measure.{i}"),
            Self::Extra(i, k) => format!("extra.{i}.{k}"),
            Self::Component(i) => format!("component.{i}"),
        }
    }
}

impl Column {
    /// What it is called in the table of an archive with cells, if it is there.
    fn in_table(&self, which: Which) -> Option<String> {
        match self {
            Self::Objective => Some("objective".into()),
            // The table of the result archive repeats its objectives.
            Self::Threshold => (which == Which::Search).then(|| "threshold".into()),
            Self::Visits => Some("visits".into()),
            Self::Measure(i) => Some(format!("measures_{i}")),
            Self::Component(i) => Some(format!("solution_{i}")),
            Self::Age | Self::Emitter | Self::Extra(..) => None,
        }
    }
}

/// Where the numbers are from.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Source {
    /// A report of the running process.
    Live,
    /// The newest checkpoint.
    Checkpoint,
    /// A frame of its history.
    History,
}

/// A column that can be asked for.
#[derive(Serialize)]
pub(crate) struct Offer {
    key: String,
    label: String,
}

#[derive(Serialize)]
struct Head<'a> {
    source: Source,
    /// Frames of one generation build on each other.
    generation: &'a str,
    frame: u64,
    /// Whether all occupied cells follow, or only those that have changed.
    whole: bool,
    iteration: u64,
    minimise: bool,
    objective: String,
    #[serde(flatten)]
    shape: &'a Shape,
    n_rows: usize,
    n_centroids: usize,
    columns: Vec<String>,
}

/// What of a picture somebody has already.
#[derive(Clone, Debug, Default)]
pub(crate) struct Since {
    pub(crate) generation: String,
    pub(crate) frame: u64,
}

/// The archive at the newest checkpoint. Columns that it does not have are left out.
pub(crate) fn of_saved(saved: &SavedRun, which: Which, columns: &[Column]) -> Bytes {
    let archive = saved.archive(which);
    let goal = saved.config.goal();
    let labels = saved.config.problem.labels();
    let shape = Shape::of_archive(archive, &labels);
    let values: Vec<(String, Vec<f64>)> =
        columns.iter().filter_map(|column| Some((column.key(), values_of(saved, archive, column)?))).collect();
    let cells: Vec<u32> = archive
        .elites()
        .enumerate()
        .map(|(number, elite)| elite.cell.map_or(number, |cell| cell.index()) as u32)
        .collect();
    let head = Head {
        source: Source::Checkpoint,
        generation: &saved.tag,
        frame: 0,
        whole: true,
        iteration: saved.iteration,
        minimise: goal == Goal::Minimise,
        objective: labels.objective,
        shape: &shape,
        n_rows: cells.len(),
        n_centroids: shape.centroids.len() / archive.measure_dim().max(1),
        columns: values.iter().map(|(key, _)| key.clone()).collect(),
    };
    encode(&head, &shape.centroids, &cells, values.into_iter().map(|(_, values)| values))
}

/// An archive of a run that has ended, from its table: without reading a checkpoint, which takes long if the archive is
/// large. Nothing if there is no such table, or not these columns in it, or more numbers than `max_numbers`.
pub(crate) fn of_table(
    folder: &Path,
    which: Which,
    columns: &[Column],
    tag: &str,
    max_numbers: usize,
) -> Option<Bytes> {
    let config = Manifest::read(folder).ok()?.config;
    let shape = Shape::of_grid(&config, which)?;
    let names: Vec<String> = columns.iter().map(|column| column.in_table(which)).collect::<Option<_>>()?;
    // Whatever is wrong with the table, the checkpoint is asked next.
    let table = read_columns(folder, which, &names, max_numbers).ok()??;
    let head = Head {
        source: Source::Checkpoint,
        generation: tag,
        frame: 0,
        whole: true,
        iteration: Summary::read(folder).ok()?.iterations,
        minimise: config.goal() == Goal::Minimise,
        objective: config.problem.labels().objective,
        shape: &shape,
        n_rows: table.cells.len(),
        n_centroids: 0,
        columns: columns.iter().map(Column::key).collect(),
    };
    Some(encode(&head, &[], &table.cells, table.columns))
}

/// The result archive as it was at a moment of the past.
pub(crate) fn of_past(past: &Past, config: &RunConfig, shape: &Shape, moment: &Moment) -> Bytes {
    let goal = config.goal();
    let Cells { rows, measures, .. } = past.cells_at(moment);
    let n_measures = measures.len().checked_div(rows.len()).unwrap_or(0);
    let head = Head {
        source: Source::History,
        generation: &past.tag,
        frame: 0,
        whole: true,
        iteration: moment.iteration,
        minimise: goal == Goal::Minimise,
        objective: config.problem.labels().objective,
        shape,
        n_rows: rows.len(),
        n_centroids: if shape.kind == Kind::Centroids { shape.n_cells } else { 0 },
        columns: columns_of(&[Column::Objective], n_measures),
    };
    let cells: Vec<u32> = rows.iter().map(|row| row.cell).collect();
    let objectives = rows.iter().map(|row| goal.turn(row.objective)).collect();
    encode(&head, &shape.centroids, &cells, [objectives].into_iter().chain(by_column(&measures, n_measures)))
}

/// The names of these columns and of so many measures.
fn columns_of(columns: &[Column], n_measures: usize) -> Vec<String> {
    columns.iter().map(Column::key).chain((0..n_measures).map(|i| Column::Measure(i).key())).collect()
}

/// Rows of measures as columns.
fn by_column(measures: &[f64], n_measures: usize) -> impl Iterator<Item = Vec<f64>> + '_ {
    (0..n_measures).map(move |i| measures.iter().skip(i).step_by(n_measures).copied().collect())
}

/// The archive as the running process reports it: what has changed since `since`, if that is of the same report.
pub(crate) fn of_live(live: &LiveRun, config: &RunConfig, shape: &Shape, which: Which, since: &Since) -> Bytes {
    let generation = live.generation();
    // Elites without cells come and go, so all of them are told each time.
    let is_known = since.generation == generation && shape.kind != Kind::Points;
    let known = if is_known { since.frame } else { 0 };
    let goal = config.goal();
    let Cells { rows, measures, .. } = live.cells(which);
    let n_measures = measures.len().checked_div(rows.len()).unwrap_or(0);
    let rows: Vec<&Row> = rows.iter().filter(|row| row.frame > known).collect();
    let whole = known == 0;
    let centroids = if whole { &shape.centroids[..] } else { &[] };
    let head = Head {
        source: Source::Live,
        generation: &generation,
        frame: live.n_frames,
        whole,
        iteration: live.iteration,
        minimise: goal == Goal::Minimise,
        objective: config.problem.labels().objective,
        shape,
        n_rows: rows.len(),
        n_centroids: if whole && shape.kind == Kind::Centroids { shape.n_cells } else { 0 },
        columns: columns_of(&[Column::Objective, Column::Threshold], n_measures),
    };
    let cells: Vec<u32> = rows.iter().map(|row| row.cell).collect();
    let objectives = rows.iter().map(|row| goal.turn(row.objective)).collect();
    let thresholds = rows.iter().map(|row| goal.turn(row.threshold)).collect();
    encode(&head, centroids, &cells, [objectives, thresholds].into_iter().chain(by_column(measures, n_measures)))
}

fn encode(head: &Head<'_>, centroids: &[f64], cells: &[u32], columns: impl IntoIterator<Item = Vec<f64>>) -> Bytes {
    let mut json = serde_json::to_vec(head).expect("plain data is written to memory");
    json.resize((json.len() + 4).next_multiple_of(8) - 4, b' ');
    let mut bytes = Vec::with_capacity(json.len() + 8 * centroids.len() + 12 * cells.len() + 16);
    bytes.extend_from_slice(&(json.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&json);
    bytes.extend(centroids.iter().flat_map(|value| value.to_le_bytes()));
    bytes.extend(cells.iter().flat_map(|cell| cell.to_le_bytes()));
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    for column in columns {
        bytes.reserve(8 * column.len());
        bytes.extend(column.iter().flat_map(|value| value.to_le_bytes()));
    }
    bytes.into()
}

/// A column with the user's sign; nothing if the archive does not have it.
fn values_of(saved: &SavedRun, archive: &dyn Archive, column: &Column) -> Option<Vec<f64>> {
    let elites = archive.elites();
    let goal = saved.config.goal();
    match *column {
        Column::Objective => Some(elites.map(|elite| goal.turn(elite.objective)).collect()),
        Column::Threshold => elites.map(|elite| elite.threshold.map(|threshold| goal.turn(threshold))).collect(),
        Column::Visits => elites.map(|elite| elite.visits.map(|visits| visits as f64)).collect(),
        Column::Age => elites.map(|elite| elite.age.map(|age| age as f64)).collect(),
        Column::Emitter => {
            let owners = saved.owners.as_ref()?;
            // The initial population is no emitter's.
            let emitter = |number| owners.emitter(number).map_or(f64::NAN, |emitter| emitter as f64);
            elites.map(|elite| elite.number.map(emitter)).collect()
        }
        Column::Measure(i) => elites.map(|elite| elite.measures.get(i).copied()).collect(),
        Column::Component(i) => elites.map(|elite| elite.solution.get(i).copied()).collect(),
        Column::Extra(i, k) => {
            archive.extra_columns().get(i)?;
            elites.map(|elite| elite.extra(i).as_f64()?.get(k).copied()).collect()
        }
    }
}

/// All columns that an archive has, with what they are called.
pub(crate) fn offers(saved: &SavedRun, which: Which) -> Vec<Offer> {
    let archive = saved.archive(which);
    let labels = saved.config.problem.labels();
    let offer = |column: Column, label: &str| Offer { key: column.key(), label: label.to_owned() };
    let mut offers = vec![offer(Column::Objective, &labels.objective)];
    // The threshold of an elitist archive is its elite's objective.
    let first = archive.elites().next();
    if which == Which::Search && saved.is_soft && first.is_some_and(|elite| elite.threshold.is_some()) {
        offers.push(offer(Column::Threshold, "threshold"));
    }
    if first.is_some_and(|elite| elite.visits.is_some()) {
        offers.push(offer(Column::Visits, "visits"));
    }
    if first.is_some_and(|elite| elite.age.is_some()) {
        offers.push(offer(Column::Age, "age"));
    }
    if saved.owners.is_some() && first.is_some_and(|elite| elite.number.is_some()) {
        offers.push(offer(Column::Emitter, "emitter that found it"));
    }
    for (i, column) in archive.extra_columns().iter().enumerate() {
        for k in 0..column.width {
            let label = if column.width == 1 { column.name.clone() } else { format!("{}_{k}", column.name) };
            offers.push(offer(Column::Extra(i, k), &label));
        }
    }
    for i in 0..archive.measure_dim() {
        offers.push(offer(Column::Measure(i), labels.measures.get(i).map_or("measure", String::as_str)));
    }
    for i in 0..archive.solution_dim().min(MAX_COMPONENTS) {
        let label = labels.components.get(i).cloned().unwrap_or_else(|| format!("x{i}"));
        offers.push(offer(Column::Component(i), &label));
    }
    offers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read_as_they_are_written() {
        let columns = [
            Column::Objective,
            Column::Threshold,
            Column::Visits,
            Column::Age,
            Column::Emitter,
            Column::Measure(2),
            Column::Extra(1, 3),
            Column::Component(40),
        ];
        for column in columns {
            assert_eq!(Column::parse(&column.key()), Some(column));
        }
        for wrong in ["", "solution", "measure", "measure.x", "extra.1", "objective.1", "component.-1"] {
            assert_eq!(Column::parse(wrong), None, "{wrong}");
        }
    }
}
