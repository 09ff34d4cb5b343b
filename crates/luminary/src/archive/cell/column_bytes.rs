//! An archive's state as the bytes of its columns, for copies that must cost no more than copying memory: pickles above
//! all.
//!
//! Columns are little-endian, as they lie in the memory of nearly every machine, so that saving encodes nothing.
//! Thresholds of an elitist archive are left out, because they are the elites' objectives, and visits and the numbers of
//! rows take as few bytes each as the largest of them needs.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Acceptance, CellArchive, CellsConfig};
use crate::archive::rows_state::{RowsShape, check_best, complete_best};
use crate::archive::stats::RunningSum;
use crate::archive::{Archive, ArchiveConfig, ArchiveKind, Best, CellIdx, ColumnData};
use crate::error::CheckpointError;
use crate::message_pack;

/// What is not in the columns.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    n_elites: usize,
    bytes_per_visit: usize,
    /// Earlier builds wrote all bytes.
    #[serde(default = "all_bytes")]
    bytes_per_number: usize,
    objective_sum: RunningSum,
    best: Option<Best>,
    n_offered: u64,
}

/// The columns by their names.
struct Columns<'a> {
    solutions: &'a [u8],
    measures: &'a [u8],
    objectives: &'a [u8],
    cells: &'a [u8],
    numbers: &'a [u8],
    visits: &'a [u8],
    /// Absent in an elitist archive.
    thresholds: Option<&'a [u8]>,
    extras: &'a [&'a [u8]],
}

/// What is not in the columns, encoded, and the columns.
type ColumnBytes<'a> = (Vec<u8>, Vec<Cow<'a, [u8]>>);

impl CellArchive {
    /// Everything the archive has learnt, column by column, and before them what is not in the columns, encoded; the
    /// configuration is in neither. Nearly all of it is borrowed.
    ///
    /// # Errors
    /// When it does not encode.
    pub fn column_bytes(&self) -> Result<ColumnBytes<'_>, CheckpointError> {
        let store = &self.store;
        let rows = &store.rows;
        let head = Head {
            n_elites: self.len(),
            bytes_per_visit: bytes_per(store.visits.iter().copied().max().unwrap_or(0)),
            bytes_per_number: bytes_per(self.n_offered),
            objective_sum: self.objective_sum,
            best: self.best.clone(),
            n_offered: self.n_offered,
        };
        let cells: Vec<[u8; 4]> = store.cells.iter().map(|cell| cell.0.to_le_bytes()).collect();
        let elites = [&rows.solutions, &rows.measures, &rows.objectives].map(|column| bytes_of(column));
        let mut columns = Vec::from(elites);
        columns.push(Cow::Owned(cells.into_flattened()));
        columns.push(lowest_bytes_of(&rows.numbers, head.bytes_per_number));
        columns.push(lowest_bytes_of(&store.visits, head.bytes_per_visit));
        columns.extend(has_thresholds(&self.config).then(|| bytes_of(&store.thresholds)));
        columns.extend(rows.extras.iter().map(|column| match column.data() {
            ColumnData::F64(values) => bytes_of(values),
            other => Cow::Owned(other.to_le_bytes()),
        }));
        Ok((rmp_serde::to_vec_named(&head)?, columns))
    }

    /// Takes over what an archive of the same configuration saved by [`column_bytes`](Self::column_bytes).
    ///
    /// # Errors
    /// As [`ArchiveConfig::check_columns`]; nothing changes then.
    pub fn load_columns(&mut self, head: &[u8], columns: &[&[u8]]) -> Result<(), CheckpointError> {
        self.config.check_columns(head, columns)?;
        let (head, columns) = parse(&self.config, head, columns)?;
        // Copied into the reserved columns, so that adding goes on without allocating.
        let store = &mut self.store;
        store.clear(self.min_f);
        let rows = &mut store.rows;
        rows.solutions.extend(floats(columns.solutions));
        rows.measures.extend(floats(columns.measures));
        rows.objectives.extend(floats(columns.objectives));
        rows.numbers.resize(head.n_elites, 0);
        read_lowest(columns.numbers, head.bytes_per_number, &mut rows.numbers);
        for (column, values) in rows.extras.iter_mut().zip(columns.extras) {
            column.extend_from_le_bytes(values);
        }
        store.cells.extend(cells(columns.cells));
        read_lowest(columns.visits, head.bytes_per_visit, &mut store.visits);
        match columns.thresholds {
            Some(thresholds) => store.thresholds.iter_mut().zip(floats(thresholds)).for_each(|(old, new)| *old = new),
            None => {
                for (cell, &objective) in store.cells.iter().zip(&store.rows.objectives) {
                    store.thresholds[cell.index()] = objective;
                }
            }
        }
        store.reindex();
        self.objective_sum = head.objective_sum;
        self.best = complete_best(head.best, &self.config.extra_columns);
        self.n_offered = head.n_offered;
        Ok(())
    }
}

