//! The table of settings says truly where each has an effect, and whoever gives one elsewhere hears of it.

use super::*;

/// Settings of `[archive]` and `[algorithm]`, each with values of which at least one is nobody's default.
const VALUES: [(&str, [&str; 2]); 17] = [
    ("algorithm.variant", ["published", "standard"]),
    ("algorithm.sigma", ["0.123", "0.321"]),
    ("algorithm.emitters", ["7", "8"]),
    ("algorithm.batch_size", ["17", "18"]),
    ("algorithm.strategy", ["sep_cma_es", "open_ai_es"]),
    ("algorithm.ranker", ["objective", "improvement"]),
    ("algorithm.selection", ["filter", "mu"]),
    ("algorithm.restart", ["every 5", "every 6"]),
    ("algorithm.line_sigma", ["0.7", "0.8"]),
    ("algorithm.gradient", ["adam", "ascent"]),
    ("algorithm.gradient_step", ["0.7", "0.8"]),
    ("archive.learning_rate", ["0.37", "0.38"]),
    ("archive.min_f", ["-3.5", "-4.5"]),
    ("archive.qd_score_offset", ["-3.5", "-4.5"]),
    ("archive.update", ["batch", "sequential"]),
    ("archive.centroids", ["uniform", "sobol"]),
    ("archive.centroid_seed", ["5", "6"]),
];

const PROBLEM: &str = "problem = { n = 3, measures = [[0, 2], [0, 1]] }";

fn settings_of(text: &str) -> Vec<Override> {
    let pairs = text.split_whitespace().map(|pair| pair.split_once('=').expect("a key and a value"));
    pairs.map(|(key, value)| Override::new(format!("--set {key}={value}"), key, value)).collect()
}

/// A run as given, and what is said to change nothing in it.
fn read(settings: &[Override]) -> Result<(RunConfig, Vec<String>), ConfigFileError> {
    let source = Some(Source::new("any.toml", PROBLEM));
    let config = RunConfig::read(source, settings)?;
    let told = config.without_effect(source, settings)?;
    Ok((config, told.iter().map(Idle::to_string).collect()))
}

/// What is said of a file.
fn told_of(source: Option<Source<'_>>) -> Vec<String> {
    let told = RunConfig::read(source, &[]).unwrap().without_effect(source, &[]).unwrap();
    told.iter().map(Idle::to_string).collect()
}

#[test]
fn a_setting_is_told_or_refused_just_where_the_engine_is_built_the_same_with_it() {
    let archives = ["archive.kind=grid", "archive.kind=cvt archive.cells=20"];
    let strategies = ["", "algorithm.strategy=lm_ma_es"];
    for preset in Preset::ALL {
        let ranks = !matches!(preset, Preset::MapElites | Preset::MapElitesLine);
        for (archive, strategy) in archives.iter().flat_map(|archive| strategies.map(|strategy| (archive, strategy))) {
            if !ranks && !strategy.is_empty() {
                continue;
            }
            let archive = if preset == Preset::Dms {
                archive.replace("archive.kind=grid", "archive.kind=discount")
            } else {
                (*archive).into()
            };
            let archive = if preset == Preset::Dms {
                archive.replace("archive.kind=cvt", "archive.kind=discount")
            } else {
                archive
            };
            let base = settings_of(&format!("algorithm.preset={preset} {archive} {strategy}"));
            let (without, told) = read(&base).unwrap();
            assert_eq!(told, Vec::<String>::new(), "{preset} {archive} {strategy}");
            let spec = without.problem.spec().unwrap();
            for (key, values) in VALUES.iter().filter(|(key, _)| strategy.is_empty() || *key != "algorithm.strategy") {
                let read_with = |value: &&str| {
                    let mut settings = base.clone();
                    settings.push(Override::new("--set", *key, *value));
                    read(&settings)
                };
                let with: Vec<_> = values.iter().map(read_with).collect();
                // Another refusal, such as that of a ranker, is none about effects.
                if with
                    .iter()
                    .any(|with| with.as_ref().is_err_and(|error| !error.to_string().contains("no such setting")))
                {
                    continue;
                }
                let changes = |with: &Result<(RunConfig, _), _>| {
                    with.as_ref().is_ok_and(|(config, _)| config.scheduler(&spec) != without.scheduler(&spec))
                };
                let is_in_force = with.iter().any(changes);
                let is_said = with.iter().all(|with| with.as_ref().map_or(true, |(_, told)| !told.is_empty()));
                assert_ne!(is_in_force, is_said, "{key} with {preset} {archive} {strategy}: {with:?}");
            }
        }
    }
}

