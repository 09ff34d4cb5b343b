//! What is shown while the trials of an experiment go on: a line for each that ends, and on a terminal a bar over all.

use std::sync::Mutex;

use luminary_reproduce::pool::Event;

use super::Speech;
use super::footer::Footer;
use crate::numbers::{duration, elapsed, grouped, score};

/// Shows a study.
pub(crate) struct Trials {
    name: String,
    footer: Mutex<Footer>,
    speech: Speech,
}

impl Trials {
    pub(crate) fn new(name: String, speech: Speech) -> Self {
        Self { name, footer: Mutex::new(Footer::new(speech)), speech }
    }

    /// Called by all trials.
    pub(crate) fn show(&self, event: &Event<'_>) {
        let mut footer = self.footer.lock().expect("showing does not panic");
        match event {
            Event::Damaged { path, message } => {
                footer.line(&format!("warning: {} is damaged and counts as missing: {message}", path.display()));
            }
            Event::Progress { fraction, seconds_left } => footer.draw(*fraction, *seconds_left),
            _ if self.speech.is_quiet() => {}
            Event::Started { n_trials, n_cached } => {
                let (trials, cached) = (grouped(*n_trials as u64), grouped(*n_cached as u64));
                footer.line(&format!("{}: {trials} trials, {cached} of them finished before", self.name));
            }
            Event::Done { trial, record, n_done, n_to_run, seconds_left } => footer.line(&format!(
                "[{n_done}/{n_to_run}] {trial}: QD score {}, coverage {:.2} %, best {}, {}; {} left",
                score(record.qd_score),
                record.coverage_percent,
                score(record.best),
                elapsed(record.seconds),
                duration(*seconds_left),
            )),
        }
    }
}
