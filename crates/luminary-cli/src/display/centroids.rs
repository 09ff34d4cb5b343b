//! How far finding the centroids of an archive is: minutes with a million of them, before the run begins.

use std::time::{Duration, Instant};

use super::Speech;
use super::footer::Footer;
use crate::numbers::duration;

/// Most archives are there before anybody has read a line.
const PATIENCE: Duration = Duration::from_secs(1);
/// Between lines where there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(60);

/// A bar on a terminal, a line a minute elsewhere, nothing if it is done at once.
pub(crate) struct Centroids {
    started: Instant,
    /// From the first word on.
    shown: Option<Footer>,
    last_line: Instant,
    speech: Speech,
}

impl Centroids {
    pub(crate) fn new(speech: Speech) -> Self {
        let now = Instant::now();
        Self { started: now, shown: None, last_line: now, speech }
    }

    /// Shows that a share is done.
    pub(crate) fn show(&mut self, share: f64) {
        let seconds = self.started.elapsed();
        if self.speech.is_quiet() || (self.shown.is_none() && seconds < PATIENCE) {
            return;
        }
        let seconds_left = seconds.as_secs_f64() * (1.0 - share) / share.max(1e-9);
        let is_first = self.shown.is_none();
        let footer = self.shown.get_or_insert_with(|| Footer::new(self.speech));
        if is_first {
            footer.line(&format!("finding centroids: at most {} left", duration(seconds_left)));
        } else if !footer.has_bar() && self.last_line.elapsed() >= BETWEEN_LINES {
            self.last_line = Instant::now();
            footer.line(&format!("finding centroids: {:.0} %, at most {} left", 100.0 * share, duration(seconds_left)));
        }
        footer.draw(share, seconds_left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_shown_at_once_nor_to_the_quiet() {
        let mut centroids = Centroids::new(Speech::Usual);
        centroids.show(0.5);
        assert!(centroids.shown.is_none());
        centroids.started -= PATIENCE;
        centroids.show(0.6);
        assert!(centroids.shown.is_some());
        let mut quiet = Centroids::new(Speech::Quiet);
        quiet.started -= PATIENCE;
        quiet.show(0.5);
        assert!(quiet.shown.is_none());
    }
}
