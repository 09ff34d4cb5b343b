//! xoshiro256++ (Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators", 2021), N generators at a time.

/// N independent generators that step together, laid out so that one vector operation serves all of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Xoshiro<const N: usize> {
    /// `words[k][lane]` is word k of the state of a lane.
    pub(crate) words: [[u64; N]; 4],
}

impl<const N: usize> Xoshiro<N> {
    /// Takes the state from `next_word`: the first word of every lane, then the second words, and so on.
    pub(crate) fn from_words(mut next_word: impl FnMut() -> u64) -> Self {
        Self { words: std::array::from_fn(|_| std::array::from_fn(|_| next_word())) }
    }

    /// One output of every lane.
    #[inline(always)]
    pub(crate) fn step(&mut self) -> [u64; N] {
        let [s0, s1, s2, s3] = &mut self.words;
        let mut outputs = [0; N];
        for lane in 0..N {
            outputs[lane] = s0[lane].wrapping_add(s3[lane]).rotate_left(23).wrapping_add(s0[lane]);
            let shifted = s1[lane] << 17;
            s2[lane] ^= s0[lane];
            s3[lane] ^= s1[lane];
            s1[lane] ^= s2[lane];
            s0[lane] ^= s3[lane];
            s2[lane] ^= shifted;
            s3[lane] = s3[lane].rotate_left(45);
        }
        outputs
    }

    /// The first lane whose state is all zeros, if any. Such a lane would output zeros for ever.
    pub(crate) fn stuck_lane(&self) -> Option<usize> {
        (0..N).find(|lane| self.words.iter().all(|word| word[*lane] == 0))
    }
}

impl Xoshiro<1> {
    /// The next output of the only lane.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> u64 {
        self.step()[0]
    }

    /// A uniform number in (0, 1], on a grid of 2^-64 as far as doubles are that fine.
    pub(crate) fn positive_unit(&mut self) -> f64 {
        const TWO_POW_MINUS_64: f64 = f64::from_bits((1023 - 64) << 52);
        (self.next() | 1) as f64 * TWO_POW_MINUS_64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::SplitMix64;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    #[test]
    fn every_lane_is_the_published_generator() {
        let mut source = SplitMix64(9);
        let mut wide = Xoshiro::<8>::from_words(|| source.next());
        let mut references: [Xoshiro256PlusPlus; 8] = std::array::from_fn(|lane| {
            let seed: Vec<u8> = wide.words.iter().flat_map(|word| word[lane].to_le_bytes()).collect();
            Xoshiro256PlusPlus::from_seed(seed.try_into().unwrap())
        });
        for _ in 0..1000 {
            assert_eq!(wide.step(), references.each_mut().map(|reference| reference.next_u64()));
        }
    }

    #[test]
    fn a_stuck_lane_is_found() {
        let mut generators = Xoshiro::<3> { words: [[1, 0, 1], [0; 3], [0; 3], [0, 7, 0]] };
        assert_eq!(generators.stuck_lane(), None);
        generators.words[3][1] = 0;
        assert_eq!(generators.stuck_lane(), Some(1));
    }
}
