//! Numbers for people.

/// `1234567` as `1,234,567`.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// How often something happens, in the largest unit of time in which it does at least once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    /// With the digits that matter: `3.2`, `140`, `5,400,000`.
    pub(crate) count: String,
    /// `s`, `min` or `h`.
    pub(crate) unit: &'static str,
}

/// Something a second as people say it: `3.2` a minute rather than `0.053` a second.
pub(crate) fn rate(per_second: f64) -> Rate {
    let units = [("s", 1.0), ("min", 60.0), ("h", 3600.0)];
    let is_slow = per_second > 0.0 && per_second < 1.0;
    let fits = |(_, seconds): &&(&str, f64)| !is_slow || per_second * seconds >= 1.0;
    let &(unit, seconds) = units.iter().find(fits).unwrap_or(&units[2]);
    let value = per_second * seconds;
    let count = match value {
        _ if !value.is_finite() => "?".into(),
        0.0 => "0".into(),
        _ if value < 1e-2 => format!("{value:.1e}"),
        _ if value < 1.0 => format!("{value:.2}"),
        _ if value < 10.0 => format!("{value:.1}"),
        _ => grouped(value.round() as u64),
    };
    Rate { count, unit }
}

/// Seconds as `7 s`, `3:07` or `2:05:09`.
pub(crate) fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds > 1e9 {
        return "?".into();
    }
    let whole = seconds.max(0.0).round() as u64;
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest} s"),
        (0, _) => format!("{minutes}:{rest:02}"),
        _ => format!("{hours}:{minutes:02}:{rest:02}"),
    }
}

/// Seconds with the digits that matter: `0.031 s`, `5.25 s`, `3:07`.
pub fn elapsed(seconds: f64) -> String {
    match seconds {
        _ if seconds < 0.1 => format!("{seconds:.3} s"),
        _ if seconds < 60.0 => format!("{seconds:.2} s"),
        _ => duration(seconds),
    }
}

/// An objective or score: two decimals, more if it is small, or scientific when it is huge or tiny.
pub fn score(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if !value.is_finite() => value.to_string(),
        0.0 => format!("{value:.2}"),
        _ if (0.1..1e7).contains(&size) => format!("{value:.2}"),
        _ if (1e-2..0.1).contains(&size) => format!("{value:.4}"),
        _ => format!("{value:.3e}"),
    }
}

/// A score among others that lie this far apart, with enough decimals to tell them from each other.
pub(crate) fn score_among(value: f64, range: f64) -> String {
    const MAX_DECIMALS: f64 = 12.0;
    let decimals = 2.0 - range.log10().floor();
    let tells_more = range > 0.0 && range.is_finite() && (1e-2..1e7).contains(&value.abs()) && decimals > 2.0;
    if tells_more { format!("{value:.*}", decimals.min(MAX_DECIMALS) as usize) } else { score(value) }
}

/// The best objective, with enough decimals to tell it from the mean.
pub(crate) fn best_score(best: Option<f64>, mean: Option<f64>) -> String {
    match (best, mean) {
        (Some(best), Some(mean)) => score_among(best, (best - mean).abs()),
        _ => maybe_score(best),
    }
}

/// A score that may be missing.
pub fn maybe_score(value: Option<f64>) -> String {
    value.map_or("none".into(), score)
}

/// A fraction in percent, never rounded to nothing: `0.02 %`, `12 %`.
pub(crate) fn percent(fraction: f64) -> String {
    let value = 100.0 * fraction;
    match value {
        0.0 => "0 %".into(),
        _ if value < 0.01 => "less than 0.01 %".into(),
        _ if value < 1.0 => format!("{value:.2} %"),
        _ => format!("{value:.0} %"),
    }
}

/// Bytes with a unit.
pub(crate) fn bytes(value: u128) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let (mut size, mut unit) = (value as f64, 0);
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{value} B") } else { format!("{size:.1} {}", UNITS[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!([0, 12, 999, 1000, 5_400_000].map(grouped), ["0", "12", "999", "1,000", "5,400,000"]);
        let text = |value| format!("{}/{}", rate(value).count, rate(value).unit);
        assert_eq!([0.0, 0.00052, 0.0471, 0.87, 3.21].map(text), ["0/s", "1.9/h", "2.8/min", "52/min", "3.2/s"]);
        assert_eq!([9.97, 139.6, 5.4e6, f64::NAN].map(text), ["10.0/s", "140/s", "5,400,000/s", "?/s"]);
        assert_eq!([1e-4, 1e-6].map(text), ["0.36/h", "3.6e-3/h"]);
        assert_eq!([6.6, 187.0, 7509.0, f64::INFINITY].map(duration), ["7 s", "3:07", "2:05:09", "?"]);
        assert_eq!([0.0312, 5.251, 187.0].map(elapsed), ["0.031 s", "5.25 s", "3:07"]);
        assert_eq!([0.0, -2.71, 1e-9, 2.5e9].map(score), ["0.00", "-2.71", "1.000e-9", "2.500e9"]);
        assert_eq!([0.0123, -0.5, f64::INFINITY].map(score), ["0.0123", "-0.50", "inf"]);
        assert_eq!(best_score(Some(99.99871), Some(99.99512)), "99.99871");
        assert_eq!(best_score(Some(99.99871), Some(60.0)), "100.00");
        assert_eq!([best_score(Some(2.5), Some(2.5)), best_score(None, None)], ["2.50", "none"]);
        assert_eq!([0.0, 1e-6, 0.0042, 0.5, 1.0].map(percent), ["0 %", "less than 0.01 %", "0.42 %", "50 %", "100 %"]);
        assert_eq!([17, 2048, 3 << 30].map(bytes), ["17 B", "2.0 KiB", "3.0 GiB"]);
    }
}
