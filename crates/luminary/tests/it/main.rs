//! What the engine promises, checked through the public interface on real runs.

mod common;

mod theorems;
mod determinism;
mod resume;
mod allocation;
