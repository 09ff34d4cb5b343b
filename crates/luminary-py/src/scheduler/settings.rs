//! What a scheduler is told when it is built, and saved with.

use luminary::archive::ArchiveConfig;
use luminary::scheduler::{AddMode, BanditConfig, Order, Pool, Reselect, SchedulerConfig, Ties};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

/// Settings of ask and tell; the parts have their own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Settings {
    pub(super) seed: u64,
    pub(super) order: Order,
    pub(super) add_mode: AddMode,
    pub(super) pool: Pool,
}

impl Settings {
    pub(super) fn new(
        seed: u64,
        order: &str,
        over_issue: f64,
        add_mode: &str,
        bandit: Option<(usize, &str, f64)>,
    ) -> PyResult<Self> {
        let pool = match bandit {
            None => Pool::All,
            Some((n_active, reselect, zeta)) => {
                Pool::Bandit(BanditConfig { n_active, zeta, reselect: reselect_of(reselect)?, ties: Ties::Last })
            }
        };
        Ok(Self { seed, order: order_of(order, over_issue)?, add_mode: add_mode_of(add_mode)?, pool })
    }

    /// The engine's configuration of a protocol over parts that exist already.
    pub(super) fn config(&self, archive: ArchiveConfig) -> SchedulerConfig {
        SchedulerConfig {
            seed: self.seed,
            archive,
            result: None,
            emitters: Vec::new(),
            pool: self.pool,
            initial: None,
            non_finite: None,
            order: self.order,
        }
    }
}

/// The order by its name and the surplus of rows.
fn order_of(name: &str, over_issue: f64) -> PyResult<Order> {
    match name {
        "rows" if over_issue != 1.0 => Err(PyValueError::new_err(format!(
            "expected over_issue to be 1 in rows order, in which every row is waited for, found {over_issue}"
        ))),
        "rows" => Ok(Order::Rows),
        "completion" => Ok(Order::Completion { over_issue }),
        _ => Err(PyValueError::new_err(format!("expected order to be \"rows\" or \"completion\", found {name:?}"))),
    }
}

fn add_mode_of(name: &str) -> PyResult<AddMode> {
    match name {
        "batch" => Ok(AddMode::Batch),
        "single" => Ok(AddMode::OneByOne),
        _ => Err(PyValueError::new_err(format!("add_mode must either be 'batch' or 'single', but it was '{name}'"))),
    }
}

fn reselect_of(name: &str) -> PyResult<Reselect> {
    match name {
        "terminated" => Ok(Reselect::Restarted),
        "all" => Ok(Reselect::All),
        _ => Err(PyValueError::new_err(format!("reselect must either be 'terminated' or 'all', but it was '{name}'"))),
    }
}
