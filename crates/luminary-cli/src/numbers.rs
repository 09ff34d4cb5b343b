//! Numbers for people.

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(value: u64) -> String {
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

/// Something a second, with the digits that matter: `0.047`, `3.2`, `140`, `5,400,000`.
pub(crate) fn rate(value: f64) -> String {
    match value {
        _ if !value.is_finite() => "?".into(),
        0.0 => "0".into(),
        _ if value < 1e-3 => format!("{value:.1e}"),
        _ if value < 0.1 => format!("{value:.3}"),
        _ if value < 1.0 => format!("{value:.2}"),
        _ if value < 10.0 => format!("{value:.1}"),
        _ => grouped(value.round() as u64),
    }
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
pub(crate) fn elapsed(seconds: f64) -> String {
    match seconds {
        _ if seconds < 0.1 => format!("{seconds:.3} s"),
        _ if seconds < 60.0 => format!("{seconds:.2} s"),
        _ => duration(seconds),
    }
}

/// An objective or score: two decimals, or scientific when it is huge or tiny.
pub(crate) fn score(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-2..1e7).contains(&size) { format!("{value:.2}") } else { format!("{value:.3e}") }
}

/// A score that may be missing.
pub(crate) fn maybe_score(value: Option<f64>) -> String {
    value.map_or("none".into(), score)
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
        assert_eq!([0.0, 0.00052, 0.0471, 0.87, 3.21].map(rate), ["0", "5.2e-4", "0.047", "0.87", "3.2"]);
        assert_eq!([9.97, 139.6, 5.4e6, f64::NAN].map(rate), ["10.0", "140", "5,400,000", "?"]);
        assert_eq!([6.6, 187.0, 7509.0, f64::INFINITY].map(duration), ["7 s", "3:07", "2:05:09", "?"]);
        assert_eq!([0.0312, 5.251, 187.0].map(elapsed), ["0.031 s", "5.25 s", "3:07"]);
        assert_eq!([0.0, -2.71, 1e-9, 2.5e9].map(score), ["0.00", "-2.71", "1.000e-9", "2.500e9"]);
        assert_eq!([17, 2048, 3 << 30].map(bytes), ["17 B", "2.0 KiB", "3.0 GiB"]);
    }
}
