//! The promises of the random generator, seen from outside.

mod normal;
mod rng;
