//! Rows on their way into both archives.

use serde::{Deserialize, Serialize};

use super::parallel::Threads;
use super::protocol::{Parts, Protocol};
use crate::archive::{AddReport, Archive, Batch, CellArchive, ColumnData, NonFinite};
use crate::error::CallError;

/// How the rows of a call enter the archives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AddMode {
    /// In one batch, by the archives' own rule.
    #[default]
    Batch,
    /// Each by itself, so that a row sees what the row before it changed whatever the archives' rule is.
    OneByOne,
}

/// How a protocol adds rows: a copy, so that the rows can lie in the protocol itself.
#[derive(Clone, Copy)]
pub(super) struct Adding {
    threads: Threads,
    mode: AddMode,
}

impl Adding {
    /// Both archives take the rows, or none does: both are asked first.
    ///
    /// They add at the same time if there are threads, unless the searched one is of a kind that may refuse rows after all.
    pub(super) fn add<E>(
        self,
        parts: &mut Parts<'_, E>,
        batch: &Batch<'_>,
        policy: NonFinite,
        report: &mut AddReport,
        result_report: &mut AddReport,
    ) -> Result<(), CallError> {
        let Parts { archive, result, .. } = parts;
        let Some(result) = result else {
            return self.add_to(*archive, batch, policy, report);
        };
        archive.check(batch, policy)?;
        result.check(batch, policy)?;
        let check_is_final = archive.downcast_ref::<CellArchive>().is_some();
        let mut add_to_result = || self.add_to(*result, batch, policy, result_report).expect("the rows were checked");
        if check_is_final {
            self.threads.join(|| self.add_to(*archive, batch, policy, report), add_to_result).0
        } else {
            self.add_to(*archive, batch, policy, report)?;
            add_to_result();
            Ok(())
        }
    }

    fn add_to(
        self,
        archive: &mut dyn Archive,
        batch: &Batch<'_>,
        policy: NonFinite,
        report: &mut AddReport,
    ) -> Result<(), CallError> {
        match self.mode {
            AddMode::Batch => match archive.downcast_mut::<CellArchive>() {
                Some(archive) => archive.add_on(self.threads, batch, policy, report),
                None => archive.add(batch, policy, report),
            },
            AddMode::OneByOne => add_one_by_one(archive, batch, policy, report),
        }
    }
}

/// Checks all rows before the first is added, so that a refused call changes nothing.
fn add_one_by_one(
    archive: &mut dyn Archive,
    batch: &Batch<'_>,
    policy: NonFinite,
    report: &mut AddReport,
) -> Result<(), CallError> {
    archive.check(batch, policy)?;
    let mut whole = AddReport::default();
    let mut single = AddReport::default();
    for row in 0..batch.n_rows() {
        let widths = archive.extra_columns().iter().map(|column| column.width);
        let extras: Vec<ColumnData<'_>> =
            batch.extras.iter().zip(widths).map(|(values, width)| values.row(row, width)).collect();
        let one = Batch {
            solutions: batch.solution_of(row),
            objectives: &batch.objectives[row..=row],
            measures: batch.measures_of(row),
            extras: &extras,
        };
        archive.add(&one, policy, &mut single)?;
        whole.append(&single);
    }
    *report = whole;
    Ok(())
}

impl Protocol {
    pub(super) fn adding(&self) -> Adding {
        Adding { threads: self.threads, mode: self.add_mode }
    }

    /// Solutions that nobody asked for enter the archives and nothing else.
    ///
    /// # Errors
    /// Wrong lengths, and by the configured policy values that are not finite.
    pub fn inject<E>(&mut self, parts: &mut Parts<'_, E>, batch: &Batch<'_>) -> Result<AddReport, CallError> {
        let policy = self.non_finite.unwrap_or(NonFinite::Fail);
        let mut report = AddReport::default();
        self.adding().add(parts, batch, policy, &mut report, &mut AddReport::default())?;
        self.progress.n_injected += batch.n_rows() as u64;
        self.progress.n_calls += 1;
        Ok(report)
    }
}
