//! A scheduler taken apart, for callers who keep archives and emitters themselves.

use super::protocol::Protocol;
use super::{Scheduler, SchedulerConfig};
use crate::archive::Archive;
use crate::emitter::Emitter;

/// What a [`Scheduler`] is made of. The protocol goes on with these archives and emitters.
#[non_exhaustive]
pub struct OwnedParts {
    /// What it was built from.
    pub config: SchedulerConfig,
    /// The archive the emitters search.
    pub archive: Box<dyn Archive>,
    /// The result archive, if that is another one.
    pub result: Option<Box<dyn Archive>>,
    /// The emitters.
    pub emitters: Vec<Box<dyn Emitter>>,
    /// The state of ask and tell.
    pub protocol: Protocol,
}

impl Scheduler {
    /// Takes the scheduler apart.
    pub fn into_parts(self) -> OwnedParts {
        let Self { config, archive, result, emitters, protocol, attachment: _ } = self;
        OwnedParts { config, archive, result, emitters, protocol }
    }
}
