//! What somebody has been told of an archive, so that only what has changed is told again.

use luminary::archive::{Acceptance, Archive, CellArchive};

use crate::folder::live::{Section, SectionKind};

/// Elites of an archive without cells that are told, at most: all of them each time.
const MAX_ELITES: usize = 20_000;

/// The cells of an archive as they were told last, in the order of its elites.
#[derive(Debug, Default)]
pub(super) struct Told {
    cells: Vec<u32>,
    objectives: Vec<f64>,
    /// Of an archive whose thresholds are its own; otherwise they are the objectives.
    thresholds: Vec<f64>,
}

impl Told {
    /// What is new in an archive; it counts as told from now on.
    pub(super) fn update(&mut self, archive: &dyn Archive) -> Section {
        let Some(archive) = archive.downcast_ref::<CellArchive>() else { return all_elites(archive) };
        let cells = archive.occupied_cells();
        let objectives = archive.objectives();
        let is_soft = matches!(archive.config().acceptance, Acceptance::Soft { .. });
        let thresholds = is_soft.then(|| archive.thresholds());
        let n_told = self.cells.len();
        // Cells stay where they are unless the archive was cleared or its borders have moved.
        let is_same = n_told > 0
            && n_told <= cells.len()
            && cells.iter().zip(&self.cells).all(|(cell, &told)| cell.index() == told as usize);
        if !is_same {
            *self = Self::default();
        }
        let kind = if is_same { SectionKind::Changes } else { SectionKind::Whole };
        let mut section = Section { kind, ..Section::default() };
        for slot in 0..cells.len() {
            let cell = cells[slot].index();
            let threshold = thresholds.map(|thresholds| thresholds[cell]);
            if self.is_news(slot, objectives[slot], threshold) {
                section.cells.push(cell as u32);
                section.objectives.push(objectives[slot]);
                section.thresholds.extend(threshold);
                self.note(slot, cell as u32, objectives[slot], threshold);
            }
        }
        section
    }

    fn is_news(&self, slot: usize, objective: f64, threshold: Option<f64>) -> bool {
        let is_known = self.objectives.get(slot) == Some(&objective);
        !is_known || threshold.is_some_and(|threshold| self.thresholds[slot] != threshold)
    }

    fn note(&mut self, slot: usize, cell: u32, objective: f64, threshold: Option<f64>) {
        if slot == self.cells.len() {
            self.cells.push(cell);
            self.objectives.push(objective);
            self.thresholds.extend(threshold);
            return;
        }
        self.objectives[slot] = objective;
        if let Some(threshold) = threshold {
            self.thresholds[slot] = threshold;
        }
    }
}

/// All elites of an archive without cells, which come and go; nothing if there are too many.
fn all_elites(archive: &dyn Archive) -> Section {
    let n = archive.len();
    if n > MAX_ELITES || !archive.keeps_elites() {
        return Section::default();
    }
    Section {
        kind: SectionKind::Whole,
        cells: (0..n as u32).collect(),
        objectives: archive.elites().map(|elite| elite.objective).collect(),
        thresholds: Vec::new(),
        measures: archive.elites().flat_map(|elite| elite.measures.iter().copied()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use luminary::archive::{AddReport, ArchiveConfig, Batch, NonFinite};

    use super::*;

    fn add(archive: &mut dyn Archive, measures: &[f64], objectives: &[f64]) {
        let batch = Batch { solutions: measures, objectives, measures, extras: &[] };
        archive.add(&batch, NonFinite::Fail, &mut AddReport::default()).unwrap();
    }

    #[test]
    fn only_what_has_changed_is_told_again() {
        let mut archive = ArchiveConfig::grid(1, vec![10], vec![(0.0, 1.0)]).build().unwrap();
        add(&mut *archive, &[0.05, 0.55], &[1.0, 2.0]);
        let mut told = Told::default();
        let first = told.update(&*archive);
        assert_eq!(
            (first.kind, &first.cells[..], &first.objectives[..]),
            (SectionKind::Whole, &[0, 5][..], &[1.0, 2.0][..])
        );
        assert!(told.update(&*archive).cells.is_empty());
        add(&mut *archive, &[0.55, 0.95], &[3.0, 4.0]);
        let second = told.update(&*archive);
        assert_eq!(
            (second.kind, &second.cells[..], &second.objectives[..]),
            (SectionKind::Changes, &[5, 9][..], &[3.0, 4.0][..])
        );
        archive.clear();
        assert_eq!(told.update(&*archive).kind, SectionKind::Whole);
    }
}
