//! Integration tests of the engine: one binary, a module for each promise.

mod convergence;
