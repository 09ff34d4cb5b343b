//! An archive's state as one block of bytes, for copies that must cost no more than copying memory: pickles above all.
//!
//! A short head comes first, then the columns one after another, in little-endian order, as they lie in memory: writing
//! and reading a block encodes nothing. Thresholds of an elitist archive are left out, because they are the elites'
//! objectives, and visits take as few bytes each as the largest of them needs.

use serde::{Deserialize, Serialize};

use super::{Acceptance, Archive, ArchiveConfig, Best, CellIdx, stats::RunningSum};
use crate::error::CheckpointError;

/// The length of the head stands before the head.
const HEAD_LENGTH_BYTES: usize = 8;

/// What is not in the columns.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    n_elites: usize,
    bytes_per_visit: usize,
    objective_sum: RunningSum,
    best: Option<Best>,
}

/// The parts of a block, found by the configuration and the head.
struct Parts<'a> {
    head: Head,
    solutions: &'a [u8],
    measures: &'a [u8],
    objectives: &'a [u8],
    extras: Vec<&'a [u8]>,
    cells: &'a [u8],
    visits: &'a [u8],
    /// Absent in an elitist archive.
    thresholds: Option<&'a [u8]>,
}

impl Archive {
    /// Number of bytes of the block that [`write_block`](Self::write_block) would write now.
    ///
    /// # Errors
    /// When the head does not encode.
    pub fn block_len(&self) -> Result<usize, CheckpointError> {
        let head = self.head();
        let n_columns = n_bytes_of_columns(&self.config, &head);
        Ok(HEAD_LENGTH_BYTES + rmp_serde::to_vec_named(&head)?.len() + n_columns as usize)
    }

    /// Writes everything the archive has learnt into a block; the configuration is not in it.
    ///
    /// # Errors
    /// A block of another length than [`block_len`](Self::block_len); it is not written to.
    pub fn write_block(&self, block: &mut [u8]) -> Result<(), CheckpointError> {
        let head = self.head();
        let head_bytes = rmp_serde::to_vec_named(&head)?;
        let n_columns = n_bytes_of_columns(&self.config, &head);
        expect_bytes((HEAD_LENGTH_BYTES + head_bytes.len()) as u128 + n_columns, block.len())?;
        let (head_length, rest) = block.split_at_mut(HEAD_LENGTH_BYTES);
        head_length.copy_from_slice(&(head_bytes.len() as u64).to_le_bytes());
        let (head_place, mut rest) = rest.split_at_mut(head_bytes.len());
        head_place.copy_from_slice(&head_bytes);
        let store = &self.store;
        let columns = [&store.solutions, &store.measures, &store.objectives].into_iter().chain(&store.extras);
        for column in columns {
            rest = write_floats(column, rest);
        }
        let (cells, rest) = rest.split_at_mut(size_of::<u32>() * store.cells.len());
        for (place, cell) in cells.as_chunks_mut().0.iter_mut().zip(&store.cells) {
            *place = cell.0.to_le_bytes();
        }
        let (visits, rest) = rest.split_at_mut(head.bytes_per_visit * store.visits.len());
        match head.bytes_per_visit {
            1 => write_visits::<1>(&store.visits, visits),
            2 => write_visits::<2>(&store.visits, visits),
            4 => write_visits::<4>(&store.visits, visits),
            _ => write_visits::<8>(&store.visits, visits),
        }
        if has_thresholds(&self.config) {
            write_floats(&store.thresholds, rest);
        }
        Ok(())
    }

    /// Takes over the block of an archive of the same configuration.
    ///
    /// # Errors
    /// A block that does not decode or belongs to another configuration.
    pub fn load_block(&mut self, block: &[u8]) -> Result<(), CheckpointError> {
        self.config.check_block(block)?;
        let parts = Parts::of(&self.config, block)?;
        // Copied into the reserved columns, so that adding goes on without allocating.
        let store = &mut self.store;
        store.clear(self.min_f);
        store.solutions.extend(floats(parts.solutions));
        store.measures.extend(floats(parts.measures));
        store.objectives.extend(floats(parts.objectives));
        for (column, values) in store.extras.iter_mut().zip(parts.extras) {
            column.extend(floats(values));
        }
        store.cells.extend(cells(parts.cells));
        match parts.head.bytes_per_visit {
            1 => read_visits::<1>(parts.visits, &mut store.visits),
            2 => read_visits::<2>(parts.visits, &mut store.visits),
            4 => read_visits::<4>(parts.visits, &mut store.visits),
            _ => read_visits::<8>(parts.visits, &mut store.visits),
        }
        match parts.thresholds {
            Some(thresholds) => store.thresholds.iter_mut().zip(floats(thresholds)).for_each(|(old, new)| *old = new),
            None => {
                for (cell, &objective) in store.cells.iter().zip(&store.objectives) {
                    store.thresholds[cell.index()] = objective;
                }
            }
        }
        store.reindex().expect("the cells were checked to be distinct and in range");
        self.objective_sum = parts.head.objective_sum;
        self.best = parts.head.best;
        Ok(())
    }

