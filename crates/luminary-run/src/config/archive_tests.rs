//! Every kind of archive by its name: what it resolves to, that it builds, and what is refused.

use luminary::archive::{ArchiveKind, CellsConfig, Competition, LearningRate, ThresholdDecay};
use luminary::ranker::RankerConfig;

use super::*;

/// A problem of two measures that somebody else evaluates, and any archive.
fn read(preset: &str, archive: &str) -> Result<RunConfig, ConfigFileError> {
    let text = format!("[problem]\nn = 3\nmeasures = [[0, 2], [0, 1]]\n[algorithm]\n{preset}\n[archive]\n{archive}\n");
    RunConfig::read(Some(Source::new("any.toml", &text)), &[])
}

/// A resolved configuration that the engine builds and the manifest keeps.
fn resolved(archive: &str) -> ArchiveSettings {
    let config = read("preset = 'cma_me'", archive).unwrap();
    config.scheduler(&config.problem.spec().unwrap()).build().unwrap();
    let json = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<RunConfig>(&json).unwrap(), config);
    config.archive
}

fn refusal(preset: &str, archive: &str) -> String {
    read(preset, archive).unwrap_err().to_string()
}

#[test]
fn grids_and_centroids_may_be_named() {
    assert_eq!(resolved("kind = 'grid'"), resolved(""));
    assert_eq!(resolved("kind = 'cvt'\ncells = 50"), resolved("cells = 50"));
    assert_eq!(resolved("kind = 'cvt'\ncentroids = 'sobol'").capacity(), Some(10_000));
}

#[test]
fn categories_and_sliding_boundaries_are_cells() {
    let categories = resolved("kind = 'categorical'\ncategories = [['a', 'b', 'c'], ['x', 'y']]");
    assert_eq!((categories.kind.name(), categories.capacity()), ("categorical", Some(6)));
    assert_eq!(categories.learning_rate, LearningRate::Auto { budget: 5_400_000 });
    let sliding = resolved("kind = 'sliding-boundaries'\nresolution = [4, 5]\nremap_frequency = 7");
    let ArchiveKind::Cells(CellsConfig::SlidingBoundaries(config)) = &sliding.kind else { panic!("{sliding:?}") };
    assert_eq!((config.remap_frequency, config.buffer_capacity, sliding.capacity()), (7, 1000, Some(20)));
}

#[test]
fn archives_without_cells_have_a_capacity_or_no_limit() {
    let proximity = resolved("kind = 'proximity'\nnovelty_threshold = 0.2\nthreshold_decay = { rate = 0.5 }");
    let ArchiveKind::Proximity(config) = &proximity.kind else { panic!("{proximity:?}") };
    assert_eq!((config.n_neighbours, config.competition), (15, Competition::None));
    assert_eq!(config.decay, Some(ThresholdDecay { rate: 0.5, n_batches: 1, minimum: 0.0 }));
    assert_eq!((proximity.cells(), proximity.capacity()), (None, None));
    let dns = resolved("kind = 'dns'\ncapacity = 40");
    assert_eq!((dns.cells(), dns.capacity()), (None, Some(40)));
}

#[test]
fn a_density_has_the_cells_of_its_result_archive() {
    for (cells, n_cells) in [("resolution = 6", 36), ("cells = 30", 30), ("", 10_000)] {
        let density = resolved(&format!("kind = 'density'\nbandwidth = 0.1\n{cells}"));
        assert_eq!((density.kind.name(), density.capacity()), ("density", Some(n_cells)), "{cells}");
    }
    let config = read("preset = 'density_descent'", "kind = 'density'\nbandwidth = 0.1").unwrap();
    assert_eq!(config.algorithm.ranker, Some(RankerConfig::KernelDensity));
    let given = read("preset = 'density_descent'\nranker = 'objective'", "kind = 'density'\nbandwidth = 0.1").unwrap();
    assert_eq!(given.algorithm.ranker, Some(RankerConfig::Objective));
}

#[test]
fn discount_model_search_has_its_archive_without_asking() {
    let config = read("preset = 'dms'", "min_f = 5\nresolution = 7").unwrap();
    let ArchiveKind::Discount { discount, .. } = &config.archive.kind else { panic!("{:?}", config.archive) };
    assert_eq!((discount.learning_rate, discount.min_f), (LearningRate::Fixed(0.1), 5.0));
    assert_eq!(config.archive.capacity(), Some(49));
    assert_eq!(config.archive, read("preset = 'dms'", "kind = 'discount'\nmin_f = 5\nresolution = 7").unwrap().archive);
    let message = refusal("preset = 'dms'", "kind = 'grid'");
    assert!(message.contains("expected \"discount\" for dms, whose thresholds are a model's"), "{message}");
    // Its seed is the run's, and costs are maximised with another sign.
    let text = "problem = { n = 3, measures = [[0, 1], [0, 1], [0, 1], [0, 1]], goal = 'minimise' }\n\
                algorithm.preset = 'dms'\narchive.min_f = 9\nrun.seed = 4";
    let config = RunConfig::read(Some(Source::new("any.toml", text)), &[]).unwrap();
    let scheduler = config.scheduler(&config.problem.spec().unwrap());
    let ArchiveKind::Discount { discount, .. } = &scheduler.archive.kind else { panic!("{:?}", scheduler.archive) };
    assert_eq!((discount.seed, discount.min_f), (4, -9.0));
    assert_eq!(config.archive.cells().map(CellsConfig::name), Some("cvt"), "four measures are many");
}

