//! Ranges of values, and ticks at round numbers with short labels.

/// Values beyond this are clamped, so that widths of ranges stay finite.
const LIMIT: f64 = 1e300;

/// A finite interval with a positive width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
}

impl Range {
    /// The interval between two values. Swapped ends are put in order; an interval too narrow to draw is widened around
    /// its middle; NaN counts as zero.
    pub(crate) fn new(a: f64, b: f64) -> Self {
        let (a, b) = (tame(a), tame(b));
        let (lower, upper) = if a <= b { (a, b) } else { (b, a) };
        let magnitude = lower.abs().max(upper.abs());
        if upper - lower > 1e-12 * magnitude && upper - lower > 1e-280 {
            return Self { lower, upper };
        }
        let margin = if magnitude < 1e-280 { 0.5 } else { 0.05 * magnitude };
        Self { lower: lower - margin, upper: upper + margin }
    }

    /// The smallest interval that holds all finite values; 0 to 1 if there are none.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut ends: Option<(f64, f64)> = None;
        for value in values.into_iter().filter(|v| v.is_finite()) {
            ends = Some(ends.map_or((value, value), |(low, high)| (low.min(value), high.max(value))));
        }
        ends.map_or(Self { lower: 0.0, upper: 1.0 }, |(low, high)| Self::new(low, high))
    }

    pub(crate) fn width(self) -> f64 {
        self.upper - self.lower
    }

    /// Where a value lies: 0 at the lower end, 1 at the upper. NaN for NaN.
    pub(crate) fn fraction(self, value: f64) -> f64 {
        (value.clamp(-LIMIT, LIMIT) - self.lower) / self.width()
    }

    /// The value at a fraction of the way.
    pub(crate) fn at(self, fraction: f64) -> f64 {
        self.lower + fraction * self.width()
    }

    /// Extended at both ends by a fraction of the width.
    pub(crate) fn padded(self, fraction: f64) -> Self {
        Self::new(self.lower - fraction * self.width(), self.upper + fraction * self.width())
    }
}

fn tame(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(-LIMIT, LIMIT) }
}

/// A tick: where, and what stands beside it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

/// Ticks at multiples of 1, 2 or 5 times a power of ten, all inside the range; about `target` of them, at least two.
pub(crate) fn ticks(range: Range, target: usize) -> Vec<Tick> {
    let mut step = nice_step(range.width() / target.max(2) as f64);
    // An interval of two steps holds at least two multiples of the step.
    if range.width() < 2.0 * step && (range.upper / step + 1e-9).floor() - (range.lower / step - 1e-9).ceil() < 1.0 {
        step = nice_step(range.width() / 4.0);
    }
    let first = (range.lower / step - 1e-9).ceil();
    let last = (range.upper / step + 1e-9).floor();
    let scientific = is_scientific(range, step);
    let decimals = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
    let mut list = Vec::new();
    let mut multiple = first;
    while multiple <= last && list.len() < 64 {
        // `+ 0.0` turns a negative zero into zero.
        let value = multiple * step + 0.0;
        let label = if scientific { scientific_label(value, step.log10().floor()) } else { grouped(value, decimals) };
        list.push(Tick { value, label });
        multiple += 1.0;
    }
    list
}

