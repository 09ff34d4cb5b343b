//! The continuous quality diversity score (Kent, Gaier, Mouret and Branke, 2022).

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

use super::Archive;
use crate::error::ConfigError;

/// Settings of [`cqd_score`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CqdConfig {
    /// Number of scores, each with targets of its own.
    pub n_iterations: usize,
    /// The wanted measures.
    pub targets: Targets,
    /// Penalties for missing them, over which a score is summed.
    pub penalties: Vec<f64>,
    /// Lowest objective.
    pub obj_min: f64,
    /// Highest objective.
    pub obj_max: f64,
    /// Largest distance between measures.
    pub dist_max: f64,
    /// How distances are measured.
    #[serde(default)]
    pub norm: Norm,
}

/// Wanted measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Targets {
    /// Points drawn uniformly within the archive's bounds.
    Drawn {
        /// Points in each iteration.
        n_points: usize,
        /// Seed of the points.
        seed: u64,
    },
    /// These, row by row, as many in each iteration.
    Given(Vec<f64>),
}

/// The order of a norm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Norm {
    /// Sum of absolute values.
    Manhattan,
    /// Square root of the sum of squares.
    #[default]
    Euclidean,
    /// Largest absolute value.
    Maximum,
}

impl Norm {
    fn distance(self, a: &[f64], b: &[f64]) -> f64 {
        let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
        match self {
            Self::Manhattan => differences.sum(),
            Self::Euclidean => differences.map(|difference| difference * difference).sum::<f64>().sqrt(),
            Self::Maximum => differences.fold(0.0, f64::max),
        }
    }
}

/// What [`cqd_score`] returns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CqdScore {
    /// Mean of the scores.
    pub mean: f64,
    /// The score of each iteration.
    pub scores: Vec<f64>,
    /// The targets of all iterations, row by row.
    pub targets: Vec<f64>,
}

impl CqdConfig {
    /// So many penalties, evenly spread from 0 to 1.
    pub fn even_penalties(n_penalties: usize) -> Vec<f64> {
        let last = n_penalties.saturating_sub(1).max(1) as f64;
        (0..n_penalties).map(|i| i as f64 / last).collect()
    }

    fn check(&self) -> Result<(), ConfigError> {
        if self.n_iterations == 0 {
            return Err(ConfigError::TooFew { what: "iterations of the CQD score", minimum: 1, found: 0 });
        }
        let range = self.obj_max - self.obj_min;
        for (what, found) in [("obj_max - obj_min", range), ("dist_max", self.dist_max)] {
            if !(found.is_finite() && found > 0.0) {
                return Err(ConfigError::Value { what, expected: "finite and > 0", found });
            }
        }
        Ok(())
    }

    fn targets(&self, bounds: &[(f64, f64)]) -> Result<Vec<f64>, ConfigError> {
        match &self.targets {
            Targets::Given(points) if points.len().is_multiple_of(self.n_iterations * bounds.len()) => {
                Ok(points.clone())
            }
            Targets::Given(points) => {
                let row = self.n_iterations * bounds.len();
                let what = "targets of the CQD score (iterations x points x measures)";
                Err(ConfigError::Length { what, expected: points.len().div_ceil(row) * row, found: points.len() })
            }
            &Targets::Drawn { n_points, seed } => {
                if let Some((dimension, &(lower, upper))) =
                    bounds.iter().enumerate().find(|(_, (lower, upper))| !(upper - lower).is_finite())
                {
                    return Err(ConfigError::MeasureBounds { dimension, lower, upper });
                }
                let mut rng = WideRng::from_path(seed, "cqd_score");
                let mut point =
                    || bounds.iter().map(|(lower, upper)| lower + (upper - lower) * rng.uniform()).collect();
                Ok((0..self.n_iterations * n_points).flat_map(|_| -> Vec<f64> { point() }).collect())
            }
        }
    }
}

