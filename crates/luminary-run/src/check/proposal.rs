//! What a pilot proposes to set.

use luminary::archive::{Acceptance, CellsConfig};

use super::pilot::Pilot;
use super::statistics::quantile;
#[cfg(unix)]
use super::workers::external;
use crate::config::{Goal, RunConfig};
#[cfg(unix)]
use crate::external::Protocol;

/// Room beside what was seen, as a share of its width: a search goes further than a pilot.
const MARGIN: f64 = 0.1;
/// How many standard deviations of the noise a cell should be wide, so that an elite stays where it was found.
const NOISE_WIDTHS: f64 = 4.0;
/// How many times the slowest evaluation a time limit should allow.
const PATIENCE: f64 = 10.0;
/// Shorter time limits than this are met by chance on a busy machine.
const LEAST_SECONDS: f64 = 1.0;

/// Values for settings, each absent if the one in force suits what was seen or does not exist.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Proposal {
    /// `problem.measures`: what was seen, and a tenth of its width on each side.
    pub measures: Option<Vec<(f64, f64)>>,
    /// `archive.resolution`: cells that are four standard deviations of the noise wide.
    pub resolution: Option<Vec<usize>>,
    /// `archive.min_f`: a little worse than the worst objective seen. Domains know theirs.
    pub min_f: Option<f64>,
    /// `evaluator.time_limit`: ten times the slowest evaluation.
    pub time_limit: Option<f64>,
    /// `evaluator.start_time_limit`: ten times the slowest start.
    pub start_time_limit: Option<f64>,
}

impl Proposal {
    pub(super) fn of(config: &RunConfig, acceptance: Acceptance, pilot: &Pilot) -> Self {
        let limit = |seconds: f64| outward(PATIENCE * seconds, PATIENCE * seconds, Side::Above).max(LEAST_SECONDS);
        let is_program = config.problem.is_program();
        let measures = if is_program { measures(pilot) } else { None };
        Self {
            resolution: resolution(config, pilot, measures.as_deref()),
            measures,
            min_f: match acceptance {
                Acceptance::Soft { .. } if is_program => min_f(config.goal(), pilot),
                _ => None,
            },
            time_limit: is_program.then(|| quantile(&pilot.times.all, 1.0).map(limit)).flatten(),
            start_time_limit: pilot.times.start.filter(|_| says_hello(config)).map(limit),
        }
    }
}

/// Whether a program evaluates that starts once and says when it is ready; with files each evaluation is a start.
#[cfg(unix)]
fn says_hello(config: &RunConfig) -> bool {
    external(config).is_some_and(|external| external.protocol == Protocol::JsonLines)
}

/// Programs need a Unix system.
#[cfg(not(unix))]
fn says_hello(_: &RunConfig) -> bool {
    false
}

/// Ranges with room around what was seen, unless those in force are about as wide and nothing lies outside.
fn measures(pilot: &Pilot) -> Option<Vec<(f64, f64)>> {
    let suits = |(lower, upper): (f64, f64), seen: (f64, f64), n_outside: usize| {
        n_outside == 0 && seen.1 - seen.0 > 0.5 * (upper - lower)
    };
    let mut ranges = Vec::new();
    let mut has_changed = false;
    for measure in &pilot.measures {
        let seen = measure.seen?;
        let width = seen.1 - seen.0;
        if suits(measure.configured, seen, measure.n_outside) || width <= 0.0 {
            ranges.push(measure.configured);
            continue;
        }
        has_changed = true;
        let lower = outward(seen.0 - MARGIN * width, width, Side::Below);
        let upper = outward(seen.1 + MARGIN * width, width, Side::Above);
        ranges.push((lower, upper));
    }
    has_changed.then_some(ranges)
}

/// Fewer cells where the noise is wider than a quarter of one.
fn resolution(config: &RunConfig, pilot: &Pilot, ranges: Option<&[(f64, f64)]>) -> Option<Vec<usize>> {
    let Some(CellsConfig::Grid(grid)) = config.archive.cells() else { return None };
    let ranges = ranges.unwrap_or(&grid.measure_bounds);
    let cells = grid.resolution.iter().zip(&pilot.measures).zip(ranges).map(|((&n_cells, measure), (lower, upper))| {
        let widest = match measure.noise {
            Some(noise) if noise > 0.0 => ((upper - lower) / (NOISE_WIDTHS * noise)).floor() as usize,
            _ => n_cells,
        };
        n_cells.min(widest.max(2))
    });
    Some(cells.collect::<Vec<_>>()).filter(|cells| *cells != grid.resolution)
}

fn min_f(goal: Goal, pilot: &Pilot) -> Option<f64> {
    let (lowest, highest) = pilot.objective?;
    let width = if highest > lowest { highest - lowest } else { lowest.abs().max(1.0) };
    let (worst, side) = match goal {
        Goal::Maximise => (lowest - MARGIN * width, Side::Below),
        Goal::Minimise => (highest + MARGIN * width, Side::Above),
    };
    Some(outward(worst, width, side))
}

/// To which side a number is rounded.
#[derive(Clone, Copy)]
enum Side {
    Below,
    Above,
}

/// Rounds to a hundredth of a width, and writes no more digits than that needs.
fn outward(value: f64, width: f64, side: Side) -> f64 {
    if width <= 0.0 || !width.is_finite() || !value.is_finite() {
        return value;
    }
    let exponent = width.log10().floor() as i32 - 1;
    let unit = 10_f64.powi(exponent);
    let steps = match side {
        Side::Below => (value / unit).floor(),
        Side::Above => (value / unit).ceil(),
    };
    // Through text, because 3 times 0.1 is not 0.3.
    format!("{steps}e{exponent}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_away_from_what_was_seen_to_a_few_digits() {
        assert_eq!(outward(-0.3141, 1.7, Side::Below), -0.4);
        assert_eq!(outward(0.3141, 0.5, Side::Above), 0.32);
        assert_eq!(outward(12_345.0, 2_000.0, Side::Above), 12_400.0);
        assert_eq!(outward(0.003, 0.003, Side::Above), 0.003);
        assert_eq!(outward(1.111e29, 1.2345e29, Side::Below), 1.1e29);
        assert_eq!(outward(5.0, 0.0, Side::Above), 5.0);
    }
}
