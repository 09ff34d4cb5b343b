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

/// Seconds per stage of each iteration.
pub(crate) struct Clock {
    last: Instant,
    current: [f64; STAGES.len()],
    iterations: Vec<[f64; STAGES.len()]>,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { last: Instant::now(), current: [0.0; STAGES.len()], iterations: Vec::new() }
    }

    /// Seconds of all stages.
    pub(crate) fn seconds(&self) -> f64 {
        self.iterations.as_flattened().iter().sum()
    }

    /// Share of each stage in percent, as one line.
    pub(crate) fn shares(&self) -> String {
        let total = |i: usize| self.iterations.iter().map(|stages| stages[i]).sum::<f64>();
        let share = |i: usize| format!("{} {:.0} %", STAGES[i].1, 100.0 * total(i) / self.seconds());
        (0..STAGES.len()).map(share).collect::<Vec<_>>().join(", ")
    }

    /// Microseconds of the median iteration: on a shared machine it tells more than the mean.
    pub(crate) fn median_iteration(&self) -> f64 {
        1e6 * median(self.iterations.iter().map(|stages| stages.iter().sum()))
    }

    /// The median seconds of each stage, with its name.
    pub(crate) fn median_stages(&self) -> impl Iterator<Item = (Stage, &'static str, f64)> {
        let seconds = |i: usize| median(self.iterations.iter().map(|stages| stages[i]));
        STAGES.iter().enumerate().map(move |(i, &(stage, name))| (stage, name, seconds(i)))
    }
}

/// The middle of the numbers, zero if there are none.
fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = numbers.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

impl Observer for Clock {
    fn stage_done(&mut self, stage: Stage) {
        let now = Instant::now();
        let i = STAGES.iter().position(|&(listed, _)| listed == stage).expect("all stages are listed");
        self.current[i] += (now - self.last).as_secs_f64();
        self.last = now;
    }

    fn iteration_done(&mut self, _scheduler: &Scheduler) -> ControlFlow<()> {
        self.iterations.push(std::mem::take(&mut self.current));
        self.last = Instant::now();
        ControlFlow::Continue(())
    }
}
