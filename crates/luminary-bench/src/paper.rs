//! Algorithms with the paper's settings.

use luminary::preset::Preset;
use luminary::scheduler::SchedulerConfig;
use luminary::strategy::Variant;
use luminary_domains::{Domain, DomainError};

/// An algorithm with the paper's settings for a domain.
pub(crate) fn paper_config(
    algorithm: Preset,
    domain: Domain,
    n: usize,
    resolution: usize,
    variant: Variant,
    seed: u64,
) -> Result<SchedulerConfig, DomainError> {
    let settings = domain.paper_settings();
    let mut preset = algorithm.for_problem(&domain.build(n)?.spec());
    preset.resolution = vec![resolution; 2];
    preset.variant = variant;
    preset.seed = seed;
    preset.line_sigma = settings.line_sigma_2;
    preset.sigma = match algorithm {
        Preset::MapElites => settings.map_elites_sigma,
        Preset::MapElitesLine => settings.line_sigma_1,
        Preset::CmaMega | Preset::CmaMaega => settings.sigma_g,
        _ => settings.cma_sigma0,
    };
    Ok(preset.config())
}
