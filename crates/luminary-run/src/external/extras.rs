//! Further numbers that a program gives for each solution: not searched, only kept with the elites.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::report::Fault;
use super::scan::{Scanned, Scanner};
use super::wire::{read_numbers, skipped};
use crate::export::column_names;

/// More columns than this make tables that nothing reads.
const MAX_EXTRAS: usize = 100;
/// More numbers per elite than this are a typing mistake.
pub(crate) const MAX_NUMBERS: usize = 1_000_000;
const MAX_NAME: usize = 64;
/// Names that tables of archives use themselves.
const TAKEN: [&str; 6] = ["cell", "objective", "threshold", "visits", "measures", "solution"];
/// Names that they use with a number behind.
const TAKEN_WITH_NUMBER: [&str; 2] = ["measures_", "solution_"];

/// Names of further numbers, each with how many of them there are. They are kept in alphabetical order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Extras(pub BTreeMap<String, usize>);

impl Extras {
    /// Names and how many numbers each has.
    pub fn iter(&self) -> impl Iterator<Item = (&str, usize)> {
        self.0.iter().map(|(name, &width)| (name.as_str(), width))
    }

    /// Numbers of one solution.
    pub fn width(&self) -> usize {
        self.0.values().sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks names and numbers.
    ///
    /// # Errors
    /// The first name that does not work, and what was expected of it.
    pub(crate) fn check(&self) -> Result<(), (String, &'static str)> {
        let mut columns = BTreeSet::new();
        let mut total = 0_usize;
        for (i, (name, width)) in self.iter().enumerate() {
            let refuse = |expected| Err((name.to_owned(), expected));
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic());
            if !starts_well || !name.chars().all(is_plain) || name.len() > MAX_NAME {
                return refuse("a name of up to 64 letters, digits and `_` that starts with a letter");
            }
            let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
            if TAKEN.contains(&name) || TAKEN_WITH_NUMBER.contains(&stem) {
                return refuse("a name that the table of elites does not have already");
            }
            total = total.saturating_add(width);
            if width == 0 || total > MAX_NUMBERS {
                return refuse("1 to 1,000,000 numbers in all");
            }
            if i >= MAX_EXTRAS {
                return refuse("at most 100 extras");
            }
            if !column_names(name, width).all(|column| columns.insert(column)) {
                return refuse("a name that gives columns of its own");
            }
        }
        Ok(())
    }

    /// Reads `{"energy": 1.5, "forces": [1, 2, 3]}` into `out`, in the order of the names. Values that are not finite
    /// are taken as they are.
    pub(super) fn read(&self, scanner: &mut Scanner<'_>, out: &mut Vec<f64>) -> Scanned<Option<Fault>> {
        out.clear();
        out.resize(self.width(), f64::NAN);
        if scanner.peek() != Some(b'{') {
            return skipped(scanner, "an object as `extras`").map(Some);
        }
        let (mut fault, mut missing) = (None, self.0.keys().map(String::as_str).collect::<BTreeSet<_>>());
        let mut values = Vec::new();
        scanner.object(|scanner, key| {
            let Some((&width, start)) = self.0.get(key).map(|width| (width, self.start_of(key))) else {
                return scanner.skip();
            };
            missing.remove(key);
            values.clear();
            let found = if width == 1 && scanner.peek() != Some(b'[') {
                let place = scanner.place();
                let number = scanner.number()?;
                values.extend(number);
                let found = || scanner.read_since(place);
                let words = || format!("expected a number as `{key}` in `extras`, found {}", found());
                number.is_none().then(|| Fault::Garbage(words()))
            } else {
                read_numbers(scanner, "one of the extras", width, &mut values)?
            };
            let length = values.len();
            out[start..start + length].copy_from_slice(&values);
            fault = fault.take().or(found);
            Ok(())
        })?;
        let missing = missing.first().map(|name| Fault::Garbage(format!("expected `{name}` in `extras`, found none")));
        Ok(fault.or(missing))
    }

    /// Where the numbers of a name begin.
    fn start_of(&self, name: &str) -> usize {
        self.iter().take_while(|(other, _)| *other < name).map(|(_, width)| width).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extras(list: &[(&str, usize)]) -> Extras {
        Extras(list.iter().map(|&(name, width)| (name.to_owned(), width)).collect())
    }

    fn read(text: &str) -> (Vec<f64>, Option<Fault>) {
        let mut out = Vec::new();
        let list = extras(&[("energy", 1), ("forces", 3), ("steps", 1)]);
        let fault = list.read(&mut Scanner::new(text.as_bytes()).unwrap(), &mut out).unwrap();
        (out, fault)
    }

    #[test]
    fn names_that_no_table_could_hold_are_refused() {
        assert_eq!(extras(&[("energy", 1), ("F_x", 3), ("objective_2", 1), ("solutions", 1)]).check(), Ok(()));
        for bad in ["", "1st", "kinetic energy", "a,b", "é", "cell", "measures", "measures_0", "solution_12", "visits"]
        {
            assert_eq!(extras(&[(bad, 1)]).check().unwrap_err().0, bad);
        }
        assert!(extras(&[("x", 0)]).check().is_err());
        assert!(extras(&[("x", usize::MAX), ("y", usize::MAX)]).check().is_err());
        // Both would have a column `force_1`.
        assert!(extras(&[("force", 3), ("force_1", 1)]).check().is_err());
        assert_eq!(extras(&[("force", 3), ("force_3", 1)]).check(), Ok(()));
    }

    #[test]
    fn values_come_in_any_order_and_need_not_be_finite() {
        let (values, fault) = read(r#"{"steps": [7], "more": {}, "forces": [1, NaN, 3], "energy": null}"#);
        assert_eq!(fault, None);
        assert!(values[0].is_nan() && values[2].is_nan());
        assert_eq!([values[1], values[3], values[4]], [1.0, 3.0, 7.0]);
    }

    #[test]
    fn what_is_missing_or_of_the_wrong_length_is_named() {
        let garbage = |text: &str| Some(Fault::Garbage(text.into()));
        assert_eq!(read("3").1, garbage("expected an object as `extras`, found 3"));
        assert_eq!(
            read(r#"{"energy": 1, "forces": [1, 2, 3]}"#).1,
            garbage("expected `steps` in `extras`, found none")
        );
        assert_eq!(
            read(r#"{"energy": "high", "forces": [1, 2, 3], "steps": 1}"#).1,
            garbage("expected a number as `energy` in `extras`, found \"high\"")
        );
        for forces in ["[1, 2]", "[1, 2, 3, 4]"] {
            let (values, fault) = read(&format!(r#"{{"energy": 1, "forces": {forces}, "steps": 2}}"#));
            assert!(matches!(fault, Some(Fault::WrongLength { expected: 3, .. })), "{fault:?}");
            assert_eq!((values[0], values[4]), (1.0, 2.0), "a long list stays in its place");
        }
    }
}
