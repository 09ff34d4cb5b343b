//! Tests of the messages: exactness, verdicts, and arbitrary bytes.

use proptest::prelude::*;

use super::*;

const SHAPE: Shape = Shape { solution_dim: 2, measure_dim: 2 };
static NO_EXTRAS: Extras = Extras(std::collections::BTreeMap::new());

fn wanted(jacobian: bool) -> Wanted<'static> {
    Wanted { shape: SHAPE, extras: &NO_EXTRAS, jacobian }
}

fn verdict(result: &str, wants_jacobian: bool) -> Option<Fault> {
    let line = format!("{{\"id\": 3, \"results\": [{result}]}}");
    let mut answer = Answer::default();
    answer.read(line.as_bytes(), wanted(wants_jacobian), 1).unwrap();
    assert_eq!(answer.values.len(), wanted(wants_jacobian).stride());
    answer.verdicts.remove(0)
}

#[test]
fn a_good_answer_is_read_in_any_order_with_extra_keys() {
    let line =
        br#" { "results" : [ {"measures":[1,-2.5e-3], "extra": {"a": [true]}, "objective": 4}, {"error": "no"} ],
                      "seconds": 0.1, "id" : 12 } "#;
    let mut answer = Answer::default();
    answer.read(line, wanted(false), 2).unwrap();
    assert_eq!((answer.id, &answer.error), (12, &None));
    assert_eq!(answer.values[..3], [4.0, 1.0, -2.5e-3]);
    assert_eq!(answer.verdicts, [None, Some(Fault::Reported("no".into()))]);
}

#[test]
fn jacobians_are_read_row_by_row() {
    let line = br#"{"id":0,"results":[{"objective":1,"measures":[2,3],"jacobian":[[4,5],[6,7],[8,9]]}]}"#;
    let mut answer = Answer::default();
    answer.read(line, wanted(true), 1).unwrap();
    assert_eq!(answer.values, [1., 2., 3., 4., 5., 6., 7., 8., 9.]);
    answer.read(line, wanted(false), 1).unwrap();
    assert_eq!(answer.values, [1., 2., 3.], "a jacobian nobody asked for is passed over");
}

