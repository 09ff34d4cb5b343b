//! How many rows beyond those that they learn from emitters draw in completion order, from the number of workers.

use std::fmt;

use luminary::preset::Preset;
use luminary::scheduler::Order;
use luminary::strategy::MAX_BATCH_SIZE;

use super::{ConfigFileError, Override, RunConfig, Source, resolve, tree};

/// Rows of all emitters for each row that is out. With fewer some workers wait for the last rows of generations where
/// durations differ much: docs/scaling.md has the figures.
const ROWS_PER_ROW_OUT: u64 = 10;

/// A quarter more rows than are learnt from is enough for workers that are fewer than rows.
const FACTOR: f64 = 1.25;

/// As much as the setting takes.
const MOST: f64 = 16.0;

/// An over-issue that nobody gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChosenOverIssue {
    /// Rows out at the same time, for which it was chosen.
    pub n_rows_out: u64,
    /// How many times the rows that they learn from emitters draw.
    pub over_issue: f64,
}

impl fmt::Display for ChosenOverIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n_rows_out, over_issue } = self;
        write!(
            f,
            "{n_rows_out} rows out at the same time are many for these emitters: they draw {over_issue} times the rows that \
             they learn from (over_issue)"
        )
    }
}

impl RunConfig {
    /// The over-issue that suits the workers of its program, if it is more than none; nothing if the file or the settings on
    /// top of it say by themselves what it is.
    ///
    /// # Errors
    /// As [`read`](Self::read), for what concerns this setting.
    pub fn choose_over_issue(
        &self,
        source: Option<Source<'_>>,
        overrides: &[Override],
    ) -> Result<Option<ChosenOverIssue>, ConfigFileError> {
        let Some(n_rows_out) = self.problem.n_rows_out() else { return Ok(None) };
        if Self::gives_over_issue(source, overrides)? {
            return Ok(None);
        }
        Ok(self.over_issue_for(n_rows_out).map(|over_issue| ChosenOverIssue { n_rows_out, over_issue }))
    }

    /// The over-issue that suits this many rows on their way at the same time, if it is more than none.
    ///
    /// Emitters that only vary elites never run out of rows, and rows order waits for every row.
    pub fn over_issue_for(&self, n_rows_out: u64) -> Option<f64> {
        let algorithm = &self.algorithm;
        let never_runs_out = matches!(algorithm.preset, Preset::MapElites | Preset::MapElitesLine);
        let n_rows = algorithm.evaluations_per_iteration();
        let is_enough = n_rows_out.saturating_mul(ROWS_PER_ROW_OUT) < n_rows;
        if never_runs_out || is_enough || self.run.order == Order::Rows {
            return None;
        }
        let per_row = n_rows_out as f64 / n_rows as f64;
        let allowed = MAX_BATCH_SIZE as f64 / algorithm.batch_size as f64;
        let over_issue = (FACTOR * per_row.max(1.0)).min(MOST).min(allowed);
        (over_issue > 1.0).then_some(over_issue)
    }

    /// Whether a file or the settings on top of it say by themselves what the over-issue is.
    ///
    /// # Errors
    /// As [`read`](Self::read), for what concerns this setting.
    pub fn gives_over_issue(source: Option<Source<'_>>, overrides: &[Override]) -> Result<bool, ConfigFileError> {
        let table = tree::read(source, overrides)?;
        resolve::gives_over_issue(table).map_err(|fault| fault.locate(source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(settings: &[(&str, &str)]) -> RunConfig {
        let shape = [("problem.domain", "lp-sphere"), ("problem.n", "4"), ("run.order", "completion")];
        let all = shape.iter().chain(settings).map(|&(key, value)| Override::new("", key, value));
        RunConfig::read(None, &all.collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn more_rows_are_drawn_when_workers_are_many_for_the_rows_of_all_emitters() {
        let of_540 = config(&[("algorithm.emitters", "15"), ("algorithm.batch_size", "36")]);
        let chosen = [1, 53, 54, 256, 540, 1080, 100_000].map(|n| of_540.over_issue_for(n));
        assert_eq!(chosen, [None, None, Some(1.25), Some(1.25), Some(1.25), Some(2.5), Some(16.0)]);
    }

    #[test]
    fn nothing_is_chosen_where_it_would_change_nothing_or_where_the_engine_would_refuse_it() {
        assert_eq!(config(&[("algorithm.preset", "map_elites")]).over_issue_for(1000), None);
        assert_eq!(config(&[("run.order", "rows")]).over_issue_for(1000), None);
        let largest = MAX_BATCH_SIZE.to_string();
        let huge = config(&[("algorithm.emitters", "1"), ("algorithm.batch_size", largest.as_str())]);
        assert_eq!(huge.over_issue_for(u64::MAX), None);
    }

    #[test]
    #[cfg(unix)]
    fn a_run_of_a_program_takes_what_suits_its_workers_unless_it_was_said() {
        let text = "[problem]\nn = 2\nmeasures = [[0.0, 1.0]]\n[evaluator]\ncommand = ['x']\nworkers = 64\n\
                    [algorithm]\nemitters = 15\nbatch_size = 36\n[run]\norder = 'completion'\n";
        let read = |text: &str| {
            let source = Some(Source::new("any.toml", text));
            RunConfig::read(source, &[]).unwrap().choose_over_issue(source, &[]).unwrap()
        };
        let chosen = read(text).unwrap();
        assert_eq!(chosen, ChosenOverIssue { n_rows_out: 64, over_issue: 1.25 });
        assert_eq!(
            chosen.to_string(),
            "64 rows out at the same time are many for these emitters: they draw 1.25 times the rows that they learn from \
             (over_issue)"
        );
        assert_eq!(read(&format!("{text}over_issue = 1.0\n")), None);
        assert_eq!(read(&text.replace("workers = 64", "workers = 8")), None);
        assert_eq!(read(&text.replace("'completion'", "'rows'")), None);
    }

    #[test]
    fn whoever_says_it_is_asked_no_more() {
        let file = |text| RunConfig::gives_over_issue(Some(Source::new("any.toml", text)), &[]).unwrap();
        assert!(!file("[run]\norder = \"completion\""));
        assert!(file("[run]\norder = \"completion\"\nover_issue = 1.0"));
        let setting = Override::new("", "run.over_issue", "1.5");
        assert!(RunConfig::gives_over_issue(None, &[setting]).unwrap());
    }
}
