//! The built program, from the outside.

mod support;
mod configs;
mod export;
mod faults;
mod figures;
mod kill;
mod sweep;
