//! Whether a run fits into memory, before the system decides the matter with a kill.

use luminary::archive::CellsConfig;
use luminary::preset::Preset;
use luminary::problem::ProblemSpec;

use crate::config::{RunConfig, StrategyName};
use crate::error::RunError;

/// Bytes that a run surely needs: every cell's threshold, visits and slot, the strategies' covariances, and the rows of an
/// iteration. Elites are left out, because an archive costs only what it holds.
pub(crate) fn least_bytes(config: &RunConfig, spec: &ProblemSpec) -> u128 {
    let n_cells: u128 = match config.archive.cells() {
        Some(CellsConfig::Cvt(cvt)) => cvt.n_cells as u128 * (1 + spec.measure_dim() as u128),
        Some(cells) => cells.n_cells() as u128,
        None => 0,
    };
    let algorithm = &config.algorithm;
    let strategy_dim = match algorithm.preset {
        Preset::MapElites | Preset::MapElitesLine => 0,
        Preset::CmaMega | Preset::CmaMaega => 1 + spec.measure_dim() as u128,
        _ => spec.solution_dim as u128,
    };
    // The covariance and its factor.
    let matrices = match algorithm.strategy {
        StrategyName::CmaEs => 2 * strategy_dim * strategy_dim,
        _ => 2 * strategy_dim,
    };
    // Each row is there as it is told and, with a strategy, as the random numbers that it was made from.
    let copies = if strategy_dim == 0 { 1 } else { 2 };
    let rows = copies * algorithm.batch_size as u128 * spec.solution_dim as u128;
    8 * (3 * n_cells + algorithm.emitters as u128 * (matrices + rows))
}

/// Refuses what cannot fit into this machine.
///
/// # Errors
/// The run needs more than there is; the message says how much.
pub fn check(config: &RunConfig, spec: &ProblemSpec) -> Result<(), RunError> {
    let needed = least_bytes(config, spec);
    match physical_bytes() {
        Some(available) if needed > available => Err(RunError::Memory { needed, available }),
        _ => Ok(()),
    }
}

/// The machine's memory, or what a container may have of it, where the system tells it.
fn physical_bytes() -> Option<u128> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u128 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    // Where there is no limit, this file is not there or says "max".
    let limit = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    Some((1024 * kibibytes).min(limit.unwrap_or(u128::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Override;

    fn config(n: &str, strategy: &str) -> RunConfig {
        let set = |key: &str, value: &str| Override::new("--set", key, value);
        let overrides = [set("problem.domain", "arm"), set("problem.n", n), set("algorithm.strategy", strategy)];
        RunConfig::read(None, &overrides).unwrap()
    }

    #[test]
    fn a_full_covariance_of_many_components_is_refused_and_a_diagonal_is_not() {
        let needs = |config: &RunConfig| least_bytes(config, &config.problem.spec().unwrap());
        assert!(needs(&config("1000000", "cma_es")) > 1 << 44);
        assert!(needs(&config("1000000", "sep_cma_es")) < 1 << 34);
        assert!(needs(&config("100", "cma_es")) < 1 << 25);
        if physical_bytes().is_some_and(|bytes| bytes < 1 << 44) {
            let config = config("1000000", "cma_es");
            let error = check(&config, &config.problem.spec().unwrap()).unwrap_err().to_string();
            assert!(error.contains("sep_cma_es"), "{error}");
        }
    }
}
