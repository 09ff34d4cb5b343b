//! Archives and emitters written in Python, as the engine's protocol sees them.
//!
//! Their methods may do anything, also use the other parts, so they are never called while locks are held: an emitter
//! that samples its archive while the protocol has it would wait for itself. Python calls them before each call of the
//! protocol; these objects then repeat to the protocol what the Python ones have said. So an exception in Python leaves
//! the protocol as it was, and what passes between Python's parts keeps its types: solutions and fields may be objects,
//! and `add` may return anything.

use luminary::archive::{AddReport, Archive, ArchiveStats, Batch, Best, Elite, NonFinite, Status};
use luminary::emitter::{EliteSource, Emitter};
use luminary::error::CallError;
use luminary::restart::RestartCounts;

/// An archive that Python has added the rows to already.
#[derive(Debug, Default)]
pub(super) struct PythonArchive {
    /// What became of the rows that are told next.
    pub(super) status: Vec<Status>,
}

impl PythonArchive {
    /// The protocol keeps one number for each solution, because Python keeps the solutions themselves.
    pub(super) const SOLUTION_DIM: usize = 1;
}

impl Archive for PythonArchive {
    fn add(&mut self, batch: &Batch<'_>, policy: NonFinite, report: &mut AddReport) -> Result<(), CallError> {
        let expected = batch.n_rows();
        let found = self.status.len();
        if expected != found {
            return Err(CallError::Length { what: "status", shape: "rows", expected, found });
        }
        self.check(batch, policy)?;
        report.begin(batch, &[]);
        report.status.copy_from_slice(&self.status);
        Ok(())
    }

    fn solution_dim(&self) -> usize {
        Self::SOLUTION_DIM
    }

    fn measure_bounds(&self) -> &[(f64, f64)] {
        &[]
    }

    fn len(&self) -> usize {
        0
    }

    fn nth_elite(&self, i: usize) -> Elite<'_> {
        unreachable!("Python keeps the elites, but number {i} was asked for")
    }

    fn stats(&self) -> ArchiveStats {
        ArchiveStats {
            n_cells: 0,
            n_elites: 0,
            coverage: 0.0,
            qd_score: 0.0,
            norm_qd_score: 0.0,
            obj_max: None,
            obj_mean: None,
        }
    }

    fn best(&self) -> Option<&Best> {
        None
    }

    fn clear(&mut self) {}
}

/// An emitter that Python has asked, or told, already.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PythonEmitter {
    /// Rows it drew for the iteration in progress.
    pub(super) n_rows: usize,
    /// The same for its gradients.
    pub(super) n_gradient_rows: usize,
    /// Restarts so far, if it counts them.
    pub(super) restarts: Option<u64>,
}

impl Emitter for PythonEmitter {
    fn batch_size(&self) -> usize {
        self.n_rows
    }

    fn ask(&mut self, _elites: &dyn EliteSource, _solutions: &mut [f64]) {}

    fn n_gradients(&self) -> usize {
        self.n_gradient_rows
    }

    fn restarts(&self) -> Option<RestartCounts> {
        self.restarts.map(|custom| RestartCounts { custom, ..RestartCounts::default() })
    }
}
