//! How fast a run goes, and a bar of how far it is.

use luminary_run::driver::Progress;

/// Evaluations of this process.
#[derive(Default)]
pub(super) struct Pace {
    /// Evaluations before this process began, known from its first iteration on.
    evaluations_before: Option<u64>,
}

impl Pace {
    /// To be called for every iteration.
    pub(super) fn note(&mut self, progress: &Progress<'_>) {
        self.evaluations_before.get_or_insert_with(|| {
            let (all, iterations) = (progress.scheduler.evaluations(), progress.scheduler.iterations().max(1));
            all - all / iterations * progress.session_iterations
        });
    }

    /// Mean over this process.
    pub(super) fn evaluations_per_second(&self, progress: &Progress<'_>) -> f64 {
        let own = progress.scheduler.evaluations() - self.evaluations_before.unwrap_or(0);
        own as f64 / progress.session_seconds.max(1e-9)
    }

    /// At the mean pace of this process.
    pub(super) fn seconds_left(progress: &Progress<'_>) -> f64 {
        let left = progress.iterations_wanted.saturating_sub(progress.scheduler.iterations());
        progress.session_seconds / progress.session_iterations.max(1) as f64 * left as f64
    }
}

/// A bar of `width` characters filled to a fraction, in eighths of a character.
pub(super) fn bar(fraction: f64, width: usize) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let filled = (fraction.clamp(0.0, 1.0) * 8.0 * width as f64).round() as usize;
    let mut text = "█".repeat(filled / 8);
    if filled / 8 < width {
        text.push(EIGHTHS[filled % 8]);
        text.extend(std::iter::repeat_n(' ', width - filled / 8 - 1));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_has_its_width_whatever_the_fraction() {
        for i in 0..=100 {
            assert_eq!(bar(f64::from(i) / 100.0, 17).chars().count(), 17);
        }
        assert_eq!(bar(0.5, 4), "██  ");
        assert_eq!(bar(0.53, 4), "██▏ ");
        assert_eq!(bar(7.0, 2), "██");
    }
}
