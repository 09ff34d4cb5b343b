//! The archives and emitters of a scheduler, which Python holds too, as the engine's protocol wants them.

use std::sync::{Mutex, MutexGuard};

use luminary::emitter::Emitter;
use luminary::scheduler::Parts;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::python_parts::{PythonArchive, PythonEmitter};
use crate::archive::NativeArchive;
use crate::archive_state::ArchiveState;
use crate::convert::lock;
use crate::emitter::NativeEmitter;
use crate::emitter_state::EmitterState;

/// What a protocol works on.
pub(super) enum Members {
    /// Parts of the engine, shared with their Python objects.
    Native(NativeMembers),
    /// Parts of which at least one is written in Python; Python calls them all.
    Python(Mutex<PythonMembers>),
}

pub(super) struct NativeMembers {
    pub(super) archive: Py<NativeArchive>,
    pub(super) result: Option<Py<NativeArchive>>,
    pub(super) emitters: Vec<Py<NativeEmitter>>,
}

pub(super) struct PythonMembers {
    pub(super) archive: PythonArchive,
    pub(super) emitters: Vec<PythonEmitter>,
}

impl NativeMembers {
    /// Refuses the same part twice: its lock can be taken only once.
    pub(super) fn checked(self) -> PyResult<Self> {
        let is_twice = self.result.as_ref().is_some_and(|result| result.is(&self.archive));
        let mut places: Vec<_> = self.emitters.iter().map(|emitter| emitter.as_ptr()).collect();
        places.sort_unstable();
        if is_twice || places.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(PyValueError::new_err("expected different archives and emitters, found one of them twice"));
        }
        Ok(self)
    }
}

impl Members {
    /// Does work on the parts, which nobody else can use meanwhile. To be called detached from the interpreter only.
    pub(super) fn with<R>(&self, work: impl FnOnce(&mut Parts<'_, &mut dyn Emitter>) -> R) -> R {
        match self {
            Self::Native(members) => members.with(work),
            Self::Python(members) => {
                let PythonMembers { archive, emitters } = &mut *lock(members);
                let mut emitters: Vec<&mut dyn Emitter> =
                    emitters.iter_mut().map(|emitter| emitter as &mut dyn Emitter).collect();
                work(&mut Parts { archive, result: None, emitters: &mut emitters })
            }
        }
    }
}

impl NativeMembers {
    /// Emitters are locked before archives, as everywhere else, and among themselves in the order of their addresses, so
    /// that schedulers that share parts never wait for each other in a circle.
    fn with<R>(&self, work: impl FnOnce(&mut Parts<'_, &mut dyn Emitter>) -> R) -> R {
        let emitters: Vec<&Mutex<EmitterState>> = self.emitters.iter().map(|emitter| emitter.get().state()).collect();
        let archives: Vec<&Mutex<ArchiveState>> =
            [&self.archive].into_iter().chain(&self.result).map(|archive| archive.get().state()).collect();
        let mut emitters = lock_all(&emitters);
        let mut archives = lock_all(&archives);
        let mut emitters: Vec<&mut dyn Emitter> =
            emitters.iter_mut().map(|state| &mut **state as &mut dyn Emitter).collect();
        let (archive, result) = archives.split_first_mut().expect("there is an archive");
        let result = result.first_mut().map(|result| &mut *result.archive);
        let outcome = work(&mut Parts { archive: &mut *archive.archive, result, emitters: &mut emitters });
        archives.iter_mut().for_each(|archive| archive.note_best());
        outcome
    }
}

/// Takes all locks in the order of their addresses; returns the guards in the order given.
fn lock_all<'a, T>(mutexes: &[&'a Mutex<T>]) -> Vec<MutexGuard<'a, T>> {
    let mut order: Vec<usize> = (0..mutexes.len()).collect();
    order.sort_unstable_by_key(|&i| std::ptr::from_ref(mutexes[i]));
    let mut guards: Vec<Option<MutexGuard<'a, T>>> = mutexes.iter().map(|_| None).collect();
    for i in order {
        guards[i] = Some(lock(mutexes[i]));
    }
    guards.into_iter().flatten().collect()
}
