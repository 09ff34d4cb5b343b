//! The two loops over a chunk in vector instructions: the same arithmetic as the plain loops, lane by lane.
//!
//! Written by hand because compilers take the rotations of the generator and the table lookups apart. Words and
//! candidates are two loops, because layers are looked up one by one: taking them out of a vector register is slow, and so
//! is reading them back from memory that was written just before.

use super::{LANES, LAYERS, Rejects, Table, Words};
use crate::xoshiro::Xoshiro;
use std::arch::x86_64::*;
use std::mem::transmute;

const TWO_BITS: i64 = 2.0f64.to_bits() as i64;

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw")]
pub(super) fn words_avx512(wide: &mut Xoshiro<LANES>, chunk: &mut [Words]) {
    // SAFETY: both types are 256 plain bytes.
    let [mut s0, mut s1, mut s2, mut s3] = unsafe { transmute::<[[u64; LANES]; 4], [__m512i; 4]>(wide.words) };
    for words in chunk {
        let outputs = _mm512_add_epi64(_mm512_rol_epi64::<23>(_mm512_add_epi64(s0, s3)), s0);
        let shifted = _mm512_slli_epi64::<17>(s1);
        s2 = _mm512_xor_si512(s2, s0);
        s3 = _mm512_xor_si512(s3, s1);
        s1 = _mm512_xor_si512(s1, s2);
        s0 = _mm512_xor_si512(s0, s3);
        s2 = _mm512_xor_si512(s2, shifted);
        s3 = _mm512_rol_epi64::<45>(s3);
        // SAFETY: both types are 64 plain bytes.
        *words = unsafe { transmute::<__m512i, Words>(outputs) };
    }
    // SAFETY: as at the start.
    wide.words = unsafe { transmute::<[__m512i; 4], [[u64; LANES]; 4]>([s0, s1, s2, s3]) };
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw")]
pub(super) fn candidates_avx512(table: &Table, words: &[Words], chunk: &mut [[f64; LANES]], rejects: &mut Rejects) {
    for (i, (block, words)) in chunk.iter_mut().zip(words).enumerate() {
        let [(here_low, above_low), (here_high, above_high)] = [abscissas(table, words, 0), abscissas(table, words, 4)];
        let here = _mm512_insertf64x4::<1>(_mm512_castpd256_pd512(here_low), here_high);
        let above = _mm512_insertf64x4::<1>(_mm512_castpd256_pd512(above_low), above_high);
        // SAFETY: both types are 64 plain bytes.
        let words = unsafe { transmute::<Words, __m512i>(*words) };
        let bits = _mm512_or_si512(_mm512_srli_epi64::<12>(words), _mm512_set1_epi64(TWO_BITS));
        let position = _mm512_sub_pd(_mm512_castsi512_pd(bits), _mm512_set1_pd(3.0));
        let x = _mm512_mul_pd(position, here);
        let rejected = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(_mm512_abs_pd(x), above);
        // SAFETY: both types are 64 plain bytes.
        *block = unsafe { transmute::<__m512d, [f64; LANES]>(x) };
        rejects.push(i, rejected);
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn words_avx2(wide: &mut Xoshiro<LANES>, chunk: &mut [Words]) {
    // SAFETY: both types are 256 plain bytes.
    let [mut s0, mut s1, mut s2, mut s3] = unsafe { transmute::<[[u64; LANES]; 4], [[__m256i; 2]; 4]>(wide.words) };
    for words in chunk {
        let mut outputs = [_mm256_setzero_si256(); 2];
        for half in 0..2 {
            outputs[half] = _mm256_add_epi64(rotate_left_23(_mm256_add_epi64(s0[half], s3[half])), s0[half]);
            let shifted = _mm256_slli_epi64::<17>(s1[half]);
            s2[half] = _mm256_xor_si256(s2[half], s0[half]);
            s3[half] = _mm256_xor_si256(s3[half], s1[half]);
            s1[half] = _mm256_xor_si256(s1[half], s2[half]);
            s0[half] = _mm256_xor_si256(s0[half], s3[half]);
            s2[half] = _mm256_xor_si256(s2[half], shifted);
            s3[half] = rotate_left_45(s3[half]);
        }
        // SAFETY: both types are 64 plain bytes.
        *words = unsafe { transmute::<[__m256i; 2], Words>(outputs) };
    }
    // SAFETY: as at the start.
    wide.words = unsafe { transmute::<[[__m256i; 2]; 4], [[u64; LANES]; 4]>([s0, s1, s2, s3]) };
}

#[target_feature(enable = "avx2")]
pub(super) fn candidates_avx2(table: &Table, words: &[Words], chunk: &mut [[f64; LANES]], rejects: &mut Rejects) {
    for (i, (block, words)) in chunk.iter_mut().zip(words).enumerate() {
        // SAFETY: both types are 64 plain bytes.
        let halves = unsafe { transmute::<Words, [__m256i; 2]>(*words) };
        let mut xs = [_mm256_setzero_pd(); 2];
        let mut rejected = 0;
        for half in 0..2 {
            let (here, above) = abscissas(table, words, 4 * half);
            let bits = _mm256_or_si256(_mm256_srli_epi64::<12>(halves[half]), _mm256_set1_epi64x(TWO_BITS));
            let position = _mm256_sub_pd(_mm256_castsi256_pd(bits), _mm256_set1_pd(3.0));
            let x = _mm256_mul_pd(position, here);
            let magnitude = _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);
            rejected |= _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_GE_OQ>(magnitude, above)) << (4 * half);
            xs[half] = x;
        }
        // SAFETY: both types are 64 plain bytes.
        *block = unsafe { transmute::<[__m256d; 2], [f64; LANES]>(xs) };
        rejects.push(i, rejected as u8);
    }
}

/// The abscissas of the layers of four words, from `lane` on, and of the layers above. They are neighbours in the table, so
/// one load of two numbers brings both. Two gathers would do twice as many loads, and are slow on many processors.
#[target_feature(enable = "avx2")]
#[inline]
fn abscissas(table: &Table, words: &Words, lane: usize) -> (__m256d, __m256d) {
    let pair = |lane: usize| {
        let layer = words.0[lane] as usize % LAYERS;
        // SAFETY: the layer is below LAYERS, and the table holds LAYERS + 1 numbers.
        unsafe { _mm_loadu_pd(table.x.as_ptr().add(layer)) }
    };
    let even = _mm256_set_m128d(pair(lane + 2), pair(lane));
    let odd = _mm256_set_m128d(pair(lane + 3), pair(lane + 1));
    (_mm256_unpacklo_pd(even, odd), _mm256_unpackhi_pd(even, odd))
}

#[target_feature(enable = "avx2")]
#[inline]
fn rotate_left_23(words: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_slli_epi64::<23>(words), _mm256_srli_epi64::<41>(words))
}

#[target_feature(enable = "avx2")]
#[inline]
fn rotate_left_45(words: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_slli_epi64::<45>(words), _mm256_srli_epi64::<19>(words))
}
