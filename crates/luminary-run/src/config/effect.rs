//! Settings that are given where they change nothing. What can only be a mistake is refused; of the others is told.

use std::fmt;

use super::error::{Fault, Found};
use super::settings::{self, Scope};
use super::tree::{self, Place, Table, Value};
use super::{ConfigFileError, Override, RunConfig, Source};

/// A setting that somebody has given.
pub(super) struct Given {
    path: String,
    place: Place,
}

/// All settings of a file and of what was given on top of it.
pub(super) fn given(table: &Table) -> Vec<Given> {
    let mut all = Vec::new();
    collect(table, "", &mut all);
    all
}

fn collect(table: &Table, prefix: &str, all: &mut Vec<Given>) {
    for (key, entry) in table {
        let path = format!("{prefix}{key}");
        if let Value::Table(inner) = &entry.node.value {
            collect(inner, &format!("{path}."), all);
        }
        if settings::at(&path).next().is_some() {
            all.push(Given { path, place: entry.key_place.clone() });
        }
    }
}

/// Refuses a setting that can only be a mistake in a run.
pub(super) fn refuse(given: &[Given], config: &RunConfig) -> Result<(), Fault> {
    let mistake = given.iter().find_map(|one| Some((one, idle(&one.path, config).filter(|scope| scope.is_strict())?)));
    let Some((one, scope)) = mistake else { return Ok(()) };
    let expected = format!("no such setting, which is {}", scope.words());
    let found = Found::Text(format!("it with {}", scope.found(config)));
    Err(Fault::new(one.place.clone(), &one.path, &expected, found))
}

/// The scope that does not hold for a run, of a setting that changes nothing in it.
fn idle(path: &str, config: &RunConfig) -> Option<Scope> {
    match settings::at(path).any(|entry| entry.scope.holds_for(config)) {
        true => None,
        false => settings::at(path).next().map(|entry| entry.scope),
    }
}

/// A setting that is given and changes nothing in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idle {
    /// Its path in a file, or the flag that gave it.
    pub name: String,
    /// Where it would have an effect, as words that can follow "it is".
    pub scope: String,
    /// What the run has instead.
    pub found: String,
}

impl fmt::Display for Idle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} changes nothing: it is {}, and this run has {}", self.name, self.scope, self.found)
    }
}

impl RunConfig {
    /// What is given in a file and on top of it and changes nothing in the run.
    ///
    /// # Errors
    /// As [`read`](Self::read), for a file that cannot be parsed.
    pub fn without_effect(
        &self,
        source: Option<Source<'_>>,
        overrides: &[Override],
    ) -> Result<Vec<Idle>, ConfigFileError> {
        let told = |one: &Given| {
            let scope = idle(&one.path, self)?;
            let name = match &one.place {
                Place::File(_) => one.path.clone(),
                Place::Flag(flag) => flag.clone(),
            };
            Some(Idle { name, scope: scope.words(), found: scope.found(self) })
        };
        Ok(given(&tree::read(source, overrides)?).iter().filter_map(told).collect())
    }
}
