//! The paper's algorithms side by side on one experiment.

use std::fmt::Write;
use std::path::Path;

use luminary::preset::Preset;
use luminary_run::RunError;
use luminary_run::config::Override;
use luminary_run::driver::{ResumeOptions, Run};
use luminary_run::folder::State;
use luminary_run::folder::{MANIFEST, Manifest, write_atomically};
use luminary_run::stop::StopFlag;
use luminary_run::summary::Summary;

use super::{ExperimentError, Study};

/// Trials of several algorithms.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// One row for each algorithm.
    pub rows: Vec<Row>,
}

/// The trials of an algorithm.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The algorithm.
    pub preset: Preset,
    /// What each trial came to, by seed.
    pub trials: Vec<Summary>,
}

impl Comparison {
    /// The algorithms of the paper's LSI (StyleGAN) table, and the one that picks its own settings. On LSI (StyleGAN2) the
    /// paper leaves CMA-ME and CMA-MAE out, whose covariance matrix would be too large there; for small networks it is not.
    pub const PRESETS: [Preset; 7] = [
        Preset::MapElites,
        Preset::MapElitesLine,
        Preset::CmaMe,
        Preset::CmaMae,
        Preset::CmaMega,
        Preset::CmaMaega,
        Preset::Auto,
    ];

    /// Runs every algorithm with seeds 1 to `n_trials` into folders of their own below `folder`. Finished trials are kept,
    /// interrupted ones go on; `tell` hears of each one that ends. Nothing if it was asked to stop.
    ///
    /// # Errors
    ///
    /// A setting that is wrong, a folder that cannot be used, or one that holds trials with other settings.
    pub fn run(
        study: &Study,
        folder: &Path,
        n_trials: u64,
        overrides: &[Override],
        stop: &StopFlag,
        tell: &mut dyn FnMut(&Summary),
    ) -> Result<Option<Self>, ExperimentError> {
        let mut rows = Vec::new();
        for preset in Self::PRESETS {
            let mut trials = Vec::new();
            for seed in 1..=n_trials {
                let summary = run_trial(study, folder, preset, seed, overrides, stop)?;
                if summary.status != State::Finished {
                    return Ok(None);
                }
                tell(&summary);
                trials.push(summary);
            }
            rows.push(Row { preset, trials });
        }
        let comparison = Self { rows };
        for (name, text) in [("comparison.md", comparison.markdown()), ("comparison.csv", comparison.csv())] {
            let path = folder.join(name);
            write_atomically(&path, |file| std::io::Write::write_all(file, text.as_bytes()))
                .map_err(RunError::io("write", &path))?;
        }
        Ok(Some(comparison))
    }

    /// The table as in the paper: the mean over trials, with the standard error.
    pub fn markdown(&self) -> String {
        let mut text = "| algorithm | QD score | coverage | best | seconds |\n|---|---:|---:|---:|---:|\n".to_owned();
        for row in &self.rows {
            let cell = |value: fn(&Summary) -> f64| {
                let (mean, error) = mean_and_error(row.trials.iter().map(value));
                format!("{mean:.2} ± {error:.2}")
            };
            let _ = writeln!(
                text,
                "| {} | {} | {} % | {} | {:.0} |",
                row.preset,
                cell(|trial| trial.qd_score),
                cell(|trial| trial.coverage_percent),
                cell(|trial| trial.best.unwrap_or(f64::NAN)),
                mean_and_error(row.trials.iter().map(|trial| trial.seconds)).0,
            );
        }
        text
    }

    /// Every trial.
    pub fn csv(&self) -> String {
        let mut text = "algorithm,seed,iterations,evaluations,qd_score,coverage_percent,best,seconds\n".to_owned();
        for trial in self.rows.iter().flat_map(|row| &row.trials) {
            let Summary { algorithm, seed, iterations, evaluations, qd_score, coverage_percent, .. } = trial;
            let best = trial.best.map_or(String::new(), |best| best.to_string());
            let _ = writeln!(
                text,
                "{algorithm},{seed},{iterations},{evaluations},{qd_score},{coverage_percent},{best},{}",
                trial.seconds
            );
        }
        text
    }
}

fn run_trial(
    study: &Study,
    folder: &Path,
    preset: Preset,
    seed: u64,
    overrides: &[Override],
    stop: &StopFlag,
) -> Result<Summary, ExperimentError> {
    let mut settings = match preset {
        Preset::Auto => in_evaluations(study, overrides)?,
        _ => overrides.to_vec(),
    };
    settings.push(Override::new("the trial", "run.seed", seed.to_string()));
    let config = study.config(preset, &settings)?;
    let path = folder.join(format!("{preset}-seed{seed}"));
    if !path.join(MANIFEST).exists() {
        return study.execute(study.create(&path, config)?, stop, &mut ());
    }
    let mut found = Manifest::read(&path)?.config;
    found.run.threads = config.run.threads;
    if found != config {
        return Err(ExperimentError::OtherTrial { path });
    }
    let summary = Summary::read(&path)?;
    match summary.status {
        State::Finished => Ok(summary),
        _ => study.execute(Run::resume(&path, ResumeOptions::default())?, stop, &mut ()),
    }
}

/// The settings with as many evaluations as the paper's iterations have, for an algorithm whose iterations are larger.
fn in_evaluations(study: &Study, overrides: &[Override]) -> Result<Vec<Override>, ExperimentError> {
    let paper = study.config(Preset::CmaMaega, overrides)?;
    let evaluations = paper.evaluations_per_iteration().saturating_mul(paper.run.iterations);
    let mut settings: Vec<_> = overrides.iter().filter(|setting| setting.key != "run.iterations").cloned().collect();
    settings.push(Override::new("the trial", "run.evaluations", evaluations.to_string()));
    Ok(settings)
}

/// The mean and its standard error, which a single value does not have.
fn mean_and_error(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let n = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / n;
    let variance = values.map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, if n > 1.0 { (variance / n).sqrt() } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_those_of_means() {
        // Deviation sqrt(((2^2 + 0 + 2^2) / 2) = 2, divided by sqrt(3).
        let (mean, error) = mean_and_error([1.0, 3.0, 5.0].into_iter());
        assert!((mean - 3.0).abs() < 1e-12 && (error - 2.0 / 3f64.sqrt()).abs() < 1e-12, "{mean} {error}");
        assert_eq!(mean_and_error([4.0].into_iter()), (4.0, 0.0));
    }
}
