//! From objectives to colours: over which range, how they are spaced, and what lies outside.

use crate::color::{ColorMap, Rgb};
use crate::error::PlotError;
use crate::figure::Style;
use crate::goal::Goal;
use crate::scale::{self, Range, Tick, number};

/// The share of objectives at each end that may be outliers.
const TAIL: f64 = 0.01;
/// An end of the data is an outlier if it lies further beyond the tail than this share of the range between the tails.
const REACH: f64 = 0.5;

/// How objectives are spaced along the colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spacing {
    /// Equal differences look equally different.
    #[default]
    Linear,
    /// Equal ratios look equally different; objectives must be above 0.
    Logarithmic,
}

/// Maps objectives by which higher is better to colours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColorScale {
    pub(crate) map: ColorMap,
    /// Places (see [`Self::place`]) at the two ends of the colours.
    pub(crate) range: Range,
    /// Whether objectives lie below the range.
    pub(crate) has_below: bool,
    /// Whether objectives lie above the range.
    pub(crate) has_above: bool,
    spacing: Spacing,
    goal: Goal,
}

impl ColorScale {
    /// Colours over a range, linearly.
    pub(crate) fn linear(range: Range, style: &Style) -> Self {
        Self {
            map: style.color_map,
            range,
            has_below: false,
            has_above: false,
            spacing: Spacing::Linear,
            goal: style.goal,
        }
    }

    /// Colours for turned objectives: over the range that the style asks for, or over that of the objectives without
    /// their outliers. Values beyond it get the colour of the end they lie at.
    ///
    /// # Errors
    /// If logarithms are asked for and there are none.
    pub(crate) fn of(objectives: impl IntoIterator<Item = f64>, style: &Style) -> Result<Self, PlotError> {
        let objectives: Vec<f64> = objectives.into_iter().filter(|value| !value.is_nan()).collect();
        let scale = Self { spacing: style.spacing, ..Self::linear(Range::new(0.0, 1.0), style) };
        let places: Vec<f64> = objectives.iter().map(|&objective| scale.place(objective)).collect();
        let range = match style.color_range {
            Some((low, high)) => {
                let ends = [low, high].map(|end| scale.place(style.goal.turn(end)));
                if style.spacing == Spacing::Logarithmic && !ends.iter().all(|end| end.is_finite()) {
                    return Err(no_logarithm("ends of logarithmic colours", low.min(high)));
                }
                Range::new(ends[0], ends[1])
            }
            None => {
                let nothing_finite = !places.iter().any(|place| place.is_finite());
                if let (Spacing::Logarithmic, true, Some(&objective)) =
                    (style.spacing, nothing_finite, objectives.first())
                {
                    return Err(no_logarithm("objectives of logarithmic colours", style.goal.turn(objective)));
                }
                without_outliers(places.clone())
            }
        };
        let slack = 1e-9 * range.width();
        Ok(Self {
            range,
            has_below: places.iter().any(|&place| place < range.lower - slack),
            has_above: places.iter().any(|&place| place > range.upper + slack),
            ..scale
        })
    }

    /// Where a turned objective lies: itself, or the logarithm of its size with the sign by which higher is better.
    pub(crate) fn place(&self, objective: f64) -> f64 {
        match (self.spacing, self.goal) {
            (Spacing::Linear, _) => objective,
            (Spacing::Logarithmic, Goal::Maximise) => objective.max(0.0).ln(),
            (Spacing::Logarithmic, Goal::Minimise) => -(-objective).max(0.0).ln(),
        }
    }

    /// 0 at the lower end of the colours, 1 at the upper. NaN for NaN.
    pub(crate) fn fraction(&self, objective: f64) -> f64 {
        if objective.is_nan() { f64::NAN } else { self.range.fraction(self.place(objective)) }
    }

    /// The colour of an objective: values outside get the colour of the end they lie at, NaN is grey.
    pub(crate) fn color(&self, objective: f64) -> Rgb {
        self.map.at(self.fraction(objective))
    }

    /// Ticks for a range of places, with the user's numbers beside them.
    pub(crate) fn ticks(&self, range: Range, target: usize) -> Vec<Tick> {
        match self.spacing {
            Spacing::Linear => self.goal.ticks(range, target),
            Spacing::Logarithmic => {
                let ends = [range.lower, range.upper].map(|place| self.goal.turn(place).exp());
                let round = round_numbers(ends[0].min(ends[1]), ends[0].max(ends[1]), target);
                let tick = |value: f64| Tick { value: self.goal.turn(value.ln()), label: number(value) };
                round.into_iter().map(tick).collect()
            }
        }
    }
}

