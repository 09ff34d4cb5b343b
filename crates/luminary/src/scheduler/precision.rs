//! The precision of solutions.

use serde::{Deserialize, Serialize};

/// What solutions are rounded to before they are handed out.
///
/// Emitters must learn from the very numbers that were evaluated, so whoever evaluates and keeps solutions in single
/// precision wants them rounded here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// As emitters draw them.
    #[default]
    Double,
    /// To the nearest `f32`.
    Single,
}

impl Precision {
    /// Rounds solutions.
    pub fn round(self, solutions: &mut [f64]) {
        if self == Self::Single {
            solutions.iter_mut().for_each(|component| *component = f64::from(*component as f32));
        }
    }
}
