//! A table as it was read: columns by name.

use std::collections::BTreeMap;

/// Columns of numbers, all of the same length.
#[derive(Debug, Default)]
pub(super) struct Columns {
    n_rows: usize,
    /// One number in each row; `None` is something else, which matters only if the column is wanted.
    numbers: BTreeMap<String, Vec<Option<f64>>>,
    /// A list of numbers in each row.
    lists: BTreeMap<String, Vec<Vec<f64>>>,
}

impl Columns {
    /// Reads comma-separated values with a line of names.
    pub(super) fn of_csv(text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        let header = lines.next().filter(|line| !line.trim().is_empty());
        let header = header.ok_or("expected a line with the names of the columns, found none")?;
        let names: Vec<&str> = header.split(',').map(|name| name.trim().trim_matches('"')).collect();
        let mut columns = Self::default();
        for (number, line) in lines.enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let values: Vec<&str> = line.split(',').collect();
            if values.len() != names.len() {
                // The names are line 1.
                let line = number + 2;
                return Err(format!("line {line}: expected {} values, found {}", names.len(), values.len()));
            }
            for (name, value) in names.iter().zip(values) {
                columns.push(name, value.trim().parse().ok());
            }
            columns.n_rows += 1;
        }
        Ok(columns)
    }

    /// Whether there is no row.
    pub(super) fn is_empty(&self) -> bool {
        self.n_rows == 0
    }

    /// Adds a number to a column.
    pub(super) fn push(&mut self, name: &str, value: Option<f64>) {
        match self.numbers.get_mut(name) {
            Some(column) => column.push(value),
            None => drop(self.numbers.insert(name.to_owned(), vec![value])),
        }
    }

    /// Adds a list to a column.
    #[cfg(feature = "parquet")]
    pub(super) fn push_list(&mut self, name: &str, values: Vec<f64>) {
        self.lists.entry(name.to_owned()).or_default().push(values);
    }

    /// Says that a row has ended.
    #[cfg(feature = "parquet")]
    pub(super) fn end_row(&mut self) {
        self.n_rows += 1;
    }

    /// The columns `name_0`, `name_1`, ..., of which there must be `expected`, row by row.
    pub(super) fn numbered(&self, name: &str, expected: usize) -> Result<Vec<f64>, String> {
        let is_numbered = |column: &&String| {
            let rest = column.strip_prefix(name).and_then(|rest| rest.strip_prefix('_'));
            rest.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let found = self.numbers.keys().filter(is_numbered).count();
        if found != expected && !self.lists.contains_key(name) {
            return Err(format!("expected {expected} columns {name}_0, {name}_1, ..., found {found}"));
        }
        let names: Vec<String> = (0..expected).map(|i| format!("{name}_{i}")).collect();
        self.rows(name, &names)
    }

    /// These columns, or the list of this name, row by row.
    pub(super) fn rows(&self, list: &str, names: &[String]) -> Result<Vec<f64>, String> {
        if let Some(lists) = self.lists.get(list) {
            if let Some(wrong) = lists.iter().find(|values| values.len() != names.len()) {
                return Err(format!("expected {} numbers in {list}, found {}", names.len(), wrong.len()));
            }
            return Ok(lists.concat());
        }
        let mut columns = Vec::with_capacity(names.len());
        for name in names {
            let column = self.numbers.get(name).filter(|column| column.len() == self.n_rows);
            columns.push((name, column.ok_or_else(|| format!("expected a column {name}, found none"))?));
        }
        let mut values = Vec::with_capacity(self.n_rows * names.len());
        for row in 0..self.n_rows {
            for (name, column) in &columns {
                let value = column[row];
                values.push(value.ok_or_else(|| format!("row {row}: expected a number in {name}"))?);
            }
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name_in_any_order_and_what_is_wrong_is_named() {
        let columns = Columns::of_csv("solution_1,note,objective,solution_0\n2,ok,-0.5,1\n4,no,1e3,3\n").unwrap();
        assert_eq!(columns.numbered("solution", 2), Ok(vec![1.0, 2.0, 3.0, 4.0]));
        assert_eq!(columns.rows("objective", &["objective".into()]), Ok(vec![-0.5, 1000.0]));
        let message = columns.numbered("solution", 3).unwrap_err();
        assert_eq!(message, "expected 3 columns solution_0, solution_1, ..., found 2");
        assert_eq!(columns.rows("energy", &["energy".into()]).unwrap_err(), "expected a column energy, found none");
        assert_eq!(columns.rows("note", &["note".into()]).unwrap_err(), "row 0: expected a number in note");
        assert_eq!(Columns::of_csv("a,b\n1\n").unwrap_err(), "line 2: expected 2 values, found 1");
        assert!(Columns::of_csv("").is_err());
    }
}
