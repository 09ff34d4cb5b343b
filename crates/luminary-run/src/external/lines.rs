//! Bounded memory for what a process writes: whole lines of its answers, the last lines of its chatter.

use std::collections::VecDeque;

use crate::text::visible;

/// Collects bytes and hands out whole lines; a line may not be longer than a limit.
pub(super) struct LineBuffer {
    bytes: Vec<u8>,
    /// Where the next line begins.
    start: usize,
    /// Up to here there is no further line end.
    searched: usize,
}

/// A line grew beyond the limit.
#[derive(Debug, PartialEq)]
pub(super) struct LineTooLong;

impl LineBuffer {
    pub(super) fn new() -> Self {
        Self { bytes: Vec::new(), start: 0, searched: 0 }
    }

    /// Adds what was read. Call [`next_line`](Self::next_line) until it has none before adding more.
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole line without its line end, if there is one.
    pub(super) fn next_line(&mut self, limit: usize) -> Result<Option<&[u8]>, LineTooLong> {
        let Some(length) = self.bytes[self.searched..].iter().position(|&byte| byte == b'\n') else {
            self.searched = self.bytes.len();
            return if self.searched - self.start > limit { Err(LineTooLong) } else { Ok(None) };
        };
        let (line_start, line_end) = (self.start, self.searched + length);
        self.start = line_end + 1;
        self.searched = self.start;
        if line_end - line_start > limit {
            return Err(LineTooLong);
        }
        Ok(Some(&self.bytes[line_start..line_end]))
    }

    /// What came after the last line end.
    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

/// Bytes without the mark of byte order that some systems put before text.
pub(super) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Keeps the last lines of a stream, each cut to a fixed length.
pub(super) struct Tail {
    lines: VecDeque<Vec<u8>>,
    /// Whether the last line has had its line end.
    complete: bool,
}

impl Tail {
    const MAX_LINES: usize = 20;
    const MAX_LINE_BYTES: usize = 500;

    pub(super) fn new() -> Self {
        Self { lines: VecDeque::new(), complete: true }
    }

    pub(super) fn extend(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            if self.complete {
                if self.lines.len() == Self::MAX_LINES {
                    self.lines.pop_front();
                }
                self.lines.push_back(Vec::new());
            }
            let line = self.lines.back_mut().expect("a line was begun above or earlier");
            let room = Self::MAX_LINE_BYTES - line.len();
            line.extend_from_slice(&piece[..piece.len().min(room)]);
            self.complete = piece.ends_with(b"\n");
        }
    }

    /// The last lines as text, harmless to terminals.
    pub(super) fn lines(&self) -> Vec<String> {
        self.lines.iter().map(|line| visible(String::from_utf8_lossy(line).trim_end())).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines_of(pieces: &[&[u8]], limit: usize) -> Result<Vec<Vec<u8>>, LineTooLong> {
        let mut buffer = LineBuffer::new();
        let mut lines = Vec::new();
        for piece in pieces {
            buffer.extend(piece);
            while let Some(line) = buffer.next_line(limit)? {
                lines.push(line.to_vec());
            }
        }
        Ok(lines)
    }

    #[test]
    fn lines_are_whole_wherever_the_pieces_are_cut() {
        let expected = vec![b"one".to_vec(), b"".to_vec(), b"two".to_vec()];
        assert_eq!(lines_of(&[b"one\n\ntwo\nrest"], 10).unwrap(), expected);
        assert_eq!(lines_of(&[b"o", b"ne", b"\n\nt", b"wo\n", b"rest"], 10).unwrap(), expected);
    }

    #[test]
    fn a_line_beyond_the_limit_is_refused_with_and_without_its_end() {
        assert_eq!(lines_of(&[b"12345\n"], 5).unwrap(), [b"12345"]);
        assert_eq!(lines_of(&[b"123456\n"], 5), Err(LineTooLong));
        assert_eq!(lines_of(&[b"123", b"456"], 5), Err(LineTooLong));
    }

    #[test]
    fn the_tail_keeps_the_last_lines_cut_to_length() {
        let mut tail = Tail::new();
        for line in 0..100 {
            tail.extend(format!("line {line}\n").as_bytes());
        }
        tail.extend(&[b'x'; 2000]);
        tail.extend(&[b'y'; 2000]);
        let lines = tail.lines();
        assert_eq!((lines.len(), lines[0].as_str()), (Tail::MAX_LINES, "line 81"));
        assert_eq!(lines.last().unwrap(), &"x".repeat(Tail::MAX_LINE_BYTES));
    }

    proptest! {
        #[test]
        fn any_pieces_give_the_lines_of_their_whole(pieces in prop::collection::vec(prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..40), 0..20)) {
            let refs: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            let whole = pieces.concat();
            let mut expected: Vec<Vec<u8>> = whole.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
            expected.pop();
            prop_assert_eq!(lines_of(&refs, usize::MAX).unwrap(), expected);
            let mut tail = Tail::new();
            refs.iter().for_each(|piece| tail.extend(piece));
            prop_assert!(tail.lines.len() <= Tail::MAX_LINES);
            prop_assert!(tail.lines.iter().all(|line| line.len() <= Tail::MAX_LINE_BYTES));
        }
    }
}
