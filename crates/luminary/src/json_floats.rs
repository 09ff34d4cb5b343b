//! Numbers in texts that people can read. JSON has no infinities and nothing that is not a number; these are words there.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A number of any kind.
#[derive(Clone, Copy)]
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.is_finite() {
            true => serializer.serialize_f64(self.0),
            // `NaN`, `inf` and `-inf`, as Rust and Python write and read them.
            false => serializer.serialize_str(&self.0.to_string()),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Number(f64),
            Word(String),
        }
        match Either::deserialize(deserializer)? {
            Either::Number(number) => Ok(Self(number)),
            Either::Word(word) => match word.parse::<f64>() {
                Ok(number) if !number.is_finite() => Ok(Self(number)),
                _ => Err(de::Error::custom(format!("expected a number, NaN, inf or -inf, found {word:?}"))),
            },
        }
    }
}

/// One number, for `#[serde(with = "json_floats::one")]`.
pub(crate) mod one {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        Number(*value).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Number::deserialize(deserializer)?.0)
    }
}

/// A list of numbers.
pub(crate) mod list {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(values.iter().map(|&value| Number(value)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        Ok(plain(Vec::deserialize(deserializer)?))
    }
}

/// A list of numbers that may be absent.
pub(crate) mod maybe_list {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(values: &Option<Vec<f64>>, serializer: S) -> Result<S::Ok, S::Error> {
        values.as_deref().map(numbers).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<f64>>, D::Error> {
        Ok(Option::deserialize(deserializer)?.map(plain))
    }
}

/// Lists of numbers.
pub(crate) mod lists {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(values: &[Vec<f64>], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(values.iter().map(|values| numbers(values)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Vec<f64>>, D::Error> {
        Ok(Vec::<Vec<Number>>::deserialize(deserializer)?.into_iter().map(plain).collect())
    }
}

fn numbers(values: &[f64]) -> Vec<Number> {
    values.iter().map(|&value| Number(value)).collect()
}

fn plain(numbers: Vec<Number>) -> Vec<f64> {
    numbers.into_iter().map(|number| number.0).collect()
}
