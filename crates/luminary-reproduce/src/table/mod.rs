//! The paper's tables with our numbers beside the published ones: CSV for machines, Markdown for people.

mod csv;
mod markdown;

pub use csv::{COLUMNS, csv};
pub use markdown::{LEGEND, markdown};

#[cfg(test)]
mod tests {
    use luminary::preset::Preset;
    use luminary::strategy::Variant;
    use luminary_domains::Domain;

    use super::*;
    use crate::{Experiment, Results, Study};

    fn study(experiment: Experiment) -> Study {
        Study::new(experiment, Variant::Published, None).trials(2)
    }

    /// Synthetic results with one number far from the paper's, in the first trial's score of a cell.
    fn with_a_miss(experiment: Experiment) -> Results {
        let mut results = Results::synthetic(&study(experiment));
        results.cells[0].trials.iter_mut().for_each(|(_, record)| record.qd_score -= 10.0);
        results
    }

    fn rows(text: &str) -> Vec<Vec<&str>> {
        text.lines().map(|line| line.split(',').collect()).collect()
    }

    #[test]
    fn csv_has_a_row_for_each_number_with_its_verdict() {
        for (experiment, n_rows, n_compared) in [
            (Experiment::Main, 8 * 4 * 3, 8 * 4 * 3),
            (Experiment::Alpha, 5 * 4 * 3, 5 * 4 * 2),
            (Experiment::MinF, 5 * 4 * 3, 5 * 4 * 2),
            (Experiment::N1000, 4 * 4 * 3, 4 * 4 * 3),
        ] {
            let text = csv(&with_a_miss(experiment));
            let rows = rows(&text);
            let n_columns = COLUMNS.split(',').count();
            assert!(rows.iter().all(|row| row.len() == n_columns), "{experiment}");
            assert_eq!(rows.len(), 1 + n_rows, "{experiment}");
            let n_of = |verdict| rows.iter().filter(|row| row[n_columns - 1] == verdict).count();
            assert_eq!((n_of("reproduced"), n_of("missed")), (n_compared - 1, 1), "{experiment}");
        }
    }

    #[test]
    fn a_row_of_the_csv_has_our_number_the_papers_and_the_difference() {
        let text = csv(&with_a_miss(Experiment::Main));
        // MAP-Elites on LP (sphere): 41.64 +- 0.06 in the paper; ours 31.59 and 31.69.
        let row =
            "lp-sphere,map_elites,100,100,,,published,10000,qd_score,31.640000,0.050000,2,41.64,0.06,-10.000000,missed";
        assert_eq!(text.lines().nth(1), Some(row));
        assert!(
            text.contains("\narm,cma_mae,100,100,0.01,0.0,published,10000,best,99.930000,0.000000,2,99.93,0,0.000000,")
        );
    }

    #[test]
    fn main_tables_have_the_papers_layout() {
        let text = markdown(&with_a_miss(Experiment::Main));
        let titles: Vec<_> = text.lines().filter(|line| line.starts_with("**")).collect();
        assert_eq!(titles, ["**LP (sphere)**", "**LP (Rastrigin)**", "**LP (plateau)**", "**Arm repertoire**"]);
        assert!(text.contains("| MAP-Elites | 31.64 ± 0.05 | 41.64 ± 0.06 | -10.00 **✗** | 50.80 ± 0.00 |"), "{text}");
        assert!(text.contains("\n| CMA-ME\\* | ") && text.contains(" +0.00 ✓ | 2 |\n"), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("| CMA-MAE |")).count(), 4);
    }

    #[test]
    fn ablations_have_settings_down_and_domains_across() {
        let text = markdown(&with_a_miss(Experiment::MinF));
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 2 + 5 + 1, "{text}");
        assert!(
            lines[2].starts_with("| -80 | 54.74 ± 0.05<br>paper 64.74<br>-10.00 **✗** | 83.73 ± 0.00<br>paper 83.73")
        );
        assert!(lines.iter().take(7).all(|line| line.matches('|').count() == 11), "{text}");
    }

    #[test]
    fn what_is_not_finished_shows_and_domains_without_trials_do_not() {
        let mut results = Results::synthetic(&study(Experiment::Main));
        for own in &mut results.cells {
            let is_kept = own.cell.domain == Domain::Arm && own.cell.algorithm == Preset::MapElites;
            own.trials.truncate(usize::from(is_kept));
        }
        let text = csv(&results);
        assert_eq!(text.lines().count(), 1 + 8 * 3);
        assert!(
            text.contains(
                "arm,map_elites,100,100,,,published,10000,qd_score,71.350000,,1,71.4,0.03,-0.050000,reproduced"
            )
        );
        assert!(text.contains("arm,cma_me,100,100,,,published,10000,qd_score,,,0,75.82,0.11,,\n"), "{text}");
        let text = markdown(&results);
        assert!(!text.contains("LP (sphere)") && text.contains("| CMA-ME | — | 75.82 ± 0.11 | — |"), "{text}");
        assert_eq!(results.score().n_compared, 3);
    }

    #[test]
    fn resolutions_go_down_with_an_algorithm_in_each_column() {
        let mut results = Results::synthetic(&study(Experiment::N1000Resolution));
        let text = markdown(&results);
        assert_eq!(
            text.matches("| 500x500 | 40.00, 60.00 % | 40.00, 60.00 % | 40.00, 60.00 % | 40.00, 60.00 % | 2 |").count(),
            4
        );
        for own in &mut results.cells {
            if own.cell.resolution == 500 && own.cell.domain == Domain::Arm {
                own.trials.clear();
            }
        }
        assert_eq!(markdown(&results).matches("| 500x500 |").count(), 3, "rows without trials are left out");
        let verdicts = csv(&Results::synthetic(&study(Experiment::Resolution)));
        assert!(verdicts.lines().skip(1).all(|row| row.ends_with(",2,,,,")), "the paper has no numbers");
    }
}
