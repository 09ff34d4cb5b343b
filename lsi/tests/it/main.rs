//! Tests of networks and domains as users see them.

mod convert;
mod digits;
mod domains;
mod golden;
mod parity;
mod program;
mod tokens;
mod weights;
