//! Broken configurations: each message is compared with `broken.txt`, which is there to be read.
//!
//! `UPDATE_EXPECTED=1 cargo test -p luminary-cli` writes the file anew; look at the difference.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::support::Lab;

const FILES: [(&str, &str); 59] = [
    ("empty", ""),
    ("no-domain", "[run]\nseed = 1\n\n[problem]\nn = 3\n"),
    ("not-toml", "[problem\ndomain = \"arm\"\n"),
    ("no-value", "[problem]\ndomain = \n"),
    ("twice", "[run]\nseed = 1\nseed = 2\n"),
    ("unknown-section", "[problem]\ndomain = \"arm\"\n[algoritm]\nsigma = 1\n"),
    ("unknown-key", "[problem]\ndomain = \"arm\"\n\n[run]\niteratons = 100\n"),
    ("section-as-value", "problem = \"arm\"\n"),
    ("unknown-domain", "[problem]\ndomain = \"lp-spere\"\n"),
    ("too-few-components", "[problem]\ndomain = \"lp-sphere\"\nn = 1\n"),
    ("wrong-type", "[problem]\ndomain = \"arm\"\n[run]\niterations = \"many\"\n"),
    ("fraction", "[problem]\ndomain = \"arm\"\n[run]\niterations = 1.5\n"),
    ("zero-iterations", "[problem]\ndomain = \"arm\"\n[run]\niterations = 0\n"),
    ("two-budgets", "[problem]\ndomain = \"arm\"\n[run]\niterations = 10\nevaluations = 5400\n"),
    ("too-many-threads", "[problem]\ndomain = \"arm\"\n[run]\nthreads = 1_000_000_000\n"),
    ("too-large-batch", "[problem]\ndomain = \"arm\"\n[algorithm]\nbatch_size = 2_000_000\n"),
    (
        "too-many-workers",
        "[problem]\nn = 2\nmeasures = [[0, 1]]\n[evaluator]\ncommand = [\"true\"]\nworkers = 1_000_000\n",
    ),
    ("negative-seed", "[problem]\ndomain = \"arm\"\n[run]\nseed = -1\n"),
    ("unknown-preset", "[problem]\ndomain = \"arm\"\n[algorithm]\npreset = \"cma_mea\"\n"),
    ("negative-sigma", "[problem]\ndomain = \"arm\"\n[algorithm]\nsigma = -0.5\n"),
    ("infinite-sigma", "[problem]\ndomain = \"arm\"\n[algorithm]\nsigma = inf\n"),
    ("small-batch", "[problem]\ndomain = \"arm\"\n[algorithm]\npreset = \"cma_mega\"\nbatch_size = 2\n"),
    ("no-ranker", "[problem]\ndomain = \"arm\"\n[algorithm]\npreset = \"map_elites\"\nranker = \"novelty\"\n"),
    ("resolution-length", "[problem]\ndomain = \"arm\"\n[archive]\nresolution = [10, 10, 10]\n"),
    ("resolution-zero", "[problem]\ndomain = \"arm\"\n[archive]\nresolution = [10, 0]\n"),
    ("learning-rate", "[problem]\ndomain = \"arm\"\n[archive]\nlearning_rate = \"0.01 at ten\"\n"),
    ("alpha-too-large", "[problem]\ndomain = \"arm\"\n[archive]\nlearning_rate = 1.5\n"),
    (
        "bounds",
        "[problem]\ndomain = \"arm\"\nn = 3\n[algorithm]\nbounds = { lower = [-1, -1, 2], upper = [1, 1, 2] }\n",
    ),
    ("start-outside", "[problem]\ndomain = \"arm\"\n[algorithm]\nx0 = 3.5\nbounds = { lower = -1, upper = 1 }\n"),
    ("no-command", "[problem]\nn = 2\nmeasures = [[0, 1]]\n[evaluator]\nworkers = 2\n"),
    ("no-measures", "[problem]\nn = 2\n[evaluator]\ncommand = [\"true\"]\n"),
    ("measure-bounds", "[problem]\nn = 2\nmeasures = [[0, 1], [3, 2]]\n[evaluator]\ncommand = [\"true\"]\n"),
    ("measure-width", "[problem]\nn = 2\nmeasures = [[-1e308, 1e308]]\n[evaluator]\ncommand = [\"true\"]\n"),
    ("misspelt-command", "[problem]\nn = 2\nmeasures = [[0, 1]]\n[evaluator]\ncomand = [\"true\"]\n"),
    ("no-program", "[problem]\nn = 2\nmeasures = [[0, 1]]\n[evaluator]\ncommand = [\"\"]\n"),
    (
        "kept-nowhere",
        "[problem]\nn = 2\nmeasures = [[0, 1]]\n[evaluator]\ncommand = [\"true\"]\nprotocol = \"files\"\nfiles = { keep_failed = 3 }\n",
    ),
    (
        "no-categories",
        "[problem]\nn = 2\nmeasures = [[0, 1]]\n[evaluator]\ncommand = [\"true\"]\n[archive]\nkind = \"categorical\"\ncategories = [[]]\n",
    ),
    ("wrong-section", "[problem]\ndomain = \"arm\"\niterations = 100\n"),
    ("no-section", "domain = \"arm\"\n"),
    ("two-names", "[problem]\ndomain = \"arm\"\n[algorithm]\nsigma = 0.1\nsigma0 = 0.2\n"),
    ("two-problems", "[problem]\ndomain = \"arm\"\n[evaluator]\ncommand = [\"true\"]\n"),
    ("command-as-text", "[problem]\nn = 2\nmeasures = [[0, 1]]\n[evaluator]\ncommand = \"python3 x.py\"\n"),
    ("no-workers", "[problem]\nn = 2\nmeasures = [[0, 1]]\n[evaluator]\ncommand = [\"true\"]\nworkers = 0\n"),
    ("evaluator-key", "[problem]\nn = 2\nmeasures = [[0, 1]]\n[evaluator]\ncommand = [\"true\"]\ntimelimit = 3\n"),
    (
        "files-setting",
        "[problem]\nn = 2\nmeasures = [[0, 1]]\n[evaluator]\ncommand = [\"true\"]\nfiles = { format = \"text\" }\n",
    ),
    ("goal-of-a-domain", "[problem]\ndomain = \"arm\"\ngoal = \"minimise\"\n"),
    ("unknown-goal", "[problem]\nn = 2\nmeasures = [[0, 1]]\ngoal = \"smallest\"\n[evaluator]\ncommand = [\"true\"]\n"),
    (
        "no-worst-cost",
        "[problem]\nn = 2\nmeasures = [[0, 1]]\ngoal = \"minimise\"\n[evaluator]\ncommand = [\"true\"]\n\n[archive]\nresolution = 9\n",
    ),
    (
        "extras-width",
        "[problem]\nn = 2\nmeasures = [[0, 1]]\n[evaluator]\ncommand = [\"true\"]\nextras = { energy = 0 }\n",
    ),
    (
        "extras-name",
        "[problem]\nn = 2\nmeasures = [[0, 1]]\n[evaluator]\ncommand = [\"true\"]\nextras = { energy = 1, visits = 2 }\n",
    ),
    ("no-active", "[problem]\ndomain = \"arm\"\n[algorithm]\nbandit = { zeta = 1 }\n"),
    ("too-many-active", "[problem]\ndomain = \"arm\"\n[algorithm]\nemitters = 4\nbandit = { active = 5 }\n"),
    ("bandit-key", "[problem]\ndomain = \"arm\"\n[algorithm]\nbandit = { active = 5, reselct = \"all\" }\n"),
    ("unknown-archive", "[problem]\ndomain = \"arm\"\n[archive]\nkind = \"proximty\"\n"),
    ("discount-archive", "[problem]\ndomain = \"arm\"\n[archive]\nkind = \"discount\"\nlearning_rate = \"auto\"\n"),
    ("no-thresholds", "[problem]\ndomain = \"arm\"\n[archive]\nkind = \"dns\"\n"),
    (
        "learning-rate-without-thresholds",
        "[problem]\ndomain = \"arm\"\n[algorithm]\npreset = \"cma_me\"\n[archive]\nkind = \"dns\"\nlearning_rate = 0.1\n",
    ),
    ("no-density", "[problem]\ndomain = \"arm\"\n[algorithm]\npreset = \"cma_me\"\nranker = \"kernel_density\"\n"),
    ("too-many-cells", "[problem]\ndomain = \"arm\"\n[archive]\nresolution = 100_000\n"),
];

