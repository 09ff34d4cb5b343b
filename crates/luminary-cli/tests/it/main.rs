//! The built program, from the outside.

mod support;
mod configs;
mod export;
#[cfg(unix)]
mod external;
mod faults;
mod figures;
mod kill;
mod plot;
mod reproduce;
mod sweep;
