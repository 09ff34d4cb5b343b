//! ADD under noise: another evaluation of a candidate corrects it, and a cell's elite is the candidate that is surest.

use luminary_math::WideRng;

use super::accept::judge;
use super::candidates::{Candidate, Candidates};
use super::noise::NoiseStats;
use super::{Acceptance, CellArchive, Cells, UpdateRule};
use crate::archive::column::Column;
use crate::archive::{AddReport, ArchiveConfig, Batch, Best, CellIdx, ColumnData, Status};
use crate::emitter::EliteSource;
use crate::error::ConfigError;

/// Adds rows one by one. A row is judged like any other by the threshold of its cell, which is the corrected objective of the
/// elite there; a solution that the archive already has is never accepted, because nothing is new about it.
pub(super) fn add_corrected(archive: &mut CellArchive, batch: &Batch<'_>, report: &mut AddReport) {
    for row in 0..batch.n_rows() {
        if report.status[row] != Status::Invalid {
            add_row(archive, batch, row, report);
        }
    }
    note_best(archive);
}

fn add_row(archive: &mut CellArchive, batch: &Batch<'_>, row: usize, report: &mut AddReport) {
    let objective = batch.objectives[row];
    let solution = batch.solution_of(row);
    let cell = report.cell[row];
    judge(archive, cell, row, objective, report);
    archive.store.visits[cell.index()] += 1;
    let number = archive.n_offered + row as u64;
    let CellArchive { noise: Some(candidates), cells, .. } = archive else { unreachable!("{KNOWS}") };
    let Some(old_cell) = candidates.find(solution) else {
        candidates.insert(cell, Candidate::new(batch, row, number));
        return seat_elite(archive, cell);
    };
    report.status[row] = Status::Rejected;
    let evaluation = (solution, objective, batch.measures_of(row));
    let moved = candidates.note(old_cell, evaluation, |measures| cells.cell_of(measures));
    if let Some((new_cell, candidate)) = moved {
        candidates.insert(new_cell, candidate);
        seat_elite(archive, new_cell);
    }
    seat_elite(archive, old_cell);
}

/// Makes the columns of a cell those of its elite, with what is estimated of it.
fn seat_elite(archive: &mut CellArchive, cell: CellIdx) {
    let candidates = archive.noise.as_ref().expect(KNOWS);
    let Some(elite) = candidates.elite(cell) else { return vacate(archive, cell) };
    let extras: Vec<ColumnData<'_>> = elite.extras.iter().map(Column::data).collect();
    let seat = Batch {
        solutions: &elite.solution,
        objectives: &[elite.objective],
        measures: &elite.measures_estimate,
        extras: &extras,
    };
    if let Some(replaced) = archive.store.place(cell, &seat, 0, elite.number) {
        archive.objective_sum.add(-replaced);
    }
    archive.store.complete_row(cell, &seat, 0);
    archive.objective_sum.add(elite.objective);
    archive.store.thresholds[cell.index()] = elite.objective;
}

/// Empties a cell whose last candidate has moved.
fn vacate(archive: &mut CellArchive, cell: CellIdx) {
    if let Some(gone) = archive.store.vacate(cell) {
        archive.objective_sum.add(-gone);
        archive.store.thresholds[cell.index()] = archive.min_f;
    }
}

/// Makes the elite best of which most is certain, not the one that was luckiest.
///
/// Elites come and go here, so the best one is that of now and not of all times.
fn note_best(archive: &mut CellArchive) {
    let candidates = archive.noise.as_ref().expect(KNOWS);
    let deviation = candidates.level.deviation();
    let bound = |cell: &CellIdx| candidates.elite(*cell).expect(OCCUPIED).lower_bound(deviation);
    let cells = archive.store.cells.iter().copied();
    let Some(cell) = cells.reduce(|a, b| if bound(&b) > bound(&a) { b } else { a }) else {
        archive.best = None;
        return;
    };
    let elite = candidates.elite(cell).expect(OCCUPIED);
    archive.best = Some(Best {
        cell: Some(cell),
        threshold: Some(elite.objective),
        extras: elite.extras.clone(),
        number: elite.number,
        ..Best::new(elite.solution.clone(), elite.objective, elite.measures_estimate.clone())
    });
}

/// A solution to evaluate again: that of a cell, drawn uniformly, in which another evaluation could decide something.
pub(super) fn draw_doubtful<'a>(
    archive: &'a CellArchive,
    candidates: &'a Candidates,
    rng: &mut WideRng,
) -> Option<&'a [f64]> {
    // Where nothing is open in so many cells, hardly anything is, and any elite will do.
    const TRIES: usize = 20;
    let cells = &archive.store.cells;
    if cells.is_empty() {
        return None;
    }
    let doubtful = (0..TRIES).find_map(|_| candidates.doubtful(cells[rng.below(cells.len())]));
    match doubtful {
        Some(candidate) => Some(&candidate.solution),
        None => archive.draw_solution(rng),
    }
}

pub(super) fn stats(archive: &CellArchive, candidates: &Candidates) -> NoiseStats {
    let elites = || archive.store.cells.iter().map(|&cell| candidates.elite(cell).expect(OCCUPIED));
    let n_evaluations: usize = elites().map(Candidate::n_estimated_from).sum();
    NoiseStats {
        deviation: candidates.level.deviation(),
        evaluations_per_elite: n_evaluations as f64 / archive.store.len().max(1) as f64,
        n_unconfirmed: elites().filter(|elite| elite.n_evaluations == 1).count(),
    }
}

/// Refuses what cannot be corrected.
pub(super) fn check(config: &ArchiveConfig, cells: &Cells) -> Result<(), ConfigError> {
    let Some(noise) = &config.noise else { return Ok(()) };
    noise.check()?;
    match (cells, config.acceptance, config.rule) {
        (Cells::SlidingBoundaries(_), ..) => Err(ConfigError::Conflict(
            "expected cells that stay where they are for noise handling, found sliding boundaries",
        )),
        (Cells::Categorical(_), ..) => Err(ConfigError::Conflict(
            "expected measures that are quantities for noise handling, because their estimates are means or medians, found \
             categories",
        )),
        (_, Acceptance::Elitist, UpdateRule::Sequential) => Ok(()),
        _ => Err(ConfigError::Conflict(
            "expected an elitist archive with the sequential rule for noise handling, because an evaluation corrects what \
             the next is judged by; a soft one or one with the batch rule has a result archive beside it that corrects elites",
        )),
    }
}

const KNOWS: &str = "the archive knows of noise";
const OCCUPIED: &str = "a cell with a slot has an elite";
