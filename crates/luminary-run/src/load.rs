//! How busy the workers of an evaluator are, as it is shown while a batch is under way.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Workers and their rows, counted since the evaluator was started.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Load {
    /// Places for workers.
    pub n_workers: usize,
    /// Workers that are there.
    pub n_ready: usize,
    /// Rows that workers have in hand.
    pub n_rows_out: usize,
    /// The batch under way; absent where rows come one by one.
    pub batch: Option<BatchLoad>,
    /// Rows that were settled.
    pub n_rows: u64,
    /// Those of them that have no value, by cause.
    pub failures: BTreeMap<String, u64>,
    time: Duration,
    /// The time of all workers that were there, and the part of it in which they had rows.
    offered: Duration,
    busy: Duration,
    looked: Option<Instant>,
    n_busy: usize,
}

/// How far a batch is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchLoad {
    /// Its rows.
    pub n_rows: usize,
    /// Those of them that are settled.
    pub n_settled: usize,
}

impl Load {
    /// So many places, and nobody there yet.
    pub fn of(n_workers: usize) -> Self {
        Self { n_workers, ..Self::default() }
    }

    /// So many workers are there and so many of them have rows, from now on.
    pub fn look(&mut self, now: Instant, n_ready: usize, n_busy: usize) {
        let elapsed = self.looked.map_or(Duration::ZERO, |before| now.saturating_duration_since(before));
        self.time += elapsed;
        self.offered += elapsed * self.n_ready as u32;
        self.busy += elapsed * self.n_busy as u32;
        self.looked = Some(now);
        self.n_ready = n_ready;
        self.n_busy = n_busy;
    }

    /// A row was settled.
    pub(crate) fn settle_row(&mut self) {
        self.n_rows += 1;
        if let Some(batch) = &mut self.batch {
            batch.n_settled += 1;
        }
    }

    /// The share of the workers' time in which they had nothing to do.
    pub fn idle_share(&self) -> f64 {
        match self.offered.is_zero() {
            true => 0.0,
            false => (1.0 - self.busy.as_secs_f64() / self.offered.as_secs_f64()).max(0.0),
        }
    }

    /// Rows per second, of all workers.
    pub fn rows_per_second(&self) -> f64 {
        match self.time.is_zero() {
            true => 0.0,
            false => self.n_rows as f64 / self.time.as_secs_f64(),
        }
    }

    /// Who is there and has what.
    pub fn workers_in_words(&self) -> String {
        let Self { n_workers, n_ready, n_rows_out, n_rows, .. } = self;
        let of_all = if n_ready == n_workers { String::new() } else { format!(" of {n_workers}") };
        let done = match self.batch {
            Some(BatchLoad { n_rows, n_settled }) => format!("{n_settled} of {n_rows} rows done"),
            None => format!("{n_rows} rows done"),
        };
        format!("{n_ready}{of_all} workers, {n_rows_out} rows out, {done}")
    }

    /// How well it goes.
    pub fn pace_in_words(&self) -> String {
        let all = self.rows_per_second();
        let each = all / self.n_ready.max(1) as f64;
        let mut words =
            format!("idle {:.0} %, {} evals/s ({} each)", 100.0 * self.idle_share(), short(all), short(each));
        let failures: Vec<String> = self.failures.iter().map(|(cause, count)| format!("{cause} {count}")).collect();
        if !failures.is_empty() {
            words.push_str(", failed: ");
            words.push_str(&failures.join(", "));
        }
        words
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.workers_in_words(), self.pace_in_words())
    }
}

/// A number with about three digits.
fn short(number: f64) -> String {
    match number {
        100.0.. => format!("{number:.0}"),
        1.0..100.0 => format!("{number:.1}"),
        _ => format!("{number:.3}"),
    }
}

/// What an evaluator says in the middle of a batch, for somebody who looks from time to time. Copies are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct News {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    notes: Vec<String>,
    load: Option<Load>,
}

impl News {
    /// Something has happened.
    pub(crate) fn note(&self, words: String) {
        self.inner().notes.push(words);
    }

    /// So busy are the workers now.
    pub(crate) fn set_load(&self, load: &Load) {
        self.inner().load = Some(load.clone());
    }

    /// What has happened since the last call.
    pub(crate) fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut self.inner().notes)
    }

    /// How busy the workers are, if that was said since the last call.
    pub(crate) fn take_load(&self) -> Option<Load> {
        self.inner().load.take()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_rates_are_those_of_the_time_that_was_looked_at() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut load = Load::of(4);
        assert_eq!((load.idle_share(), load.rows_per_second()), (0.0, 0.0));
        load.look(at(0), 4, 4);
        load.look(at(10), 2, 1);
        load.look(at(20), 2, 0);
        // Forty and twenty seconds were offered; forty and ten of them were used.
        assert!((load.idle_share() - 1.0 / 6.0).abs() < 1e-12);
        load.n_rows_out = 1;
        load.batch = Some(BatchLoad { n_rows: 40, n_settled: 0 });
        (0..30).for_each(|_| load.settle_row());
        load.failures.insert("time out".into(), 3);
        let words =
            "2 of 4 workers, 1 rows out, 30 of 40 rows done, idle 17 %, 1.5 evals/s (0.750 each), failed: time out 3";
        assert_eq!(load.to_string(), words);
        load.batch = None;
        assert_eq!(load.workers_in_words(), "2 of 4 workers, 1 rows out, 30 rows done");
    }
}
