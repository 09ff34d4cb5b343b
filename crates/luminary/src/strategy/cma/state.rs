//! CMA-ES' part of a checkpoint. Its field names are those of all files written so far.

use serde::{Deserialize, Serialize};

use super::CmaEs;
use super::covariance::CovarianceState;
use super::factor::FactorState;
use crate::error::CheckpointError;
use crate::serde_floats::{self, Floats};
use crate::strategy::{StopReason, expect_len};

/// What CMA-ES has learnt, and the samples it is waiting to be told about.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CmaState<'a> {
    #[serde(with = "serde_floats")]
    mean: Floats<'a>,
    sigma: f64,
    #[serde(with = "serde_floats")]
    p_s: Floats<'a>,
    #[serde(with = "serde_floats")]
    p_c: Floats<'a>,
    /// The covariance divided by `c_scale`, without what is pending.
    #[serde(with = "serde_floats")]
    c: Floats<'a>,
    c_scale: f64,
    /// The oldest files are of a time when nothing was pending.
    #[serde(with = "serde_floats", default)]
    pending: Floats<'a>,
    factor: FactorState<'a>,
    evaluations: u64,
    factor_evaluations: u64,
    #[serde(with = "serde_floats")]
    z: Floats<'a>,
    repaired: bool,
    stopped: Option<StopReason>,
}

impl CmaEs {
    pub(in crate::strategy) fn save(&self) -> CmaState<'_> {
        let covariance = self.covariance.save();
        CmaState {
            mean: (&self.mean).into(),
            sigma: self.sigma,
            p_s: (&self.p_s).into(),
            p_c: (&self.p_c).into(),
            c: covariance.matrix,
            c_scale: covariance.scale,
            pending: covariance.pending,
            factor: covariance.factor,
            evaluations: self.evaluations,
            factor_evaluations: covariance.factor_evaluations,
            z: (&self.z).into(),
            repaired: self.repaired,
            stopped: self.stopped,
        }
    }

    pub(in crate::strategy) fn load(&mut self, state: CmaState<'_>) -> Result<(), CheckpointError> {
        const WHAT: &str = "CMA-ES state";
        let covariance = CovarianceState {
            matrix: state.c,
            scale: state.c_scale,
            pending: state.pending,
            factor: state.factor,
            factor_evaluations: state.factor_evaluations,
        };
        for found in [state.mean.len(), state.p_s.len(), state.p_c.len()] {
            expect_len(WHAT, self.shape.dim, found)?;
        }
        self.covariance.check(WHAT, &covariance)?;
        self.shape.check_noise(WHAT, state.z.len())?;

        self.mean = state.mean.into_owned();
        self.sigma = state.sigma;
        self.p_s = state.p_s.into_owned();
        self.p_c = state.p_c.into_owned();
        self.covariance.load(&covariance);
        self.evaluations = state.evaluations;
        self.z = state.z.into_owned();
        self.repaired = state.repaired;
        self.stopped = state.stopped;
        Ok(())
    }
}
