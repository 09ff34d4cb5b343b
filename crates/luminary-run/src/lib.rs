//! Runs of the engine.

#[cfg(unix)]
pub mod external;
