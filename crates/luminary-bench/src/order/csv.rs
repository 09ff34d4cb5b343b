//! The study for machines: one table of trials, one of curves.

use luminary_domains::Domain;

use super::curves::{Axis, curve};
use super::study::{CONTENDERS, Study};
use super::summary::summarise;
use super::trace::Point;

/// A row for each trial: its end, and its score when the first trial of its domain ends.
pub(super) fn trials(study: &Study) -> String {
    let mut text = "domain,order,seed,evaluations,time,qd_score,coverage_percent,idle_share,stale_share,\
                    common_time,evaluations_at_common_time,qd_score_at_common_time,coverage_percent_at_common_time\n"
        .to_owned();
    for trial in &study.trials {
        let end = trial.trace.end();
        let common_time = study.common_time(trial.domain);
        let common = trial.trace.at_time(common_time).expect("no trial ends before the first");
        text += &format!(
            "{},\"{}\",{},{},{:.3},{:.4},{:.4},{:.5},{:.5},{common_time:.3},{},{:.4},{:.4}\n",
            trial.domain,
            trial.contender.name,
            trial.seed,
            end.evaluations,
            end.time,
            end.qd_score,
            end.coverage,
            trial.trace.idle_share,
            trial.trace.stale_share,
            common.evaluations,
            common.qd_score,
            common.coverage,
        );
    }
    text
}

/// A row for each point of each curve: means and standard errors over the trials that have not ended.
pub(super) fn curves(study: &Study) -> String {
    let mut text = "domain,order,axis,position,n_trials,qd_score,qd_score_standard_error,\
                    coverage_percent,coverage_percent_standard_error\n"
        .to_owned();
    for domain in Domain::ALL {
        for contender in CONTENDERS {
            for axis in [Axis::Evaluations, Axis::Time] {
                for (position, points) in curve(study, domain, contender, axis) {
                    let points: Vec<Point> = points.into_iter().flatten().collect();
                    if points.is_empty() {
                        continue;
                    }
                    let score = summarise(points.iter().map(|point| point.qd_score));
                    let coverage = summarise(points.iter().map(|point| point.coverage));
                    text += &format!(
                        "{domain},\"{}\",{},{position:.1},{},{:.4},{:.4},{:.4},{:.4}\n",
                        contender.name,
                        axis.name(),
                        points.len(),
                        score.mean,
                        score.standard_error,
                        coverage.mean,
                        coverage.standard_error,
                    );
                }
            }
        }
    }
    text
}
