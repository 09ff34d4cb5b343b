//! Benchmark domains.
