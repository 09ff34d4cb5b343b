//! Any text is read or refused, and what is read survives the manifest.

use proptest::prelude::*;

use super::*;

/// Reading must give a configuration that the engine can judge, or an error that can be shown.
fn read_anything(text: &str, overrides: &[Override]) {
    match RunConfig::read(Some(Source::new("any.toml", text)), overrides) {
        Ok(config) => {
            let json = serde_json::to_string(&config).unwrap();
            assert_eq!(serde_json::from_str::<RunConfig>(&json).unwrap(), config);
        }
        Err(error) => assert!(error.to_string().contains("expected")),
    }
}

proptest! {
    #[test]
    fn arbitrary_text_is_read_or_refused(text in "\\PC*") {
        read_anything(&text, &[]);
    }

    #[test]
    fn arbitrary_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        read_anything(&String::from_utf8_lossy(&bytes), &[]);
    }

    #[test]
    fn a_damaged_file_is_read_or_refused(
        at in 0..template().len(), removed in 0..40_usize, inserted in "[ -~\n]{0,12}",
    ) {
        let mut text = template().into_bytes();
        let end = (at + removed).min(text.len());
        text.splice(at..end, inserted.into_bytes());
        read_anything(&String::from_utf8_lossy(&text), &[]);
    }

    #[test]
    fn arbitrary_values_of_every_key_are_read_or_refused(
        key in proptest::sample::select(settings::all().map(|entry| entry.path).collect::<Vec<_>>()),
        value in prop_oneof![
            "[ -~]{0,20}",
            any::<f64>().prop_map(|value| format!("{value:?}")),
            any::<i64>().prop_map(|value| value.to_string()),
            proptest::collection::vec(any::<i32>(), 0..5).prop_map(|values| format!("{values:?}")),
        ],
    ) {
        let overrides = [Override::new("--set", key, value)];
        read_anything("problem = { domain = 'arm', n = 3 }", &overrides);
    }
}

#[test]
fn manifests_from_before_goals_bandits_and_figures_still_read() {
    let text = "problem = { domain = 'arm', n = 3 }";
    let config = RunConfig::read(Some(Source::new("any.toml", text)), &[]).unwrap();
    let mut old = serde_json::to_value(&config).unwrap();
    old["algorithm"].as_object_mut().unwrap().remove("bandit").unwrap();
    old["run"].as_object_mut().unwrap().remove("figures").unwrap();
    assert_eq!(serde_json::from_value::<RunConfig>(old).unwrap(), config);
}

#[test]
fn a_bandit_leaves_fewer_evaluations_to_an_iteration() {
    let text =
        "problem = { domain = 'arm', n = 3 }\nalgorithm = { emitters = 8, batch_size = 5, bandit = { active = 3 } }";
    let config = RunConfig::read(Some(Source::new("any.toml", text)), &[]).unwrap();
    assert_eq!(config.evaluations_per_iteration(), 15);
}

#[test]
fn the_automatic_preset_tries_step_sizes_only_where_none_is_given() {
    use luminary::emitter::EmitterConfig;

    let n_sizes = |more: &str| {
        let text = format!("problem = {{ domain = 'arm', n = 3 }}\nalgorithm.preset = 'auto'\n{more}");
        let config = RunConfig::read(Some(Source::new("any.toml", &text)), &[]).unwrap();
        let scheduler = config.scheduler(&config.problem.spec().unwrap());
        scheduler.emitters.iter().filter(|group| matches!(group.emitter, EmitterConfig::Evolution(_))).count()
    };
    assert_eq!(n_sizes(""), 3);
    assert_eq!(n_sizes("algorithm.sigma = 0.5"), 1);
    let text = "problem = { domain = 'arm', n = 3 }\nalgorithm.preset = 'auto'";
    let config = RunConfig::read(Some(Source::new("any.toml", text)), &[]).unwrap();
    let mut old = serde_json::to_value(&config).unwrap();
    old["algorithm"].as_object_mut().unwrap().remove("step_sizes").unwrap();
    let old: RunConfig = serde_json::from_value(old).unwrap();
    assert_eq!(old.algorithm.step_sizes, StepSizes::Sigma, "a run of before goes on as it began");
}

