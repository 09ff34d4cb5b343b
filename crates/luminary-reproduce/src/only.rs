//! A part of an experiment, by the names of domains and algorithms.

use std::fmt;
use std::str::FromStr;

use luminary::preset::Preset;
use luminary_domains::Domain;
use thiserror::Error;

use crate::experiment::Cell;

/// Keeps the cells whose domain is among the named domains and whose algorithm is among the named algorithms. Naming no
/// domain keeps all domains, naming no algorithm keeps all algorithms.
///
/// Parses from names with commas between them, in any order: `arm,cma_mae,cma_me`. Hyphens and underscores are the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Only {
    domains: Vec<Domain>,
    algorithms: Vec<Preset>,
}

impl Only {
    /// Whether the cell is kept.
    pub fn keeps(&self, cell: &Cell) -> bool {
        let has_domain = self.domains.is_empty() || self.domains.contains(&cell.domain);
        has_domain && (self.algorithms.is_empty() || self.algorithms.contains(&cell.algorithm))
    }
}

impl fmt::Display for Only {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let domains = self.domains.iter().map(|domain| domain.name());
        let names: Vec<_> = domains.chain(self.algorithms.iter().map(|algorithm| algorithm.name())).collect();
        f.write_str(&names.join(","))
    }
}

/// A name that is neither a domain's nor an algorithm's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "expected names of domains ({}) and algorithms ({}) with commas between them, found {found:?}",
    Domain::ALL.map(Domain::name).join(", "), Preset::ALL.map(Preset::name).join(", ")
)]
pub struct UnknownName {
    /// The name.
    pub found: String,
}

impl FromStr for Only {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let mut only = Self::default();
        for name in text.split(',').map(str::trim) {
            match (name.parse(), name.parse()) {
                (Ok(domain), _) => only.domains.push(domain),
                (_, Ok(algorithm)) => only.algorithms.push(algorithm),
                _ => return Err(UnknownName { found: name.to_owned() }),
            }
        }
        Ok(only)
    }
}

#[cfg(test)]
mod tests {
    use luminary::strategy::Variant;

    use super::*;
    use crate::Experiment;

    fn n_kept(text: &str) -> usize {
        let only: Only = text.parse().unwrap();
        Experiment::Main.cells(Variant::Published, None).iter().filter(|cell| only.keeps(cell)).count()
    }

    #[test]
    fn domains_and_algorithms_narrow_independently() {
        assert_eq!(n_kept("arm"), 8);
        assert_eq!(n_kept("cma_mae"), 4);
        assert_eq!(n_kept("arm, lp-sphere,cma-mae,cma_me,map_elites"), 6);
        let only: Only = "cma-mae,arm".parse().unwrap();
        assert_eq!(only.to_string(), "arm,cma_mae");
        assert_eq!(only.to_string().parse(), Ok(only));
    }

    #[test]
    fn other_names_are_told_the_known_ones() {
        for text in ["", "arm,", "sphere", "arm;cma_mae"] {
            let error = text.parse::<Only>().unwrap_err().to_string();
            assert!(error.contains("lp-sphere") && error.contains("cma_mae"), "{error}");
        }
    }
}