    fn head(&self) -> Head {
        let most_visits = self.store.visits.iter().copied().max().unwrap_or(0);
        let bytes_per_visit = match most_visits {
            0..=0xff => 1,
            0x100..=0xffff => 2,
            0x1_0000..=0xffff_ffff => 4,
            _ => 8,
        };
        Head { n_elites: self.len(), bytes_per_visit, objective_sum: self.objective_sum, best: self.best.clone() }
    }
}

impl ArchiveConfig {
    /// Checks that a block is one of an archive of this configuration, without building the archive.
    ///
    /// # Errors
    /// A block that does not decode or belongs to another configuration.
    pub fn check_block(&self, block: &[u8]) -> Result<(), CheckpointError> {
        let parts = Parts::of(self, block)?;
        let n_cells = self.cells.n_cells();
        // Allocated only now that the block is known to be as long as so many cells need.
        let mut is_taken = vec![false; n_cells];
        for cell in cells(parts.cells) {
            match is_taken.get_mut(cell.index()) {
                Some(taken @ false) => *taken = true,
                _ => return Err(mismatch("archive cells", format!("distinct cells below {n_cells}"), cell.index())),
            }
        }
        if let Some(best) = &parts.head.best {
            check_best(best, self)?;
        }
        Ok(())
    }
}

impl<'a> Parts<'a> {
    fn of(config: &ArchiveConfig, block: &'a [u8]) -> Result<Self, CheckpointError> {
        let (head_length, rest) = split(block, HEAD_LENGTH_BYTES as u128)?;
        let head_length = u64::from_le_bytes(head_length.try_into().expect("as many bytes as were split off"));
        let (head, mut rest) = split(rest, head_length.into())?;
        let head: Head = rmp_serde::from_slice(head)?;
        if !matches!(head.bytes_per_visit, 1 | 2 | 4 | 8) {
            return Err(mismatch("archive visits", "1, 2, 4 or 8 bytes each".to_owned(), head.bytes_per_visit));
        }
        expect_bytes(n_bytes_of_columns(config, &head), rest.len())?;
        let mut take = |n_values: usize, bytes_each: usize| {
            let (part, others) = rest.split_at(n_values * bytes_each);
            rest = others;
            part
        };
        let n_elites = head.n_elites;
        let n_cells = config.cells.n_cells();
        Ok(Self {
            solutions: take(n_elites * config.solution_dim, size_of::<f64>()),
            measures: take(n_elites * config.cells.measure_dim(), size_of::<f64>()),
            objectives: take(n_elites, size_of::<f64>()),
            extras: config.extra_columns.iter().map(|column| take(n_elites * column.width, size_of::<f64>())).collect(),
            cells: take(n_elites, size_of::<u32>()),
            visits: take(n_cells, head.bytes_per_visit),
            thresholds: has_thresholds(config).then(|| take(n_cells, size_of::<f64>())),
            head,
        })
    }
}

/// Bytes of all columns. They are counted in 128 bits, because a damaged head may ask for any number of elites.
fn n_bytes_of_columns(config: &ArchiveConfig, head: &Head) -> u128 {
    let widths = [config.solution_dim, config.cells.measure_dim(), 1].into_iter();
    let widths = widths.chain(config.extra_columns.iter().map(|column| column.width));
    let floats_of_elite: u128 = widths.map(|width| width as u128).sum();
    let bytes_of_elite = size_of::<f64>() as u128 * floats_of_elite + size_of::<u32>() as u128;
    let bytes_of_threshold = if has_thresholds(config) { size_of::<f64>() } else { 0 };
    let bytes_of_cell = (head.bytes_per_visit + bytes_of_threshold) as u128;
    let of_elites = (head.n_elites as u128).saturating_mul(bytes_of_elite);
    of_elites.saturating_add(config.cells.n_cells() as u128 * bytes_of_cell)
}

/// Whether thresholds are more than the objectives of the elites.
fn has_thresholds(config: &ArchiveConfig) -> bool {
    match config.acceptance {
        Acceptance::Elitist => false,
        Acceptance::Soft { .. } => true,
    }
}

fn check_best(best: &Best, config: &ArchiveConfig) -> Result<(), CheckpointError> {
    let numbers = [
        ("components", config.solution_dim, best.solution.len()),
        ("measures", config.cells.measure_dim(), best.measures.len()),
    ];
    for (name, expected, found) in numbers {
        if expected != found {
            return Err(mismatch("best solution", format!("{expected} {name}"), found));
        }
    }
    let n_cells = config.cells.n_cells();
    if best.cell.index() >= n_cells {
        return Err(mismatch("best solution", format!("a cell below {n_cells}"), best.cell.index()));
    }
    Ok(())
}

fn expect_bytes(expected: u128, found: usize) -> Result<(), CheckpointError> {
    if expected == found as u128 { Ok(()) } else { Err(mismatch("archive block", format!("{expected} bytes"), found)) }
}

fn mismatch(what: &'static str, expected: String, found: usize) -> CheckpointError {
    CheckpointError::Mismatch { what, expected, found: found.to_string() }
}

