//! What the words around a program on a host say of it, between what the program itself writes to standard error.
//!
//! They write bytes that texts do not have: 22 (synchronous idle) and a line end every second, and 23 (end of block) with
//! the exit code and a line end when the program has ended. Lines that the program has only begun are left in one piece.

use std::time::{Duration, Instant};

/// A session without a sign of life for this long is lost. That is many times the second between two signs, because hosts
/// and networks may be busy.
pub(super) const SILENCE: Duration = Duration::from_secs(30);

const ALIVE: u8 = 22;
const ENDED: u8 = 23;

/// What is known of a program on a host.
#[derive(Debug, Default)]
pub(super) struct Signs {
    last_sign: Option<Instant>,
    /// The exit code of the program as the shell there has it, and when it came.
    ended: Option<(i32, Instant)>,
    reading: Reading,
}

/// What the next byte belongs to.
#[derive(Debug, Default)]
enum Reading {
    /// The program's own text.
    #[default]
    Text,
    /// The line end of a sign of life.
    LineEnd,
    /// The exit code.
    Code(i32),
}

impl Signs {
    /// Takes the signs out of what came and gives the rest.
    pub(super) fn filter(&mut self, bytes: &[u8], now: Instant) -> Vec<u8> {
        let mut text = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            match (&self.reading, byte) {
                (Reading::LineEnd, b'\n') => self.reading = Reading::Text,
                (Reading::Code(code), b'0'..=b'9') => {
                    self.reading = Reading::Code(code.saturating_mul(10).saturating_add(i32::from(byte - b'0')));
                }
                (Reading::Code(code), b'\n') => {
                    self.ended = Some((*code, now));
                    self.reading = Reading::Text;
                }
                (_, ALIVE) => {
                    self.last_sign = Some(now);
                    self.reading = Reading::LineEnd;
                }
                (_, ENDED) => self.reading = Reading::Code(0),
                (_, byte) => {
                    self.reading = Reading::Text;
                    text.push(byte);
                }
            }
        }
        text
    }

    /// Whether the host was reached.
    pub(super) fn is_connected(&self) -> bool {
        self.last_sign.is_some()
    }

    /// Whether the host was there at this time or later.
    pub(super) fn was_there_at(&self, time: Instant) -> bool {
        self.last_sign.is_some_and(|sign| sign >= time)
    }

    /// Whether a host that was reached has not been heard of for too long.
    pub(super) fn is_silent(&self, now: Instant) -> bool {
        self.last_sign.is_some_and(|sign| now.saturating_duration_since(sign) > SILENCE)
    }

    /// The exit code of the program; nothing as long as nobody has said that it ended.
    pub(super) fn exit_code(&self) -> Option<i32> {
        self.ended.map(|(code, _)| code)
    }

    /// Whether the program has ended at least this long ago.
    pub(super) fn has_ended_for(&self, time: Duration, now: Instant) -> bool {
        self.ended.is_some_and(|(_, at)| now.saturating_duration_since(at) >= time)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn signs_are_taken_out_of_the_text_around_them() {
        let mut signs = Signs::default();
        let now = Instant::now();
        assert!(!signs.is_connected() && !signs.is_silent(now + 2 * SILENCE));
        assert_eq!(signs.filter(b"load\x16\ning\n\x16\x16\nx", now), b"loading\nx");
        assert!(signs.is_connected() && signs.was_there_at(now));
        assert!(signs.is_silent(now + 2 * SILENCE) && !signs.is_silent(now + SILENCE));
        assert_eq!(signs.exit_code(), None);
        assert_eq!(signs.filter(b"bye\x17139\n", now), b"bye");
        assert_eq!(signs.exit_code(), Some(139));
        assert!(signs.has_ended_for(Duration::ZERO, now) && !signs.has_ended_for(SILENCE, now));
    }

    proptest! {
        #[test]
        fn pieces_say_what_their_whole_says(
            pieces in prop::collection::vec(prop::collection::vec(prop_oneof![22_u8..24, Just(b'\n'), any::<u8>()], 0..9), 0..9)
        ) {
            let now = Instant::now();
            let mut whole = Signs::default();
            let text = whole.filter(&pieces.concat(), now);
            let mut cut = Signs::default();
            let texts: Vec<Vec<u8>> = pieces.iter().map(|piece| cut.filter(piece, now)).collect();
            prop_assert_eq!(texts.concat(), text);
            prop_assert_eq!(cut.exit_code(), whole.exit_code());
            prop_assert_eq!(cut.is_connected(), whole.is_connected());
        }
    }
}
