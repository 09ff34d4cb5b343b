//! The embedded font: how wide text is, and text cut to fit.

use std::sync::OnceLock;

use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};

/// The regular weight; a subset of Inter, see `assets/fonts/README.md` for its licence.
pub const REGULAR: &[u8] = include_bytes!("../assets/fonts/luminary-sans-regular.otf");

/// The semi-bold weight.
pub const SEMIBOLD: &[u8] = include_bytes!("../assets/fonts/luminary-sans-semibold.otf");

/// The family as SVG attribute: the embedded font, then what comes closest to it on a reader's machine.
pub(crate) const FAMILY: &str = "Luminary Sans, Inter, Helvetica Neue, Arial, Liberation Sans, sans-serif";

/// Weight of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    Semibold,
}

/// The width of a line of text in pixels, without kerning.
pub(crate) fn text_width(text: &str, size: f64, weight: Weight) -> f64 {
    let widths = widths(weight);
    // Characters outside the table are drawn with the reader's fonts; one em is enough room for nearly all of them.
    let ems: f64 = text.chars().map(|c| widths.get(c as usize).copied().filter(|&w| w > 0.0).unwrap_or(1.0)).sum();
    ems * size
}

/// The text, or as much of its beginning as fits into `max_width` with an ellipsis.
pub(crate) fn fit(text: &str, size: f64, weight: Weight, max_width: f64) -> String {
    if text_width(text, size, weight) <= max_width {
        return text.to_string();
    }
    let room = max_width - text_width("…", size, weight);
    let mut kept = String::new();
    let mut used = 0.0;
    for c in text.chars() {
        used += text_width(c.encode_utf8(&mut [0; 4]), size, weight);
        if used > room {
            break;
        }
        kept.push(c);
    }
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

/// The text in at most `max_lines` lines that are no wider than `max_width`, broken between words where possible; the last
/// line is cut if it must be.
pub(crate) fn lines(text: &str, size: f64, weight: Weight, max_width: f64, max_lines: usize) -> Vec<String> {
    let mut rest = text;
    let mut lines = Vec::new();
    while lines.len() + 1 < max_lines && text_width(rest, size, weight) > max_width {
        let (line, after) = rest.split_at(break_after(rest, size, weight, max_width));
        lines.push(line.trim_end().to_string());
        rest = after.trim_start();
    }
    lines.push(fit(rest, size, weight, max_width));
    lines
}

/// How many bytes of a text that is too wide stand on its first line, at least one character.
fn break_after(text: &str, size: f64, weight: Weight, max_width: f64) -> usize {
    let mut used = 0.0;
    let mut after_word = 0;
    for (start, c) in text.char_indices() {
        let end = start + c.len_utf8();
        used += text_width(&text[start..end], size, weight);
        // A space at the end of a line needs no room.
        if used > max_width && !c.is_whitespace() {
            return if after_word > 0 { after_word } else { start.max(text.chars().next().map_or(0, char::len_utf8)) };
        }
        if c.is_whitespace() || matches!(c, '_' | '-' | '/' | ',') {
            after_word = end;
        }
    }
    text.len()
}

/// Advance widths in ems of the characters below U+2600; zero where the font has no glyph.
fn widths(weight: Weight) -> &'static [f64] {
    static TABLES: [OnceLock<Vec<f64>>; 2] = [OnceLock::new(), OnceLock::new()];
    let (table, data) = match weight {
        Weight::Regular => (&TABLES[0], REGULAR),
        Weight::Semibold => (&TABLES[1], SEMIBOLD),
    };
    table.get_or_init(|| {
        let font = FontRef::new(data).expect("the embedded font is valid");
        let metrics = font.glyph_metrics(Size::new(1.0), LocationRef::default());
        let charmap = font.charmap();
        (0..0x2600u32)
            .map(|c| charmap.map(c).and_then(|glyph| metrics.advance_width(glyph)).map_or(0.0, f64::from))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_follow_the_glyphs() {
        assert!(text_width("WWW", 10.0, Weight::Regular) > 2.0 * text_width("iii", 10.0, Weight::Regular));
        assert!(text_width("text", 10.0, Weight::Semibold) > text_width("text", 10.0, Weight::Regular));
        assert_eq!(text_width("ab", 20.0, Weight::Regular), 2.0 * text_width("ab", 10.0, Weight::Regular));
    }

    #[test]
    fn long_text_is_cut_with_an_ellipsis() {
        let cut = fit(&"measure ".repeat(100), 12.0, Weight::Regular, 100.0);
        assert!(cut.ends_with('…') && text_width(&cut, 12.0, Weight::Regular) <= 100.0, "{cut}");
        assert!(cut.starts_with("measure m"));
        assert_eq!(fit("short", 12.0, Weight::Regular, 100.0), "short");
    }

    #[test]
    fn lines_break_between_words_or_anywhere() {
        let broken = |text: &str, width: f64| lines(text, 10.0, Weight::Regular, width, 3);
        assert_eq!(broken("one two three", 45.0), ["one two", "three"]);
        assert_eq!(broken("snake_case_name", 60.0), ["snake_case_", "name"]);
        assert_eq!(broken("short", 60.0), ["short"]);
        let without_gaps = broken(&"W".repeat(60), 100.0);
        assert!(without_gaps.len() == 3 && without_gaps[2].ends_with('…'), "{without_gaps:?}");
    }

    #[test]
    fn labels_we_write_ourselves_have_glyphs() {
        for c in "0123456789−×⁰¹²³⁴⁵⁶⁷⁸⁹⁻,.%αfμ≥∞…·→←±".chars() {
            for weight in [Weight::Regular, Weight::Semibold] {
                assert!(widths(weight)[c as usize] > 0.0, "no glyph for {c}");
            }
        }
    }
}
