//! Where the time of a run goes.

use std::ops::ControlFlow;
use std::time::Instant;

use luminary::scheduler::{Observer, Scheduler, Stage};

const STAGES: [(Stage, &str); 5] = [
    (Stage::Sample, "sample"),
    (Stage::Evaluate, "evaluate"),
    (Stage::Add, "add"),
    (Stage::Rank, "rank"),
    (Stage::Adapt, "adapt"),
];

/// Seconds per stage, summed and by iteration.
pub(crate) struct Clock {
    last: Instant,
    current: [f64; STAGES.len()],
    total: [f64; STAGES.len()],
    iterations: Vec<f64>,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { last: Instant::now(), current: [0.0; 5], total: [0.0; 5], iterations: Vec::new() }
    }

    /// Seconds of all stages.
    pub(crate) fn seconds(&self) -> f64 {
        self.total.iter().sum()
    }

    /// Share of each stage in percent, as one line.
    pub(crate) fn shares(&self) -> String {
        let share = |i: usize| format!("{} {:.0} %", STAGES[i].1, 100.0 * self.total[i] / self.seconds());
        (0..STAGES.len()).map(share).collect::<Vec<_>>().join(", ")
    }

    /// Microseconds of the median iteration: on a shared machine it tells more than the mean.
    pub(crate) fn median_iteration(&self) -> f64 {
        let mut sorted = self.iterations.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).map_or(0.0, |seconds| seconds * 1e6)
    }
}

impl Observer for Clock {
    fn stage_done(&mut self, stage: Stage) {
        let now = Instant::now();
        let i = STAGES.iter().position(|&(listed, _)| listed == stage).expect("all stages are listed");
        self.current[i] += (now - self.last).as_secs_f64();
        self.last = now;
    }

    fn iteration_done(&mut self, _scheduler: &Scheduler) -> ControlFlow<()> {
        self.iterations.push(self.current.iter().sum());
        for (total, current) in self.total.iter_mut().zip(&mut self.current) {
            *total += std::mem::take(current);
        }
        self.last = Instant::now();
        ControlFlow::Continue(())
    }
}
