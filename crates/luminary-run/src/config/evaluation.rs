//! Who evaluates: a domain in this process, or the workers of a program.

use luminary::scheduler::Order;
use luminary_domains::Domain;

use super::{ProblemConfig, RunConfig};
use crate::error::RunError;
use crate::evaluate::{Evaluation, Evaluator, Place, Pool};
#[cfg(unix)]
use crate::external_batch::ExternalBatch;

impl RunConfig {
    /// Who evaluates a run in this place: the workers of a program ticket by ticket in completion order, and everybody else
    /// an iteration at a time. Nobody waits for anybody in this process, so there completion order would gain no time.
    ///
    /// # Errors
    /// As [`evaluator_at`](ProblemConfig::evaluator_at).
    pub(crate) fn evaluation_at(&self, place: &Place) -> Result<Evaluation, RunError> {
        let pool = match self.run.order {
            Order::Completion { .. } => self.problem.pool_at(place)?,
            Order::Rows => None,
        };
        pool.map_or_else(
            || self.problem.evaluator_at(place).map(Evaluation::InBatches),
            |pool| Ok(Evaluation::ByTicket(pool)),
        )
    }
}

impl ProblemConfig {
    /// What evaluates the problem; programs are started.
    ///
    /// # Errors
    /// A domain that does not exist, a program that does not start, or a custom problem, which only its own program can
    /// evaluate.
    pub fn evaluator(&self) -> Result<Evaluator, RunError> {
        match self {
            Self::Domain { name, n } => Ok(Box::new(name.parse::<Domain>()?.build(*n)?)),
            #[cfg(unix)]
            Self::External { evaluator, goal, .. } => {
                Ok(Box::new(ExternalBatch::start(evaluator, self.spec()?, *goal, None)?))
            }
            Self::Custom { name, .. } => Err(RunError::NoEvaluator { name: name.clone() }),
        }
    }

    /// Rows that the workers of its program have at the same time in completion order, if a program evaluates it.
    pub(crate) fn n_rows_out(&self) -> Option<u64> {
        match self {
            #[cfg(unix)]
            Self::External { evaluator, .. } => Some(evaluator.n_tickets_out() as u64),
            Self::Domain { .. } | Self::Custom { .. } => None,
        }
    }

    /// Like [`evaluator`](Self::evaluator), for a run: programs work in its folder and leave their failures there.
    ///
    /// # Errors
    /// As [`evaluator`](Self::evaluator).
    pub fn evaluator_at(&self, place: &Place) -> Result<Evaluator, RunError> {
        match self {
            #[cfg(unix)]
            Self::External { evaluator, goal, .. } => {
                Ok(Box::new(ExternalBatch::start(evaluator, self.spec()?, *goal, Some(place))?))
            }
            Self::Domain { .. } | Self::Custom { .. } => self.evaluator(),
        }
    }

    /// The workers of its program, if there is one, for a run whose rows are handed over one by one.
    ///
    /// # Errors
    /// A program that does not start.
    pub(crate) fn pool_at(&self, place: &Place) -> Result<Option<Box<dyn Pool>>, RunError> {
        match self {
            #[cfg(unix)]
            Self::External { evaluator, goal, .. } => {
                Ok(Some(Box::new(ExternalBatch::start(evaluator, self.spec()?, *goal, Some(place))?)))
            }
            Self::Domain { .. } | Self::Custom { .. } => Ok(None),
        }
    }
}