impl ArchiveConfig {
    /// Checks that columns are those of an archive of this configuration, without building the archive.
    ///
    /// # Errors
    /// A head that does not decode, columns of the wrong number or length, cells that do not exist or occur twice.
    pub fn check_columns(&self, head: &[u8], columns: &[&[u8]]) -> Result<(), CheckpointError> {
        let (head, columns) = parse(self, head, columns)?;
        let n_cells = n_cells_of(self)?;
        // Allocated only now that there are known to be visits of so many cells.
        let mut taken = vec![0_u64; n_cells.div_ceil(64)];
        for cell in cells(columns.cells) {
            let bit = 1 << (cell.index() % 64);
            match taken.get_mut(cell.index() / 64).filter(|taken| cell.index() < n_cells && **taken & bit == 0) {
                Some(taken) => *taken |= bit,
                None => return Err(mismatch("archive cells", format!("distinct cells below {n_cells}"), cell.index())),
            }
        }
        let latest = highest(columns.numbers, head.bytes_per_number);
        if let Some(late) = latest.filter(|&late| late >= head.n_offered) {
            return Err(mismatch("archive's row numbers", format!("numbers below {}", head.n_offered), late));
        }
        let shape = RowsShape {
            solution_dim: self.solution_dim,
            measure_dim: self.measure_dim(),
            extra_columns: &self.extra_columns,
        };
        check_best(head.best.as_ref(), shape)?;
        match head.best.and_then(|best| best.cell).filter(|cell| cell.index() >= n_cells) {
            Some(cell) => Err(mismatch("best solution", format!("a cell below {n_cells}"), cell.index())),
            None => Ok(()),
        }
    }
}

/// Number of cells of an archive whose columns are all it has learnt.
fn n_cells_of(config: &ArchiveConfig) -> Result<usize, CheckpointError> {
    match &config.kind {
        ArchiveKind::Cells(cells @ (CellsConfig::Grid(_) | CellsConfig::Cvt(_) | CellsConfig::Categorical(_))) => {
            Ok(cells.n_cells())
        }
        _ => Err(mismatch("archive", "an archive with cells that never move".to_owned(), "another")),
    }
}

/// Names the columns after checking their lengths.
fn parse<'a>(
    config: &ArchiveConfig,
    head: &[u8],
    columns: &'a [&'a [u8]],
) -> Result<(Head, Columns<'a>), CheckpointError> {
    let head: Head = message_pack::from_slice(head)?;
    for (what, bytes) in [("archive visits", head.bytes_per_visit), ("archive's row numbers", head.bytes_per_number)] {
        if !matches!(bytes, 1 | 2 | 4 | 8) {
            return Err(mismatch(what, "1, 2, 4 or 8 bytes each".to_owned(), bytes));
        }
    }
    let float = size_of::<f64>();
    let n_elites = head.n_elites;
    let n_cells = n_cells_of(config)?;
    let thresholds = has_thresholds(config).then_some((n_cells, float));
    let extras = config.extra_columns.iter().map(|column| (n_elites, column.width * column.dtype.size()));
    // Number of rows and bytes of a row of each column, in their order.
    let expected: Vec<(usize, usize)> = [
        (n_elites, config.solution_dim * float),
        (n_elites, config.measure_dim() * float),
        (n_elites, float),
        (n_elites, size_of::<u32>()),
        (n_elites, head.bytes_per_number),
        (n_cells, head.bytes_per_visit),
    ]
    .into_iter()
    .chain(thresholds)
    .chain(extras)
    .collect();
    if columns.len() != expected.len() {
        return Err(mismatch("archive", format!("{} columns", expected.len()), columns.len()));
    }
    for (&(n_rows, width), column) in expected.iter().zip(columns) {
        // A damaged head may ask for any number of elites.
        let n_bytes = n_rows as u128 * width as u128;
        if n_bytes != column.len() as u128 {
            return Err(mismatch("archive columns", format!("{n_bytes} bytes"), column.len()));
        }
    }
    let columns = Columns {
        solutions: columns[0],
        measures: columns[1],
        objectives: columns[2],
        cells: columns[3],
        numbers: columns[4],
        visits: columns[5],
        thresholds: has_thresholds(config).then(|| columns[6]),
        extras: &columns[expected.len() - config.extra_columns.len()..],
    };
    Ok((head, columns))
}

