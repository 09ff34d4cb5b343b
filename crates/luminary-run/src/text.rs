//! Texts of other programs, made harmless.

/// A text from outside with its control characters spelled out: raw ones could clear the screen, rename the window or
/// fill the clipboard of whoever reads it.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => shown.push(c),
            c if c.is_control() || is_direction(c) => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}

/// Marks that turn the direction of what follows, with which a text can look like another, and the byte order mark, which cannot
/// be seen at all.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{feff}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_spelled_out() {
        assert_eq!(visible("a\tb \u{1b}[2J\u{7}é\r\n"), "a\tb \\u{1b}[2J\\u{7}é\\r\\n");
        assert_eq!(visible("\u{9b}\u{202e}"), "\\u{9b}\\u{202e}");
    }
}
