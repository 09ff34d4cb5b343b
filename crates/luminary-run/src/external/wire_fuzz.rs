//! What evaluators may send, for `crate::fuzz`.

use std::collections::BTreeMap;

use super::*;
use crate::fuzz::Target;

const SHAPE: Shape = Shape { solution_dim: 2, measure_dim: 2 };
static NO_EXTRAS: Extras = Extras(BTreeMap::new());
/// Rows of a request.
const N_ROWS: usize = 3;

/// Lines, greetings and result files.
pub(crate) fn targets() -> Vec<Target> {
    let hello = br#"{"hello":"luminary","version":1,"jacobian":true,"name":"sphere"}"#;
    vec![
        lines("line", plain()),
        lines("line_jacobian", with_jacobian()),
        Target::new("hello", &[hello], |bytes| read_hello(bytes, SHAPE).into()),
        Target::new("result", &[b"1.5 0.25 -1e3\n"], |bytes| Row::default().read_text(bytes, plain()).into()),
        Target::new("result_jacobian", &[b"1 2 3 4 5 6 7 8 9"], |bytes| {
            Row::default().read_text(bytes, with_jacobian()).into()
        }),
    ]
}

fn plain() -> Wanted<'static> {
    Wanted { shape: SHAPE, extras: &NO_EXTRAS, jacobian: false }
}

fn with_jacobian() -> Wanted<'static> {
    Wanted { jacobian: true, ..plain() }
}

fn lines(name: &'static str, wanted: Wanted<'static>) -> Target {
    let seeds = [
        r#"{"id":12,"results":[{"objective":1,"measures":[2,3],"jacobian":[[4,5],[6,7],[8,9]]},{"error":"no"}]}"#,
        r#"{"results":[{"measures":[1,-2.5e-3],"extra":{"a":[true]},"objective":null}],"seconds":0.1,"id":0}"#,
    ];
    Target::new(name, &seeds.map(str::as_bytes), move |bytes| {
        let mut answer = Answer::default();
        let read = answer.read(bytes, wanted, N_ROWS);
        assert!(answer.verdicts.len() <= N_ROWS && answer.values.len() <= N_ROWS * wanted.stride());
        read.into()
    })
}
