#![doc = include_str!("../README.md")]

pub mod prelude;
pub mod problem;
pub mod scheduler;
pub mod archive;
pub mod emitter;
pub mod ranker;
pub mod strategy;
pub mod restart;
pub mod preset;
pub mod checkpoint;
pub mod error;

mod kernels;
mod json_floats;
mod message_pack;
mod serde_floats;

pub use luminary_math::WideRng;

/// The examples of the guide are run like any other.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/asynchronous.md")]
struct Asynchronous;
