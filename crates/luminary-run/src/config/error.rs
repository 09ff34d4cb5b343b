//! A mistake in a configuration: where it is, what was expected there and what was found.

use std::fmt;
use std::ops::Range;

use super::tree::{Place, Source, Value};

/// A configuration that cannot be used. Boxed, so that results stay small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFileError(pub Box<Mistake>);

/// A mistake in a configuration and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The file's name, or the flag that gave the value.
    pub origin: String,
    /// Line and column, counted from one, if the value is in a file.
    pub position: Option<(usize, usize)>,
    /// Dotted path of the key; empty for a mistake in the syntax.
    pub key: String,
    /// What should be there.
    pub expected: String,
    /// What is there.
    pub found: String,
    /// A hint, such as a key with a similar name.
    pub help: Option<String>,
    /// The line with the mistake, and its bytes within the line.
    excerpt: Option<(String, Range<usize>)>,
}

impl std::error::Error for ConfigFileError {}

impl fmt::Display for ConfigFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.origin)?;
        if let Some((line, column)) = self.position {
            write!(f, ":{line}:{column}")?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        write!(f, ": expected {}, found {}", self.expected, self.found)?;
        if let (Some((line, _)), Some((text, marked))) = (self.position, &self.excerpt) {
            let number = line.to_string();
            let gutter = " ".repeat(number.len());
            // Tabs keep their width in the line of marks.
            let before = text[..marked.start].chars().map(|c| if c == '\t' { '\t' } else { ' ' });
            let marks = "^".repeat(text[marked.clone()].chars().count().max(1));
            write!(f, "\n{gutter} |\n{number} | {text}\n{gutter} | {}{marks}", before.collect::<String>())?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

impl ConfigFileError {
    /// A file that is not TOML.
    pub(super) fn syntax(source: Source<'_>, span: Range<usize>, message: String) -> Self {
        Fault::new(Place::File(span), "", "valid TOML", Found::Text(format!("a mistake: {message}")))
            .locate(Some(source))
    }
}

/// A mistake before it is known which file its place is in.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    place: Option<Place>,
    key: String,
    expected: String,
    found: Found,
    help: Option<String>,
}

/// What is there instead.
#[derive(Clone, Debug)]
pub(super) enum Found {
    Text(String),
    Nothing,
}

impl From<&Value> for Found {
    fn from(value: &Value) -> Self {
        Self::Text(value.describe())
    }
}

impl Fault {
    pub(super) fn new(place: Place, key: &str, expected: &str, found: Found) -> Self {
        Self { place: Some(place), key: key.into(), expected: expected.into(), found, help: None }
    }

    /// A key that should be there.
    pub(super) fn missing(key: &str, expected: &str) -> Self {
        Self { place: None, key: key.into(), expected: expected.into(), found: Found::Nothing, help: None }
    }

    /// A value whose place is not known.
    pub(super) fn without_place(key: &str, expected: &str, found: String) -> Self {
        Self { found: Found::Text(found), ..Self::missing(key, expected) }
    }

    pub(super) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Looks the place up in the file.
    pub(super) fn locate(self, source: Option<Source<'_>>) -> ConfigFileError {
        let (origin, position, excerpt) = match (self.place, source) {
            (Some(Place::Flag(flag)), _) => (flag, None, None),
            (Some(Place::File(span)), Some(source)) => {
                let (position, excerpt) = locate(source.text, span);
                (source.name.to_owned(), Some(position), Some(excerpt))
            }
            (_, Some(source)) => (source.name.to_owned(), None, None),
            (_, None) => ("command line".to_owned(), None, None),
        };
        let found = match self.found {
            Found::Text(text) => text,
            Found::Nothing => "nothing".into(),
        };
        let (key, expected, help) = (self.key, self.expected, self.help);
        ConfigFileError(Box::new(Mistake { origin, position, key, expected, found, help, excerpt }))
    }
}

/// Line and column of a span, and the part of it that is on its first line.
fn locate(text: &str, span: Range<usize>) -> ((usize, usize), (String, Range<usize>)) {
    let mut start = span.start.min(text.len());
    // A missing value at the end of a line has its span at the start of the next: point at the end of the line.
    if start == text.len() && text.ends_with('\n') {
        start -= 1;
    }
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[line_start..].lines().next().unwrap_or_default();
    let mut from = (start - line_start).min(line.len());
    let mut to = span.end.saturating_sub(line_start).clamp(from, line.len());
    while !line.is_char_boundary(from) {
        from -= 1;
    }
    while !line.is_char_boundary(to) {
        to += 1;
    }
    let line_number = text[..line_start].matches('\n').count() + 1;
    let column = line[..from].chars().count() + 1;
    ((line_number, column), shorten(line, from..to))
}

/// Long lines are cut so that an error stays readable.
fn shorten(line: &str, marked: Range<usize>) -> (String, Range<usize>) {
    const MAX: usize = 160;
    if line.len() <= MAX {
        return (line.to_owned(), marked);
    }
    let floor = |mut at: usize| {
        while !line.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = floor(marked.start.saturating_sub(MAX / 4));
    let end = floor((start + MAX).min(line.len()));
    (line[start..end].to_owned(), marked.start - start..(marked.end.min(end) - start).max(marked.start - start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_characters_and_never_split_one() {
        let text = "a = 1\nü = \"ö\"\n";
        let ((line, column), (excerpt, marked)) = locate(text, 11..15);
        assert_eq!((line, column, excerpt.as_str(), &excerpt[marked]), (2, 5, "ü = \"ö\"", "\"ö\""));
        for start in 0..=text.len() + 2 {
            for end in 0..=text.len() + 2 {
                locate(text, start..end);
            }
        }
    }

    #[test]
    fn long_lines_are_cut_around_the_mistake() {
        let line = format!("{}x{}", "ä".repeat(300), "b".repeat(300));
        let (_, (excerpt, marked)) = locate(&line, 600..601);
        assert!(excerpt.len() <= 160);
        assert_eq!(&excerpt[marked], "x");
    }
}
