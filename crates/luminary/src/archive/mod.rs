//! Archives.

pub mod cvt;
