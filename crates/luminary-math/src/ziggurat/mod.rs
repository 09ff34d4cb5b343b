//! Standard normal numbers by the ziggurat method (Marsaglia and Tsang, "The Ziggurat Method for Generating Random
//! Variables", 2000), eight at a time.
//!
//! One word makes one candidate: its low bits choose a layer of the table, its high bits a position in the layer.
//! Candidates are made in vectors; 99.6 % of them are normals already. The others are noted and finished afterwards, one
//! by one, with words from a generator of their own. So the order in which words are used depends on the numbers only,
//! not on the vector width nor on how many blocks are filled at once.

mod table;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::dispatch::LevelKind;
use crate::log::ln_normal;
use crate::xoshiro::Xoshiro;
use crate::{LANES, Level};
use table::{LAYERS, R, TABLE, Table};

/// Fills whole blocks with independent standard normals: candidates come from `wide`, whatever finishing a rejected one
/// takes comes from `spare`.
pub(crate) fn fill_blocks(
    level: Level,
    wide: &mut Xoshiro<LANES>,
    spare: &mut Xoshiro<1>,
    blocks: &mut [[f64; LANES]],
) {
    let table = &*TABLE;
    let mut words = [Words([0; LANES]); CHUNK];
    let mut rejects = Rejects::new();
    for chunk in blocks.chunks_mut(CHUNK) {
        let words = &mut words[..chunk.len()];
        rejects.n = 0;
        match level.kind() {
            LevelKind::Baseline => {
                words.iter_mut().for_each(|words| words.0 = wide.step());
                candidates(table, words, chunk, &mut rejects);
            }
            // SAFETY: a `Level` of this kind exists only where the processor has the features.
            #[cfg(target_arch = "x86_64")]
            LevelKind::Avx2 => unsafe {
                x86::words_avx2(wide, words);
                x86::candidates_avx2(table, words, chunk, &mut rejects);
            },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            LevelKind::Avx512 => unsafe {
                x86::words_avx512(wide, words);
                x86::candidates_avx512(table, words, chunk, &mut rejects);
            },
        }
        for entry in 0..rejects.n {
            let i = usize::from(rejects.blocks[entry]);
            let mut lanes = rejects.lanes[entry];
            while lanes != 0 {
                let lane = lanes.trailing_zeros() as usize;
                chunk[i][lane] = finish(table, words[i].0[lane], spare);
                lanes &= lanes - 1;
            }
        }
    }
}

/// The next block alone, without vectors: the same bits as [`fill_blocks`].
pub(crate) fn next_block(wide: &mut Xoshiro<LANES>, spare: &mut Xoshiro<1>) -> [f64; LANES] {
    wide.step().map(|word| finish(&TABLE, word, spare))
}

/// How many blocks are made before their rejects are finished: enough to keep branches out of the vector loop, and few
/// enough to stay in the first cache.
const CHUNK: usize = 64;

/// The words behind a block, aligned to be written and read as one vector.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Words([u64; LANES]);

/// The blocks of a chunk that hold rejected candidates: the first `n` entries of each array.
struct Rejects {
    blocks: [u8; CHUNK],
    /// The rejected lanes, as bits.
    lanes: [u8; CHUNK],
    n: usize,
}

impl Rejects {
    fn new() -> Self {
        Self { blocks: [0; CHUNK], lanes: [0; CHUNK], n: 0 }
    }

    /// Notes a block if any of its lanes is rejected. Without a branch, which would be mispredicted too often: the entry
    /// of an accepted block is overwritten by the next. There are at most as many calls as entries.
    #[inline(always)]
    fn push(&mut self, block: usize, lanes: u8) {
        let entry = self.n % CHUNK;
        self.blocks[entry] = block as u8;
        self.lanes[entry] = lanes;
        self.n += usize::from(lanes != 0);
    }
}

/// One candidate in every lane of every block, without vector instructions of its own.
fn candidates(table: &Table, words: &[Words], chunk: &mut [[f64; LANES]], rejects: &mut Rejects) {
    for (i, (block, words)) in chunk.iter_mut().zip(words).enumerate() {
        let mut rejected = 0;
        for lane in 0..LANES {
            let (layer, x) = candidate(table, words.0[lane]);
            block[lane] = x;
            rejected |= u8::from(x.abs() >= table.x[layer + 1]) << lane;
        }
        rejects.push(i, rejected);
    }
}

