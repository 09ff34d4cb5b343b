//! The reader beside rmp-serde, whose writing it reads.

use std::borrow::Cow;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_bytes::{ByteBuf, Bytes};

use super::*;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Choice {
    Nothing,
    Number(i64),
    Pair(u8, f32),
    Named { is_on: bool, letter: char },
}

/// A value of each kind that states are made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Everything<'a> {
    unsigned: u64,
    signed: i64,
    number: f64,
    text: Cow<'a, str>,
    #[serde(borrow)]
    bytes: Cow<'a, Bytes>,
    maybe: Option<u32>,
    unit: (),
    list: Vec<Vec<u16>>,
    choices: Vec<Choice>,
    #[serde(flatten)]
    part: Part,
    #[serde(default)]
    absent: u8,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Part {
    depth: i8,
    names: Vec<String>,
}

fn choice() -> impl Strategy<Value = Choice> {
    prop_oneof![
        Just(Choice::Nothing),
        any::<i64>().prop_map(Choice::Number),
        (any::<u8>(), -1e3_f32..1e3).prop_map(|(small, number)| Choice::Pair(small, number)),
        (any::<bool>(), any::<char>()).prop_map(|(is_on, letter)| Choice::Named { is_on, letter }),
    ]
}

fn everything() -> impl Strategy<Value = Everything<'static>> {
    let numbers = (any::<u64>(), any::<i64>(), -1e300..1e300_f64, any::<Option<u32>>(), any::<i8>());
    let lists = (
        proptest::collection::vec(any::<u8>(), 0..300),
        proptest::collection::vec(proptest::collection::vec(any::<u16>(), 0..20), 0..20),
        proptest::collection::vec(choice(), 0..20),
        proptest::collection::vec(".{0,40}", 0..4),
    );
    (numbers, lists, ".{0,300}").prop_map(|(numbers, (bytes, list, choices, names), text)| {
        let (unsigned, signed, number, maybe, depth) = numbers;
        let bytes = Cow::Owned(ByteBuf::from(bytes));
        let part = Part { depth, names };
        Everything {
            unsigned,
            signed,
            number,
            text: text.into(),
            bytes,
            maybe,
            unit: (),
            list,
            choices,
            part,
            absent: 0,
        }
    })
}

proptest! {
    #[test]
    fn what_rmp_serde_writes_is_read(value in everything()) {
        let bytes = rmp_serde::to_vec_named(&value).unwrap();
        prop_assert_eq!(from_slice::<Everything<'_>>(&bytes).unwrap(), value);
    }

    #[test]
    fn damaged_bytes_are_an_error_or_another_value(value in everything(), at in any::<usize>(), byte in any::<u8>()) {
        let mut bytes = rmp_serde::to_vec_named(&value).unwrap();
        let at = at % bytes.len();
        prop_assert!(from_slice::<Everything<'_>>(&bytes[..at]).is_err());
        bytes[at] = byte;
        // Neither may panic, and where both can read the bytes they read the same.
        let read = from_slice::<Everything<'_>>(&bytes);
        if let (Ok(read), Ok(expected)) = (read, rmp_serde::from_slice::<Everything<'_>>(&bytes)) {
            prop_assert_eq!(rmp_serde::to_vec(&read).unwrap(), rmp_serde::to_vec(&expected).unwrap());
        }
    }
}

#[test]
fn bytes_and_texts_are_borrowed() {
    let bytes = rmp_serde::to_vec_named(&("name", Bytes::new(b"column"))).unwrap();
    let (text, column): (&str, &Bytes) = from_slice(&bytes).unwrap();
    assert_eq!((text, &**column), ("name", &b"column"[..]));
    assert!(bytes.as_ptr_range().contains(&text.as_ptr()));
    assert!(bytes.as_ptr_range().contains(&column.as_ptr()));
}

#[test]
fn a_list_that_claims_more_than_there_is_allocates_nothing() {
    // A list of four thousand million numbers.
    let error = from_slice::<Vec<u64>>(&[0xdd, 0xff, 0xff, 0xff, 0xff]).unwrap_err();
    assert_eq!(error.to_string(), "expected 1 more bytes, found 0");
}

#[test]
fn lists_within_lists_do_not_exhaust_the_stack() {
    #[derive(Debug, Deserialize)]
    struct Nested(#[expect(dead_code, reason = "only read")] Vec<Nested>);
    // A list of one item, a hundred thousand times.
    let error = from_slice::<Nested>(&vec![0x91; 100_000]).unwrap_err();
    assert_eq!(error.to_string(), "expected at most 256 values within each other, found more");
}

#[test]
fn errors_name_what_was_expected_and_found() {
    let error = |bytes: &[u8]| from_slice::<(u8, String)>(bytes).unwrap_err().to_string();
    assert_eq!(error(&[0x80]), "invalid type: map, expected a list");
    assert_eq!(error(&[0x92, 0xc0]), "invalid type: unit value, expected a number");
    assert_eq!(error(&[0x92, 0x01, 0x01]), "invalid type: integer `1`, expected a text");
    assert_eq!(error(&[0xc1]), "expected a value, found the byte 0xc1");
}
