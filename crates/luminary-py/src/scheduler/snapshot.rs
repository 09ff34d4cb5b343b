//! Schedulers of native parts as the engine's checkpoints, and back.

use std::any::Any;
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
        let bytes = self.with_parts(|protocol, parts| {
            let Some(archive) = config_of(&*parts.archive) else { return Ok(None) };
            let config = SchedulerConfig {
                result: parts.result.as_deref().and_then(config_of),
                emitters: members.emitter_groups(),
                ..self.settings.config(archive)
            };
            protocol.set_precision(precision);
            protocol.to_checkpoint(&config, parts, Some(attachment)).map(Some)
        })?;
        // Python's emitters may have settings that the engine refuses, such as the better half of a single row, and its
        // users may ask and tell parts by themselves. So the bytes are read before anybody relies on them.
        Ok(bytes.filter(|bytes| Scheduler::from_checkpoint(bytes).is_ok()))
    }

    /// The scheduler in the engine's checkpoint.
    pub(super) fn open(py: Python<'_>, bytes: &[u8], threads: usize) -> PyResult<Opened> {
        let pool = threads::pool_of(threads)?;
        let parts = py.detach(|| Scheduler::from_checkpoint(bytes)).or_raise()?.into_parts();
        let OwnedParts { config, archive, result, emitters, mut protocol, .. } = parts;
        let archive = cells_of(archive)?;
        let configs = config.emitters.into_iter().flat_map(|group| repeat_n(group.emitter, group.count));
        let emitters = configs.zip(emitters).map(|(config_of_emitter, emitter)| {
            let native =
                NativeEmitter::of(emitter, config_of_emitter, archive.as_ref(), config.seed, protocol.precision());
            Py::new(py, native)
        });
        let emitters = emitters.collect::<PyResult<Vec<_>>>()?;
        let archive = Py::new(py, NativeArchive::from_archive(*archive))?;
        let result = match result {
            Some(result) => Some(Py::new(py, NativeArchive::from_archive(*cells_of(result)?))?),
            None => None,
        };
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

fn config_of(archive: &dyn Archive) -> Option<ArchiveConfig> {
    archive.downcast_ref::<CellArchive>().map(|archive| archive.config().clone())
}

fn cells_of(archive: Box<dyn Archive>) -> PyResult<Box<CellArchive>> {
    (archive as Box<dyn Any>)
        .downcast()
        .map_err(|_| PyValueError::new_err("expected archives with cells, found others"))
}
