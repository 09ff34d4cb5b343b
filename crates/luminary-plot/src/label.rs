//! Text that fits its room: smaller, then in two lines, and cut only after that.

use crate::font::{self, Weight};

/// How small text may become before it is broken into lines.
const SMALLEST: f64 = 0.7;

/// A text as it is drawn.
pub(crate) struct Label {
    /// One or two lines.
    pub(crate) lines: Vec<String>,
    /// Size of the letters.
    pub(crate) size: f64,
    /// The whole text if the lines leave some of it out.
    pub(crate) cut_from: Option<String>,
}

impl Label {
    /// Two lines at the smallest size are hardly higher than one at full size, so that the room stays the same.
    pub(crate) fn of(text: &str, size: f64, weight: Weight, max_width: f64) -> Self {
        let width = font::text_width(text, size, weight);
        if width <= max_width * 1.000_001 {
            return Self { lines: vec![text.to_string()], size, cut_from: None };
        }
        let shrunk = size * (max_width / width).max(SMALLEST);
        let lines = font::lines(text, shrunk, weight, max_width * 1.000_001, 2);
        let is_cut = lines.last().is_some_and(|line| line.ends_with('…')) && !text.ends_with('…');
        Self { lines, size: shrunk, cut_from: is_cut.then(|| text.to_string()) }
    }

    /// How far the baseline of each line lies below that of a single line at full size, if all share its middle.
    pub(crate) fn shifts(&self, full_size: f64) -> impl Iterator<Item = f64> {
        let line_height = 1.15 * self.size;
        // Half the height of small letters, about which a line looks centred.
        let middle = 0.36 * (self.size - full_size);
        let first = middle - (self.lines.len() as f64 - 1.0) / 2.0 * line_height;
        (0..self.lines.len()).map(move |i| first + i as f64 * line_height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_shrinks_then_breaks_and_is_cut_last() {
        let text = "mean height of the centre of mass";
        let full = font::text_width(text, 10.0, Weight::Regular);
        let label = |share: f64| Label::of(text, 10.0, Weight::Regular, share * full);
        assert_eq!((label(1.0).lines.len(), label(1.0).size), (1, 10.0));
        assert_eq!((label(0.8).lines.len(), label(0.8).size), (1, 8.0));
        assert_eq!(label(0.5).lines, ["mean height of the", "centre of mass"]);
        assert!(label(0.5).cut_from.is_none());
        assert_eq!(label(0.2).cut_from.as_deref(), Some(text));
    }

    #[test]
    fn two_lines_take_hardly_more_room_than_one() {
        let label = Label::of("a rather long name of a measure", 10.0, Weight::Regular, 90.0);
        let shifts: Vec<f64> = label.shifts(10.0).collect();
        assert_eq!(shifts.len(), 2);
        assert!(shifts[0] > -6.0 && shifts[1] < 4.0, "{shifts:?}");
    }
}
