//! Typed reading of sections and settings: each accessor says what it expects.

use super::error::{Fault, Found};
use super::settings::{self, Entry as Described, Kind};
use super::tree::{Entry, Node, Place, Table, Value};

/// A section of the file. Settings are taken out one by one; what is left at the end is unknown.
pub(super) struct Section {
    path: String,
    /// Where it begins, if it is there.
    place: Option<Place>,
    table: Table,
    known: Vec<&'static str>,
}

impl Section {
    /// The whole file.
    pub(super) fn root(table: Table) -> Self {
        Self { path: String::new(), place: None, table, known: Vec::new() }
    }

    /// A section of this one; an absent one is empty.
    pub(super) fn section(&mut self, key: &'static str) -> Result<Self, Fault> {
        let path = self.path_of(key);
        match self.take_section(key) {
            None => Ok(Self { path, place: None, table: Table::new(), known: Vec::new() }),
            Some(setting) => setting.into_section(),
        }
    }

    /// Takes a whole section, if it is there.
    pub(super) fn take_section(&mut self, key: &'static str) -> Option<Setting> {
        self.known.push(key);
        let path = self.path_of(key);
        self.table.remove(key).map(|entry| Setting { path, node: entry.node, described: None })
    }

    /// Takes a setting of the table of settings, if it is there.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Setting> {
        self.known.push(key);
        let described = self.described(key);
        let path = self.path_of(key);
        self.table.remove(key).map(|entry| Setting { path, node: entry.node, described: Some(described) })
    }

    /// What the table of settings says of a key.
    fn described(&self, key: &str) -> &'static Described {
        let path = self.path_of(key);
        settings::find(&path).unwrap_or_else(|| panic!("{path} is read and therefore in the table of settings"))
    }

    /// Takes a setting that must be there.
    pub(super) fn require(&mut self, key: &'static str) -> Result<Setting, Fault> {
        let meaning = self.described(key).meaning;
        self.require_as(key, meaning)
    }

    /// Takes a setting that must be there, for a reason that the table of settings does not know.
    pub(super) fn require_as(&mut self, key: &'static str, expected: &str) -> Result<Setting, Fault> {
        let path = self.path_of(key);
        if let Some(setting) = self.take(key) {
            return Ok(setting);
        }
        // A flag that has made the section is not where something is missing.
        let fault = match &self.place {
            Some(place @ Place::File(_)) => Fault::new(place.clone(), &path, expected, Found::Nothing),
            _ => Fault::missing(&path, expected),
        };
        // Nothing else may be meant by a name that is almost this one.
        let similar = self.table.keys().find(|found| closest(found, &[key]).is_some());
        Err(match similar {
            Some(found) => fault.with_help(format!("`{found}` may be meant to be `{key}`")),
            None => fault,
        })
    }

    /// The dotted path of a key.
    pub(super) fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// Refuses settings that were never taken.
    pub(super) fn finish(self) -> Result<(), Fault> {
        let first = |entry: &(&String, &Entry)| match &entry.1.key_place {
            Place::File(span) => span.start,
            Place::Flag(_) => usize::MAX,
        };
        let Some((key, entry)) = self.table.iter().min_by_key(first) else { return Ok(()) };
        let names: Vec<_> = self.known.iter().map(|key| format!("`{key}`")).collect();
        let expected = format!("one of {}", names.join(", "));
        let fault = Fault::new(entry.key_place.clone(), &self.path_of(key), &expected, Found::Text(format!("`{key}`")));
        let elsewhere = settings::section_of(key).filter(|section| *section != self.path);
        Err(match (closest(key, &self.known), elsewhere) {
            (Some(name), _) => fault.with_help(format!("did you mean `{name}`?")),
            (None, Some(section)) => fault.with_help(format!("`{key}` belongs to [{section}]")),
            (None, None) => fault,
        })
    }
}

/// One value with the path of its key.
#[derive(Clone)]
pub(super) struct Setting {
    pub(super) path: String,
    node: Node,
    /// What the table of settings says of it; parts of values are not in it.
    described: Option<&'static Described>,
}

impl Setting {
    /// Complains about this value.
    pub(super) fn fault(&self, expected: &str) -> Fault {
        Fault::new(self.node.place.clone(), &self.path, expected, Found::from(&self.node.value))
    }

    /// What the table of settings expects here.
    pub(super) fn expected(&self) -> String {
        self.kind().words()
    }

    fn kind(&self) -> Kind {
        self.described.expect("only settings of the table are read by what it says").kind
    }

    /// The number, if it is one that the table of settings allows.
    pub(super) fn number_in_range(&self) -> Result<f64, Fault> {
        let Kind::Number(range) = self.kind() else { panic!("{} is not described as a number", self.path) };
        self.number(&range.words(), |value| range.contains(value))
    }

    /// The whole number, if it is one that the table of settings allows.
    pub(super) fn integer_in_range(&self) -> Result<u64, Fault> {
        let Kind::Integer(from, to) = self.kind() else { panic!("{} is not described as an integer", self.path) };
        let value = self.integer(from)?;
        if value <= to { Ok(value) } else { Err(self.fault(&self.expected())) }
    }

    /// The whole number as a count, if it is one that the table of settings allows.
    pub(super) fn count_in_range(&self) -> Result<usize, Fault> {
        usize::try_from(self.integer_in_range()?).map_err(|_| self.fault(&self.expected()))
    }

