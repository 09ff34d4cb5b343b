//! A small JSON reader that goes through a line once, without building a tree.
//!
//! It is used instead of a general parser because programs in the field write NaN and infinities although JSON has
//! none (Python's `json.dumps` writes `NaN`, JavaScript's `JSON.stringify` writes `null`). Such a number fails one row
//! with a clear cause; with a strict parser it would make the whole answer unreadable.

use std::borrow::Cow;

use crate::text::visible;

/// A result whose error says what was expected where.
pub(super) type Scanned<T> = Result<T, String>;

/// What errors find where nothing is left.
pub(super) const LINE_END: &str = "the end of the line";

/// How deep values nobody asked for may be nested.
const MAX_DEPTH: usize = 64;

/// Characters of a wrong text that an error shows.
const SHOWN: usize = 40;

/// Reads JSON from left to right.
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Scanned<Self> {
        let text = std::str::from_utf8(bytes).map_err(|error| format!("expected UTF-8, found {error}"))?;
        Ok(Self { text, at: 0 })
    }

    /// Reads an object and calls `member` with each key; `member` must read the value.
    pub(super) fn object(&mut self, mut member: impl FnMut(&mut Self, &str) -> Scanned<()>) -> Scanned<()> {
        self.expect(b'{', "an object")?;
        if self.accept(b'}') {
            return Ok(());
        }
        loop {
            let key = self.quoted("a name in double quotes")?;
            self.expect(b':', "`:` after a name")?;
            member(self, &key)?;
            if self.accept(b'}') {
                return Ok(());
            }
            self.expect(b',', "`,` or `}`")?;
        }
    }

    /// Reads an array and calls `element` for each element, which it must read.
    pub(super) fn array(&mut self, mut element: impl FnMut(&mut Self) -> Scanned<()>) -> Scanned<()> {
        self.expect(b'[', "a list")?;
        if self.accept(b']') {
            return Ok(());
        }
        loop {
            element(self)?;
            if self.accept(b']') {
                return Ok(());
            }
            self.expect(b',', "`,` or `]`")?;
            if self.peek() == Some(b']') {
                return Err(self.wrong("a value after the comma"));
            }
        }
    }

    /// Reads a number, correctly rounded. `NaN`, infinities and `null` count as numbers that are not finite. Any other
    /// value is passed over and gives `None`.
    pub(super) fn number(&mut self) -> Scanned<Option<f64>> {
        match self.peek() {
            Some(b'-' | b'0'..=b'9') => self.digits().map(Some),
            Some(b'N' | b'I' | b'n') => self.word().map(Some),
            _ => self.skip().map(|()| None),
        }
    }

    /// Where the next value begins.
    pub(super) fn place(&mut self) -> usize {
        self.peek();
        self.at
    }

    /// What was read since that place, cut and harmless to terminals.
    pub(super) fn read_since(&self, place: usize) -> String {
        let read: String = self.text[place..self.at].chars().take(SHOWN).collect();
        visible(&read)
    }

    /// Reads a string.
    pub(super) fn string(&mut self) -> Scanned<Cow<'a, str>> {
        self.quoted("a string")
    }

    /// Reads a string that stands for something, which an error names.
    fn quoted(&mut self, expected: &str) -> Scanned<Cow<'a, str>> {
        self.expect(b'"', expected)?;
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut escaped = false;
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    let end = self.at;
                    self.at += 1;
                    if !escaped {
                        return Ok(Cow::Borrowed(&self.text[start..end]));
                    }
                    let quoted = &self.text[start - 1..=end];
                    return serde_json::from_str(quoted).map(Cow::Owned).map_err(|_| self.wrong("a string"));
                }
                b'\\' => {
                    escaped = true;
                    self.at += 2;
                }
                0..=0x1f => return Err(self.wrong("a string without control characters")),
                _ => self.at += 1,
            }
        }
        self.at = bytes.len();
        Err(self.wrong("the end of a string"))
    }

    /// Passes over any value.
    pub(super) fn skip(&mut self) -> Scanned<()> {
        self.skip_nested(MAX_DEPTH)
    }

    /// The next byte that is not white space, if any, without reading it.
    pub(super) fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = bytes.get(self.at) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    /// Succeeds if nothing but white space is left.
    pub(super) fn end(&mut self) -> Scanned<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.wrong("the end of the line")),
        }
    }

    fn skip_nested(&mut self, depth: usize) -> Scanned<()> {
        if depth == 0 {
            return Err(format!("expected values nested at most {MAX_DEPTH} deep, found deeper ones"));
        }
        match self.peek() {
            Some(b'{') => self.object(|scanner, _| scanner.skip_nested(depth - 1)),
            Some(b'[') => self.array(|scanner| scanner.skip_nested(depth - 1)),
            Some(b'"') => self.string().map(drop),
            Some(b'-' | b'0'..=b'9') => self.digits().map(drop),
            _ => self.word().map(drop),
        }
    }

    fn digits(&mut self) -> Scanned<f64> {
        let rest = &self.text[self.at..];
        if rest.starts_with("-Infinity") {
            self.at += "-Infinity".len();
            return Ok(f64::NEG_INFINITY);
        }
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        let length = rest.bytes().take_while(|byte| is_part(byte)).count();
        let number = rest[..length].parse().map_err(|_| self.wrong("a number"))?;
        self.at += length;
        Ok(number)
    }

    fn word(&mut self) -> Scanned<f64> {
        const WORDS: [(&str, f64); 5] = [
            ("null", f64::NAN),
            ("NaN", f64::NAN),
            ("Infinity", f64::INFINITY),
            ("true", f64::NAN),
            ("false", f64::NAN),
        ];
        let rest = &self.text[self.at..];
        match WORDS.iter().find(|(word, _)| rest.starts_with(word)) {
            Some((word, value)) => {
                self.at += word.len();
                Ok(*value)
            }
            None => Err(self.wrong("a value")),
        }
    }

    fn expect(&mut self, byte: u8, what: &str) -> Scanned<()> {
        if self.accept(byte) { Ok(()) } else { Err(self.wrong(what)) }
    }

    fn accept(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// An error that shows the text at the current place.
    fn wrong(&self, expected: &str) -> String {
        let rest: String = self.text.get(self.at..).unwrap_or("").chars().take(SHOWN).collect();
        match rest.is_empty() {
            true => format!("expected {expected} at byte {}, found {LINE_END}", self.at),
            false => format!("expected {expected} at byte {}, found {rest:?}", self.at),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn skip_all(bytes: &[u8]) -> Scanned<()> {
        let mut scanner = Scanner::new(bytes)?;
        scanner.skip()?;
        scanner.end()
    }

    fn number(text: &str) -> Scanned<Option<f64>> {
        Scanner::new(text.as_bytes())?.number()
    }

    #[test]
    fn numbers_json_does_not_have_are_read_as_not_finite() {
        assert!(number("NaN").unwrap().unwrap().is_nan());
        assert!(number("null").unwrap().unwrap().is_nan());
        assert_eq!(number("Infinity").unwrap(), Some(f64::INFINITY));
        assert_eq!(number("-Infinity").unwrap(), Some(f64::NEG_INFINITY));
        assert_eq!(number("1e999").unwrap(), Some(f64::INFINITY));
        assert_eq!(number("true").unwrap(), None);
        assert_eq!(number("\"1\"").unwrap(), None);
        assert!(number("-").is_err() && number("1e").is_err() && number("nul").is_err());
    }

    #[test]
    fn errors_say_what_was_expected_and_found() {
        assert_eq!(skip_all(b"[1, oops]").unwrap_err(), "expected a value at byte 4, found \"oops]\"");
        assert_eq!(skip_all(b"{\"a\": 1").unwrap_err(), "expected `,` or `}` at byte 7, found the end of the line");
        assert_eq!(skip_all(b"{'a': 1}").unwrap_err(), "expected a name in double quotes at byte 1, found \"'a': 1}\"");
        assert_eq!(skip_all(b"[1,]").unwrap_err(), "expected a value after the comma at byte 3, found \"]\"");
        assert!(skip_all(b"[\"\xff\"]").unwrap_err().starts_with("expected UTF-8, found"));
    }

    #[test]
    fn deep_nesting_is_an_error_not_a_stack_overflow() {
        assert!(skip_all(&[b'['; 1_000_000]).unwrap_err().contains("nested"));
        let deep = ["[".repeat(MAX_DEPTH - 1), "]".repeat(MAX_DEPTH - 1)].concat();
        assert_eq!(skip_all(deep.as_bytes()), Ok(()));
    }

    #[test]
    fn escapes_are_decoded_and_broken_ones_refused() {
        let read = |text: &str| Scanner::new(text.as_bytes()).unwrap().string().map(Cow::into_owned);
        assert_eq!(read(r#""a\"b\\\u00e9\n""#).unwrap(), "a\"b\\é\n");
        for broken in [r#""\x""#, r#""\ud800""#, r#""abc\"#, r#""abc\""#, "\"a\tb\"", "\"\\é"] {
            assert!(read(broken).is_err(), "{broken}");
        }
    }

    fn any_json() -> impl Strategy<Value = serde_json::Value> {
        let number = any::<f64>().prop_filter("finite", |x| x.is_finite());
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            number.prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<String>().prop_map(Into::into),
        ];
        leaf.prop_recursive(5, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Into::into),
                prop::collection::hash_map(any::<String>(), inner, 0..8)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = skip_all(&bytes);
        }

        #[test]
        fn arbitrary_json_like_text_never_panics(text in r#"[\[\]{}",:\\ 0-9.eE+NaIu"é-]{0,60}"#) {
            let _ = skip_all(text.as_bytes());
        }

        #[test]
        fn what_a_strict_parser_reads_is_read(value in any_json()) {
            prop_assert_eq!(skip_all(serde_json::to_string(&value).unwrap().as_bytes()), Ok(()));
            prop_assert_eq!(skip_all(serde_json::to_string_pretty(&value).unwrap().as_bytes()), Ok(()));
        }

        #[test]
        fn every_finite_number_keeps_its_bits(bits in any::<u64>()) {
            let expected = f64::from_bits(bits);
            prop_assume!(expected.is_finite());
            for text in [serde_json::to_string(&expected).unwrap(), format!("{expected:?}"), format!("{expected:e}")] {
                let found = number(&text).unwrap().unwrap();
                prop_assert_eq!(found.to_bits(), bits, "{}", text);
            }
        }
    }
}
