//! What becomes of a run when the file system fails: errors, short writes, a full disk, a disk that goes away, and a
//! power loss that drops or reorders whatever was not synced, at every operation of a whole run.
//!
//! After each fault the run goes on from what is left, and must end as if nothing had happened. The test command looks
//! at every operation once; `LUMINARY_FAULT_ROUNDS=20` repeats it with other power losses, of which each round has its
//! own seed.
#![cfg(unix)]

mod disk_faults;
mod lives;
mod metrics;
mod monitor;
mod power;
mod power_loss;
