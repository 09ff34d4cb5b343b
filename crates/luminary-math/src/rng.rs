//! The random generator of every stream.

use crate::normal::{self, NORMALS, State};
use crate::seed::{SplitMix64, stream_seed};
use crate::{LANES, Level};
use serde::{Deserialize, Serialize};

/// A random generator that makes normal numbers in vectors: eight interleaved xoshiro256++ generators.
///
/// The same sequence of calls gives the same bits on every machine. Words and normals are made in blocks, and what is
/// left of a block waits for the next call, so how normals are split over `fill_normal` and `normal` calls changes
/// nothing, nor does how words are split over calls. Calls of the two kinds share the state: their order matters.
///
/// Serialising keeps everything; a generator that is saved and restored continues with the same bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Saved", try_from = "Saved")]
pub struct WideRng {
    state: State,
    words: Leftovers<u64, LANES>,
    normals: Leftovers<f64, NORMALS>,
}

impl WideRng {
    /// A generator for `seed`. The 32 words of state are successive outputs of SplitMix64, word by word and within a
    /// word lane by lane; the period of 2^256 - 1 makes an overlap of lanes practically impossible.
    pub fn new(seed: u64) -> Self {
        let mut source = SplitMix64(seed);
        let state = std::array::from_fn(|_| std::array::from_fn(|_| source.next()));
        Self { state, words: Leftovers::default(), normals: Leftovers::default() }
    }

    /// The generator of one consumer of a run, such as `"emitter/3/strategy"`: `new(mix(mix(seed) + fnv1a(path)))`, with
    /// the 64-bit FNV-1a hash of the path's UTF-8 bytes and SplitMix64's output function as `mix`.
    ///
    /// Different seeds never give the same stream for a path; different paths do with probability 2^-64.
    pub fn from_path(seed: u64, path: &str) -> Self {
        Self::new(stream_seed(seed, path))
    }

    /// Fills `out` with independent standard normal numbers (no magnitude exceeds 9.42).
    pub fn fill_normal(&mut self, out: &mut [f64]) {
        let n_left = self.normals.take_into(out);
        let (blocks, rest) = out[n_left..].as_chunks_mut::<NORMALS>();
        normal::fill_normal_blocks(Level::best(), &mut self.state, blocks);
        if !rest.is_empty() {
            self.refill_normals();
            self.normals.take_into(rest);
        }
    }

