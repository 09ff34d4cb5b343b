//! Faults of the user: each is a typed error that names what was expected and found, and changes nothing.

mod calls;
mod configs;

use luminary::preset::Preset;
use luminary::scheduler::SchedulerConfig;

use crate::common::{Bowl, preset_config};

const DIM: usize = 3;

fn bowl() -> Bowl {
    Bowl { solution_dim: DIM, measure_dim: 2 }
}

/// A good configuration, changed.
fn with(change: impl FnOnce(&mut SchedulerConfig)) -> SchedulerConfig {
    let mut config = preset_config(Preset::CmaMae, &bowl(), 1).config();
    assert!(config.build().is_ok());
    change(&mut config);
    config
}
