//! From seeds and paths to generator states.

/// The generator of Steele, Lea and Flood ("Fast Splittable Pseudorandom Number Generators", 2014): a counter passed
/// through [`mix`]. Its outputs within a period are all different, so at most one of them is zero.
pub(crate) struct SplitMix64(pub(crate) u64);

impl SplitMix64 {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }
}

/// The seed of the stream `path` of a run, from which [`WideRng::from_path`](crate::WideRng::from_path) starts: `mix(mix(seed) + fnv1a(path))`.
///
/// A bijection of the seed for a fixed path, so two runs with different seeds never share a stream.
pub fn stream_seed(seed: u64, path: &str) -> u64 {
    mix(mix(seed).wrapping_add(fnv1a(path.as_bytes())))
}

/// The finaliser of SplitMix64: a bijection that spreads every input bit over all output bits.
pub fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// The 64-bit FNV-1a hash (Fowler, Noll and Vo).
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hashes_match_their_published_test_vectors() {
        assert_eq!(fnv1a(b""), 0xCBF2_9CE4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xAF63_DC4C_8601_EC8C);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_F739_67E8);
        let mut generator = SplitMix64(1234567);
        assert_eq!(generator.next(), 6457827717110365317);
        assert_eq!(generator.next(), 3203168211198807973);
    }
}