/// How good an archive's best answer is for any wanted measures, over penalties for missing them.
///
/// For every target and penalty the best elite by `objective / (obj_max - obj_min) - penalty distance / dist_max` counts;
/// a score sums over targets and penalties, and is zero for an archive without elites. As in pyribs, `obj_min` is not
/// subtracted from the objectives.
///
/// ```
/// use luminary::archive::{AddReport, ArchiveConfig, Batch, CqdConfig, NonFinite, Norm, Targets, cqd_score};
///
/// let mut archive = ArchiveConfig::grid(1, vec![10], vec![(0.0, 1.0)]).build()?;
/// let batch = Batch { solutions: &[0.0], objectives: &[1.0], measures: &[0.5], extras: &[] };
/// archive.add(&batch, NonFinite::Fail, &mut AddReport::default())?;
/// let config = CqdConfig {
///     n_iterations: 1,
///     targets: Targets::Given(vec![0.5]),
///     penalties: CqdConfig::even_penalties(2),
///     obj_min: 0.0,
///     obj_max: 1.0,
///     dist_max: 1.0,
///     norm: Norm::Euclidean,
/// };
/// assert_eq!(cqd_score(archive.as_ref(), &config)?.mean, 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// No iterations, ranges that are not positive, targets that are no whole rows, or targets to be drawn within bounds that
/// are infinite.
pub fn cqd_score(archive: &dyn Archive, config: &CqdConfig) -> Result<CqdScore, ConfigError> {
    config.check()?;
    let targets = config.targets(archive.measure_bounds())?;
    let range = config.obj_max - config.obj_min;
    let n_numbers = targets.len() / config.n_iterations;
    let score_at = |target: &[f64], penalty: f64| {
        let value = |(quality, distance): (f64, f64)| quality - penalty * distance;
        let elites = archive.elites();
        elites
            .map(|elite| (elite.objective / range, config.norm.distance(elite.measures, target) / config.dist_max))
            .map(value)
            .reduce(f64::max)
            .unwrap_or(0.0)
    };
    let score = |iteration: usize| -> f64 {
        let targets = targets[iteration * n_numbers..][..n_numbers].chunks_exact(archive.measure_dim());
        let at_penalty = |&penalty: &f64| targets.clone().map(|target| score_at(target, penalty)).sum::<f64>();
        config.penalties.iter().map(at_penalty).sum()
    };
    let scores: Vec<f64> = (0..config.n_iterations).map(score).collect();
    let mean = scores.iter().sum::<f64>() / config.n_iterations as f64;
    Ok(CqdScore { mean, scores, targets })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::{AddReport, ArchiveConfig, ArchiveKind, Batch, DnsConfig, NonFinite};

    fn archive(elites: &[(f64, [f64; 2])]) -> Box<dyn Archive> {
        let mut archive = ArchiveConfig::grid(1, vec![5, 5], vec![(0.0, 1.0), (-1.0, 1.0)]).build().unwrap();
        let objectives: Vec<f64> = elites.iter().map(|elite| elite.0).collect();
        let measures: Vec<f64> = elites.iter().flat_map(|elite| elite.1).collect();
        let batch = Batch { solutions: &objectives, objectives: &objectives, measures: &measures, extras: &[] };
        archive.add(&batch, NonFinite::Fail, &mut AddReport::default()).unwrap();
        archive
    }

    fn config(targets: Targets, n_iterations: usize) -> CqdConfig {
        CqdConfig {
            n_iterations,
            targets,
            penalties: vec![0.0, 0.5, 2.0],
            obj_min: -1.0,
            obj_max: 3.0,
            dist_max: 2.0,
            norm: Norm::Euclidean,
        }
    }

    #[test]
    fn the_best_elite_counts_for_each_target_and_penalty() {
        let archive = archive(&[(2.0, [0.1, 0.0]), (1.0, [0.9, 0.0])]);
        // At the first target the second elite is 0.4 of the largest distance nearer, and 0.25 worse.
        let found = cqd_score(archive.as_ref(), &config(Targets::Given(vec![0.9, 0.0, 0.1, 0.0]), 2)).unwrap();
        let expected = [0.5 + (0.5 - 0.2_f64).max(0.25) + 0.25, 0.5 * 3.0];
        assert!(found.scores.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        assert!((found.mean - (expected[0] + expected[1]) / 2.0).abs() < 1e-12);
    }

    #[test]
    fn norms_differ() {
        let distances =
            [Norm::Manhattan, Norm::Euclidean, Norm::Maximum].map(|norm| norm.distance(&[3.0, 0.0], &[0.0, 4.0]));
        assert_eq!(distances, [7.0, 5.0, 4.0]);
    }

    #[test]
    fn targets_are_drawn_within_the_bounds_by_their_own_seed() {
        let archive = archive(&[(2.0, [0.1, 0.0])]);
        let drawn = |seed| {
            let targets = Targets::Drawn { n_points: 50, seed };
            cqd_score(archive.as_ref(), &config(targets, 3)).unwrap()
        };
        let found = drawn(1);
        assert_eq!((found.scores.len(), found.targets.len()), (3, 3 * 50 * 2));
        assert!(found.targets.chunks_exact(2).all(|x| (0.0..1.0).contains(&x[0]) && (-1.0..1.0).contains(&x[1])));
        assert_eq!(found, drawn(1));
        assert_ne!(found, drawn(2));
        assert_ne!(found.scores[0], found.scores[1]);
    }

    #[test]
    fn an_empty_archive_scores_nothing_and_broken_settings_are_named() {
        let empty = archive(&[]);
        assert_eq!(cqd_score(empty.as_ref(), &config(Targets::Given(vec![0.5, 0.5]), 1)).unwrap().mean, 0.0);
        let given = || Targets::Given(vec![0.5, 0.5]);
        let broken = [
            CqdConfig { n_iterations: 0, ..config(given(), 1) },
            CqdConfig { dist_max: 0.0, ..config(given(), 1) },
            CqdConfig { obj_max: -1.0, ..config(given(), 1) },
            config(Targets::Given(vec![0.5]), 1),
            config(given(), 2),
        ];
        for config in broken {
            assert!(cqd_score(empty.as_ref(), &config).is_err(), "{config:?}");
        }
        let measure_bounds = vec![(f64::NEG_INFINITY, f64::INFINITY)];
        let kind = ArchiveKind::Dns(DnsConfig { measure_bounds, capacity: 3, n_neighbours: 1 });
        let unbounded = ArchiveConfig::new(1, kind).build().unwrap();
        let drawn = config(Targets::Drawn { n_points: 5, seed: 1 }, 1);
        assert!(matches!(cqd_score(unbounded.as_ref(), &drawn), Err(ConfigError::MeasureBounds { .. })));
    }

    #[test]
    fn penalties_are_spread_evenly() {
        assert_eq!(CqdConfig::even_penalties(5), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(CqdConfig::even_penalties(1), [0.0]);
        assert!(CqdConfig::even_penalties(0).is_empty());
    }
}