/// The layer of a word and its abscissa there: 10 low bits and 52 high bits.
#[inline(always)]
fn candidate(table: &Table, word: u64) -> (usize, f64) {
    let layer = word as usize % LAYERS;
    let position = f64::from_bits(2.0f64.to_bits() | word >> 12) - 3.0; // in [-1, 1)
    (layer, position * table.x[layer])
}

/// Turns a word into a normal: its candidate, or what becomes of it when rejected.
fn finish(table: &Table, mut word: u64, spare: &mut Xoshiro<1>) -> f64 {
    loop {
        let (layer, x) = candidate(table, word);
        if x.abs() < table.x[layer + 1] {
            return x;
        }
        if layer == 0 {
            return tail(spare).copysign(x);
        }
        // A point of the layer beside the one above: it counts when it lies below the curve, y < exp(-x^2 / 2).
        let y = table.f[layer] + (table.f[layer + 1] - table.f[layer]) * spare.positive_unit();
        if ln_normal(y) < -0.5 * x * x {
            return x;
        }
        word = spare.next();
    }
}

/// A normal beyond R (Marsaglia, "Generating a Variable from the Tail of the Normal Distribution", 1964).
fn tail(spare: &mut Xoshiro<1>) -> f64 {
    loop {
        let x = -ln_normal(spare.positive_unit()) / R;
        let y = -ln_normal(spare.positive_unit());
        if 2.0 * y > x * x {
            return R + x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::SplitMix64;

    fn generators() -> (Xoshiro<LANES>, Xoshiro<1>) {
        let mut source = SplitMix64(8);
        (Xoshiro::from_words(|| source.next()), Xoshiro::from_words(|| source.next()))
    }

    #[test]
    fn every_level_gives_the_same_bits() {
        let run = |level| {
            let (mut wide, mut spare) = generators();
            let mut blocks = vec![[0.0; LANES]; 40_001];
            fill_blocks(level, &mut wide, &mut spare, &mut blocks);
            (wide, spare, blocks.as_flattened().iter().map(|number| number.to_bits()).collect::<Vec<_>>())
        };
        let baseline = run(Level::BASELINE);
        for level in Level::available() {
            assert!(run(level) == baseline, "{level:?} differs");
        }
    }

    #[test]
    fn how_blocks_are_split_over_calls_changes_nothing() {
        let run = |n_at_once: usize| {
            let (mut wide, mut spare) = generators();
            let mut blocks = vec![[0.0; LANES]; 3 * CHUNK + 5];
            for part in blocks.chunks_mut(n_at_once) {
                fill_blocks(Level::best(), &mut wide, &mut spare, part);
            }
            blocks
        };
        let at_once = run(1000);
        assert_eq!(run(1), at_once);
        assert_eq!(run(70), at_once);
        let (mut wide, mut spare) = generators();
        for block in at_once {
            assert_eq!(next_block(&mut wide, &mut spare), block);
        }
    }

    /// Tail numbers are rare in a plain sample, so this draws them alone and counts those beyond some borders.
    #[test]
    fn the_tail_has_the_shape_of_the_normal_tail() {
        let (_, mut spare) = generators();
        let n = 1_000_000;
        let tails: Vec<f64> = (0..n).map(|_| tail(&mut spare)).collect();
        let count = |border: f64| tails.iter().filter(|x| **x > border).count() as f64;
        // Upper tail probabilities 1 - F(x), computed with 60 digits.
        let upper = |x: f64| match x {
            R => 2.685696730342764e-5,
            4.5 => 3.39767312473006e-6,
            5.0 => 2.866515718791939e-7,
            5.5 => 1.898956246588772e-8,
            _ => unreachable!("no reference at {x}"),
        };
        for border in [4.5, 5.0, 5.5] {
            let expected = f64::from(n) * upper(border) / upper(R);
            let allowed = 6.0 * expected.sqrt() + 6.0;
            assert!((count(border) - expected).abs() < allowed, "{} beyond {border}, not {expected}", count(border));
        }
        assert!(tails.iter().all(|x| *x >= R));
    }

    #[test]
    fn extreme_words_give_finite_normals() {
        let (_, mut spare) = generators();
        for layer in 0..LAYERS as u64 {
            for high in [0, 1 << 12, 1 << 63, u64::MAX << 12] {
                assert!(finish(&TABLE, high | layer, &mut spare).abs() < 14.0);
            }
        }
    }
}
