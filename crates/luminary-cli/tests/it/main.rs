//! The built program, from the outside.

mod support;
mod archives;
mod by_hand;
#[cfg(unix)]
mod completion;
mod configs;
#[cfg(unix)]
mod crowd;
#[cfg(unix)]
mod debugger;
#[cfg(unix)]
mod elite;
mod export;
#[cfg(unix)]
mod external;
#[cfg(unix)]
mod extras;
mod failures;
mod faults;
mod figures;
#[cfg(unix)]
mod first_hour;
mod folder;
#[cfg(unix)]
mod full_disk;
#[cfg(unix)]
mod hosts;
mod kill;
mod lsi;
#[cfg(unix)]
mod noise;
#[cfg(unix)]
mod minimise;
mod plot;
mod reproduce;
#[cfg(unix)]
mod serve;
#[cfg(unix)]
mod sshd;
mod start;
mod sweep;
#[cfg(unix)]
mod torture;
