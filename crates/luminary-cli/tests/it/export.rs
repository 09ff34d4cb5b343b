//! Tables, read back.

use std::fs::{self, File};

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Row, RowAccessor};

use crate::support::Lab;

fn rows(path: &std::path::Path) -> Vec<Row> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

#[test]
fn parquet_csv_and_npy_hold_the_same_bits() {
    let lab = Lab::new();
    lab.run_small(&["--iterations", "40", "--out", "run", "--quiet"]).success();
    let csv = lab.call(&["export", "run", "--format", "csv", "--stdout"]).success().stdout;
    let mut lines = csv.lines();
    let names: Vec<_> = lines.next().unwrap().split(',').collect();
    assert_eq!(names[..6], ["cell", "objective", "threshold", "visits", "measures_0", "measures_1"]);
    assert_eq!(names.len(), 6 + 10);
    let csv_rows: Vec<Vec<f64>> =
        lines.map(|line| line.split(',').map(|value| value.parse().unwrap()).collect()).collect();
    assert_eq!(csv_rows.len() as u64, lab.show("run")["elites"].as_u64().unwrap());
    assert!(csv_rows.is_sorted_by(|a, b| a[0] < b[0]), "ordered by cell");

    let parquet_rows = rows(&lab.path("run/result.parquet"));
    assert_eq!(parquet_rows.len(), csv_rows.len());
    for (row, expected) in parquet_rows.iter().zip(&csv_rows) {
        assert_eq!(row.get_long(0).unwrap() as f64, expected[0]);
        assert_eq!(row.get_long(3).unwrap() as f64, expected[3]);
        for i in (1..3).chain(4..16) {
            assert_eq!(row.get_double(i).unwrap().to_bits(), expected[i].to_bits(), "column {i}");
        }
    }

    lab.call(&["export", "run", "--format", "npy"]).success();
    let npy = fs::read(lab.path("run/result.npy")).unwrap();
    assert_eq!(&npy[..8], b"\x93NUMPY\x01\x00");
    let header_len = usize::from(u16::from_le_bytes([npy[8], npy[9]]));
    let header = std::str::from_utf8(&npy[10..10 + header_len]).unwrap();
    assert_eq!((10 + header_len) % 64, 0);
    assert!(header.contains(&format!("'shape': ({},)", csv_rows.len())), "{header}");
    assert!(header.contains("('solution', '<f8', (10,))"), "{header}");
    let body = &npy[10 + header_len..];
    assert_eq!(body.len(), csv_rows.len() * 8 * 16);
    for (row, expected) in body.chunks_exact(8 * 16).zip(&csv_rows) {
        let value = |i: usize| u64::from_le_bytes(row[8 * i..][..8].try_into().unwrap());
        assert_eq!((value(0) as f64, value(3) as f64), (expected[0], expected[3]));
        assert!((1..3).chain(4..16).all(|i| value(i) == expected[i].to_bits()));
    }
}

#[test]
fn the_search_archive_has_thresholds_of_its_own() {
    let lab = Lab::new();
    lab.run_small(&["--iterations", "40", "--out", "run", "--quiet"]).success();
    let exported = ["export", "run", "--format", "parquet", "--archive", "search", "-o", "search.parquet"];
    lab.call(&exported).success();
    assert_eq!(fs::read(lab.path("search.parquet")).unwrap(), fs::read(lab.path("run/archive.parquet")).unwrap());
    // With a learning rate of 0.01 thresholds lag behind objectives; those of the elitist archive do not.
    let lag = |name: &str| {
        let behind = |row: &&Row| row.get_double(2).unwrap() < row.get_double(1).unwrap();
        rows(&lab.path(name)).iter().filter(behind).count()
    };
    assert!(lag("search.parquet") > 0);
    assert_eq!(lag("run/result.parquet"), 0);
}

#[test]
fn solutions_of_many_components_are_one_column_of_lists() {
    let lab = Lab::new();
    let args = ["run", "--domain", "lp-plateau", "--n", "1200", "--algorithm", "map_elites", "--resolution", "10"];
    let rest = ["--emitters", "2", "--iterations", "3", "--out", "run", "--quiet"];
    lab.call(&[&args[..], &rest[..]].concat()).success();
    let csv = lab.call(&["export", "run", "--format", "csv", "--stdout"]).success().stdout;
    let rows = rows(&lab.path("run/result.parquet"));
    assert_eq!(rows.len(), csv.lines().count() - 1);
    for (row, line) in rows.iter().zip(csv.lines().skip(1)) {
        assert_eq!(row.len(), 7);
        let solution = row.get_list(6).unwrap();
        let expected: Vec<f64> = line.split(',').skip(6).map(|value| value.parse().unwrap()).collect();
        assert_eq!((solution.len(), expected.len()), (1200, 1200));
        let values: Vec<f64> = solution
            .elements()
            .iter()
            .map(|field| match field {
                parquet::record::Field::Double(value) => *value,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(values, expected);
    }
}

#[test]
fn an_output_that_is_closed_early_is_no_error() {
    let lab = Lab::new();
    lab.run_small(&["--iterations", "40", "--out", "run", "--quiet"]).success();
    let mut child = lab
        .command()
        .args(["export", "run", "--format", "csv", "--stdout"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let answer = crate::support::Answer::of(child.wait_with_output().unwrap()).success();
    assert_eq!(answer.stderr, "");
}
