//! Schedulers of native parts as the engine's checkpoints, and back.

use std::iter::repeat_n;
use std::sync::Mutex;

use luminary::archive::{Archive, ArchiveConfig, CellArchive};
use luminary::error::CheckpointError;
use luminary::scheduler::{EmitterGroup, OwnedParts, Precision, Scheduler, SchedulerConfig};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::NativeScheduler;
use super::members::{Members, NativeMembers};
use super::settings::Settings;
use crate::archive::NativeArchive;
use crate::convert::{OrRaise, lock};
use crate::emitter::NativeEmitter;
use crate::threads;

/// A scheduler with its parts, which Python's objects hold too: archive, result archive, emitters.
pub(super) type Opened = (NativeScheduler, Py<NativeArchive>, Option<Py<NativeArchive>>, Vec<Py<NativeEmitter>>);

impl NativeScheduler {
    /// The engine's checkpoint, if all parts are native and the engine can go on with it. To be called detached from the
    /// interpreter only.
    pub(super) fn snapshot(&self, attachment: &[u8]) -> Result<Option<Vec<u8>>, CheckpointError> {
        let Members::Native(members) = &self.members else { return Ok(None) };
        let precision = members.precision();
        let config = SchedulerConfig {
            result: members.result.as_ref().map(config_of),
            emitters: members.emitter_groups(),
            ..self.settings.config(config_of(&members.archive))
        };
        let bytes = self.with_parts(|protocol, parts| {
            protocol.set_precision(precision);
            protocol.to_checkpoint(&config, parts, Some(attachment))
        })?;
        // Python's emitters may have settings that the engine refuses, such as the better half of a single row, and its
        // users may ask and tell parts by themselves. So the bytes are read before anybody relies on them.
        Ok(Some(bytes).filter(|bytes| Scheduler::from_checkpoint(bytes).is_ok()))
    }

    /// The scheduler in the engine's checkpoint.
    pub(super) fn open(py: Python<'_>, bytes: &[u8], threads: usize) -> PyResult<Opened> {
        let pool = threads::pool_of(threads)?;
        let parts = py.detach(|| Scheduler::from_checkpoint(bytes)).or_raise()?.into_parts();
        let OwnedParts { config, archive, result, emitters, mut protocol, .. } = parts;
        let configs = config.emitters.into_iter().flat_map(|group| repeat_n(group.emitter, group.count));
        let emitters = configs.zip(emitters).map(|(config_of_emitter, emitter)| {
            let native =
                NativeEmitter::of(emitter, config_of_emitter, archive.as_ref(), config.seed, protocol.precision());
            Py::new(py, native)
        });
        let emitters = emitters.collect::<PyResult<Vec<_>>>()?;
        let archive = opened(py, archive, Some(&config.archive))?;
        let result = result.map(|result| opened(py, result, config.result.as_ref())).transpose()?;
        protocol.set_threads(threads::of_pool(pool.as_ref()));
        let settings =
            Settings { seed: config.seed, order: config.order, add_mode: protocol.add_mode(), pool: config.pool };
        let members = NativeMembers {
            archive: archive.clone_ref(py),
            result: result.as_ref().map(|result| result.clone_ref(py)),
            emitters: emitters.iter().map(|emitter| emitter.clone_ref(py)).collect(),
        };
        let members = Members::Native(members.checked()?);
        Ok((Self { settings, members, protocol: Mutex::new(protocol), pool }, archive, result, emitters))
    }
}

impl NativeMembers {
    fn emitter_groups(&self) -> Vec<EmitterGroup> {
        let group = |emitter: &Py<NativeEmitter>| EmitterGroup { count: 1, emitter: emitter.get().config().clone() };
        self.emitters.iter().map(group).collect()
    }

    /// What solutions are rounded to: all emitters know it from the same archive.
    fn precision(&self) -> Precision {
        let is_single = |emitter: &Py<NativeEmitter>| lock(emitter.get().state()).precision == Precision::Single;
        if self.emitters.iter().any(is_single) { Precision::Single } else { Precision::Double }
    }
}

/// The settings of an archive that Python holds.
fn config_of(archive: &Py<NativeArchive>) -> ArchiveConfig {
    let state = lock(archive.get().state());
    own_config(&*state.archive).unwrap_or(&state.config).clone()
}

/// The settings that an archive with cells has itself: its centroids may have been drawn since it was configured.
fn own_config(archive: &dyn Archive) -> Option<&ArchiveConfig> {
    archive.downcast_ref::<CellArchive>().map(CellArchive::config)
}

/// An archive of a checkpoint as a Python object.
fn opened(py: Python<'_>, archive: Box<dyn Archive>, config: Option<&ArchiveConfig>) -> PyResult<Py<NativeArchive>> {
    match own_config(&*archive).or(config).cloned() {
        Some(config) => Py::new(py, NativeArchive::built(config, archive)),
        None => {
            Err(PyValueError::new_err("expected the settings of every archive in the checkpoint, found one without"))
        }
    }
}