fn split(bytes: &[u8], at: u128) -> Result<(&[u8], &[u8]), CheckpointError> {
    let parts = usize::try_from(at).ok().and_then(|at| bytes.split_at_checked(at));
    parts.ok_or_else(|| mismatch("archive block", format!("at least {at} bytes"), bytes.len()))
}

/// Writes a column to the start of a block and returns what comes after it.
fn write_floats<'a>(values: &[f64], block: &'a mut [u8]) -> &'a mut [u8] {
    let (column, rest) = block.split_at_mut(size_of_val(values));
    for (place, value) in column.as_chunks_mut().0.iter_mut().zip(values) {
        *place = value.to_le_bytes();
    }
    rest
}

fn floats(column: &[u8]) -> impl ExactSizeIterator<Item = f64> {
    column.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes))
}

fn cells(column: &[u8]) -> impl ExactSizeIterator<Item = CellIdx> {
    column.as_chunks().0.iter().map(|&bytes| CellIdx(u32::from_le_bytes(bytes)))
}

/// The lowest `BYTES` bytes of each number, which are all it has.
fn write_visits<const BYTES: usize>(visits: &[u64], column: &mut [u8]) {
    for (place, visits) in column.as_chunks_mut::<BYTES>().0.iter_mut().zip(visits) {
        place.copy_from_slice(&visits.to_le_bytes()[..BYTES]);
    }
}

fn read_visits<const BYTES: usize>(column: &[u8], visits: &mut [u64]) {
    for (place, visits) in column.as_chunks::<BYTES>().0.iter().zip(visits) {
        let mut bytes = [0; size_of::<u64>()];
        bytes[..BYTES].copy_from_slice(place);
        *visits = u64::from_le_bytes(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::{AddReport, Batch, ExtraColumn, LearningRate, NonFinite};

    fn filled(acceptance: Acceptance) -> Archive {
        let extra_columns = vec![ExtraColumn { name: "seconds".to_owned(), width: 2 }];
        let config =
            ArchiveConfig { acceptance, extra_columns, ..ArchiveConfig::grid(3, vec![4, 5], vec![(0.0, 1.0); 2]) };
        let mut archive = config.build().unwrap();
        let values: Vec<f64> = (0..300).map(|i| f64::from(i * 37 % 101) / 101.0).collect();
        let batch = Batch {
            solutions: &values,
            objectives: &values[..100],
            measures: &values[100..],
            extras: &[&values[..200]],
        };
        for _ in 0..4 {
            archive.add(&batch, NonFinite::Fail, &mut AddReport::default()).unwrap();
        }
        archive
    }

    fn block_of(archive: &Archive) -> Vec<u8> {
        let mut block = vec![0; archive.block_len().unwrap()];
        archive.write_block(&mut block).unwrap();
        block
    }

    const SOFT: Acceptance = Acceptance::Soft { learning_rate: LearningRate::Fixed(0.5), min_f: -1.0 };

    #[test]
    fn an_archive_loads_what_another_wrote() {
        for acceptance in [Acceptance::Elitist, SOFT] {
            let mut archive = filled(acceptance);
            for visits in [3, 300, 70_000, 1 << 40] {
                archive.store.visits[7] = visits;
                let mut loaded = archive.config.build().unwrap();
                loaded.load_block(&block_of(&archive)).unwrap();
                assert_eq!(
                    rmp_serde::to_vec_named(&loaded.save()).unwrap(),
                    rmp_serde::to_vec_named(&archive.save()).unwrap()
                );
                let slots = |archive: &Archive| (0..20).map(|cell| archive.slot_of(CellIdx(cell))).collect::<Vec<_>>();
                assert_eq!(slots(&loaded), slots(&archive));
            }
        }
    }

    #[test]
    fn an_empty_archive_has_a_block_too() {
        let mut archive = filled(SOFT);
        archive.clear();
        let block = block_of(&archive);
        let mut other = filled(SOFT);
        other.load_block(&block).unwrap();
        assert!(other.is_empty());
        assert_eq!(other.best(), None);
    }

    #[test]
    fn blocks_that_do_not_fit_are_refused_and_change_nothing() {
        let mut archive = filled(SOFT);
        let block = block_of(&archive);
        let mut twice_the_same_cell = block.clone();
        let n_after_cells = archive.n_cells() * (1 + size_of::<f64>());
        let cells_end = block.len() - n_after_cells;
        twice_the_same_cell.copy_within(cells_end - 4..cells_end, cells_end - 8);
        let refused = [&block[..block.len() - 1], &block[..4], &[], &[0xff; 64], &twice_the_same_cell];
        for bytes in refused {
            let error = archive.load_block(bytes).unwrap_err();
            assert!(!error.to_string().is_empty());
            assert_eq!(block_of(&archive), block);
        }
        assert!(filled(Acceptance::Elitist).load_block(&block).is_err());
        assert!(archive.write_block(&mut vec![0; block.len() + 1]).is_err());
    }
}
