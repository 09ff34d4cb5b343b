//! Which elite is meant.

use luminary::archive::{Archive, CellIdx, Cells, Elite};

use super::{Choice, EliteError, EliteRecord};
use crate::config::Goal;

/// Finds an elite of an archive of a run with this goal.
///
/// # Errors
/// An archive without elites, a cell or measures that it does not have, and a cell without an elite.
pub fn find(archive: &dyn Archive, goal: Goal, choice: &Choice) -> Result<EliteRecord, EliteError> {
    if !archive.keeps_elites() {
        return Err(EliteError::NotKept);
    }
    if archive.is_empty() {
        return Err(EliteError::Empty);
    }
    let (number, elite) = match choice {
        Choice::Best => best(archive),
        Choice::Cell(place) => in_cell(archive, place)?,
        Choice::Measures(measures) => at_measures(archive, measures)?,
    };
    Ok(EliteRecord::of(archive, goal, number, &elite))
}

/// The best elite of an archive that has one.
fn best(archive: &dyn Archive) -> (usize, Elite<'_>) {
    let numbered = archive.elites().enumerate();
    // The first of several minima, where `max_by` would give the last of several maxima.
    let best = numbered.min_by(|(_, a), (_, b)| b.objective.total_cmp(&a.objective));
    best.expect("the archive has elites")
}

fn in_cell<'a>(archive: &'a dyn Archive, place: &[usize]) -> Result<(usize, Elite<'a>), EliteError> {
    let Some(cells) = archive.cells() else {
        return match place {
            &[number] if number < archive.len() => Ok((number, archive.nth_elite(number))),
            place => Err(EliteError::Choice {
                expected: format!("the number of an elite below {}, because there are no cells", archive.len()),
                found: listed(place),
            }),
        };
    };
    let cell = match (place, resolution(cells)) {
        (&[cell], _) => within(cell, cells.n_cells(), "a cell")?,
        (place, Some(resolution)) if place.len() == resolution.len() => {
            let mut cell = 0;
            for (i, (&interval, &n_intervals)) in place.iter().zip(&resolution).enumerate() {
                cell = cell * n_intervals + within(interval, n_intervals, &format!("an interval of measure {i}"))?;
            }
            cell
        }
        (place, resolution) => {
            let intervals = resolution.map_or(String::new(), |axes| format!(", or {} intervals", axes.len()));
            let expected = format!("the number of a cell{intervals}");
            return Err(EliteError::Choice { expected, found: listed(place) });
        }
    };
    occupied(archive, CellIdx::new(cell), &cells.centre_of(CellIdx::new(cell)))
}

fn at_measures<'a>(archive: &'a dyn Archive, measures: &[f64]) -> Result<(usize, Elite<'a>), EliteError> {
    let expected = archive.measure_dim();
    if measures.len() != expected || measures.iter().any(|measure| !measure.is_finite()) {
        let expected = format!("{expected} finite measures");
        return Err(EliteError::Choice { expected, found: format!("{measures:?}") });
    }
    let Some(cells) = archive.cells() else { return Ok(nearest(archive, measures)) };
    if let Cells::Categorical(categorical) = cells {
        for (i, (&measure, n_categories)) in measures.iter().zip(categorical.config().resolution()).enumerate() {
            if measure.fract() != 0.0 || !(0.0..n_categories as f64).contains(&measure) {
                let expected = format!("the position of a category below {n_categories} as measure {i}");
                return Err(EliteError::Choice { expected, found: measure.to_string() });
            }
        }
    }
    occupied(archive, cells.cell_of(measures), measures)
}

/// The elite in a cell, or what is nearest to these measures.
fn occupied<'a>(archive: &'a dyn Archive, cell: CellIdx, measures: &[f64]) -> Result<(usize, Elite<'a>), EliteError> {
    archive.elites().enumerate().find(|(_, elite)| elite.cell == Some(cell)).ok_or_else(|| {
        let (number, elite) = nearest(archive, measures);
        let nearest_cell = elite.cell.map_or(number, |cell| cell.index());
        EliteError::Vacant { cell: cell.index(), nearest_cell, nearest: elite.measures.to_vec() }
    })
}

/// The elite nearest to measures in an archive that has one, with every measure in units of its range.
fn nearest<'a>(archive: &'a dyn Archive, measures: &[f64]) -> (usize, Elite<'a>) {
    let unit = |&(lower, upper): &(f64, f64)| if (upper - lower).is_finite() { upper - lower } else { 1.0 };
    let units: Vec<f64> = archive.measure_bounds().iter().map(unit).collect();
    let distance = |elite: &Elite<'_>| -> f64 {
        let differences = elite.measures.iter().zip(measures).zip(&units);
        differences.map(|((a, b), unit)| ((a - b) / unit).powi(2)).sum()
    };
    let numbered = archive.elites().enumerate();
    let nearest = numbered.min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)));
    nearest.expect("the archive has elites")
}

/// Intervals along each measure, if cells have intervals.
fn resolution(cells: &Cells) -> Option<Vec<usize>> {
    match cells {
        Cells::Grid(grid) => Some(grid.config().resolution.clone()),
        Cells::Categorical(categorical) => Some(categorical.config().resolution()),
        Cells::SlidingBoundaries(sliding) => Some(sliding.config().resolution.clone()),
        Cells::Cvt(_) => None,
    }
}

