//! The random generator of every stream.

use crate::seed::{SplitMix64, stream_seed};
use crate::xoshiro::Xoshiro;
use crate::{LANES, Level, ziggurat};
use serde::{Deserialize, Serialize};

/// A random generator that makes normal numbers in vectors.
///
/// Normals come from eight interleaved xoshiro256++ generators, single words from a ninth one. The same sequence of
/// calls gives the same bits on every machine. Normals are made in blocks of eight, and what is left of a block waits for
/// the next call; so as long as no words are drawn in between, it does not matter how normals are split over calls.
///
/// Serialising keeps everything: a generator that is saved and restored continues with the same bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Saved", try_from = "Saved")]
pub struct WideRng {
    wide: Xoshiro<LANES>,
    /// Serves single words, and the few words that the normals need beyond one each.
    scalar: Xoshiro<1>,
    leftovers: Leftovers,
}

impl WideRng {
    /// A generator for `seed`. The 36 words of state are successive outputs of SplitMix64: the first words of the eight
    /// generators, their second, third and fourth words, then the words of the ninth. In a period of 2^256 - 1 it is
    /// practically impossible that two of them overlap.
    pub fn new(seed: u64) -> Self {
        let mut source = SplitMix64(seed);
        let wide = Xoshiro::from_words(|| source.next());
        let scalar = Xoshiro::from_words(|| source.next());
        Self { wide, scalar, leftovers: Leftovers::default() }
    }

    /// The generator of one consumer of a run, such as `"emitter/3/strategy"`: `new(mix(mix(seed) + fnv1a(path)))`, with
    /// the 64-bit FNV-1a hash of the path's UTF-8 bytes and SplitMix64's output function as `mix`.
    ///
    /// Different seeds never give the same stream for a path; two paths do with probability 2^-64.
    pub fn from_path(seed: u64, path: &str) -> Self {
        Self::new(stream_seed(seed, path))
    }

    /// Fills `out` with independent standard normal numbers. The tails are those of the normal distribution as far as
    /// doubles can tell; no magnitude exceeds 14.
    pub fn fill_normal(&mut self, out: &mut [f64]) {
        self.fill_normal_at(Level::best(), out);
    }

    /// [`fill_normal`](Self::fill_normal) with the instructions of `level`, for tests and measurements: the level never
    /// changes a bit.
    pub fn fill_normal_at(&mut self, level: Level, out: &mut [f64]) {
        let n_left = self.leftovers.take_into(out);
        let (blocks, rest) = out[n_left..].as_chunks_mut::<LANES>();
        ziggurat::fill_blocks(level, &mut self.wide, &mut self.scalar, blocks);
        if !rest.is_empty() {
            self.refill();
            self.leftovers.take_into(rest);
        }
    }

    /// One standard normal number.
    pub fn normal(&mut self) -> f64 {
        if self.leftovers.is_empty() {
            self.refill();
        }
        self.leftovers.take()
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.scalar.next()
    }

    /// A uniform number in [0, 1), on a grid of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A uniform integer below `n`, without bias (Lemire, "Fast Random Integer Generation in an Interval", 2019).
    ///
    /// # Panics
    ///
    /// When `n` is zero.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "below: expected a positive bound, found 0");
        let n = n as u64;
        let mut product = u128::from(self.next_u64()) * u128::from(n);
        if (product as u64) < n {
            // A high word belongs to either floor or ceiling of 2^64 / n products. Dropping the products whose low word
            // is below 2^64 mod n leaves the floor for each.
            let n_dropped = n.wrapping_neg() % n;
            while (product as u64) < n_dropped {
                product = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        (product >> 64) as usize
    }

    fn refill(&mut self) {
        let block = ziggurat::next_block(&mut self.wide, &mut self.scalar);
        self.leftovers = Leftovers { block, n_taken: 0 };
    }
}

/// The end of a block of normals that no call has taken yet.
#[derive(Clone, Debug)]
struct Leftovers {
    block: [f64; LANES],
    n_taken: usize,
}

impl Leftovers {
    fn items(&self) -> &[f64] {
        &self.block[self.n_taken..]
    }

    fn is_empty(&self) -> bool {
        self.n_taken == LANES
    }

    fn take(&mut self) -> f64 {
        self.n_taken += 1;
        self.block[self.n_taken - 1]
    }

    /// Moves items to the front of `out` and returns how many.
    fn take_into(&mut self, out: &mut [f64]) -> usize {
        let n_items = self.items().len().min(out.len());
        out[..n_items].copy_from_slice(&self.items()[..n_items]);
        self.n_taken += n_items;
        n_items
    }
}

impl Default for Leftovers {
    fn default() -> Self {
        Self { block: [0.0; LANES], n_taken: LANES }
    }
}

impl PartialEq for Leftovers {
    fn eq(&self, other: &Self) -> bool {
        self.items() == other.items()
    }
}

/// The serialised form: what future calls depend on.
#[derive(Serialize, Deserialize)]
struct Saved {
    wide: [[u64; LANES]; 4],
    scalar: [u64; 4],
    leftovers: Vec<f64>,
}

impl From<WideRng> for Saved {
    fn from(rng: WideRng) -> Self {
        Self {
            wide: rng.wide.words,
            scalar: rng.scalar.words.map(|[word]| word),
            leftovers: rng.leftovers.items().to_vec(),
        }
    }
}

impl TryFrom<Saved> for WideRng {
    type Error = String;

    fn try_from(saved: Saved) -> Result<Self, String> {
        let wide = Xoshiro { words: saved.wide };
        let scalar = Xoshiro { words: saved.scalar.map(|word| [word]) };
        if wide.stuck_lane().or(scalar.stuck_lane()).is_some() {
            return Err("random generator: expected states other than zero, found one of all zeros".into());
        }
        let n_left = saved.leftovers.len();
        if n_left >= LANES {
            return Err(format!("random generator: expected fewer than {LANES} leftover normals, found {n_left}"));
        }
        if let Some(bad) = saved.leftovers.iter().find(|normal| !normal.is_finite()) {
            return Err(format!("random generator: expected finite leftover normals, found {bad}"));
        }
        let mut leftovers = Leftovers { block: [0.0; LANES], n_taken: LANES - n_left };
        leftovers.block[LANES - n_left..].copy_from_slice(&saved.leftovers);
        Ok(Self { wide, scalar, leftovers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_that_no_generator_has_are_refused() {
        let restore = |change: fn(&mut Saved)| {
            let mut saved = Saved::from(WideRng::new(1));
            change(&mut saved);
            WideRng::try_from(saved).unwrap_err()
        };
        assert!(restore(|saved| saved.wide.iter_mut().for_each(|word| word[3] = 0)).contains("all zeros"));
        assert!(restore(|saved| saved.scalar = [0; 4]).contains("all zeros"));
        assert!(restore(|saved| saved.leftovers = vec![1.0; 8]).contains("fewer than 8 leftover normals, found 8"));
        assert!(restore(|saved| saved.leftovers = vec![f64::NAN]).contains("found NaN"));
    }
}