const FLAGS: [&[&str]; 5] = [
    &["--domain", "arm", "--variant", "publishd"],
    &["--domain", "arm", "--iterations", "ten"],
    &["--domain", "arm", "--set", "archive.updat=batch"],
    &["--domain", "arm", "--set", "archive.update"],
    &["--algorithm", "cma_me"],
];

#[test]
fn every_mistake_is_told_with_its_place_and_what_was_expected() {
    let lab = Lab::new();
    let mut told = String::new();
    for (name, text) in FILES {
        let file = format!("{name}.toml");
        fs::write(lab.path(&file), text).unwrap();
        let answer = lab.call(&["check", &file]).fails(2, &["error: "]);
        writeln!(told, "--- {name}\n{}", answer.stderr).unwrap();
    }
    for flags in FLAGS {
        let answer = lab.call(&[&["check"], flags].concat()).fails(2, &["error: "]);
        writeln!(told, "--- {}\n{}", flags.join(" "), answer.stderr).unwrap();
    }
    fs::write(lab.path("bytes.toml"), b"[run]\nseed = \xff\n").unwrap();
    for file in ["bytes.toml", "absent.toml"] {
        writeln!(told, "--- {file}\n{}", lab.call(&["run", file]).fails(2, &["error: "]).stderr).unwrap();
    }
    assert!(!lab.path("runs").exists(), "nothing was started");
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/broken.txt");
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        fs::write(&expected, &told).unwrap();
    }
    assert_eq!(told, fs::read_to_string(&expected).unwrap());
}

