//! Values of configurations that were stored: whatever a file could not say, a manifest must not say either.

use super::resolve::MAX_THREADS;
use super::{ProblemConfig, RunConfig, RunSettings};

impl RunConfig {
    /// Checks values that a reader of configuration files refuses. What concerns archives and emitters the engine
    /// checks when it builds them.
    ///
    /// # Errors
    /// The first setting that is wrong, in words.
    pub fn check(&self) -> Result<(), String> {
        let RunSettings { iterations, threads, metrics_every, checkpoint_seconds, checkpoint_iterations, .. } =
            self.run;
        let problem = match &self.problem {
            ProblemConfig::Domain { n, .. } | ProblemConfig::Custom { n, .. } => *n,
            #[cfg(unix)]
            ProblemConfig::External { n, evaluator, .. } => {
                evaluator.check().map_err(|error| error.to_string())?;
                *n
            }
        };
        let algorithm = &self.algorithm;
        at_least_one("problem.n", problem as u64)?;
        at_least_one("algorithm.emitters", algorithm.emitters as u64)?;
        at_least_one("algorithm.batch_size", algorithm.batch_size as u64)?;
        positive("algorithm.sigma", algorithm.sigma)?;
        require(algorithm.x0.len() == problem, "algorithm.x0", &format!("{problem} numbers"), algorithm.x0.len())?;
        at_least_one("run.iterations", iterations)?;
        at_least_one("run.metrics_every", metrics_every)?;
        at_least_one("run.checkpoint_iterations", checkpoint_iterations.unwrap_or(1))?;
        positive("run.checkpoint_seconds", checkpoint_seconds)?;
        let allowed = format!("a whole number from 1 to {MAX_THREADS}");
        require((1..=MAX_THREADS).contains(&threads), "run.threads", &allowed, threads)
    }
}

fn at_least_one(key: &str, found: u64) -> Result<(), String> {
    require(found >= 1, key, "a whole number of at least 1", found)
}

fn positive(key: &str, found: f64) -> Result<(), String> {
    require(found > 0.0 && found.is_finite(), key, "a positive number", found)
}

fn require(holds: bool, key: &str, expected: &str, found: impl std::fmt::Display) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("expected {expected} in `{key}`, found {found}")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Override;

    #[test]
    fn values_that_a_file_could_not_have_are_named() {
        let settings = [("problem.domain", "lp-sphere"), ("problem.n", "4")];
        let good = RunConfig::read(None, &settings.map(|(key, value)| Override::new("", key, value))).unwrap();
        assert_eq!(good.check(), Ok(()));
        type Edit = fn(&mut RunConfig);
        let edits: [(&str, Edit); 9] = [
            ("run.metrics_every", |config| config.run.metrics_every = 0),
            ("run.checkpoint_iterations", |config| config.run.checkpoint_iterations = Some(0)),
            ("run.checkpoint_seconds", |config| config.run.checkpoint_seconds = -1.0),
            ("run.iterations", |config| config.run.iterations = 0),
            ("run.threads", |config| config.run.threads = 1_000_000_000),
            ("algorithm.emitters", |config| config.algorithm.emitters = 0),
            ("algorithm.batch_size", |config| config.algorithm.batch_size = 0),
            ("algorithm.sigma", |config| config.algorithm.sigma = f64::NAN),
            ("algorithm.x0", |config| config.algorithm.x0.clear()),
        ];
        for (key, edit) in edits {
            let mut config = good.clone();
            edit(&mut config);
            let message = config.check().unwrap_err();
            assert!(message.contains(key), "{message}");
        }
    }
}
