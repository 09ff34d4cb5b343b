//! Further numbers of a program, kept with the elites and written into every table.

use std::fs::{self, File};

use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::support::Lab;

/// `energy` is the first component times ten, `path` the first three components.
const JSON_LINES: &str = r#"
import json, sys
hello = json.loads(sys.stdin.readline())
assert hello["extras"] == {"energy": 1, "path": 3}, hello
print(json.dumps({"version": 1}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    results = []
    for x in request["solutions"]:
        extras = {"path": x[:3], "energy": 10.0 * x[0]}
        results.append({"objective": 10.0 - sum(v * v for v in x), "measures": x[:2], "extras": extras})
    print(json.dumps({"id": request["id"], "results": results}), flush=True)
"#;

/// The same with numbers in files.
const FILES: &str = r#"
import sys
x = [float(word) for word in open(sys.argv[1])]
values = [10.0 - sum(v * v for v in x), *x[:2], 10.0 * x[0], *x[:3]]
open(sys.argv[2], "w").write(" ".join(map(repr, values)))
"#;

const CONFIG: &str = r#"
[problem]
n = 4
measures = [[-2.0, 2.0], [-2.0, 2.0]]
[evaluator]
command = ["python3", "program.py"]
extras = { path = 3, energy = 1 }
[archive]
resolution = 10
[algorithm]
emitters = 2
batch_size = 6
[run]
iterations = 10
"#;

fn lab() -> Lab {
    let lab = Lab::new();
    fs::write(lab.path("program.py"), JSON_LINES).unwrap();
    fs::write(lab.path("files.py"), FILES).unwrap();
    fs::write(lab.path("run.toml"), CONFIG).unwrap();
    lab
}

const NAMES: [&str; 14] = [
    "cell",
    "objective",
    "threshold",
    "visits",
    "measures_0",
    "measures_1",
    "energy",
    "path_0",
    "path_1",
    "path_2",
    "solution_0",
    "solution_1",
    "solution_2",
    "solution_3",
];

/// Every row belongs to its own solution.
fn assert_csv(lab: &Lab, run: &str) -> usize {
    let text = lab.call(&["export", run, "--format", "csv", "--stdout"]).success().stdout;
    let mut lines = text.lines();
    assert_eq!(lines.next().unwrap().split(',').collect::<Vec<_>>(), NAMES);
    let rows: Vec<Vec<f64>> = lines.map(|line| line.split(',').map(|value| value.parse().unwrap()).collect()).collect();
    for row in &rows {
        assert_eq!(row[6], 10.0 * row[10]);
        assert_eq!(row[7..10], row[10..13]);
    }
    rows.len()
}

#[test]
fn extras_are_in_every_table_beside_their_solution() {
    let lab = lab();
    let report = lab.call(&["check", "run.toml"]).success().stdout;
    assert!(report.contains("energy [0.0], path [0.0, 0.0, 0.0] at the start"), "{report}");
    lab.call(&["run", "run.toml", "--out", "run", "--quiet"]).success();
    let n_rows = assert_csv(&lab, "run");
    assert!(n_rows > 10);
    let reader = SerializedFileReader::new(File::open(lab.path("run/result.parquet")).unwrap()).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr();
    let names: Vec<_> = schema.columns().iter().map(|column| column.name().to_owned()).collect();
    assert_eq!(names, NAMES);
    lab.call(&["export", "run", "--format", "npy"]).success();
    let npy = fs::read(lab.path("run/result.npy")).unwrap();
    let header = String::from_utf8_lossy(&npy[..512]).into_owned();
    let fields = "('measures', '<f8', (2,)), ('energy', '<f8'), ('path', '<f8', (3,)), ('solution', '<f8', (4,))]";
    assert!(header.contains(fields), "{header}");
    // Resumed, the elites of before still have theirs.
    lab.call(&["resume", "run", "--iterations", "20", "--quiet"]).success();
    assert!(assert_csv(&lab, "run") >= n_rows);
}

#[test]
fn result_files_hold_extras_behind_the_measures() {
    let lab = lab();
    let set = ["--set", "evaluator.command=['python3', '{directory}/files.py', '{params}', '{result}']"];
    let more = ["--set", "evaluator.protocol=files", "--set", "evaluator.files={ format = 'text' }"];
    lab.call(&[&["run", "run.toml", "--out", "run", "--quiet", "--iterations", "2"], &set[..], &more].concat())
        .success();
    assert!(assert_csv(&lab, "run") > 3);
}

#[test]
fn a_program_that_forgets_them_is_told_so() {
    let lab = lab();
    fs::write(lab.path("program.py"), JSON_LINES.replace("\"energy\": 10.0 * x[0]", "\"enrgy\": 1")).unwrap();
    lab.call(&["run", "run.toml", "--out", "run", "--set", "evaluator.on_failure=abort"])
        .fails(1, &["expected `energy` in `extras`, found none"]);
}
