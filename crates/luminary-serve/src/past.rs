//! How runs went: the moments that their histories hold.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use luminary_run::folder::Vitals;
use luminary_run::folder::history::{HISTORY, read_history};
use luminary_run::folder::live::Frame;
use serde::Serialize;

use crate::answer::digest;
use crate::live::Cells;

/// Runs whose histories are kept.
const N_KEPT: usize = 2;

/// The history of a run.
#[derive(Debug)]
pub(crate) struct Past {
    frames: Vec<Frame>,
    /// Changes with the file.
    pub(crate) tag: String,
}

/// A moment of the past.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Moment {
    /// Which frame of the history it is.
    #[serde(skip)]
    number: usize,
    pub(crate) iteration: u64,
    evaluations: u64,
    seconds: f64,
    /// Where each emitter was in measure space, if that is known.
    places: Vec<Option<Vec<f64>>>,
}

impl Past {
    /// All moments, the oldest first.
    pub(crate) fn moments(&self) -> Vec<Moment> {
        let moment = |(number, frame): (usize, &Frame)| Moment {
            number,
            iteration: frame.iteration,
            evaluations: frame.evaluations,
            seconds: frame.seconds,
            places: frame.vitals.emitters.iter().map(|emitter| emitter.place.clone()).collect(),
        };
        self.frames.iter().enumerate().map(moment).collect()
    }

    /// How emitters and evaluations did in the end.
    pub(crate) fn vitals(&self) -> Option<&Vitals> {
        self.frames.last().map(|frame| &frame.vitals)
    }

    /// The result archive at a moment.
    pub(crate) fn cells_at(&self, moment: &Moment) -> Cells {
        let mut cells = Cells::default();
        self.frames[..=moment.number].iter().for_each(|frame| cells.update(&frame.result, 1));
        cells
    }
}

/// The histories that were asked for last.
#[derive(Debug, Default)]
pub(crate) struct Pasts {
    /// The newest last.
    kept: Mutex<Vec<(PathBuf, Arc<Past>)>>,
}

impl Pasts {
    /// The history of the run in a folder, which may be empty.
    pub(crate) fn load(&self, folder: &Path) -> Arc<Past> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let tag = tag_of(folder);
        if let Some(place) = kept.iter().position(|(path, _)| path == folder) {
            let (path, past) = kept.remove(place);
            if past.tag == tag {
                kept.push((path, Arc::clone(&past)));
                return past;
            }
        }
        // A history that does not read is none.
        let frames = read_history(&folder.join(HISTORY)).unwrap_or_default();
        let past = Arc::new(Past { frames, tag });
        if kept.len() >= N_KEPT {
            kept.remove(0);
        }
        kept.push((folder.to_owned(), Arc::clone(&past)));
        past
    }
}

/// Which history it is, without reading it.
pub(crate) fn tag_of(folder: &Path) -> String {
    let stamp = fs::symlink_metadata(folder.join(HISTORY)).and_then(|found| Ok((found.len(), found.modified()?))).ok();
    digest(format!("{stamp:?}").as_bytes())
}
