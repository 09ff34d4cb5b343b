//! Changes of inputs, by chance.

/// What programs stumble over.
const TOKENS: [&str; 40] = [
    "0",
    "-1",
    "1e308",
    "-1e309",
    "1e-320",
    "NaN",
    "inf",
    "-inf",
    "18446744073709551615",
    "9223372036854775808",
    "4294967296",
    "0.1",
    "null",
    "true",
    "\"\"",
    "[]",
    "{}",
    "[[",
    "]]",
    "{\"",
    "\":",
    ",",
    "\n",
    "\r\n",
    "\0",
    "\u{1b}[2J",
    "\\ud800",
    "\\u0000",
    "=",
    "#",
    "'",
    "[run]",
    "[archive]",
    "1_000",
    "0x10",
    "é",
    "\u{feff}",
    "..",
    "/",
    " ",
];
/// Bytes at the edges of what a byte can mean.
const BYTES: [u8; 10] = [0x00, 0x01, 0x7f, 0x80, 0xc0, 0xca, 0xcf, 0xd9, 0xde, 0xff];
/// No input is longer.
const MAX_LENGTH: usize = 1 << 16;

/// Makes new inputs from old ones.
pub(super) struct Mutator {
    state: u64,
}

impl Mutator {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// One of the inputs with a few changes.
    pub(super) fn change(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut input = corpus[self.below(corpus.len())].clone();
        for _ in 0..=self.below(4) {
            self.change_once(&mut input, corpus);
        }
        input.truncate(MAX_LENGTH);
        input
    }

    fn change_once(&mut self, input: &mut Vec<u8>, corpus: &[Vec<u8>]) {
        let at = self.below(input.len() + 1);
        let end = at + self.below(32).min(input.len() - at);
        match self.below(9) {
            0 if at < input.len() => input[at] ^= 1_u8 << self.below(8),
            1 if at < input.len() => input[at] = BYTES[self.below(BYTES.len())],
            2 => drop(input.drain(at..end)),
            3 => {
                let part = input[at..end].to_vec();
                let place = self.below(input.len() + 1);
                input.splice(place..place, part);
            }
            4 => drop(input.splice(at..at, TOKENS[self.below(TOKENS.len())].bytes())),
            5 => self.change_number(input, at),
            6 => input.truncate(at),
            7 => {
                let other = &corpus[self.below(corpus.len())];
                let from = self.below(other.len() + 1);
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            _ if at + 8 <= input.len() => {
                let number = [u64::MAX, 0, 1 << 31, 1 << 63, f64::NAN.to_bits(), f64::MAX.to_bits()][self.below(6)];
                input[at..at + 8].copy_from_slice(&number.to_be_bytes());
            }
            _ => {}
        }
    }

    /// Puts another number, or something that is none, in the place of the next digits.
    fn change_number(&mut self, input: &mut Vec<u8>, at: usize) {
        let Some(start) = input[at..].iter().position(u8::is_ascii_digit).map(|offset| at + offset) else { return };
        let n_digits = input[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let token = TOKENS[self.below(16)];
        input.splice(start..start + n_digits, token.bytes());
    }

    /// A number below `end`, by splitmix64.
    fn below(&mut self, end: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}