#[test]
fn the_automatic_preset_takes_jacobians_from_either_and_others_from_where_their_name_says() {
    let read = |preset: &str, source: &str| {
        let text = format!(
            "problem = {{ domain = 'arm', n = 3 }}\nalgorithm = {{ preset = '{preset}', jacobians = '{source}' }}"
        );
        RunConfig::read(Some(Source::new("any.toml", &text)), &[]).map_err(|error| error.to_string())
    };
    let asks_for_gradients = |preset: &str, source: &str| {
        let config = read(preset, source).unwrap();
        let scheduler = config.scheduler(&config.problem.spec().unwrap()).build().unwrap();
        assert_eq!(scheduler.needs_gradients(), config.algorithm.needs_jacobians(), "{preset} {source}");
        config.algorithm.needs_jacobians()
    };
    for (preset, source, given) in [
        ("auto", "given", true),
        ("auto", "estimated", false),
        ("cma_maega", "given", true),
        ("cma_mae", "given", false),
    ] {
        assert_eq!(asks_for_gradients(preset, source), given, "{preset} {source}");
    }
    assert!(read("auto", "given").unwrap().reasons().iter().any(|reason| reason == "the problem gives gradients"));
    for (preset, source, instead) in [("cma_mega", "estimated", "cma_maega_df"), ("cma_maega_df", "given", "cma_maega")]
    {
        let message = read(preset, source).unwrap_err();
        assert!(message.contains(instead) && message.contains("algorithm.jacobians"), "{message}");
    }
    assert!(read("auto", "guessed").unwrap_err().contains("\"given\""));
}

#[cfg(unix)]
#[test]
fn costs_are_turned_round_inside_the_engine_only() {
    use luminary::archive::Acceptance;

    let text =
        "problem = { n = 2, measures = [[0, 1]], goal = 'minimize' }\nevaluator.command = ['x']\narchive.min_f = 30";
    let config = RunConfig::read(Some(Source::new("any.toml", text)), &[]).unwrap();
    assert_eq!((config.goal(), config.archive.min_f, config.archive.qd_score_offset), (Goal::Minimise, 30.0, 30.0));
    let engine = config.scheduler(&config.problem.spec().unwrap()).archive;
    assert!(matches!(engine.acceptance, Acceptance::Soft { min_f: -30.0, .. }), "{:?}", engine.acceptance);
    assert_eq!(engine.qd_score_offset, -30.0);
    assert_eq!(Goal::Minimise.turn(0.0).to_bits(), 0.0_f64.to_bits(), "zero stays without a sign");
}

#[test]
fn infinite_bounds_survive_the_manifest() {
    let text = "problem = { domain = 'arm', n = 2 }\nalgorithm.bounds = { lower = -inf, upper = [0.1, inf] }";
    read_anything(text, &[]);
    let config = RunConfig::read(Some(Source::new("any.toml", text)), &[]).unwrap();
    let bounds = config.algorithm.bounds.unwrap();
    assert_eq!((bounds.lower, bounds.upper), (vec![f64::NEG_INFINITY; 2], vec![0.1, f64::INFINITY]));
}

#[test]
fn every_algorithm_asks_for_solutions_within_the_bounds_only() {
    for preset in Preset::ALL {
        let text = format!(
            "problem = {{ domain = 'arm', n = 3 }}\nalgorithm = {{ preset = '{}', bounds = {{ lower = 100, upper = 101 }} }}",
            preset.name()
        );
        let config = RunConfig::read(Some(Source::new("any.toml", &text)), &[]).unwrap();
        let mut scheduler = config.scheduler(&config.problem.spec().unwrap()).build().unwrap();
        let tickets = scheduler.ask_tickets(500);
        let is_inside = |x: &f64| (100.0..=101.0).contains(x);
        assert!(tickets.iter().all(|ticket| ticket.solution.iter().all(is_inside)), "{preset}");
        assert!(!tickets.is_empty());
    }
}

#[test]
fn a_budget_of_evaluations_is_rounded_up_to_whole_iterations() {
    let iterations = |run: &str| {
        let text = format!("problem = {{ domain = 'arm', n = 2 }}\nrun = {{ {run} }}");
        RunConfig::read(Some(Source::new("any.toml", &text)), &[]).map(|config| config.run.iterations)
    };
    // An iteration of the defaults is 15 emitters of 36 evaluations.
    for (evaluations, expected) in [(1, 1), (540, 1), (541, 2), (5_400_000, 10_000)] {
        assert_eq!(iterations(&format!("evaluations = {evaluations}")).unwrap(), expected);
    }
    let message = iterations("evaluations = 540, iterations = 1").unwrap_err().to_string();
    assert!(message.contains("either `iterations` or `evaluations` as the budget, found both"), "{message}");
    assert!(
        iterations("evaluations = 0").unwrap_err().to_string().contains("run.evaluations: expected an integer >= 1")
    );
}
