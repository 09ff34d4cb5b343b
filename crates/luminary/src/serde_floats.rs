//! Long lists of numbers in checkpoints: one byte string of little-endian values instead of a list of tagged numbers,
//! which is smaller and an order of magnitude faster. Use with `#[serde(with = "serde_floats")]`.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::ser::Serializer;

/// A list of numbers that is borrowed when saved and owned when loaded.
pub(crate) type Floats<'a> = Cow<'a, [f64]>;

pub(crate) fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    if cfg!(target_endian = "little") {
        // As they lie in memory: nothing is copied before it is written.
        return serializer.serialize_bytes(bytemuck::cast_slice(values));
    }
    let bytes: Vec<[u8; 8]> = values.iter().map(|value| value.to_le_bytes()).collect();
    serializer.serialize_bytes(bytes.as_flattened())
}

pub(crate) fn deserialize<'de, T: From<Vec<f64>>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_bytes(Numbers).map(T::from)
}

/// Reads the bytes where they are, so that numbers are copied once.
struct Numbers;

impl<'de> Visitor<'de> for Numbers {
    type Value = Vec<f64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of numbers")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<f64>, E> {
        match bytes.as_chunks::<8>() {
            (values, []) => Ok(values.iter().map(|&value| f64::from_le_bytes(value)).collect()),
            _ => Err(E::custom(format!("expected a multiple of 8 bytes of numbers, found {}", bytes.len()))),
        }
    }

    /// For formats that have no byte strings.
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<f64>, A::Error> {
        let mut bytes: Vec<u8> = Vec::new();
        while let Some(byte) = list.next_element()? {
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}
