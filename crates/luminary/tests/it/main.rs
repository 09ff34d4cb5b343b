//! Integration tests of the engine: one binary, a module for each promise.

mod common;

mod theorems;
mod tickets;
mod model;
mod contract;
mod compatibility;
mod convergence;
mod determinism;
mod resume;
mod owned_parts;
mod earlier_builds;
mod allocation;
mod protocol;
mod golden;
mod estimated_gradients;
mod awkward_problems;
mod noise;
mod examples;
