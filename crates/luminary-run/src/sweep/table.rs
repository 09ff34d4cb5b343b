//! The results of a sweep: for each setting the mean over its seeds and the standard error of that mean.

use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::plan::Plan;
use crate::disk::Disk;
use crate::error::RunError;
use crate::folder::{SUMMARY, write_atomically, write_json};
use crate::summary::Summary;

/// A mean and its standard error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Standard deviation (n - 1) divided by the root of n; absent for a single value.
    pub standard_error: Option<f64>,
}

impl Estimate {
    /// Of these values; `None` if there are none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let standard_error = (values.len() > 1).then(|| (squares / (n - 1.0) / n).sqrt());
        (!values.is_empty()).then_some(Self { mean, standard_error })
    }
}

/// One setting over its seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupRow {
    /// The settings that were varied; empty if only the seed was.
    pub group: String,
    /// Finished runs.
    pub n_finished: usize,
    /// Planned runs.
    pub n_planned: usize,
    /// Normalised QD score.
    pub qd_score: Option<Estimate>,
    /// Coverage in percent.
    pub coverage_percent: Option<Estimate>,
    /// Best objective.
    pub best: Option<Estimate>,
    /// Time of a run.
    pub seconds: Option<Estimate>,
}

/// The results of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepTable {
    /// One row for each setting, in the order of the plan.
    pub groups: Vec<GroupRow>,
    /// The finished runs, in the order of the plan.
    pub runs: Vec<Summary>,
}

impl SweepTable {
    /// The table of finished runs, given with their places in the plan.
    pub(super) fn new(plan: &Plan, mut finished: Vec<(usize, Summary)>) -> Self {
        finished.sort_by_key(|(index, _)| *index);
        let mut names: Vec<&String> = Vec::new();
        for run in &plan.runs {
            if !names.contains(&&run.group) {
                names.push(&run.group);
            }
        }
        let row = |group: &String| {
            let own: Vec<_> =
                finished.iter().filter(|(index, _)| plan.runs[*index].group == *group).map(|(_, run)| run).collect();
            let estimate = |value: fn(&Summary) -> Option<f64>| {
                Estimate::of(&own.iter().filter_map(|run| value(run)).collect::<Vec<_>>())
            };
            GroupRow {
                group: group.clone(),
                n_finished: own.len(),
                n_planned: plan.runs.iter().filter(|run| run.group == *group).count(),
                qd_score: estimate(|run| Some(run.qd_score)),
                coverage_percent: estimate(|run| Some(run.coverage_percent)),
                best: estimate(|run| run.best),
                seconds: estimate(|run| Some(run.seconds)),
            }
        };
        let groups = names.into_iter().map(row).collect();
        Self { groups, runs: finished.into_iter().map(|(_, summary)| summary).collect() }
    }

    /// Writes `summary.json` and `summary.csv`.
    pub(super) fn write(&self, folder: &Path) -> Result<(), RunError> {
        write_json(&Disk::default(), &folder.join(SUMMARY), self)?;
        let path = folder.join("summary.csv");
        write_atomically(&path, |writer| {
            let estimates = ["qd_score", "coverage_percent", "best", "seconds"];
            let columns = estimates.map(|name| format!("{name}_mean,{name}_standard_error"));
            writeln!(writer, "group,finished,planned,{}", columns.join(","))?;
            for row in &self.groups {
                write!(writer, "\"{}\",{},{}", row.group.replace('"', "\"\""), row.n_finished, row.n_planned)?;
                for estimate in [row.qd_score, row.coverage_percent, row.best, row.seconds] {
                    let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:?}"));
                    let (mean, error) = (estimate.map(|e| e.mean), estimate.and_then(|e| e.standard_error));
                    write!(writer, ",{},{}", number(mean), number(error))?;
                }
                writeln!(writer)?;
            }
            Ok(())
        })
        .map_err(RunError::io("write", &path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_error_is_that_of_the_mean() {
        let estimate = Estimate::of(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!(estimate.mean, 2.5);
        // Variance 5/3 by n - 1, divided by 4.
        assert!((estimate.standard_error.unwrap() - (5.0_f64 / 12.0).sqrt()).abs() < 1e-15);
        assert_eq!(Estimate::of(&[7.0]), Some(Estimate { mean: 7.0, standard_error: None }));
        assert_eq!(Estimate::of(&[]), None);
    }
}
