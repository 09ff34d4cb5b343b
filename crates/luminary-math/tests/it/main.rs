//! The promises of the random generator, seen from outside.

mod normal;
mod normal_cdf;
mod rng;
