//! What an archive with cells should do.

use std::collections::HashMap;

use luminary::archive::{Acceptance, ArchiveConfig, CellIdx, LearningRate, Status, UpdateRule};

/// The update rules as the paper writes them, cell by cell, without any of the engine's data structures.
#[derive(Clone, Debug)]
pub(crate) struct ArchiveModel {
    pub(crate) alpha: f64,
    pub(crate) min_f: f64,
    pub(crate) rule: UpdateRule,
    pub(crate) cells: HashMap<CellIdx, ModelCell>,
}

#[derive(Clone, Debug)]
pub(crate) struct ModelCell {
    pub(crate) threshold: f64,
    pub(crate) visits: u64,
    /// Objective and id.
    pub(crate) elite: Option<(f64, f64)>,
}

impl ArchiveModel {
    pub(crate) fn new(config: &ArchiveConfig) -> Self {
        let (alpha, min_f) = match config.acceptance {
            Acceptance::Elitist => (1.0, f64::NEG_INFINITY),
            Acceptance::Soft { learning_rate: LearningRate::Fixed(alpha), min_f } => (alpha, min_f),
            other => panic!("{other:?} is not in the suite"),
        };
        Self { alpha, min_f, rule: config.rule, cells: HashMap::new() }
    }

    pub(crate) fn cell(&mut self, cell: CellIdx) -> &mut ModelCell {
        self.cells.entry(cell).or_insert(ModelCell { threshold: self.min_f, visits: 0, elite: None })
    }

    /// Adds (cell, objective, id) rows and returns the status and delta of each.
    pub(crate) fn add(&mut self, rows: &[(CellIdx, f64, f64)]) -> Vec<(Status, f64)> {
        match self.rule {
            UpdateRule::Sequential => rows.iter().flat_map(|row| self.add_group(std::slice::from_ref(row))).collect(),
            UpdateRule::Batch => {
                let mut outcome = vec![(Status::Rejected, 0.0); rows.len()];
                let mut groups: HashMap<CellIdx, Vec<usize>> = HashMap::new();
                for (i, row) in rows.iter().enumerate() {
                    groups.entry(row.0).or_default().push(i);
                }
                for members in groups.values() {
                    let group: Vec<_> = members.iter().map(|&i| rows[i]).collect();
                    for (&i, result) in members.iter().zip(self.add_group(&group)) {
                        outcome[i] = result;
                    }
                }
                outcome
            }
        }
    }

    /// Rows of one cell, all judged against the cell as it is.
    fn add_group(&mut self, rows: &[(CellIdx, f64, f64)]) -> Vec<(Status, f64)> {
        let (alpha, is_elitist) = (self.alpha, self.min_f == f64::NEG_INFINITY);
        let cell = self.cell(rows[0].0);
        let (threshold, was_empty) = (cell.threshold, cell.elite.is_none());
        let judged = rows.iter().map(|&(_, f, _)| {
            let delta = if is_elitist && was_empty { f } else { f - threshold };
            let status = match (f > threshold, was_empty) {
                (false, _) => Status::Rejected,
                (true, true) => Status::New,
                (true, false) => Status::Improved,
            };
            (status, delta)
        });
        let judged: Vec<_> = judged.collect();
        let accepted: Vec<_> = rows.iter().filter(|row| row.1 > threshold).collect();
        cell.visits += rows.len() as u64;
        let mut best: Option<(f64, f64)> = None;
        for &&(_, f, id) in &accepted {
            if best.is_none_or(|best| f > best.0) {
                best = Some((f, id));
            }
        }
        if let Some(best) = best {
            let mean = accepted.iter().map(|row| row.1).sum::<f64>() / accepted.len() as f64;
            let kept = (1.0 - alpha).powi(accepted.len() as i32);
            cell.threshold = if is_elitist { best.0 } else { kept * threshold + (1.0 - kept) * mean };
            cell.elite = Some(best);
        }
        judged
    }
}
