//! A bar at the foot of the terminal, below the lines that stay.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

use terminal_size::{Width, terminal_size_of};

use super::Speech;
use super::bar::bar;
use crate::numbers::duration;

const FRAME: Duration = Duration::from_millis(200);

/// Lines that stay and, on a terminal, a bar below them.
pub(super) struct Footer {
    is_terminal: bool,
    speech: Speech,
    last_frame: Option<Instant>,
}

impl Footer {
    pub(super) fn new(speech: Speech) -> Self {
        Self { is_terminal: stderr().is_terminal(), speech, last_frame: None }
    }

    /// A line that stays, also when quiet; the bar is drawn again below it.
    pub(super) fn line(&self, text: &str) {
        let clear = if self.is_terminal { "\r\x1b[K" } else { "" };
        eprintln!("{clear}{text}");
    }

    /// Whether there is a terminal to draw a bar on.
    pub(super) fn has_bar(&self) -> bool {
        self.is_terminal
    }

    /// Draws the bar, if there is one and it is time to.
    pub(super) fn draw(&mut self, fraction: f64, seconds_left: f64) {
        let is_due = self.last_frame.is_none_or(|last| last.elapsed() >= FRAME);
        if self.speech.is_quiet() || !self.is_terminal || !is_due {
            return;
        }
        self.last_frame = Some(Instant::now());
        let counts = format!(" {:3.0} %  {} left", 100.0 * fraction, duration(seconds_left));
        let width: usize = terminal_size_of(stderr()).map_or(80, |(Width(width), _)| width.into());
        // A bar that wraps could not be drawn over.
        let bar_width = width.saturating_sub(counts.chars().count() + 1).min(40);
        let text = format!("\r{}{counts}\x1b[K", bar(fraction, bar_width));
        stderr().write_all(text.as_bytes()).ok();
    }
}

impl Drop for Footer {
    fn drop(&mut self) {
        if self.is_terminal && !self.speech.is_quiet() {
            stderr().write_all(b"\r\x1b[K").ok();
        }
    }
}