#[test]
fn each_bad_row_has_its_verdict() {
    let garbage = |text: &str| Some(Fault::Garbage(text.to_string()));
    let wrong = |what, expected, found| Some(Fault::WrongLength { what, expected, found });
    let cases = [
        (r#"{"objective":1,"measures":[1,2]}"#, None),
        (r#"{"objective":1,"measures":[1,2],"error":null}"#, None),
        (r#"{"objective":NaN,"measures":[1,2]}"#, Some(Fault::NonFinite("the objective"))),
        (r#"{"objective":null,"measures":[1,2]}"#, Some(Fault::NonFinite("the objective"))),
        (r#"{"objective":1e400,"measures":[1,2]}"#, Some(Fault::NonFinite("the objective"))),
        (r#"{"objective":1,"measures":[1,-Infinity]}"#, Some(Fault::NonFinite("the measures"))),
        (r#"{"objective":1,"measures":[1]}"#, wrong("measures", 2, 1)),
        (r#"{"objective":1,"measures":[1,2,3]}"#, wrong("measures", 2, 3)),
        (r#"{"objective":1,"measures":[]}"#, wrong("measures", 2, 0)),
        (r#"{"objective":1,"measures":["1","2"]}"#, garbage("expected only numbers in measures, found \"1\"")),
        (r#"{"objective":1,"measures":7}"#, garbage("expected a list of numbers as measures, found 7")),
        (r#"{"objective":"1","measures":[1,2]}"#, garbage("expected a number as `objective`, found \"1\"")),
        (r#"{"measures":[1,2]}"#, garbage("expected `objective` in each result, found none in {\"measures\":[1,2]}")),
        (r#"{"objective":1}"#, garbage("expected `measures` in each result, found none in {\"objective\":1}")),
        (r#"[1,2]"#, garbage("expected an object for each result, found [1,2]")),
        (r#"{"error":"diverged"}"#, Some(Fault::Reported("diverged".into()))),
        (r#"{"error":{"code":3}}"#, Some(Fault::Reported("{\"code\":3} (expected a text)".into()))),
    ];
    for (result, expected) in cases {
        assert_eq!(verdict(result, false), expected, "{result}");
    }
}

#[test]
fn each_bad_jacobian_has_its_verdict() {
    let row = |jacobian: &str| format!(r#"{{"objective":1,"measures":[1,2],"jacobian":{jacobian}}}"#);
    let gradient = "a gradient in the jacobian";
    let wrong = |what, expected, found| Some(Fault::WrongLength { what, expected, found });
    assert_eq!(verdict(&row("[[1,2],[3,4],[5,6]]"), true), None);
    assert_eq!(verdict(&row("[[1,2],[3,4]]"), true), wrong("the jacobian", 3, 2));
    assert_eq!(verdict(&row("[[1,2],[3,4],[5,6],[7,8]]"), true), wrong("the jacobian", 3, 4));
    assert_eq!(verdict(&row("[[1,2],[3],[5,6]]"), true), wrong(gradient, 2, 1));
    assert_eq!(verdict(&row("[[1,2],[3,4],[5,NaN]]"), true), Some(Fault::NonFinite("the jacobian")));
    assert!(matches!(verdict(&row("[1,2,3]"), true), Some(Fault::Garbage(_))));
    assert!(matches!(verdict(&row("null"), true), Some(Fault::Garbage(_))));
    assert!(matches!(verdict(r#"{"objective":1,"measures":[1,2]}"#, true), Some(Fault::Garbage(_))));
}

#[test]
fn lines_that_are_no_answers_are_refused() {
    let result = r#"{"objective":1,"measures":[1,2]}"#;
    let lines = [
        "".to_string(),
        "hello".to_string(),
        "[]".to_string(),
        "{}".to_string(),
        r#"{"id":1}"#.to_string(),
        r#"{"id":1,"error":null}"#.to_string(),
        r#"{"results":[]}"#.to_string(),
        r#"{"id":"1","results":[]}"#.to_string(),
        r#"{"id":1.5,"results":[]}"#.to_string(),
        r#"{"id":-1,"results":[]}"#.to_string(),
        r#"{"id":1e300,"results":[]}"#.to_string(),
        r#"{"id":NaN,"results":[]}"#.to_string(),
        r#"{"id":1,"results":[],"results":[]}"#.to_string(),
        r#"{"id":1,"results":7}"#.to_string(),
        r#"{"id":1,"results":[]} {"id":2}"#.to_string(),
        format!(r#"{{"id":1,"results":[{result},{result},{result}]}}"#),
        format!(r#"{{"id":1,"results":[{result}"#),
    ];
    for line in lines {
        assert!(Answer::default().read(line.as_bytes(), wanted(false), 2).is_err(), "{line}");
    }
}

#[test]
fn a_hello_must_know_our_version_and_have_our_dimensions() {
    let read = |line: &str| read_hello(line.as_bytes(), SHAPE);
    assert!(!read(r#"{"version": 1}"#).unwrap().jacobian);
    assert!(read(r#"{"hello":"x","version":1,"jacobian":true,"solution_dim":2,"more":[]}"#).unwrap().jacobian);
    assert!(read(r#"{"version":2}"#).unwrap_err().contains("version 1"));
    assert!(read(r#"{"version":1,"solution_dim":3}"#).unwrap_err().contains("solution_dim 2"));
    assert!(read(r#"{"version":1,"measure_dim":1}"#).unwrap_err().contains("measure_dim 2"));
    assert!(read("Welcome to the simulator").unwrap_err().contains("Welcome"));
}

#[test]
fn text_results_are_counted_and_checked() {
    let mut row = Row::default();
    assert_eq!(row.read_text(b" 1.5\n2 3\t", wanted(false)), Ok(None));
    assert_eq!((row.objective, row.measures.as_slice()), (1.5, &[2.0, 3.0][..]));
    assert_eq!(row.read_text(b"nan 2 3", wanted(false)), Ok(Some(Fault::NonFinite("the objective"))));
    let wrong = Fault::WrongLength { what: RESULT_FILE, expected: 3, found: 4 };
    assert_eq!(row.read_text(b"1 2 3 4", wanted(false)), Ok(Some(wrong)));
    assert!(row.read_text(b"1 2 x", wanted(false)).is_err());
    assert!(row.read_text(b"1 2 \xff", wanted(false)).is_err());
    assert_eq!(row.read_text(b"1 2 3 4 5 6 7 8 9", wanted(true)), Ok(None));
    assert_eq!(row.jacobian, [4., 5., 6., 7., 8., 9.]);
}

/// Pieces from which nearly valid answers are put together.
fn nearly_an_answer() -> impl Strategy<Value = String> {
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"id\"",
        "\"results\"",
        "\"objective\"",
        "\"measures\"",
        "\"jacobian\"",
        "\"error\"",
        "1",
        "-0.5e-7",
        "NaN",
        "null",
        "\"a\\u00e9\"",
        "{\"objective\":1,\"measures\":[1,2]}",
        "\\",
        "\"",
        "é",
        "[1,2]",
        " ",
        "1e",
        "{\"id\":1,\"results\":[",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..40).prop_map(|pieces| pieces.concat())
}

fn check_bounds(line: &[u8], wants_jacobian: bool) {
    let mut answer = Answer::default();
    let _ = answer.read(line, wanted(wants_jacobian), 2);
    assert!(answer.verdicts.len() <= 2);
    assert!(answer.values.len() <= 2 * wanted(wants_jacobian).stride());
    assert!(answer.error.is_none_or(|error| error.len() <= 2100));
    let _ = read_hello(line, SHAPE);
    let _ = Row::default().read_text(line, wanted(wants_jacobian));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn arbitrary_bytes_give_an_error_within_bounds(bytes in prop::collection::vec(any::<u8>(), 0..300), jacobian: bool) {
        check_bounds(&bytes, jacobian);
    }

    #[test]
    fn nearly_valid_answers_stay_within_bounds(line in nearly_an_answer(), jacobian: bool) {
        check_bounds(line.as_bytes(), jacobian);
    }

    #[test]
    fn a_valid_answer_with_one_byte_changed_or_cut_off_stays_within_bounds(place in 0usize..200, byte: u8, cut: bool) {
        let mut line = br#"{"id":1,"results":[{"objective":1.5,"measures":[1,2],"jacobian":[[1,2],[3,4],[5,6]]},{"error":"n\u00f6"}]}"#.to_vec();
        let place = place % line.len();
        if cut { line.truncate(place) } else { line[place] = byte }
        check_bounds(&line, true);
    }

    #[test]
    fn a_request_keeps_every_bit_of_its_solutions(bits in prop::collection::vec(any::<u64>(), 2..20)) {
        let numbers: Vec<f64> = bits.into_iter().map(f64::from_bits).filter(|x| x.is_finite()).collect();
        let mut line = Vec::new();
        write_request(5, false, std::iter::once(numbers.as_slice()), std::iter::empty(), &mut line);
        let mut found = Vec::new();
        Scanner::new(&line).unwrap().object(|scanner, key| match key {
            "solutions" => scanner.array(|scanner| scanner.array(|scanner| {
                found.push(scanner.number()?.unwrap().to_bits());
                Ok(())
            })),
            _ => scanner.skip(),
        }).unwrap();
        prop_assert_eq!(found, numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
    }
}
