//! In which settings two runs differ: what is compared before a stored run goes on.

use serde::Serialize;
use serde_json::Value;

use crate::config::RunConfig;

/// Differences that are named; further ones are left out.
const MAX_NAMED: usize = 12;
/// Longer values are cut.
const MAX_CHARS: usize = 60;

/// Settings of `[run]` that may differ from one process to the next: they change no result, or only how long it goes
/// on.
const MAY_DIFFER: [&str; 6] =
    ["iterations", "threads", "metrics_every", "checkpoint_seconds", "checkpoint_iterations", "figures"];

/// What of an evaluator belongs to the problem; the rest is how to deal with the program.
const OF_THE_PROBLEM: [&str; 2] = ["command", "extras"];

/// A setting in which two runs differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The setting, such as `run.seed`.
    pub setting: String,
    /// Its value in the run that is stored.
    pub stored: String,
    /// Its value in the run that is asked for.
    pub asked: String,
}

impl Difference {
    /// The difference in words; `place` says where the stored value is, such as `in the checkpoint`.
    pub fn words(&self, place: &str) -> String {
        format!("{}: {} {place}, {} asked for", self.setting, self.stored, self.asked)
    }
}

/// In which settings that matter for the results two configurations differ.
pub fn differences(stored: &RunConfig, asked: &RunConfig) -> Vec<Difference> {
    compare(&what_matters(stored), &what_matters(asked))
}

/// In what two values differ, by the names of their fields.
pub fn compare(stored: &impl Serialize, asked: &impl Serialize) -> Vec<Difference> {
    let value = |value: serde_json::Result<Value>| value.expect("settings are plain data");
    let mut found = Vec::new();
    collect("", Some(&value(serde_json::to_value(stored))), Some(&value(serde_json::to_value(asked))), &mut found);
    found
}

/// A configuration without what may differ.
fn what_matters(config: &RunConfig) -> Value {
    let mut value = serde_json::to_value(config).expect("settings are plain data");
    if let Some(Value::Object(run)) = value.get_mut("run") {
        run.retain(|key, _| !MAY_DIFFER.contains(&key.as_str()));
    }
    // How an elite is drawn changes no result.
    if let Some(fields) = value.as_object_mut() {
        fields.remove("render");
    }
    let kinds = value.get_mut("problem").and_then(Value::as_object_mut);
    for problem in kinds.into_iter().flat_map(|kinds| kinds.values_mut()) {
        if let Some(fields) = problem.as_object_mut() {
            // Only figures show them.
            fields.remove("labels");
        }
        if let Some(Value::Object(evaluator)) = problem.get_mut("evaluator") {
            evaluator.retain(|key, _| OF_THE_PROBLEM.contains(&key.as_str()));
        }
    }
    value
}

fn collect(setting: &str, stored: Option<&Value>, asked: Option<&Value>, found: &mut Vec<Difference>) {
    // A learning rate that follows from the budget is not another one because a run is made longer.
    let is_budget = setting.ends_with("learning_rate.auto.budget");
    if stored == asked || is_budget || found.len() == MAX_NAMED {
        return;
    }
    let below = |key: &str| if setting.is_empty() { key.to_owned() } else { format!("{setting}.{key}") };
    match (stored, asked) {
        (Some(Value::Object(stored)), Some(Value::Object(asked))) => {
            let new = asked.keys().filter(|key| !stored.contains_key(*key));
            for key in stored.keys().chain(new) {
                collect(&below(key), stored.get(key), asked.get(key), found);
            }
        }
        (Some(Value::Array(stored)), Some(Value::Array(asked))) if stored.len() == asked.len() => {
            for (place, (stored, asked)) in stored.iter().zip(asked).enumerate() {
                collect(&format!("{setting}[{place}]"), Some(stored), Some(asked), found);
            }
        }
        _ => found.push(Difference { setting: setting.into(), stored: shown(stored), asked: shown(asked) }),
    }
}

fn shown(value: Option<&Value>) -> String {
    let text = match value {
        None | Some(Value::Null) => return "nothing".into(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Override;

    fn config(settings: &[(&str, &str)]) -> RunConfig {
        let settings: Vec<_> = settings.iter().map(|&(key, value)| Override::new("", key, value)).collect();
        RunConfig::read(None, &settings).unwrap()
    }

    #[test]
    fn settings_that_matter_are_named_and_others_may_differ() {
        let domain = ("problem.domain", "lp-sphere");
        let stored = config(&[domain, ("problem.n", "4")]);
        let may_differ = [
            ("run.threads", "3"),
            ("run.metrics_every", "7"),
            ("run.checkpoint_seconds", "5"),
            ("run.checkpoint_iterations", "9"),
            ("run.figures", "true"),
        ];
        let same = config(&[&[domain, ("problem.n", "4")], &may_differ[..]].concat());
        assert_eq!(differences(&stored, &same), []);
        let other = config(&[domain, ("problem.n", "5"), ("run.seed", "2"), ("algorithm.preset", "cma_me")]);
        let named: Vec<String> = differences(&stored, &other).iter().map(|it| it.words("stored")).collect();
        assert!(named.contains(&"run.seed: 0 stored, 2 asked for".to_owned()), "{named:?}");
        assert!(named.contains(&"problem.domain.n: 4 stored, 5 asked for".to_owned()), "{named:?}");
        assert!(named.iter().any(|line| line.starts_with("algorithm.preset: cma_mae stored")), "{named:?}");
    }
}