fn within(index: usize, n: usize, what: &str) -> Result<usize, EliteError> {
    match index < n {
        true => Ok(index),
        false => Err(EliteError::Choice { expected: format!("{what} below {n}"), found: index.to_string() }),
    }
}

fn listed(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use luminary::archive::{
        AddReport, ArchiveConfig, ArchiveKind, Batch, CategoricalConfig, CellsConfig, CvtConfig, DnsConfig, NonFinite,
        SlidingBoundariesConfig,
    };

    use super::*;

    const BOUNDS: (f64, f64) = (0.0, 1.0);

    /// An archive of a few elites, whose solutions are their measures.
    fn archive(kind: ArchiveKind, measures: &[f64]) -> Box<dyn Archive> {
        let mut archive = ArchiveConfig::new(2, kind).build().unwrap();
        let objectives: Vec<f64> = measures.chunks_exact(2).map(|pair| pair[0] - pair[1]).collect();
        let batch = Batch { solutions: measures, objectives: &objectives, measures, extras: &[] };
        archive.add(&batch, NonFinite::Fail, &mut AddReport::default()).unwrap();
        archive
    }

    fn grid(measures: &[f64]) -> Box<dyn Archive> {
        let grid = ArchiveConfig::grid(2, vec![4, 5], vec![BOUNDS; 2]).kind;
        archive(grid, measures)
    }

    #[test]
    fn cells_of_a_grid_are_found_by_number_by_intervals_and_by_measures() {
        let archive = grid(&[0.6, 0.5, 0.9, 0.1, 0.1, 0.9]);
        let found = |choice: &Choice| find(&*archive, Goal::Maximise, choice).unwrap();
        let middle = found(&Choice::Measures(vec![0.51, 0.41]));
        assert_eq!(middle.measures, [0.6, 0.5]);
        assert_eq!(middle.intervals.as_deref(), Some(&[2, 2][..]));
        assert_eq!(found(&Choice::Cell(vec![2, 2])), middle);
        assert_eq!(found(&Choice::Cell(vec![middle.cell])), middle);
        assert_eq!(found(&Choice::Best).measures, [0.9, 0.1]);
        assert_eq!(find(&*archive, Goal::Minimise, &Choice::Best).unwrap().objective, -(0.9 - 0.1));
    }

    #[test]
    fn what_is_not_there_is_named_with_what_is() {
        let archive = grid(&[0.6, 0.5, 0.9, 0.1]);
        let message = |choice: Choice| find(&*archive, Goal::Maximise, &choice).unwrap_err().to_string();
        assert_eq!(message(Choice::Cell(vec![4, 0])), "expected an interval of measure 0 below 4, found 4");
        assert_eq!(message(Choice::Cell(vec![20])), "expected a cell below 20, found 20");
        assert_eq!(message(Choice::Cell(vec![1, 1, 1])), "expected the number of a cell, or 2 intervals, found 1,1,1");
        assert_eq!(message(Choice::Measures(vec![0.5])), "expected 2 finite measures, found [0.5]");
        assert_eq!(message(Choice::Measures(vec![0.5, f64::NAN])), "expected 2 finite measures, found [0.5, NaN]");
        let vacant = message(Choice::Measures(vec![0.99, 0.3]));
        assert!(vacant.starts_with("expected an elite in cell 16, found none; the nearest is in cell 15"), "{vacant}");
        let empty = find(&*grid(&[]), Goal::Maximise, &Choice::Best);
        assert_eq!(empty, Err(EliteError::Empty));
    }

    #[test]
    fn archives_of_other_kinds_answer_too() {
        let measures = [0.25, 0.75, 1.0, 0.0];
        let cvt = CellsConfig::Cvt(CvtConfig::new(8, vec![BOUNDS; 2]));
        let names = vec!["a".to_owned(), "b".to_owned()];
        let categorical = CellsConfig::Categorical(CategoricalConfig { categories: vec![names; 2] });
        let sliding = CellsConfig::SlidingBoundaries(SlidingBoundariesConfig::new(vec![2, 2], vec![BOUNDS; 2]));
        let dns = DnsConfig { measure_bounds: vec![BOUNDS; 2], capacity: 10, n_neighbours: 1 };
        for kind in [ArchiveKind::Cells(cvt), ArchiveKind::Cells(sliding), ArchiveKind::Dns(dns)] {
            let archive = archive(kind, &measures);
            let found = |choice: Choice| find(&*archive, Goal::Maximise, &choice).unwrap();
            let best = found(Choice::Best);
            assert_eq!(best.solution, [1.0, 0.0]);
            assert_eq!(found(Choice::Cell(vec![best.cell])), best);
            assert_eq!(found(Choice::Measures(vec![1.0, 0.0])), best);
        }
        let archive = archive(ArchiveKind::Cells(categorical), &[1.0, 0.0]);
        let found = find(&*archive, Goal::Maximise, &Choice::Cell(vec![1, 0])).unwrap();
        assert_eq!(found.measures, [1.0, 0.0]);
        let wrong = find(&*archive, Goal::Maximise, &Choice::Measures(vec![0.5, 0.0])).unwrap_err().to_string();
        assert_eq!(wrong, "expected the position of a category below 2 as measure 0, found 0.5");
    }
}
