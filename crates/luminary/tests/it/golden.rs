//! Real runs against recorded figures: CMA-MAE on the 100-dimensional linear projection sphere with the paper's
//! settings, 1,000 of its 10,000 iterations.
//!
//! A run is chaotic: matrix products round differently on CPUs with other vector units, and within some hundred
//! iterations the trajectories have nothing in common. What carries over is the distribution. The figures below are
//! means and standard deviations over many seeds; the mean over a few seeds must lie within four of its own standard
//! errors. Full-length runs of this engine reproduce the paper's table.

use luminary::archive::ArchiveStats;
use luminary::preset::Preset;
use luminary::strategy::Variant;
use luminary_domains::Domain;

/// Mean and standard deviation over seeds.
struct Recorded {
    mean: f64,
    deviation: f64,
}

impl Recorded {
    /// Whether the mean of these trials could be from the same distribution.
    fn assert_agrees(&self, what: &str, found: &[f64]) {
        let n = found.len() as f64;
        let (mean, standard_error) = (found.iter().sum::<f64>() / n, self.deviation / n.sqrt());
        let distance = (mean - self.mean) / standard_error;
        assert!(distance.abs() < 4.0, "{what}: {mean:.2} is {distance:.1} standard errors from {:.2}", self.mean);
    }
}

fn trials(variant: Variant, n_trials: u64) -> Vec<ArchiveStats> {
    let problem = Domain::LpSphere.build(100).unwrap();
    let trial = |seed| {
        let mut config = Preset::CmaMae.for_problem(&problem.spec());
        (config.variant, config.seed) = (variant, seed);
        config.sigma = Domain::LpSphere.paper_settings().cma_sigma0;
        let mut scheduler = config.build().unwrap();
        scheduler.run(problem.as_ref(), 1000).unwrap();
        assert_eq!(scheduler.evaluations(), 540_000);
        scheduler.result().stats()
    };
    (1..=n_trials).map(trial).collect()
}

/// Recorded over 60 seeds (13 to 72).
#[test]
fn a_tenth_of_the_papers_cma_mae_trial_gives_the_recorded_figures() {
    let trials = trials(Variant::Published, 3);
    let column = |value: fn(&ArchiveStats) -> f64| trials.iter().map(value).collect::<Vec<_>>();
    let qd_score = column(|stats| stats.norm_qd_score);
    Recorded { mean: 51.18, deviation: 0.82 }.assert_agrees("QD score", &qd_score);
    let coverage = column(|stats| 100.0 * stats.coverage);
    Recorded { mean: 65.38, deviation: 1.44 }.assert_agrees("coverage", &coverage);
    let best = column(|stats| stats.obj_max.unwrap());
    Recorded { mean: 97.03, deviation: 0.27 }.assert_agrees("best", &best);
}

/// Recorded over 24 seeds (1 to 24). The textbook's equations are four standard deviations ahead of the published ones
/// already here.
#[test]
fn the_textbooks_equations_give_their_own_better_figures() {
    let trials = trials(Variant::Standard, 1);
    Recorded { mean: 55.01, deviation: 0.92 }.assert_agrees("QD score", &[trials[0].norm_qd_score]);
    Recorded { mean: 69.90, deviation: 1.38 }.assert_agrees("coverage", &[100.0 * trials[0].coverage]);
}
