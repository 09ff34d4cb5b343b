//! What a simulated run has found by when.

use luminary::scheduler::Scheduler;

/// The state of a run at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Point {
    pub(super) evaluations: u64,
    /// On the virtual clock, in durations of the median evaluation.
    pub(super) time: f64,
    /// Normalised QD score of the result archive.
    pub(super) qd_score: f64,
    /// In percent of the cells.
    pub(super) coverage: f64,
}

/// A run from its start to its end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Trace {
    /// In the order of time; the first is the start, the last the end.
    points: Vec<Point>,
    /// Share of the workers' time in which they had nothing to evaluate.
    pub(super) idle_share: f64,
    /// Share of the evaluations whose emitter had gone on without them.
    pub(super) stale_share: f64,
}

impl Trace {
    pub(super) fn new(points: Vec<Point>, idle_share: f64, stale_share: f64) -> Self {
        Self { points, idle_share, stale_share }
    }

    pub(super) fn end(&self) -> Point {
        *self.points.last().expect("a trace has a start")
    }

    /// The state after so many evaluations; `None` if the run ended before.
    pub(super) fn after_evaluations(&self, evaluations: u64) -> Option<Point> {
        let n_before = self.points.partition_point(|point| point.evaluations <= evaluations);
        (evaluations <= self.end().evaluations).then(|| self.points[n_before - 1])
    }

    /// The state at this time; `None` if the run ended before.
    pub(super) fn at_time(&self, time: f64) -> Option<Point> {
        let n_before = self.points.partition_point(|point| point.time <= time);
        (time <= self.end().time).then(|| self.points[n_before - 1])
    }

    /// When the run first had this QD score; `None` if it never did.
    pub(super) fn time_of_score(&self, qd_score: f64) -> Option<f64> {
        self.points.iter().find(|point| point.qd_score >= qd_score).map(|point| point.time)
    }
}

impl Point {
    pub(super) fn of(scheduler: &Scheduler, time: f64) -> Self {
        let stats = scheduler.result().stats();
        Self {
            evaluations: scheduler.evaluations(),
            time,
            qd_score: stats.norm_qd_score,
            coverage: 100.0 * stats.coverage,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_holds_until_the_next_one_and_nothing_is_known_after_the_end() {
        let point = |evaluations: u64, time: f64, qd_score: f64| Point { evaluations, time, qd_score, coverage: 0.0 };
        let trace = Trace::new(vec![point(0, 0.0, 0.0), point(10, 2.5, 1.0), point(20, 4.0, 3.0)], 0.0, 0.0);
        let score = |point: Option<Point>| point.map(|point| point.qd_score);
        assert_eq!(
            [0, 9, 10, 20, 21].map(|n| score(trace.after_evaluations(n))).map(|score| score.unwrap_or(-1.0)),
            [0.0, 0.0, 1.0, 3.0, -1.0]
        );
        assert_eq!(
            [0.0, 2.4, 2.5, 4.0, 4.1].map(|t| score(trace.at_time(t))).map(|score| score.unwrap_or(-1.0)),
            [0.0, 0.0, 1.0, 3.0, -1.0]
        );
        assert_eq!(trace.time_of_score(0.5), Some(2.5));
        assert_eq!(trace.time_of_score(3.5), None);
    }
}
