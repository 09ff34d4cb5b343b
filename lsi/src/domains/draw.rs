//! What is drawn, and how often.

use serde::{Deserialize, Serialize};

use crate::networks::{Generator, Noise};

/// How often something random is drawn. Evaluations are pure either way: the same solution always gives the same answer.
///
/// The paper's experiments draw noise and cutouts anew in every call, so that evaluating a solution twice gives two
/// answers. [`EachSolution`](Self::EachSolution) is as close as a repeatable evaluation comes to that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Draw {
    /// Once, the same for all solutions.
    #[default]
    Once,
    /// For each solution, seeded by its numbers.
    EachSolution,
}

/// The noise that images are made with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoiseChoice {
    /// None.
    Off,
    /// The generator's own, the same for all solutions.
    #[default]
    Fixed,
    /// Drawn for each solution, seeded by its numbers.
    EachSolution,
}

impl NoiseChoice {
    /// The noise for these solutions.
    pub(super) fn draw(self, generator: &dyn Generator, seed: u64, solutions: &[&[f64]]) -> Noise {
        match self {
            Self::Off => Noise::Off,
            Self::Fixed => Noise::Fixed,
            Self::EachSolution => {
                let seeds: Vec<u64> = solutions.iter().map(|solution| solution_seed(seed, solution)).collect();
                Noise::drawn(&generator.noise_sizes(), &seeds, generator.place())
            }
        }
    }
}

/// A seed made of a solution's bits (FNV-1a), so that what is drawn for a solution follows from it alone.
pub(super) fn solution_seed(seed: u64, solution: &[f64]) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let bytes = solution.iter().flat_map(|x| x.to_bits().to_le_bytes());
    seed.to_le_bytes().into_iter().chain(bytes).fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}
