//! An archive of the engine as a Python object holds it, and what only some archives can tell.

use luminary::archive::{
    AddReport, Archive, ArchiveConfig, Batch, CellArchive, CellIdx, Cells, Competition, DnsArchive, NonFinite,
    ProximityArchive, ReportColumn,
};
use luminary::error::CallError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::convert::OrRaise;
use crate::elite_arrays::index_of;

/// The archive behind a Python object's lock.
pub(crate) struct ArchiveState {
    pub(crate) config: ArchiveConfig,
    pub(crate) archive: Box<dyn Archive>,
    pub(crate) report: AddReport,
    /// Threshold of the best solution's cell just after it was added.
    pub(crate) best_threshold: f64,
}

impl ArchiveState {
    pub(crate) fn new(config: ArchiveConfig, archive: Box<dyn Archive>) -> Self {
        let best = archive.best().and_then(|best| best.threshold);
        Self::with_best_threshold(config, archive, best.unwrap_or(f64::NAN))
    }

    pub(crate) fn with_best_threshold(config: ArchiveConfig, archive: Box<dyn Archive>, best_threshold: f64) -> Self {
        Self { config, archive, report: AddReport::default(), best_threshold }
    }

    /// Offers rows, to the given cells if there are some; refuses the whole call when a value is not finite.
    pub(crate) fn add(&mut self, batch: &Batch<'_>, cells: Option<&[CellIdx]>) -> Result<(), CallError> {
        let before = self.archive.best().map(|best| best.objective);
        match (cells, self.archive.downcast_mut::<CellArchive>()) {
            (Some(cells), Some(archive)) => {
                archive.add_to_cells(cells, batch, NonFinite::Fail, &mut self.report)?;
            }
            (Some(_), None) => return Err(CallError::Conflict("expected an archive with cells, found one without")),
            (None, _) => self.archive.add(batch, NonFinite::Fail, &mut self.report)?,
        }
        if let Some(best) = self.archive.best().filter(|best| Some(best.objective) != before) {
            self.best_threshold = best.threshold.unwrap_or(f64::NAN);
        }
        Ok(())
    }

    /// Notes the threshold of the best solution's cell after somebody else added rows.
    pub(crate) fn note_best(&mut self) {
        if let Some(threshold) = self.archive.best().and_then(|best| best.threshold) {
            self.best_threshold = threshold;
        }
    }

    /// The cell of the best solution, or its position in an archive without cells, which never drops it.
    pub(crate) fn index_of_best(&self) -> Option<i32> {
        let archive = &*self.archive;
        let best = archive.best()?;
        if let Some(cell) = best.cell {
            return Some(cell.index() as i32);
        }
        let is_best = |&slot: &usize| {
            let elite = archive.nth_elite(slot);
            elite.objective == best.objective && elite.measures == best.measures && elite.solution == best.solution
        };
        (0..archive.len()).find(is_best).map(|slot| index_of(archive, slot))
    }

    /// The columns of the last report that the archive fills.
    pub(crate) fn report_columns(&self) -> Vec<Vec<f64>> {
        let report = &self.report;
        let column = |column: &ReportColumn| match column {
            ReportColumn::Novelty => report.novelty.clone(),
            ReportColumn::LocalCompetition => report.local_competition.clone(),
            ReportColumn::DominatedNovelty => report.dominated_novelty.clone(),
            ReportColumn::Density => report.density.clone(),
            ReportColumn::Discount => report.discount.clone(),
            _ => None,
        };
        self.archive.report_columns().iter().filter_map(column).collect()
    }
}

/// The cell of each row of finite measures.
pub(crate) fn cells_of(archive: &CellArchive, measures: &[f64]) -> Vec<CellIdx> {
    let rows = measures.chunks_exact(archive.measure_dim());
    match archive.tessellation() {
        // Many points at once are cheaper than one by one.
        Cells::Cvt(cvt) => {
            let mut cells = vec![CellIdx::default(); rows.len()];
            cvt.cells_of(measures, &mut cells);
            cells
        }
        cells => rows.map(|row| cells.cell_of(row)).collect(),
    }
}

/// Whether any of these rows is novel enough, or better than the neighbour it competes with.
pub(crate) fn would_come_in(
    archive: &ProximityArchive,
    objectives: &[f64],
    measures: &[f64],
) -> Result<bool, CallError> {
    let (novelty, _) = archive.compute_novelty(measures, objectives)?;
    if novelty.iter().any(|&novelty| novelty >= archive.novelty_threshold()) {
        return Ok(true);
    }
    if archive.config().competition == Competition::None {
        return Ok(false);
    }
    for (row, &objective) in measures.chunks_exact(archive.measure_dim()).zip(objectives) {
        if archive.nearest_elite(row)?.is_some_and(|elite| objective > elite.objective) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The position of the elite nearest to each row of finite measures.
pub(crate) fn nearest_slots(archive: &dyn Archive, measures: &[f64]) -> PyResult<Vec<i32>> {
    let slot = |row: &[f64]| {
        let nearest = if let Some(archive) = archive.downcast_ref::<ProximityArchive>() {
            archive.nearest_slot(row)
        } else if let Some(archive) = archive.downcast_ref::<DnsArchive>() {
            archive.nearest_slot(row)
        } else {
            return Err(another("an archive that keeps elites"));
        };
        nearest.or_raise()?.map(|slot| slot as i32).ok_or_else(|| PyValueError::new_err("expected elites, found none"))
    };
    measures.chunks_exact(archive.measure_dim()).map(slot).collect()
}

pub(crate) fn with_cells(archive: &dyn Archive) -> PyResult<&CellArchive> {
    of_type(archive, "an archive with cells")
}

/// The archive as the type it is.
///
/// # Errors
/// One of another type than expected.
pub(crate) fn of_type<'a, T: Archive>(archive: &'a dyn Archive, expected: &str) -> PyResult<&'a T> {
    archive.downcast_ref().ok_or_else(|| another(expected))
}

pub(crate) fn another(expected: &str) -> PyErr {
    PyValueError::new_err(format!("expected {expected}, found another archive"))
}
