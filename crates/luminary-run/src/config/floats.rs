//! Lists of numbers that may be infinite, which JSON cannot write as numbers: they become `"inf"` and `"-inf"`.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Extended<'a> {
    Finite(f64),
    Text(std::borrow::Cow<'a, str>),
}

pub(super) fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|&value| match value {
        _ if value.is_finite() => Extended::Finite(value),
        _ => Extended::Text(value.to_string().into()),
    }))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let values = Vec::<Extended<'de>>::deserialize(deserializer)?;
    let value = |value| match value {
        Extended::Finite(value) => Ok(value),
        Extended::Text(text) => {
            text.parse().map_err(|_| D::Error::custom(format!("expected a number, inf or -inf, found {text:?}")))
        }
    };
    values.into_iter().map(value).collect()
}
