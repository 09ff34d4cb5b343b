//! The built program, from the outside.

mod support;
mod archives;
mod by_hand;
mod configs;
mod export;
#[cfg(unix)]
mod external;
#[cfg(unix)]
mod extras;
mod failures;
mod faults;
mod figures;
mod folder;
mod kill;
#[cfg(feature = "lsi")]
mod lsi;
#[cfg(unix)]
mod minimise;
mod plot;
mod reproduce;
mod sweep;
