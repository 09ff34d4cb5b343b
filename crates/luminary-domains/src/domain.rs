//! The domains by name.

use std::fmt;
use std::str::FromStr;

use luminary::problem::DifferentiableProblem;

use crate::{Arm, DomainError, LinearProjection};

/// A benchmark domain of the CMA-MAE paper.
///
/// Parses from its [`name`](Self::name), with `_` allowed for `-`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Domain {
    /// Linear projection with the sphere objective.
    LpSphere,
    /// Linear projection with the Rastrigin objective.
    LpRastrigin,
    /// Linear projection with the plateau objective.
    LpPlateau,
    /// Arm repertoire.
    Arm,
}

impl Domain {
    /// Every domain, in the order of the paper's tables.
    pub const ALL: [Self; 4] = [Self::LpSphere, Self::LpRastrigin, Self::LpPlateau, Self::Arm];

    /// The name in configurations and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::LpSphere => "lp-sphere",
            Self::LpRastrigin => "lp-rastrigin",
            Self::LpPlateau => "lp-plateau",
            Self::Arm => "arm",
        }
    }

    /// What the domain is, in one line.
    pub fn description(self) -> &'static str {
        match self {
            Self::LpSphere => "linear projection, sphere objective: a smooth bowl with its optimum at 2.048",
            Self::LpRastrigin => "linear projection, Rastrigin objective: a bowl with many local optima",
            Self::LpPlateau => "linear projection, plateau objective: flat inside the box, a penalty outside",
            Self::Arm => "planar arm with n joints: equal joint angles are best, measures are the hand's position",
        }
    }

    /// The domain with `n` solution components.
    ///
    /// # Errors
    ///
    /// [`DomainError::TooFewComponents`] below two components (linear projection) or one (arm).
    pub fn build(self, n: usize) -> Result<Box<dyn DifferentiableProblem + Send + Sync>, DomainError> {
        Ok(match self {
            Self::LpSphere => Box::new(LinearProjection::sphere(n)?),
            Self::LpRastrigin => Box::new(LinearProjection::rastrigin(n)?),
            Self::LpPlateau => Box::new(LinearProjection::plateau(n)?),
            Self::Arm => Box::new(Arm::new(n)?),
        })
    }

    /// All names, for messages.
    pub(crate) fn name_list() -> String {
        Self::ALL.map(|domain| format!("`{domain}`")).join(", ")
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Domain {
    type Err = DomainError;

    fn from_str(name: &str) -> Result<Self, DomainError> {
        let with_hyphens = name.replace('_', "-");
        Self::ALL
            .into_iter()
            .find(|domain| domain.name() == with_hyphens)
            .ok_or_else(|| DomainError::UnknownDomain { found: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_with_hyphens_and_with_underscores() {
        for domain in Domain::ALL {
            assert_eq!(domain.name().parse(), Ok(domain));
            assert_eq!(domain.name().replace('-', "_").parse(), Ok(domain));
        }
    }

    #[test]
    fn an_unknown_name_is_told_the_valid_ones() {
        let error = "lp-spere".parse::<Domain>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown domain `lp-spere`, expected one of `lp-sphere`, `lp-rastrigin`, `lp-plateau`, `arm`"
        );
    }

    #[test]
    fn too_few_components_are_refused() {
        for (domain, minimum) in Domain::ALL.into_iter().zip([2, 2, 2, 1]) {
            let expected = DomainError::TooFewComponents { domain, minimum, found: minimum - 1 };
            assert_eq!(domain.build(minimum - 1).err(), Some(expected));
            assert_eq!(domain.build(minimum).unwrap().spec().solution_dim, minimum);
        }
        let message = LinearProjection::sphere(1).unwrap_err().to_string();
        assert_eq!(message, "domain `lp-sphere` needs at least 2 solution components, found 1");
    }
}