/// Whoever comes from pyribs may keep its names, in files and flags, and flags win under either name.
#[test]
fn names_of_pyribs_are_understood_in_files_and_flags() {
    let lab = Lab::new();
    let of = |name: &str, settings: &str, flags: &[&str]| {
        fs::write(lab.path(&format!("{name}.toml")), format!("[problem]\ndomain = \"arm\"\nn = 4\n{settings}"))
            .unwrap();
        let file = format!("{name}.toml");
        let run = ["run", &file, "--out", name, "--iterations", "2", "--quiet"];
        lab.call(&[&run[..], flags].concat()).success();
        lab.essence(name)
    };
    let ours = of("ours", "[archive]\nresolution = 7\nmin_f = -3\n[algorithm]\nsigma = 0.25\nbatch_size = 5\n", &[]);
    let theirs = "[archive]\ndims = 7\nthreshold_min = -3\n[algorithm]\nsigma0 = 0.25\nbatch_size = 5\n";
    assert!(of("theirs", theirs, &[]) == ours);
    let other = theirs.replace("0.25", "0.5").replace("sigma0", "sigma");
    assert!(of("flag", &other, &["--set", "algorithm.sigma0=0.25"]) == ours);
}

#[test]
fn a_budget_of_evaluations_is_said_in_iterations_and_resuming_has_the_limit_of_threads() {
    let lab = Lab::new();
    let flags = ["--domain", "arm", "--n", "3", "--resolution", "5x5", "--evaluations", "1000"];
    let checked = lab.call(&[&["check"], &flags[..]].concat()).success();
    assert!(checked.stdout.contains("2 iterations, 1,080 evaluations"), "{}", checked.stdout);
    let run = lab.call(&[&["run", "--out", "run"], &flags[..]].concat()).success();
    assert!(run.stderr.contains("2 iterations of 540 evaluations"), "{}", run.stderr);
    let expected = "threads: expected an integer from 0 to 1024, found 1000000000";
    lab.call(&["resume", "run", "--threads", "1000000000"]).fails(2, &[expected]);
}
