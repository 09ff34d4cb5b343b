//! Every kind of archive by its name: the whole life of a run.

use std::fs;

use crate::support::Lab;

/// A kind with the settings of a run over it.
struct Kind {
    name: &'static str,
    settings: &'static [&'static str],
    algorithm: &'static str,
    /// What `show` says of its size.
    size: &'static str,
    has_heatmap: bool,
}

const KINDS: [Kind; 7] = [
    Kind {
        name: "grid",
        settings: &["archive.resolution=10x10"],
        algorithm: "cma_mae",
        size: "of 100 cells",
        has_heatmap: true,
    },
    Kind {
        name: "cvt",
        settings: &["archive.cells=40", "archive.centroids=sobol"],
        algorithm: "cma_mae",
        size: "of 40 cells",
        has_heatmap: true,
    },
    Kind {
        name: "sliding_boundaries",
        settings: &["archive.resolution=10x10", "archive.remap_frequency=50"],
        algorithm: "map_elites",
        size: "of 100 cells",
        has_heatmap: true,
    },
    Kind {
        name: "proximity",
        settings: &["archive.novelty_threshold=2", "algorithm.ranker=nslc"],
        algorithm: "cma_me",
        size: "elites, without limit",
        has_heatmap: false,
    },
    Kind {
        name: "dns",
        settings: &["archive.capacity=30", "algorithm.ranker=dominated_novelty"],
        algorithm: "cma_me",
        size: "(30 of 30 elites)",
        has_heatmap: false,
    },
    Kind {
        name: "density",
        settings: &["archive.bandwidth=2.0", "archive.resolution=10x10"],
        algorithm: "density_descent",
        size: "of 100 cells",
        has_heatmap: true,
    },
    Kind {
        name: "discount",
        settings: &["archive.resolution=10x10"],
        algorithm: "dms",
        size: "of 100 cells",
        has_heatmap: true,
    },
];

/// Arguments of a command over the kind.
fn flags(kind: &Kind, more: &[&str]) -> Vec<String> {
    let problem = ["--domain", "lp-sphere", "--n", "6", "--emitters", "2", "--batch-size", "8", "--threads", "1"];
    let mut flags: Vec<String> = problem.iter().chain(more).map(|&flag| flag.to_owned()).collect();
    flags.extend(["--algorithm".into(), kind.algorithm.into(), "--set".into(), format!("archive.kind={}", kind.name)]);
    flags.extend(kind.settings.iter().flat_map(|setting| ["--set".to_owned(), (*setting).to_owned()]));
    flags
}

fn command<'a>(name: &'a str, flags: &'a [String]) -> Vec<&'a str> {
    [name].into_iter().chain(flags.iter().map(String::as_str)).collect()
}

#[test]
fn a_run_that_was_resumed_equals_one_that_was_not() {
    let lab = Lab::new();
    for kind in &KINDS {
        let every = ["--set", "run.metrics_every=1", "--quiet"];
        let whole = format!("{}-whole", kind.name);
        let parts = format!("{}-parts", kind.name);
        let run = |iterations: &str, out: &str| {
            let flags = flags(kind, &[&["--iterations", iterations, "--out", out], &every[..]].concat());
            lab.call(&command("run", &flags)).success();
        };
        run("30", &whole);
        run("12", &parts);
        lab.call(&["resume", &parts, "--iterations", "30", "--quiet"]).success();
        assert!(lab.essence(&parts) == lab.essence(&whole), "{}", kind.name);
    }
}