    /// One standard normal number.
    pub fn normal(&mut self) -> f64 {
        loop {
            if let Some(normal) = self.normals.take() {
                return normal;
            }
            self.refill_normals();
        }
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        loop {
            if let Some(word) = self.words.take() {
                return word;
            }
            self.words = Leftovers::full(normal::next_words(&mut self.state));
        }
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
        assert!(n > 0, "below: there is no integer below zero to draw");
        let n = n as u64;
        let mut product = u128::from(self.next_u64()) * u128::from(n);
        if (product as u64) < n {
            // 2^64 mod n products share each high word too many; they are the ones with the smallest low words.
            let n_rejected = n.wrapping_neg() % n;
            while (product as u64) < n_rejected {
                product = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        (product >> 64) as usize
    }

    fn refill_normals(&mut self) {
        let mut block = [0.0; NORMALS];
        normal::fill_normal_blocks(Level::best(), &mut self.state, std::slice::from_mut(&mut block));
        self.normals = Leftovers::full(block);
    }
}

/// The end of a block that no call has taken yet.
#[derive(Clone, Debug)]
struct Leftovers<T, const N: usize> {
    block: [T; N],
    n_taken: usize,
}

impl<T: Copy + Default, const N: usize> Leftovers<T, N> {
    fn full(block: [T; N]) -> Self {
        Self { block, n_taken: 0 }
    }

    /// `items` as the end of a block; `None` if there are more than a block holds.
    fn from_items(items: &[T]) -> Option<Self> {
        let n_taken = N.checked_sub(items.len())?;
        let mut block = [T::default(); N];
        block[n_taken..].copy_from_slice(items);
        Some(Self { block, n_taken })
    }

    fn items(&self) -> &[T] {
        &self.block[self.n_taken..]
    }

    fn take(&mut self) -> Option<T> {
        let item = *self.items().first()?;
        self.n_taken += 1;
        Some(item)
    }

    /// Moves items to the front of `out` and returns how many.
    fn take_into(&mut self, out: &mut [T]) -> usize {
        let n_items = self.items().len().min(out.len());
        out[..n_items].copy_from_slice(&self.items()[..n_items]);
        self.n_taken += n_items;
        n_items
    }
}

impl<T: Copy + Default, const N: usize> Default for Leftovers<T, N> {
    fn default() -> Self {
        Self { block: [T::default(); N], n_taken: N }
    }
}

impl<T: Copy + Default + PartialEq, const N: usize> PartialEq for Leftovers<T, N> {
    fn eq(&self, other: &Self) -> bool {
        self.items() == other.items()
    }
}

/// The serialised form: only what future calls depend on.
#[derive(Serialize, Deserialize)]
struct Saved {
    state: State,
    words: Vec<u64>,
    normals: Vec<f64>,
}

impl From<WideRng> for Saved {
    fn from(rng: WideRng) -> Self {
        Self { state: rng.state, words: rng.words.items().to_vec(), normals: rng.normals.items().to_vec() }
    }
}

impl TryFrom<Saved> for WideRng {
    type Error = String;

    fn try_from(saved: Saved) -> Result<Self, String> {
        for lane in 0..LANES {
            if saved.state.iter().all(|word| word[lane] == 0) {
                return Err(format!("random generator: expected a state other than zero, found zero in lane {lane}"));
            }
        }
        if let Some(bad) = saved.normals.iter().find(|normal| !normal.is_finite()) {
            return Err(format!("random generator: expected finite buffered normals, found {bad}"));
        }
        let too_many = |what: &str, limit: usize, found: usize| {
            format!("random generator: expected at most {limit} buffered {what}, found {found}")
        };
        let words = Leftovers::from_items(&saved.words).ok_or_else(|| too_many("words", LANES, saved.words.len()))?;
        let normals =
            Leftovers::from_items(&saved.normals).ok_or_else(|| too_many("normals", NORMALS, saved.normals.len()))?;
        Ok(Self { state: saved.state, words, normals })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn how_normals_are_split_over_calls_changes_nothing() {
        let mut whole = [0.0; 200];
        WideRng::new(5).fill_normal(&mut whole);
        let mut split = [0.0; 200];
        let mut rng = WideRng::new(5);
        let (a, rest) = split.split_at_mut(3);
        let (b, rest) = rest.split_at_mut(70);
        let (c, d) = rest.split_at_mut(0);
        for part in [a, b, c] {
            rng.fill_normal(part);
        }
        for number in d {
            *number = rng.normal();
        }
        assert_eq!(whole, split);
    }

    #[test]
    fn every_lane_is_the_published_generator() {
        use rand_xoshiro::{
            Xoshiro256PlusPlus,
            rand_core::{Rng, SeedableRng},
        };
        let wide = WideRng::new(9);
        for lane in 0..LANES {
            let bytes: Vec<u8> = wide.state.iter().flat_map(|word| word[lane].to_le_bytes()).collect();
            let mut reference = Xoshiro256PlusPlus::from_seed(bytes.try_into().unwrap());
            let mut copy = wide.clone();
            for step in 0..100 {
                let expected = reference.next_u64();
                let words: Vec<u64> = (0..LANES).map(|_| copy.next_u64()).collect();
                assert_eq!(words[lane], expected, "lane {lane}, step {step}");
            }
        }
    }

    #[test]
    fn refuses_states_that_no_generator_has() {
        let restore = |change: fn(&mut Saved)| {
            let mut saved = Saved::from(WideRng::new(1));
            change(&mut saved);
            WideRng::try_from(saved).unwrap_err()
        };
        assert!(restore(|saved| saved.state.iter_mut().for_each(|word| word[3] = 0)).contains("lane 3"));
        assert!(restore(|saved| saved.words = vec![1; 9]).contains("at most 8 buffered words, found 9"));
        assert!(restore(|saved| saved.normals = vec![1.0; 17]).contains("at most 16 buffered normals, found 17"));
        assert!(restore(|saved| saved.normals = vec![f64::NAN]).contains("found NaN"));
    }

    #[test]
    #[should_panic(expected = "no integer below zero")]
    fn below_zero_is_a_fault_of_the_caller() {
        WideRng::new(1).below(0);
    }

    #[test]
    fn uniform_is_uniform() {
        let mut rng = WideRng::new(2);
        let n = 1_000_000;
        let (mut sum, mut counts) = (0.0, [0.0f64; 64]);
        for _ in 0..n {
            let u = rng.uniform();
            assert!((0.0..1.0).contains(&u));
            sum += u;
            counts[(u * 64.0) as usize] += 1.0;
        }
        let n = f64::from(n);
        assert!((sum / n - 0.5).abs() < 6.0 * (1.0 / (12.0 * n)).sqrt(), "mean {}", sum / n);
        assert!(chi_square(&counts, n) < 63.0 + 6.0 * (2.0 * 63.0f64).sqrt());
    }

    #[test]
    fn below_has_no_favourites() {
        let mut rng = WideRng::new(3);
        for n in [2, 3, 10, 36, 1000] {
            let n_draws = 1000 * n.max(300);
            let mut counts = vec![0.0; n];
            for _ in 0..n_draws {
                counts[rng.below(n)] += 1.0;
            }
            let freedom = (n - 1) as f64;
            let statistic = chi_square(&counts, n_draws as f64);
            assert!(statistic < freedom + 6.0 * (2.0 * freedom).sqrt() + 12.0, "n = {n}: chi-square {statistic}");
        }
    }

    #[test]
    fn below_rejects_what_would_bias_it() {
        // With n = 3 * 2^62 a plain multiplication makes each multiple of 3 twice as likely as the others.
        let mut rng = WideRng::new(4);
        let n_draws = 300_000;
        let mut counts = [0.0; 3];
        for _ in 0..n_draws {
            counts[rng.below(3 << 62) % 3] += 1.0;
        }
        let statistic = chi_square(&counts, f64::from(n_draws));
        assert!(statistic < 40.0, "chi-square {statistic} with 2 degrees of freedom");
    }

    /// Distance from equal counts; its mean is one less than the number of counts.
    fn chi_square(counts: &[f64], n_draws: f64) -> f64 {
        let expected = n_draws / counts.len() as f64;
        counts.iter().map(|count| (count - expected).powi(2) / expected).sum()
    }

    proptest! {
        #[test]
        fn below_stays_below(seed: u64, n in 1..=usize::MAX) {
            let mut rng = WideRng::new(seed);
            for _ in 0..20 {
                prop_assert!(rng.below(n) < n);
            }
        }

        /// Draws of every kind, a save at any moment, and the same future with and without it.
        #[test]
        fn a_restored_generator_continues_with_the_same_bits(seed: u64, draws in prop::collection::vec(0..60usize, 0..20)) {
            let mut rng = WideRng::from_path(seed, "emitter/3/strategy");
            for n in draws {
                future(&mut rng, n);
                let bytes = rmp_serde::to_vec(&rng).unwrap();
                let mut restored: WideRng = rmp_serde::from_slice(&bytes).unwrap();
                prop_assert_eq!(&restored, &rng);
                prop_assert_eq!(future(&mut restored, 57), future(&mut rng.clone(), 57));
            }
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            if let Ok(mut rng) = rmp_serde::from_slice::<WideRng>(&bytes) {
                future(&mut rng, 40);
            }
        }

        /// Damage to a real state, which gets further than plain noise.
        #[test]
        fn damaged_bytes_never_panic(seed: u64, at in 0..300usize, byte: u8) {
            let mut rng = WideRng::new(seed);
            future(&mut rng, 5);
            let mut bytes = rmp_serde::to_vec(&rng).unwrap();
            let at = at % bytes.len();
            bytes[at] = byte;
            if let Ok(mut rng) = rmp_serde::from_slice::<WideRng>(&bytes) {
                future(&mut rng, 40);
            }
        }
    }

    /// The bits of the next draws: a normal or a word for even or odd `n`, then a fill of `n`.
    fn future(rng: &mut WideRng, n: usize) -> Vec<u64> {
        let first = if n.is_multiple_of(2) { rng.normal().to_bits() } else { rng.next_u64() };
        let mut fill = vec![0.0; n];
        rng.fill_normal(&mut fill);
        let rest = fill.iter().map(|normal| normal.to_bits());
        std::iter::once(first).chain(rest).chain([rng.below(n + 1) as u64, rng.uniform().to_bits()]).collect()
    }
}