#[test]
fn cells_of_another_kind_are_refused_with_what_they_are_for() {
    let message = read(&settings_of("algorithm.preset=cma_me archive.centroids=sobol")).unwrap_err().to_string();
    let expected =
        "archive.centroids: expected no such setting, which is for `kind = \"cvt\"`, found it with `kind = \"grid\"`";
    assert!(message.contains(expected), "{message}");
    let of_four = "problem = { n = 3, measures = [[0, 1], [0, 1], [0, 1], [0, 1]] }\narchive.centroids = 'sobol'";
    RunConfig::read(Some(Source::new("any.toml", of_four)), &[]).expect("four measures have centroids without asking");
    read(&settings_of("algorithm.preset=dms archive.cells=20 archive.centroid_seed=3")).expect("of the result archive");
}

#[test]
fn what_is_told_names_the_setting_its_scope_and_what_the_run_has() {
    let (_, told) = read(&settings_of("algorithm.preset=cma_me algorithm.line_sigma=0.1")).unwrap();
    let expected =
        "--set algorithm.line_sigma=0.1 changes nothing: it is for `map_elites_line`, and this run has `cma_me`";
    assert_eq!(told, [expected]);
    let (_, told) = read(&settings_of("algorithm.preset=map_elites algorithm.x0=5")).unwrap();
    assert!(told[0].contains("which start from many solutions"), "{told:?}");
    let text = format!("{PROBLEM}\nalgorithm.preset = 'map_elites'\narchive.threshold_min = 3");
    let source = Some(Source::new("any.toml", &text));
    let told = told_of(source);
    assert!(told[0].starts_with("archive.min_f changes nothing: it is for `cma_mae`"), "{told:?}");
    // The QD score of costs is counted from it.
    let costs = "problem = { n = 3, measures = [[0, 1]], goal = 'minimise' }\nalgorithm.preset = 'map_elites'\narchive.min_f = 3";
    let source = Some(Source::new("any.toml", costs));
    let told = told_of(source);
    assert_eq!(told, Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn settings_of_another_way_to_speak_to_programs_are_told() {
    let text = format!(
        "{PROBLEM}\nevaluator = {{ command = ['true', '{{params}}', '{{result}}'], protocol = 'files', \
         start_time_limit = 3.0, host_patience = 3.0 }}"
    );
    let source = Some(Source::new("any.toml", &text));
    let told = told_of(source);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1].contains("start_time_limit changes nothing: it is for `protocol = \"json-lines\"`"), "{told:?}");
}

#[test]
fn what_is_missing_is_not_blamed_on_a_flag_beside_it() {
    let problem = "problem = { n = 3, measures = [[0, 1]], goal = 'minimise' }";
    let settings = settings_of("archive.resolution=10");
    let message = RunConfig::read(Some(Source::new("any.toml", problem)), &settings).unwrap_err().to_string();
    assert!(message.starts_with("any.toml: archive.min_f: expected the worst objective"), "{message}");
    let message = read(&settings_of("run.seed=99999999999999999999")).unwrap_err().to_string();
    assert!(
        message.contains("expected an integer from 0 to 18446744073709551615, found 99999999999999999999"),
        "{message}"
    );
}
