//! What a configuration says about noise: whether there is some, in its section of the problem, and what is done about it.

use luminary::archive::{Estimate, NoiseConfig};
use luminary::scheduler::NoiseHandling;

use super::error::Fault;
use super::setting::{Section, Setting};

/// Reads the settings of all three sections. They are checked in any case; without noise nothing is done.
pub(super) fn read(
    problem: &mut Section,
    archive: &mut Section,
    algorithm: &mut Section,
) -> Result<Option<NoiseHandling>, Fault> {
    let is_noisy = problem.take("noisy").map_or(Ok(false), |setting| setting.bool())?;
    let default = NoiseHandling::default();
    let count = |setting: Option<Setting>, default| setting.map_or(Ok(default), |setting| setting.count_in_range());
    let estimates = [("mean", Estimate::Mean), ("median", Estimate::Median)];
    let noise = NoiseHandling {
        share: algorithm.take("reevaluations").map_or(Ok(default.share), |setting| setting.number_in_range())?,
        archive: NoiseConfig {
            candidates: count(archive.take("candidates"), default.archive.candidates)?,
            evaluations: count(archive.take("depth"), default.archive.evaluations)?,
            estimate: archive
                .take("estimate")
                .map_or(Ok(default.archive.estimate), |setting| setting.choice(&estimates))?,
        },
    };
    Ok(is_noisy.then_some(noise))
}
