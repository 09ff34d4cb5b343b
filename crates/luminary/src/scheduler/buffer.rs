//! A buffer whose length changes from round to round.

use std::ops::{Deref, DerefMut};

/// Numbers that whoever asks for them overwrites. A shorter length keeps what lies beyond it, so that growing again writes
/// nothing: the gradient half of an iteration has few rows, and zeros in the place of all others, written by one thread
/// before the emitters write there, took longer than their sampling.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffer {
    numbers: Vec<f64>,
    len: usize,
}

impl Buffer {
    /// Makes it this long. Its numbers are any that were there before.
    pub(super) fn set_len(&mut self, len: usize) {
        if self.numbers.len() < len {
            self.numbers.resize(len, 0.0);
        }
        self.len = len;
    }
}

impl Deref for Buffer {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.numbers[..self.len]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.numbers[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growing_again_writes_nothing() {
        let mut buffer = Buffer::default();
        buffer.set_len(3);
        buffer.copy_from_slice(&[1.0, 2.0, 3.0]);
        buffer.set_len(1);
        assert_eq!(*buffer, [1.0]);
        buffer.set_len(4);
        assert_eq!(*buffer, [1.0, 2.0, 3.0, 0.0]);
    }
}
