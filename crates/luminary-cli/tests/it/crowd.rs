//! Many workers that crash at random: the run ends as with one that does not.
//!
//! `LUMINARY_CROWD=1000` for a thousand of them.
#![cfg(unix)]

use std::fs;

use crate::support::Lab;

/// Answers, or crashes now and then before it does. What it answers depends on the solution alone.
const PROGRAM: &str = r#"
import json, os, random, signal, sys
share = float(sys.argv[1])
sys.stdin.readline()
print(json.dumps({"version": 1}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if random.random() < share:
        open(sys.argv[2], "a").write("x")
        os.kill(os.getpid(), random.choice([signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGTERM]))
    results = [{"objective": 10.0 - sum(v * v for v in x), "measures": x[:2]} for x in request["solutions"]]
    print(json.dumps({"id": request["id"], "results": results}), flush=True)
"#;

fn config(python: &str, n_workers: usize, n_rows: usize, share: f64) -> String {
    format!(
        "[problem]\nn = 3\nmeasures = [[-2.0, 2.0], [-2.0, 2.0]]\n\
         [evaluator]\ncommand = ['{python}', '-IS', 'program.py', '{share}', 'crashes']\nworkers = {n_workers}\n\
         rows_per_request = 1\nretries = 20\n\
         [archive]\nresolution = 20\nmin_f = -100.0\n[algorithm]\nemitters = 2\nbatch_size = {}\n\
         [run]\niterations = 5\nseed = 4\n",
        n_rows / 2
    )
}

#[test]
fn a_crowd_of_crashing_workers_gives_the_run_of_one_that_does_not_crash() {
    let n_workers: usize = std::env::var("LUMINARY_CROWD").map_or(40, |text| text.parse().unwrap());
    let lab = Lab::in_memory();
    let python = crate::support::interpreter();
    fs::write(lab.path("program.py"), PROGRAM).unwrap();
    let n_rows = 2 * n_workers;
    for (name, n_workers, share) in [("one", 1, 0.0), ("crowd", n_workers, 0.1)] {
        fs::write(lab.path("run.toml"), config(&python, n_workers, n_rows, share)).unwrap();
        lab.call(&["run", "run.toml", "--out", name, "--quiet"]).success();
    }
    let n_crashes = fs::read(lab.path("crashes")).unwrap().len();
    eprintln!("{n_workers} workers, {} rows, {n_crashes} crashes", 5 * n_rows);
    assert!(n_crashes > n_rows / 10, "only {n_crashes} crashes");
    assert!(lab.essence("one") == lab.essence("crowd"));
    assert_eq!(lab.show("crowd")["invalid"], 0);
}
