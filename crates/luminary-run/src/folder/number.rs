//! Numbers that may be infinite, which JSON cannot write as numbers: they become `"inf"`, `"-inf"` and `"NaN"`.
//!
//! Earlier builds wrote `null` for them. It is read as NaN, so that their folders still read.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// For `#[serde(with)]` on an `f64`.
pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    Extended::from(*value).serialize(serializer)
}

/// For `#[serde(with)]` on an `f64`.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    match Option::<Extended>::deserialize(deserializer)? {
        Some(value) => value.number().map_err(D::Error::custom),
        None => Ok(f64::NAN),
    }
}

/// For `#[serde(with)]` on an `Option<f64>`, whose `null` is absent.
pub(crate) mod maybe {
    use super::{Deserialize, Deserializer, Error, Extended, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        value.map(Extended::from).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        let value = Option::<Extended>::deserialize(deserializer)?;
        value.map(|value| value.number().map_err(D::Error::custom)).transpose()
    }
}

/// For `#[serde(with)]` on a `Vec<f64>`.
pub(crate) mod list {
    use super::{Deserialize, Deserializer, Error, Extended, Serializer};

    pub(crate) fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(values.iter().copied().map(Extended::from))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        let values = Vec::<Extended>::deserialize(deserializer)?;
        values.iter().map(|value| value.number().map_err(D::Error::custom)).collect()
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Extended {
    Finite(f64),
    Text(String),
}

impl From<f64> for Extended {
    fn from(value: f64) -> Self {
        if value.is_finite() { Self::Finite(value) } else { Self::Text(value.to_string()) }
    }
}

impl Extended {
    fn number(&self) -> Result<f64, String> {
        match self {
            Self::Finite(value) => Ok(*value),
            Self::Text(text) => text.parse().map_err(|_| format!("expected a number, inf or -inf, found {text:?}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Row {
        #[serde(with = "super")]
        sum: f64,
        #[serde(with = "super::maybe")]
        best: Option<f64>,
        #[serde(with = "super::list")]
        solution: Vec<f64>,
    }

    #[test]
    fn what_json_has_no_number_for_reads_back() {
        for sum in [1.5, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::MAX] {
            for best in [None, Some(sum)] {
                let row = Row { sum, best, solution: vec![sum, 1.0] };
                let text = serde_json::to_string(&row).unwrap();
                assert_eq!(serde_json::from_str::<Row>(&text).unwrap(), row, "{text}");
                assert_eq!(text.contains("null"), best.is_none(), "{text}");
            }
        }
        let old: Row = serde_json::from_str(r#"{"sum": null, "best": null, "solution": []}"#).unwrap();
        assert!(old.sum.is_nan() && old.best.is_none());
        assert!(serde_json::from_str::<Row>(r#"{"sum": "much", "best": null, "solution": []}"#).is_err());
    }
}