#[test]
fn every_algorithm_builds_with_every_archive_it_is_not_refused_with() {
    let archives = [
        "kind = 'grid'",
        "kind = 'cvt'\ncells = 20",
        "kind = 'categorical'\ncategories = [['a', 'b'], ['c']]",
        "kind = 'sliding_boundaries'",
        "kind = 'proximity'\nnovelty_threshold = 0.1",
        "kind = 'dns'",
        "kind = 'density'\nbandwidth = 0.1",
        "kind = 'discount'",
    ];
    assert_eq!(archives.len(), ArchiveKind::ALL.len());
    let rankers = RankerName::ALL.map(|ranker| format!("preset = 'cma_me'\nranker = '{}'", ranker.name));
    let algorithms = Preset::ALL.map(|preset| format!("preset = '{preset}'")).into_iter().chain(rankers);
    for algorithm in algorithms {
        let mut n_built = 0;
        for archive in archives {
            match read(&algorithm, archive) {
                Ok(config) => {
                    config.scheduler(&config.problem.spec().unwrap()).build().unwrap();
                    n_built += 1;
                }
                Err(error) => assert!(error.to_string().contains("archive.kind: expected \""), "{error}"),
            }
        }
        assert!(n_built > 0, "{algorithm} goes with no archive");
    }
}

#[test]
fn what_an_archive_lacks_is_refused_with_its_reason() {
    let proximity = "kind = 'proximity'\nnovelty_threshold = 0.1";
    let message = refusal("preset = 'cma_mae'", proximity);
    let expected = "archive.kind: expected \"grid\", \"cvt\", \"categorical\" or \"discount\" for cma_mae, which keeps";
    assert!(message.contains(expected), "{message}");
    assert!(refusal("preset = 'density_descent'", proximity).contains("visits of cells"));
    // Nothing is said of the kind, which is a grid then.
    let message = refusal("preset = 'cma_me'\nranker = 'kernel_density'", "");
    assert!(message.contains("archive.kind: expected \"density\"") && message.contains("found nothing"), "{message}");
    let nslc = "preset = 'cma_me'\nranker = 'nslc'";
    let ArchiveKind::Proximity(config) = read(nslc, proximity).unwrap().archive.kind else { panic!("a proximity") };
    assert_eq!(config.competition, Competition::Local);
    assert!(refusal(nslc, &format!("{proximity}\nlocal_competition = false")).contains("expected true for"));
}

#[test]
fn settings_of_other_kinds_are_refused() {
    let cases = [
        ("kind = 'proximity'", "archive.novelty_threshold: expected the distance"),
        (
            "kind = 'proximity'\nnovelty_threshold = 0.1\nlearning_rate = 0.1",
            "no such setting for kind = \"proximity\"",
        ),
        ("kind = 'dns'\nupdate = 'batch'", "which keeps no thresholds"),
        ("kind = 'dns'\nresolution = 5", "found `resolution`"),
        ("kind = 'dns'\ncapacity = 0", "expected an integer >= 1, found 0"),
        ("kind = 'grid'\ncells = 5", "expected no number of cells"),
        ("kind = 'cvt'\nresolution = 5", "expected no resolution"),
        ("kind = 'density'", "archive.bandwidth: expected the width of the kernel"),
        ("kind = 'density'\nbandwidth = 0", "expected a finite number > 0, found 0"),
        (
            "kind = 'proximity'\nnovelty_threshold = 1\nthreshold_decay = { rate = 2 }",
            "a number within [0, 1], found 2",
        ),
        ("kind = 'categorical'", "archive.categories: expected 2 lists of names, one for each measure"),
        ("kind = 'categorical'\ncategories = [['a']]", "expected 2 lists of names"),
        ("kind = 'categorical'\ncategories = [['a', 'a'], ['b']]", "expected distinct names"),
        ("kind = 'categorical'\ncategories = [['a'], [1]]", "expected a string, found 1"),
        ("kind = 'discount'\nlearning_rate = 'auto'", "expected a number within [0, 1] for kind = \"discount\""),
        ("kind = 'discount'\nupdate = 'batch'", "which keeps no thresholds in cells"),
        ("kind = 'proximty'", "did you mean \"proximity\"?"),
    ];
    for (archive, expected) in cases {
        let message = refusal("preset = 'cma_me'", archive);
        assert!(message.contains("expected") && message.contains(expected), "{archive}: {message}");
    }
}

#[test]
fn a_domain_has_no_categories() {
    let text = "problem.domain = 'arm'\nalgorithm.preset = 'cma_me'\n\
                archive = { kind = 'categorical', categories = [['a'], ['b']] }";
    let message = RunConfig::read(Some(Source::new("any.toml", text)), &[]).unwrap_err().to_string();
    assert!(message.contains("for arm, whose measures are quantities, found \"categorical\""), "{message}");
}