/// The range of values that are finite. If one of its ends is an outlier, the end is where the tail begins instead.
pub(crate) fn without_outliers(mut values: Vec<f64>) -> Range {
    values.retain(|value| value.is_finite());
    values.sort_by(f64::total_cmp);
    let [Some(&min), Some(&max)] = [values.first(), values.last()] else { return Range::of([]) };
    let tail = ((values.len() - 1) as f64 * TAIL).round() as usize;
    let low = values[tail];
    let high = values[values.len() - 1 - tail];
    let reach = REACH * (high - low);
    // Nearly all values are the same: the few others are all there is to see.
    if reach <= 0.0 {
        return Range::new(min, max);
    }
    Range::new(if low - min > reach { low } else { min }, if max - high > reach { high } else { max })
}

/// Powers of ten between two positive numbers, with their multiples by 2 and 5 if they alone are few.
fn round_numbers(low: f64, high: f64, target: usize) -> Vec<f64> {
    // A range that was widened may reach beyond what a number can be.
    let low = low.clamp(f64::MIN_POSITIVE, f64::MAX);
    let high = high.clamp(f64::MIN_POSITIVE, f64::MAX);
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let of = |factors: &[f64]| -> Vec<f64> {
        let values = decades.clone().flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)));
        values.filter(|value| (low * 0.999_999..=high * 1.000_001).contains(value)).collect()
    };
    let powers = of(&[1.0]);
    match powers.len() {
        0..=2 => {
            let more = of(&[1.0, 2.0, 5.0]);
            if more.len() >= 2 {
                more
            } else {
                let few = scale::ticks(Range::new(low, high), target).into_iter().map(|tick| tick.value);
                few.filter(|&value| value > 0.0).collect()
            }
        }
        n => powers.into_iter().step_by(n.div_ceil(target.max(2))).collect(),
    }
}

fn no_logarithm(what: &'static str, found: f64) -> PlotError {
    PlotError::Shape { what, expected: "numbers above 0".into(), found: number(found) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::color::NOT_A_NUMBER;

    fn scale(objectives: &[f64], style: &Style) -> ColorScale {
        ColorScale::of(objectives.iter().copied(), style).expect("the objectives have colours")
    }

    #[test]
    fn objectives_that_are_not_finite_have_a_colour() {
        let scale = ColorScale::linear(Range::new(0.0, 1.0), &Style::default());
        assert_eq!(scale.color(f64::INFINITY), ColorMap::Viridis.at(1.0));
        assert_eq!(scale.color(f64::NEG_INFINITY), ColorMap::Viridis.at(0.0));
        assert_eq!(scale.color(f64::NAN), NOT_A_NUMBER);
    }

    #[test]
    fn outliers_do_not_flatten_the_others() {
        let mut objectives: Vec<f64> = (0..=100).map(f64::from).collect();
        let whole = scale(&objectives, &Style::default());
        assert_eq!((whole.range, whole.has_below, whole.has_above), (Range::new(0.0, 100.0), false, false));
        objectives[0] = -1e6;
        let robust = scale(&objectives, &Style::default());
        assert_eq!((robust.range, robust.has_below, robust.has_above), (Range::new(1.0, 100.0), true, false));
        let few = scale(&[-1e6, 1.0, 2.0], &Style::default());
        assert_eq!(few.range, Range::new(-1e6, 2.0), "of three values none is an outlier");
        let mut same = vec![5.0; 1000];
        same[0] = 7.0;
        assert_eq!(scale(&same, &Style::default()).range, Range::new(5.0, 7.0));
    }

    #[test]
    fn a_chosen_range_marks_what_lies_outside() {
        let style = Style { color_range: Some((0.0, 10.0)), ..Style::default() };
        let found = scale(&[-1.0, 5.0, 10.0], &style);
        assert_eq!((found.has_below, found.has_above), (true, false));
    }

    #[test]
    fn logarithms_space_ratios_equally() {
        for goal in [Goal::Maximise, Goal::Minimise] {
            let style = Style { spacing: Spacing::Logarithmic, goal, ..Style::default() };
            let found = scale(&[1.0, 100.0, 10_000.0].map(|value| goal.turn(value)), &style);
            assert!((found.fraction(goal.turn(100.0)) - 0.5).abs() < 1e-12);
            let labels: Vec<String> = found.ticks(found.range, 5).into_iter().map(|tick| tick.label).collect();
            assert_eq!(labels, ["1", "10", "100", "1000", "10,000"]);
            assert!(
                scale(&[1.0, 100.0, 0.0].map(|value| goal.turn(value)), &style).fraction(goal.turn(0.0)).is_finite()
            );
        }
        let style = Style { spacing: Spacing::Logarithmic, ..Style::default() };
        for extreme in [5e-324, f64::MAX, f64::INFINITY] {
            let found = scale(&[1.0, extreme], &style);
            assert!(found.ticks(found.range.padded(0.04), 5).len() < 10, "{extreme}");
        }
        let message = ColorScale::of([-3.0], &style).unwrap_err().to_string();
        assert_eq!(message, "objectives of logarithmic colours: expected numbers above 0, found −3");
        assert!(ColorScale::of([], &style).is_ok());
    }
}