    /// Complains about this value, describing it in other words.
    pub(super) fn fault_found(&self, expected: &str, found: impl Into<String>) -> Fault {
        Fault::new(self.node.place.clone(), &self.path, expected, Found::Text(found.into()))
    }

    pub(super) fn table(self) -> Result<Table, Fault> {
        match self.node.value {
            Value::Table(table) => Ok(table),
            _ => Err(self.fault(&format!("a table [{}]", self.path))),
        }
    }

    /// The section, if the value is one.
    pub(super) fn into_section(self) -> Result<Section, Fault> {
        let (path, place) = (self.path.clone(), Some(self.node.place.clone()));
        Ok(Section { path, place, table: self.table()?, known: Vec::new() })
    }

    /// Keys and values of a table whose keys are the user's.
    pub(super) fn entries(&self, expected: &str) -> Result<Vec<(String, Setting)>, Fault> {
        let Value::Table(table) = &self.node.value else { return Err(self.fault(expected)) };
        let entry = |(key, entry): (&String, &Entry)| {
            (key.clone(), Setting { path: format!("{}.{key}", self.path), node: entry.node.clone(), described: None })
        };
        Ok(table.iter().map(entry).collect())
    }

    pub(super) fn is_string(&self) -> bool {
        matches!(self.node.value, Value::String(_))
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self.node.value, Value::Array(_))
    }

    pub(super) fn string(&self) -> Result<&str, Fault> {
        match &self.node.value {
            Value::String(text) => Ok(text),
            _ => Err(self.fault("a string")),
        }
    }

    pub(super) fn bool(&self) -> Result<bool, Fault> {
        match self.node.value {
            Value::Bool(value) => Ok(value),
            _ => Err(self.fault("true or false")),
        }
    }

    /// A number that satisfies `holds`, which `expected` puts into words.
    pub(super) fn number(&self, expected: &str, holds: impl Fn(f64) -> bool) -> Result<f64, Fault> {
        let value = match self.node.value {
            Value::Float(value) => Some(value),
            Value::Integer(value) => Some(value as f64),
            _ => None,
        };
        value.filter(|&value| holds(value)).ok_or_else(|| self.fault(expected))
    }

    /// A finite number.
    pub(super) fn finite(&self) -> Result<f64, Fault> {
        self.number("a finite number", f64::is_finite)
    }

    /// An integer of at least `minimum`.
    pub(super) fn integer(&self, minimum: u64) -> Result<u64, Fault> {
        let fault = || self.fault(&format!("an integer >= {minimum}"));
        match self.node.value {
            Value::Integer(value) if value > i128::from(u64::MAX) => {
                Err(self.fault(&format!("an integer from {minimum} to {}", u64::MAX)))
            }
            Value::Integer(value) => u64::try_from(value).ok().filter(|&value| value >= minimum).ok_or_else(fault),
            _ => Err(fault()),
        }
    }

    /// A count within bounds.
    pub(super) fn count(&self, minimum: u64, maximum: usize) -> Result<usize, Fault> {
        let value = usize::try_from(self.integer(minimum)?).ok().filter(|&value| value <= maximum);
        value.ok_or_else(|| self.fault(&format!("an integer from {minimum} to {maximum}")))
    }

    /// The values of a list.
    pub(super) fn list(&self, expected: &str) -> Result<Vec<Setting>, Fault> {
        let Value::Array(values) = &self.node.value else { return Err(self.fault(expected)) };
        let item = |(i, node): (usize, &Node)| Setting {
            path: format!("{}[{i}]", self.path),
            node: node.clone(),
            described: None,
        };
        Ok(values.iter().enumerate().map(item).collect())
    }

    /// One of several names; `-` and `_` are the same.
    pub(super) fn choice<T: Clone>(&self, choices: &[(&'static str, T)]) -> Result<T, Fault> {
        let expected = self.expected();
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        let Kind::Choice(described) = self.kind() else { panic!("{} is not described as a choice", self.path) };
        assert_eq!(names, described(), "{} has the names of the table of settings", self.path);
        let Value::String(text) = &self.node.value else { return Err(self.fault(&expected)) };
        let wanted = text.replace('-', "_");
        match choices.iter().find(|(name, _)| name.replace('-', "_") == wanted) {
            Some((_, value)) => Ok(value.clone()),
            None => Err(match closest(text, &names) {
                Some(name) => self.fault(&expected).with_help(format!("did you mean {name:?}?")),
                None => self.fault(&expected),
            }),
        }
    }
}

/// The candidate that differs in the fewest letters, if it is close enough to be meant.
pub(super) fn closest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    // Nobody types names this long; distances cost their product.
    if word.len() > 64 {
        return None;
    }
    let with_distance = candidates.iter().map(|&candidate| (distance(word, candidate), candidate));
    with_distance.min().filter(|&(distance, candidate)| distance <= candidate.len().div_ceil(3)).map(|(_, name)| name)
}

/// Letters inserted, left out, replaced or swapped with their neighbour (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_mistakes_find_the_name_that_was_meant() {
        assert_eq!(closest("iteratons", &["seed", "iterations", "threads"]), Some("iterations"));
        assert_eq!(closest("completely_else", &["seed", "iterations"]), None);
        assert_eq!((distance("kitten", "sitting"), distance("", "abc"), distance("ü", "u")), (3, 3, 1));
        assert_eq!(closest("cma_mea", &["cma_me", "cma_mae", "cma_es"]), Some("cma_mae"));
    }
}
