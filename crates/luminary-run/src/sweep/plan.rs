//! The plan of a sweep: every combination of settings with every seed.

use serde::{Deserialize, Serialize};

use crate::config::{ConfigFileError, Idle, Override, RunConfig, Source};

/// A setting with the values it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// How the user gave it, for errors.
    pub flag: String,
    /// Dotted path of the key.
    pub key: String,
    /// TOML values; anything else is taken as a string.
    pub values: Vec<String>,
}

/// All runs of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The runs, in the order in which they are started.
    pub runs: Vec<PlannedRun>,
}

/// One run of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedRun {
    /// Its folder, inside the sweep's.
    pub name: String,
    /// The settings it shares with runs of other seeds; empty if nothing is varied but the seed.
    pub group: String,
    /// The resolved configuration.
    pub config: RunConfig,
}

impl Plan {
    /// Every combination of the axes' values with every seed; each run uses one thread.
    ///
    /// # Errors
    /// The first combination that is not a valid configuration.
    pub fn new(
        source: Option<Source<'_>>,
        overrides: &[Override],
        axes: &[Axis],
        seeds: &[u64],
    ) -> Result<Self, ConfigFileError> {
        let mut runs = Vec::new();
        for combination in combinations(axes) {
            let label = |(axis, value): &(&Axis, &String)| {
                let key = axis.key.rsplit('.').next().unwrap_or(&axis.key);
                format!("{key}={value}")
            };
            let group = combination.iter().map(label).collect::<Vec<_>>().join(",");
            for seed in seeds {
                let mut all = overrides.to_vec();
                all.extend(varied(&combination));
                all.push(Override::new("sweep", "run.seed", seed.to_string()));
                all.push(Override::new("sweep", "run.threads", "1"));
                let config = RunConfig::read(source, &all)?;
                let separator = if group.is_empty() { "" } else { "," };
                let name = folder_name(&format!("{group}{separator}seed={seed}"), &runs);
                runs.push(PlannedRun { name, group: group.clone(), config });
            }
        }
        Ok(Self { runs })
    }

    /// What is given and changes nothing in any run.
    ///
    /// # Errors
    /// The first combination that is not a valid configuration.
    pub fn without_effect(
        source: Option<Source<'_>>,
        overrides: &[Override],
        axes: &[Axis],
    ) -> Result<Vec<Idle>, ConfigFileError> {
        let mut common: Option<Vec<Idle>> = None;
        for combination in combinations(axes) {
            let mut all = overrides.to_vec();
            all.extend(varied(&combination));
            let of_run = RunConfig::read(source, &all)?.without_effect(source, &all)?;
            let is_idle = |one: &Idle| of_run.iter().any(|other| other.name == one.name);
            match &mut common {
                None => common = Some(of_run),
                Some(common) => common.retain(is_idle),
            }
        }
        Ok(common.unwrap_or_default())
    }

    /// Two runs that would do the same, if there are some. Where they are kept makes no difference.
    pub fn repetition(&self) -> Option<(&PlannedRun, &PlannedRun)> {
        let pairs = self.runs.iter().enumerate().map(|(i, run)| (run, &self.runs[..i]));
        pairs
            .into_iter()
            .find_map(|(run, before)| before.iter().find(|other| other.config == run.config).map(|other| (other, run)))
    }

    /// The plan in a few words.
    pub fn describe(&self) -> String {
        match self.runs.as_slice() {
            [] => "no runs".into(),
            [only] => format!("1 run: {}", only.name),
            [first, .., last] => format!("{} runs from {} to {}", self.runs.len(), first.name, last.name),
        }
    }
}

/// The settings of a combination.
fn varied(combination: &[(&Axis, &String)]) -> Vec<Override> {
    combination.iter().map(|(axis, value)| Override::new(&axis.flag, &axis.key, *value)).collect()
}

/// The product of all axes, the last one varying fastest.
fn combinations(axes: &[Axis]) -> Vec<Vec<(&Axis, &String)>> {
    let mut rows = vec![Vec::new()];
    for axis in axes {
        let mut longer_rows = Vec::new();
        for row in &rows {
            for value in &axis.values {
                let mut longer_row = row.clone();
                longer_row.push((axis, value));
                longer_rows.push(longer_row);
            }
        }
        rows = longer_rows;
    }
    rows
}

/// A name that every file system takes, and that no other run of the plan has.
fn folder_name(label: &str, others: &[PlannedRun]) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "._-+=,".contains(c) { c } else { '_' };
    let name: String = label.chars().map(safe).take(200).collect();
    let is_free = |name: &String| others.iter().all(|other| other.name != *name);
    let numbered = (2..).map(|i| format!("{name}-{i}"));
    std::iter::once(name.clone()).chain(numbered).find(is_free).expect("there is always another number")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(key: &str, values: &[&str]) -> Axis {
        Axis { flag: "--vary".into(), key: key.into(), values: values.iter().map(|&value| value.into()).collect() }
    }

    #[test]
    fn every_combination_meets_every_seed() {
        let overrides = [Override::new("--domain", "problem.domain", "lp-sphere")];
        let axes = [axis("algorithm.preset", &["cma_me", "cma_mae"]), axis("archive.learning_rate", &["0.1", "auto"])];
        let plan = Plan::new(None, &overrides, &axes, &[3, 4]).unwrap();
        let names: Vec<_> = plan.runs.iter().map(|run| run.name.as_str()).collect();
        assert_eq!(names.len(), 8);
        assert_eq!(names[0], "preset=cma_me,learning_rate=0.1,seed=3");
        assert_eq!(names[7], "preset=cma_mae,learning_rate=auto,seed=4");
        assert!(plan.runs.iter().all(|run| run.config.run.threads == 1));
        assert_eq!(plan.runs[7].config.run.seed, 4);
    }

    #[test]
    fn names_are_safe_and_distinct() {
        let overrides = [Override::new("--domain", "problem.domain", "lp-sphere")];
        let axes = [axis("archive.learning_rate", &["0.01 at 10x10", "0.01 at 10_x10"])];
        let error = Plan::new(None, &overrides, &axes, &[0]).unwrap_err();
        assert!(error.to_string().contains("--vary"), "{error}");
        let axes = [axis("archive.learning_rate", &["0.01 at 10x10", "0.01 at 10x10"])];
        let plan = Plan::new(None, &overrides, &axes, &[0]).unwrap();
        let names: Vec<_> = plan.runs.iter().map(|run| run.name.as_str()).collect();
        assert_eq!(names, ["learning_rate=0.01_at_10x10,seed=0", "learning_rate=0.01_at_10x10,seed=0-2"]);
    }
}
