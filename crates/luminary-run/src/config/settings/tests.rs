//! What is made from the table agrees with it, and the table agrees with the reader.

use std::collections::BTreeSet;
use std::path::Path;

use super::super::{ConfigFileError, Override, RunConfig, Source, template};
use super::*;

/// A configuration in which settings of a scope have a meaning.
fn fitting(entry: &Entry) -> String {
    const OWN: &str = "problem = { n = 3, measures = [[0, 1], [0, 1]] }";
    const PROGRAM: &str = "evaluator.command = ['true']";
    match entry.scope {
        _ if entry.path == "archive.min_f" => format!("{OWN}\nalgorithm.preset = 'cma_mae'"),
        Scope::Domain => "run.seed = 0".into(),
        Scope::OwnProblem if entry.path == "problem.measures" => "problem.n = 3".into(),
        Scope::Always
        | Scope::OwnProblem
        | Scope::Thresholds
        | Scope::FirstThreshold
        | Scope::Ranked
        | Scope::Started
        | Scope::Equations => OWN.into(),
        Scope::Program | Scope::Lines => format!("{OWN}\n{PROGRAM}"),
        Scope::Hosts => format!("{OWN}\n{PROGRAM}\nevaluator.hosts = ['node1']"),
        Scope::Files => format!(
            "{OWN}\nevaluator.command = ['true', '{{params}}', '{{result}}']\nevaluator.protocol = 'files'\nevaluator.files.work_dir = 'work'"
        ),
        Scope::Kind("categorical") => format!(
            "{OWN}\nalgorithm.preset = 'cma_me'\narchive.kind = 'categorical'\narchive.categories = [['a'], ['b']]"
        ),
        Scope::Kind("proximity") => {
            format!("{OWN}\nalgorithm.preset = 'cma_me'\narchive.kind = 'proximity'\narchive.novelty_threshold = 0.1")
        }
        Scope::Kind("density") => {
            format!("{OWN}\nalgorithm.preset = 'cma_me'\narchive.kind = 'density'\narchive.bandwidth = 0.1")
        }
        Scope::Kind(kind) => format!("{OWN}\nalgorithm.preset = 'cma_me'\narchive.kind = '{kind}'"),
        Scope::Preset(name) => format!("{OWN}\nalgorithm.preset = '{name}'"),
        Scope::Gradients => format!("{OWN}\nalgorithm.preset = 'cma_mega'"),
        Scope::Completion => format!("{OWN}\nrun.order = 'completion'"),
        Scope::Noisy => "problem = { n = 3, measures = [[0, 1], [0, 1]], noisy = true }".into(),
    }
}

/// What a nested setting needs beside itself.
fn companions(path: &str) -> Vec<(&'static str, &'static str)> {
    let needed: &[(&str, &str)] = match path {
        "algorithm.bounds.lower" => &[("algorithm.bounds.upper", "9")],
        "algorithm.bounds.upper" => &[("algorithm.bounds.lower", "-9")],
        "algorithm.bounds.rule" => &[("algorithm.bounds.lower", "-9"), ("algorithm.bounds.upper", "9")],
        "algorithm.bandit.zeta" | "algorithm.bandit.reselect" => &[("algorithm.bandit.active", "2")],
        "archive.threshold_decay.batches" | "archive.threshold_decay.min" => &[("archive.threshold_decay.rate", "0.5")],
        _ => &[],
    };
    needed.to_vec()
}

fn read(entry: &Entry, value: Option<&str>) -> Result<RunConfig, ConfigFileError> {
    let mut overrides: Vec<_> =
        companions(entry.path).into_iter().map(|(key, value)| Override::new("--set", key, value)).collect();
    overrides.extend(value.map(|value| Override::new("--set", entry.path, value)));
    RunConfig::read(Some(Source::new("any.toml", &fitting(entry))), &overrides)
}

#[test]
fn every_entry_is_read_and_its_default_is_what_holds_without_it() {
    for entry in all().filter(|entry| cfg!(unix) || entry.section() != "evaluator") {
        let given = read(entry, Some(entry.absent.example()));
        let given = given.unwrap_or_else(|error| panic!("{}: {error}", entry.path));
        if let Absent::Is(_) = entry.absent {
            assert_eq!(given, read(entry, None).unwrap(), "{}", entry.path);
        }
    }
}

#[test]
fn wrong_values_are_told_in_the_words_of_the_table() {
    for entry in all().filter(|entry| cfg!(unix) || entry.section() != "evaluator") {
        // No setting is a date.
        let Err(error) = read(entry, Some("1979-05-27")) else { panic!("{} took a date", entry.path) };
        let message = error.to_string();
        assert!(message.contains(entry.path), "{message}");
        if matches!(entry.kind, Kind::Text | Kind::Flag | Kind::Choice(_) | Kind::Number(_)) {
            assert!(message.contains(&entry.kind.words()), "{}: {message}", entry.path);
        }
    }
}

#[test]
fn names_are_told_apart() {
    let mut seen = BTreeSet::new();
    for entry in all() {
        assert!(seen.insert((entry.path, format!("{:?}", entry.scope))), "{} is there twice", entry.path);
    }
    for Keyword { name, entry } in keywords() {
        assert_eq!(keyword(name).unwrap().path, entry.path, "{name} means two settings");
    }
    assert_eq!(keyword("sigma0").unwrap().path, "algorithm.sigma");
    assert_eq!(keyword("sigma").unwrap().path, "algorithm.sigma");
    assert_eq!(keyword("batchsize").unwrap_err(), Some("batch_size"));
}

#[test]
fn the_template_is_valid_as_it_is_and_shows_every_setting() {
    let text = template();
    RunConfig::read(Some(Source::new("template", &text)), &[]).unwrap();
    for entry in all().filter(|entry| !entry.is_nested()) {
        assert!(text.contains(&format!("{} = {}", entry.key(), entry.absent.example())), "{}", entry.path);
    }
    for kind in ["cvt", "categorical", "sliding_boundaries", "proximity", "dns", "density", "discount"] {
        let block = text.split(&format!("# kind = {kind:?}\n")).nth(1).unwrap();
        let lines: String =
            block.lines().take_while(|line| *line != "#").map(|line| format!("{}\n", &line[2..])).collect();
        let head = "problem = { n = 3, measures = [[0, 1], [0, 1]] }\nalgorithm.preset = 'cma_me'\n";
        let text = format!("{head}[archive]\nkind = {kind:?}\n{lines}");
        let config = RunConfig::read(Some(Source::new("template", &text)), &[]).unwrap();
        assert_eq!(config.archive.kind.name(), kind);
    }
}

#[test]
fn documents_are_those_of_the_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let made = [("docs/settings.md", document()), ("python/luminary/_settings.py", python_module())];
    for (name, expected) in made {
        let path = root.join(name);
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            std::fs::write(&path, &expected).unwrap();
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        let hint = "make it again with UPDATE_EXPECTED=1 cargo test -p luminary-run settings";
        assert!(found == expected, "{name} is not what the table says: {hint}");
    }
}