#[test]
fn every_command_works_or_says_why_not() {
    let lab = Lab::new();
    for kind in &KINDS {
        let name = kind.name;
        let run = flags(kind, &["--iterations", "20", "--out", name, "--quiet"]);
        let check = lab.call(&command("check", &flags(kind, &[]))).success().stdout;
        assert!(check.contains(&format!("archive      {name}, ")), "{check}");
        lab.call(&command("run", &run)).success();
        let shown = lab.call(&["show", name]).success().stdout;
        assert!(shown.contains(kind.size), "{name}: {shown}");
        for said in [lab.call(&["plot", name]).success(), lab.call(&["report", name]).success()] {
            assert_eq!(said.stderr.contains("its archive has no cells"), !kind.has_heatmap, "{name}: {}", said.stderr);
        }
        let drawn = |figure: &str| lab.path(&format!("{name}/figures/{figure}.png")).exists();
        assert_eq!(drawn("heatmap"), kind.has_heatmap, "{name}");
        assert!(drawn("curves") && drawn("ccdf") && drawn("parallel"), "{name}");
        let report = fs::read_to_string(lab.path(&format!("{name}/report.html"))).unwrap();
        assert!(report.contains("lp-sphere"), "{name}");
        let table = lab.call(&["export", name, "--format", "csv", "--stdout"]).success().stdout;
        let n_elites = lab.show(name)["elites"].as_u64().unwrap();
        assert!(n_elites > 0);
        assert_eq!(table.lines().count() as u64, n_elites + 1, "{name}");
        let search = lab.call(&["export", name, "--format", "csv", "--stdout", "--archive", "search"]);
        if ["density", "discount"].contains(&name) {
            search.fails(2, &["expected an archive that keeps elites"]);
        } else {
            search.success();
        }
    }
    lab.call(&["plot", "grid", "proximity", "--out", "both"]).success();
    assert!(lab.path("both/heatmaps.svg").exists() && lab.path("both/curves.svg").exists());
    lab.call(&["plot", "dns", "proximity", "--out", "neither"]).success();
    assert!(!lab.path("neither/heatmaps.svg").exists() && lab.path("neither/curves.svg").exists());
}

#[test]
fn trials_and_sweeps_run_over_every_kind() {
    let lab = Lab::new();
    for kind in &KINDS {
        let name = kind.name;
        let out = format!("sweep-{name}");
        let more =
            ["--trials", "2", "--iterations", "5", "--out", &out, "--quiet", "--vary", "algorithm.sigma=0.3,0.5"];
        lab.call(&command("sweep", &flags(kind, &more))).success();
        assert!(lab.call(&["show", &out]).success().stdout.contains("sigma"), "{name}");
        lab.call(&["plot", &out]).success();
        let out = format!("trial-{name}");
        let more = ["--trials", "2", "--iterations", "5", "--out", &out, "--quiet"];
        lab.call(&command("trial", &flags(kind, &more))).success();
    }
}

#[test]
fn categories_are_driven_by_hand() {
    let lab = Lab::new();
    let text = "problem = { n = 2, measures = [[0, 1], [0, 2]] }\nalgorithm.preset = 'cma_me'\n\
                archive = { kind = 'categorical', categories = [['red', 'blue'], ['s', 'm', 'l']] }\nrun = { iterations = 5, non_finite = 'fail' }\n";
    fs::write(lab.path("run.toml"), text).unwrap();
    lab.call(&["create", "run.toml", "--out", "run"]).success();
    let rows = lab.call(&["ask", "run", "-n", "3", "--json"]).success().stdout;
    assert_eq!(rows.lines().count(), 3);
    let results = "{\"id\": 0, \"objective\": 1.5, \"measures\": [0, 2]}\n{\"id\": 1, \"objective\": 0.5, \"measures\": [1, 0]}\n";
    fs::write(lab.path("results.jsonl"), results).unwrap();
    let told = lab.command().args(["tell", "run"]).stdin(fs::File::open(lab.path("results.jsonl")).unwrap()).output();
    assert!(told.unwrap().status.success());
    // What is no category is no result; it can be told again.
    let wrong = "{\"id\": 2, \"objective\": 1.0, \"measures\": [0.5, 0]}\n";
    fs::write(lab.path("wrong.jsonl"), wrong).unwrap();
    let told = lab.command().args(["tell", "run"]).stdin(fs::File::open(lab.path("wrong.jsonl")).unwrap()).output();
    let told = crate::support::Answer::of(told.unwrap());
    assert!(told.code != Some(0) && told.stderr.contains("expected"), "{}", told.stderr);
    lab.call(&["show", "run"]).success();
}

#[test]
fn archives_are_listed() {
    let list = Lab::new().call(&["list"]).success().stdout;
    let kinds = ["grid", "cvt", "categorical", "sliding_boundaries", "proximity", "dns", "density", "discount"];
    for name in kinds.into_iter().chain(["kernel_density", "dms"]) {
        assert!(list.lines().any(|line| line.trim_start().starts_with(name)), "{name}: {list}");
    }
}
