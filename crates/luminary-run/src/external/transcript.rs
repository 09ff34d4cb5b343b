//! What Luminary and a worker said to each other, for whoever looks for a mistake in an evaluator.

use std::sync::{Arc, Mutex, PoisonError};

use super::report::cut;
use crate::text::visible;

/// Entries that are kept; a conversation that is looked at by people is short.
const MAX_ENTRIES: usize = 20;

/// A record of a conversation. Copies of it are the same record.
#[derive(Clone, Debug, Default)]
pub struct Transcript(Arc<Mutex<Record>>);

#[derive(Debug, Default)]
struct Record {
    entries: Vec<Entry>,
    errors: Vec<String>,
}

/// One thing that was said, cut to 500 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// By Luminary: a line, or the parameter file.
    Sent(String),
    /// By the evaluator: a line, or the result file.
    Received(String),
}

impl Transcript {
    /// What was said, in order; the first 20 entries.
    pub fn entries(&self) -> Vec<Entry> {
        self.with(|record| record.entries.clone())
    }

    /// The last lines that the evaluator wrote to standard error (and standard output, in the files protocol).
    pub fn errors(&self) -> Vec<String> {
        self.with(|record| record.errors.clone())
    }

    pub(super) fn sent(&self, bytes: &[u8]) {
        self.push(Entry::Sent(shown(bytes)));
    }

    pub(super) fn received(&self, bytes: &[u8]) {
        self.push(Entry::Received(shown(bytes)));
    }

    pub(super) fn set_errors(&self, lines: Vec<String>) {
        self.with(|record| record.errors = lines);
    }

    fn push(&self, entry: Entry) {
        self.with(|record| {
            if record.entries.len() < MAX_ENTRIES {
                record.entries.push(entry);
            }
        });
    }

    fn with<T>(&self, act: impl FnOnce(&mut Record) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Bytes as text that a terminal shows as it is: control characters could move its cursor or change its colours.
fn shown(bytes: &[u8]) -> String {
    // Four bytes are the longest character.
    const MAX_BYTES: usize = 4 * 501;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_BYTES)]);
    visible(&cut(text.trim_end_matches(['\n', '\r'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_short_and_harmless() {
        let transcript = Transcript::default();
        transcript.sent(b"{\"id\":1}\n");
        transcript.received(b"\x1b[2Jhello\r\n");
        transcript.received(&[b'x'; 100_000]);
        (0..100).for_each(|_| transcript.sent(b"more"));
        let entries = transcript.entries();
        assert_eq!(entries.len(), MAX_ENTRIES);
        assert_eq!(entries[0], Entry::Sent("{\"id\":1}".into()));
        assert_eq!(entries[1], Entry::Received("\\u{1b}[2Jhello".into()));
        assert!(matches!(&entries[2], Entry::Received(text) if text.len() == 504 && text.ends_with(" ...")));
    }
}
