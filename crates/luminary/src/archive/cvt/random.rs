//! Uniform random points.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of uniform numbers, the same on every machine for the same seed.
#[derive(Clone, Debug)]
pub(super) struct Uniform(Xoshiro256PlusPlus);

impl Uniform {
    pub(super) fn new(seed: u64) -> Uniform {
        Uniform(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform in [0, 1), 53 bits.
    pub(super) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// 32 random bits.
    pub(super) fn bits(&mut self) -> u32 {
        (self.0.next_u64() >> 32) as u32
    }

    /// Fills row-major points, uniform in the bounds.
    pub(super) fn fill(&mut self, bounds: &[(f64, f64)], points: &mut [f64]) {
        for point in points.chunks_exact_mut(bounds.len()) {
            for (x, &bound) in point.iter_mut().zip(bounds) {
                *x = place(self.unit(), bound);
            }
        }
    }
}

/// Moves a number of the unit interval into a bound.
pub(super) fn place(unit: f64, (lo, hi): (f64, f64)) -> f64 {
    (lo + unit * (hi - lo)).min(hi)
}
