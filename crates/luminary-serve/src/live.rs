//! The archives of running runs as their processes report them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use luminary_run::config::RunConfig;
use luminary_run::export::Which;
use luminary_run::folder::live::{LiveReader, Section, SectionKind};
use luminary_run::folder::{FolderLock, Vitals};

use crate::shape::Shape;

/// Runs whose reports are kept.
const N_KEPT: usize = 4;

/// What running runs have reported so far.
#[derive(Debug, Default)]
pub(crate) struct LiveRuns {
    /// The one asked for last is the last.
    kept: Mutex<Vec<(PathBuf, LiveRun)>>,
}

/// What a run has reported so far.
#[derive(Debug)]
pub(crate) struct LiveRun {
    reader: LiveReader,
    generation: Option<u64>,
    /// Frames read of this generation.
    pub(crate) n_frames: u64,
    pub(crate) iteration: u64,
    result: Cells,
    search: Cells,
    /// How its emitters and evaluations do.
    pub(crate) vitals: Vitals,
    /// Whether the run has a report about the archive that is searched, apart from the result.
    has_search: bool,
    /// Where the cells of each archive are; centroids take long to find.
    shapes: Vec<(Which, Arc<Shape>)>,
}

/// The occupied cells of an archive, or all elites of one without cells.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    pub(crate) rows: Vec<Row>,
    /// Row by row, if there are no cells that say where they are.
    pub(crate) measures: Vec<f64>,
    places: HashMap<u32, usize>,
}

/// A cell with its elite, by the engine's sign: higher is better.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) cell: u32,
    pub(crate) objective: f64,
    pub(crate) threshold: f64,
    /// The frame that changed it last.
    pub(crate) frame: u64,
}

impl LiveRuns {
    /// Reads what is new and calls `use_it` if the run reports at all. What a process that was killed has reported last is
    /// no report: its run will go on from its checkpoint.
    pub(crate) fn with<T>(&self, folder: &Path, use_it: impl FnOnce(&mut LiveRun) -> Option<T>) -> Option<T> {
        if !FolderLock::is_held(folder) {
            return None;
        }
        let mut kept = self.kept();
        let mut run = match kept.iter().position(|(path, _)| path == folder) {
            Some(place) => kept.remove(place).1,
            None => LiveRun::new(folder),
        };
        run.read();
        if !run.is_reporting() {
            return None;
        }
        if kept.len() >= N_KEPT {
            kept.remove(0);
        }
        let used = use_it(&mut run);
        kept.push((folder.to_owned(), run));
        used
    }

    fn kept(&self) -> MutexGuard<'_, Vec<(PathBuf, LiveRun)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LiveRun {
    fn new(folder: &Path) -> Self {
        Self {
            reader: LiveReader::new(folder),
            generation: None,
            n_frames: 0,
            iteration: 0,
            result: Cells::default(),
            search: Cells::default(),
            vitals: Vitals::default(),
            has_search: false,
            shapes: Vec::new(),
        }
    }

    /// Where the cells of an archive are; nothing if it has none.
    pub(crate) fn shape(&mut self, config: &RunConfig, which: Which) -> Option<Arc<Shape>> {
        if let Some((_, shape)) = self.shapes.iter().find(|(of, _)| *of == which) {
            return Some(Arc::clone(shape));
        }
        let shape = match Shape::of_config(config, which) {
            Some(shape) => Arc::new(shape),
            // Where points are is seen only when they are there.
            None => return Some(Arc::new(Shape::of_points(config, &self.cells(which).measures)?)),
        };
        self.shapes.push((which, Arc::clone(&shape)));
        Some(shape)
    }

    /// Which file the report is from, and how far it goes.
    pub(crate) fn generation(&self) -> String {
        format!("live-{:x}", self.generation.unwrap_or_default())
    }

    /// The cells of an archive.
    pub(crate) fn cells(&self, which: Which) -> &Cells {
        match which {
            Which::Search if self.has_search => &self.search,
            _ => &self.result,
        }
    }

    fn is_reporting(&self) -> bool {
        self.generation.is_some() && self.n_frames > 0
    }

    fn read(&mut self) {
        // A report that does not read is no report; the checkpoint is shown instead.
        let news = self.reader.read().unwrap_or_default();
        if news.generation != self.generation {
            self.generation = news.generation;
            self.n_frames = 0;
            self.result = Cells::default();
            self.search = Cells::default();
            self.has_search = false;
        }
        for frame in news.frames {
            self.n_frames += 1;
            self.iteration = frame.iteration;
            self.vitals = frame.vitals;
            self.result.update(&frame.result, self.n_frames);
            self.search.update(&frame.search, self.n_frames);
            self.has_search |= frame.search.kind != SectionKind::Absent;
        }
    }
}

impl Cells {
    /// Takes what has changed by a frame.
    pub(crate) fn update(&mut self, section: &Section, frame: u64) {
        if section.kind == SectionKind::Whole {
            *self = Self::default();
        }
        self.measures.extend(&section.measures);
        for (cell, objective, threshold) in section.rows() {
            let row = Row { cell, objective, threshold, frame };
            match self.places.get(&cell) {
                Some(&place) => self.rows[place] = row,
                None => {
                    self.places.insert(cell, self.rows.len());
                    self.rows.push(row);
                }
            }
        }
    }
}
