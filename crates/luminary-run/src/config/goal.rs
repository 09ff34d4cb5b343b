//! Which objectives are better: the engine always maximises, users may not.

use serde::{Deserialize, Serialize};

/// What is looked for. Objectives have the user's sign in files, figures and messages, and the engine's only inside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// Higher objectives are better.
    #[default]
    Maximise,
    /// Lower objectives are better.
    Minimise,
}

impl Goal {
    /// An objective of the user as the engine sees it, or the other way round: the same change of sign.
    pub fn turn(self, objective: f64) -> f64 {
        match self {
            Self::Maximise => objective,
            // Not `-objective`, which would show as -0 where it is zero.
            Self::Minimise => 0.0 - objective,
        }
    }
}