/// Whether thresholds are more than the objectives of the elites.
fn has_thresholds(config: &ArchiveConfig) -> bool {
    match config.acceptance {
        Acceptance::Elitist => false,
        Acceptance::Soft { .. } => true,
    }
}

fn mismatch(what: &'static str, expected: String, found: impl ToString) -> CheckpointError {
    CheckpointError::Mismatch { what, expected, found: found.to_string() }
}

/// The memory of a column where it is little-endian already.
fn bytes_of(values: &[f64]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        Cow::Borrowed(bytemuck::cast_slice(values))
    } else {
        let values: Vec<[u8; 8]> = values.iter().map(|value| value.to_le_bytes()).collect();
        Cow::Owned(values.into_flattened())
    }
}

fn floats(column: &[u8]) -> impl ExactSizeIterator<Item = f64> {
    column.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes))
}

fn cells(column: &[u8]) -> impl ExactSizeIterator<Item = CellIdx> {
    column.as_chunks().0.iter().map(|&bytes| CellIdx(u32::from_le_bytes(bytes)))
}

/// How many bytes hold every number up to this one.
fn bytes_per(largest: u64) -> usize {
    match largest {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => all_bytes(),
    }
}

fn all_bytes() -> usize {
    size_of::<u64>()
}

/// The lowest bytes of each number, which are all it has.
fn lowest_bytes_of(numbers: &[u64], bytes: usize) -> Cow<'static, [u8]> {
    fn lowest<const BYTES: usize>(numbers: &[u64]) -> Vec<u8> {
        let lowest = |number: &u64| *number.to_le_bytes().first_chunk::<BYTES>().expect("BYTES is at most eight");
        numbers.iter().map(lowest).collect::<Vec<_>>().into_flattened()
    }
    Cow::Owned(match bytes {
        1 => lowest::<1>(numbers),
        2 => lowest::<2>(numbers),
        4 => lowest::<4>(numbers),
        _ => lowest::<8>(numbers),
    })
}

/// Calls `take` with each number of a column, in order.
fn each_number(column: &[u8], bytes: usize, mut take: impl FnMut(u64)) {
    match bytes {
        1 => column.iter().for_each(|&byte| take(u64::from(byte))),
        2 => column.as_chunks().0.iter().for_each(|&bytes| take(u64::from(u16::from_le_bytes(bytes)))),
        4 => column.as_chunks().0.iter().for_each(|&bytes| take(u64::from(u32::from_le_bytes(bytes)))),
        _ => column.as_chunks().0.iter().for_each(|&bytes| take(u64::from_le_bytes(bytes))),
    }
}

fn read_lowest(column: &[u8], bytes: usize, numbers: &mut [u64]) {
    let mut places = numbers.iter_mut();
    each_number(column, bytes, |number| *places.next().expect("the length was checked") = number);
}