/// A number for people: about five significant digits, thousands separated, powers of ten for the very large and small.
pub(crate) fn number(value: f64) -> String {
    let magnitude = value.abs();
    if !value.is_finite() {
        return if value.is_nan() {
            "NaN".into()
        } else if value > 0.0 {
            "∞".into()
        } else {
            "−∞".into()
        };
    }
    if magnitude == 0.0 {
        return "0".into();
    }
    if !(1e-4..1e9).contains(&magnitude) {
        return scientific_label(value, magnitude.log10().floor() - 4.0);
    }
    let decimals = (4.0 - magnitude.log10().floor()).clamp(0.0, 8.0) as usize;
    let text = grouped(value, decimals);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// The nearest to `raw` of 1, 2 and 5 times a power of ten; the borders are the geometric means.
fn nice_step(raw: f64) -> f64 {
    let power = 10f64.powf(raw.log10().floor());
    match raw / power {
        m if m < 1.415 => power,
        m if m < 3.163 => 2.0 * power,
        m if m < 7.072 => 5.0 * power,
        _ => 10.0 * power,
    }
}

fn is_scientific(range: Range, step: f64) -> bool {
    range.lower.abs().max(range.upper.abs()) >= 1e7 || step < 0.99e-4
}

/// `value` with fixed decimals, groups of three digits separated by commas from 10,000 on, and a true minus sign.
fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), None), |(w, f)| (w, Some(f)));
    let mut out = String::new();
    if value < 0.0 && text.bytes().any(|b| (b'1'..=b'9').contains(&b)) {
        out.push('−');
    }
    for (i, digit) in whole.chars().enumerate() {
        if whole.len() > 4 && i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// `2.5×10⁹`, with the digits down to the one that counts powers `last` of ten.
fn scientific_label(value: f64, last: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let mut exponent = value.abs().log10().floor();
    let digits = (exponent - last).clamp(0.0, 12.0) as usize;
    // Two factors, because 10^exponent alone underflows for the smallest numbers.
    let mut mantissa = value / 10f64.powf((exponent / 2.0).floor()) / 10f64.powf((exponent / 2.0).ceil());
    if format!("{:.digits$}", mantissa.abs()).starts_with("10") {
        mantissa /= 10.0;
        exponent += 1.0;
    }
    let mut text = format!("{:.digits$}", mantissa.abs());
    if text.contains('.') {
        text = text.trim_end_matches('0').trim_end_matches('.').to_string();
    }
    let sign = if value < 0.0 { "−" } else { "" };
    let power: String = format!("{exponent:.0}").chars().map(superscript).collect();
    if text == "1" { format!("{sign}10{power}") } else { format!("{sign}{text}×10{power}") }
}

fn superscript(c: char) -> char {
    match c {
        '-' => '⁻',
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        _ => char::from_u32('⁰' as u32 + c.to_digit(10).unwrap_or(0)).unwrap_or(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(lower: f64, upper: f64, target: usize) -> Vec<String> {
        ticks(Range::new(lower, upper), target).into_iter().map(|t| t.label).collect()
    }

    #[test]
    fn ticks_are_round_numbers_inside_the_range() {
        assert_eq!(labels(0.0, 100.0, 5), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(labels(-256.0, 256.0, 5), ["−200", "−100", "0", "100", "200"]);
        assert_eq!(labels(-256.0, 256.0, 2), ["−200", "0", "200"]);
        assert_eq!(labels(18.0, 31.0, 2), ["20", "25", "30"]);
        assert_eq!(labels(0.0, 10_000.0, 5), ["0", "2000", "4000", "6000", "8000", "10,000"]);
        assert_eq!(labels(-0.31, 0.32, 4), ["−0.2", "0.0", "0.2"]);
        assert_eq!(labels(0.0, 3e9, 3), ["0", "10⁹", "2×10⁹", "3×10⁹"]);
        assert_eq!(labels(0.0, 3e-7, 3), ["0", "10⁻⁷", "2×10⁻⁷", "3×10⁻⁷"]);
    }

    #[test]
    fn degenerate_ranges_are_widened() {
        assert_eq!(Range::new(3.0, 3.0), Range { lower: 2.85, upper: 3.15 });
        assert_eq!(Range::new(0.0, 0.0), Range { lower: -0.5, upper: 0.5 });
        assert_eq!(Range::of([f64::NAN, f64::INFINITY]), Range { lower: 0.0, upper: 1.0 });
        assert_eq!(Range::new(2.0, 1.0), Range { lower: 1.0, upper: 2.0 });
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(0.0), "0");
        assert_eq!(number(-1234.5678), "−1234.6");
        assert_eq!(number(123_456.7), "123,457");
        assert_eq!(number(0.1), "0.1");
        assert_eq!(number(1.5e12), "1.5×10¹²");
        assert_eq!(number(9.99999e-9), "10⁻⁸");
        assert_eq!(number(f64::NEG_INFINITY), "−∞");
        assert_eq!(number(5e-324), "4.9407×10⁻³²⁴");
    }

    proptest! {
        #[test]
        fn any_range_has_ticks_inside_it(a in proptest::num::f64::ANY, b in proptest::num::f64::ANY, target in 2usize..12) {
            let range = Range::new(a, b);
            prop_assert!(range.width() > 0.0 && range.width().is_finite());
            let list = ticks(range, target);
            prop_assert!(list.len() >= 2 && list.len() <= 2 * target + 1, "{range:?} {list:?}");
            let slack = 1e-6 * range.width();
            prop_assert!(list.iter().all(|t| t.value >= range.lower - slack && t.value <= range.upper + slack));
            prop_assert!(list.windows(2).all(|w| w[0].value < w[1].value && w[0].label != w[1].label), "{list:?}");
        }

        #[test]
        fn any_number_has_a_short_text(value in proptest::num::f64::ANY) {
            prop_assert!(number(value).chars().count() <= 14);
        }
    }
}
