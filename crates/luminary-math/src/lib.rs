//! Vectorised elementary functions and random numbers for a portable build.
//!
//! The binary is compiled for plain x86-64 (or any other architecture) and picks the widest vector instructions of the
//! machine at run time. Two promises hold everywhere in this crate:
//!
//! - **The same bits at every level.** Kernels use only `+ - * /`, `sqrt`, integer operations and selects, which IEEE 754
//!   rounds in one way only, and never a fused multiply-add. A run made with AVX-512 replays on a machine without it.
//! - **No system mathematics library.** Sine, cosine and logarithm are computed here in full, even for huge arguments,
//!   so results do not depend on the C library either.
//!
//! # Writing a dispatched kernel
//!
//! Write the loop as an `#[inline(always)]` function or inside [`dispatch!`], call the lane-level functions
//! ([`sin_cos_lanes`], [`cos_lanes`], [`ln_lanes`]) on blocks of [`LANES`] numbers, and pass [`Level::best()`]:
//!
//! ```
//! use luminary_math::{LANES, Level, cos_lanes, dispatch};
//!
//! dispatch! {
//!     /// Sum of the cosines of `angles`.
//!     fn sum_of_cosines(level: Level, angles: &[[f64; LANES]]) -> f64 {
//!         let mut sums = [0.0; LANES];
//!         for &block in angles {
//!             let cosines = cos_lanes(block);
//!             for lane in 0..LANES {
//!                 sums[lane] += cosines[lane];
//!             }
//!         }
//!         sums.iter().sum()
//!     }
//! }
//!
//! let angles = [[0.0; LANES]; 2];
//! assert_eq!(sum_of_cosines(Level::best(), &angles), 16.0);
//! assert_eq!(sum_of_cosines(Level::BASELINE, &angles), 16.0);
//! ```

mod dispatch;
mod log;
mod rng;
mod seed;
mod trig;
mod trig_large;
mod xoshiro;
mod ziggurat;

pub use dispatch::Level;
#[doc(hidden)]
pub use dispatch::LevelKind;
pub use log::{ln, ln_at, ln_lanes};
pub use rng::WideRng;
pub use seed::{mix, stream_seed};
pub use trig::{cos, cos_at, cos_lanes, sin_cos, sin_cos_at, sin_cos_lanes};

/// How many numbers the lane-level functions take at once: one AVX-512 register, two of AVX, four of SSE2.
pub const LANES: usize = 8;