fn highest(column: &[u8], bytes: usize) -> Option<u64> {
    let mut highest = 0;
    each_number(column, bytes, |number| highest = number.max(highest));
    (!column.is_empty()).then_some(highest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::{AddReport, Batch, ExtraColumn, LearningRate, NonFinite};

    fn filled(acceptance: Acceptance) -> CellArchive {
        let extra_columns = vec![ExtraColumn::new("seconds", 2)];
        let config =
            ArchiveConfig { acceptance, extra_columns, ..ArchiveConfig::grid(3, vec![4, 5], vec![(0.0, 1.0); 2]) };
        let mut archive = config.build_cells().unwrap();
        let values: Vec<f64> = (0..300).map(|i| f64::from(i * 37 % 101) / 101.0).collect();
        let batch = Batch {
            solutions: &values,
            objectives: &values[..100],
            measures: &values[100..],
            extras: &[values[..200].into()],
        };
        for _ in 0..4 {
            archive.add(&batch, NonFinite::Fail, &mut AddReport::default()).unwrap();
        }
        archive
    }

    fn saved(archive: &CellArchive) -> (Vec<u8>, Vec<Vec<u8>>) {
        let (head, columns) = archive.column_bytes().unwrap();
        (head, columns.into_iter().map(Cow::into_owned).collect())
    }

    fn load(archive: &mut CellArchive, (head, columns): &(Vec<u8>, Vec<Vec<u8>>)) -> Result<(), CheckpointError> {
        let columns: Vec<&[u8]> = columns.iter().map(Vec::as_slice).collect();
        archive.load_columns(head, &columns)
    }

    const SOFT: Acceptance = Acceptance::Soft { learning_rate: LearningRate::Fixed(0.5), min_f: -1.0 };

    #[test]
    fn an_archive_loads_what_another_saved() {
        for acceptance in [Acceptance::Elitist, SOFT] {
            let mut archive = filled(acceptance);
            for visits in [3, 300, 70_000, 1 << 40] {
                archive.store.visits[7] = visits;
                let mut loaded = archive.config.build_cells().unwrap();
                load(&mut loaded, &saved(&archive)).unwrap();
                let state_of = |archive: &CellArchive| rmp_serde::to_vec_named(&archive.save()).unwrap();
                assert_eq!(state_of(&loaded), state_of(&archive));
                let slots =
                    |archive: &CellArchive| (0..20).map(|cell| archive.slot_of(CellIdx(cell))).collect::<Vec<_>>();
                assert_eq!(slots(&loaded), slots(&archive));
            }
        }
    }

    #[test]
    fn columns_of_an_earlier_build_load_whose_numbers_have_all_bytes() {
        #[derive(Serialize)]
        struct Before {
            n_elites: usize,
            bytes_per_visit: usize,
            objective_sum: RunningSum,
            best: Option<Best>,
            n_offered: u64,
        }
        let archive = filled(SOFT);
        let (_, mut columns) = saved(&archive);
        columns[4] = ColumnData::U64(&archive.store.rows.numbers).to_le_bytes();
        let head = rmp_serde::to_vec_named(&Before {
            n_elites: archive.len(),
            bytes_per_visit: 1,
            objective_sum: archive.objective_sum,
            best: archive.best.clone(),
            n_offered: archive.n_offered,
        });
        let mut loaded = archive.config.build_cells().unwrap();
        load(&mut loaded, &(head.unwrap(), columns)).unwrap();
        assert_eq!(saved(&loaded), saved(&archive));
    }

    #[test]
    fn an_empty_archive_can_be_saved_too() {
        let mut archive = filled(SOFT);
        archive.clear();
        let mut other = filled(SOFT);
        load(&mut other, &saved(&archive)).unwrap();
        assert!(other.is_empty());
        assert_eq!(other.best(), None);
    }

    #[test]
    fn columns_that_do_not_fit_are_refused_and_change_nothing() {
        let mut archive = filled(SOFT);
        let right = saved(&archive);
        let mut cases = vec![(Vec::new(), right.1.clone()), (right.0.clone(), Vec::new())];
        for column in 0..right.1.len() {
            let mut shorter = right.clone();
            shorter.1[column].pop();
            cases.push(shorter);
        }
        let mut same_cell_twice = right.clone();
        same_cell_twice.1[3].copy_within(..4, 4);
        let mut cell_that_does_not_exist = right.clone();
        cell_that_does_not_exist.1[3][..4].fill(0xff);
        cases.extend([same_cell_twice, cell_that_does_not_exist]);
        for wrong in &cases {
            assert!(load(&mut archive, wrong).is_err());
            assert_eq!(saved(&archive), right);
        }
        assert!(load(&mut filled(Acceptance::Elitist), &right).is_err());
    }
}
