//! A parsed configuration file with the place of every value, and overrides from the command line on top.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::error::{ConfigFileError, Fault, Found};
use super::settings;

/// Text to read a configuration from, under the name that errors give it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The file's name, for errors.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
}

impl<'a> Source<'a> {
    /// Text under a name.
    pub fn new(name: &'a str, text: &'a str) -> Self {
        Self { name, text }
    }
}

/// A setting given outside the file, which wins over the file's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// How the user gave it, for errors: `--seed`.
    pub flag: String,
    /// Dotted path of the key: `run.seed`.
    pub key: String,
    /// A TOML value; anything that is not one is taken as a string, so that quotes are not needed.
    pub value: String,
}

impl Override {
    /// The value of a key, given by a flag.
    pub fn new(flag: impl Into<String>, key: impl Into<String>, value: impl Into<String>) -> Self {
        Self { flag: flag.into(), key: key.into(), value: value.into() }
    }
}

/// Where a value was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Bytes of the file.
    File(Range<usize>),
    /// A flag.
    Flag(String),
}

/// A value and its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) value: Value,
    pub(super) place: Place,
}

/// TOML's values. Integers are kept wide so that a seed may use all 64 bits.
#[derive(Clone, Debug)]
pub(super) enum Value {
    String(String),
    Integer(i128),
    Float(f64),
    Bool(bool),
    Datetime(String),
    Array(Vec<Node>),
    Table(Table),
}

/// Values by key, each with the place of its key.
pub(super) type Table = BTreeMap<String, Entry>;

/// A key's place and its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key_place: Place,
    pub(super) node: Node,
}

/// Nesting beyond this is refused, so that no file can exhaust the stack.
const MAX_DEPTH: usize = 32;

/// Parses the file, if there is one, and applies the overrides.
pub(super) fn read(source: Option<Source<'_>>, overrides: &[Override]) -> Result<Table, ConfigFileError> {
    let mut table = match source {
        None => Table::new(),
        Some(source) => {
            let parsed = DeTable::parse(source.text).map_err(|error| {
                let span = error.span().unwrap_or(0..0);
                ConfigFileError::syntax(source, span, error.message().to_owned())
            })?;
            convert_table(parsed.get_ref(), &Place::File, MAX_DEPTH)
                .and_then(with_our_names)
                .map_err(|fault| fault.locate(Some(source)))?
        }
    };
    for setting in overrides {
        set(&mut table, setting).map_err(|fault| fault.locate(source))?;
    }
    Ok(table)
}

fn convert_table(table: &DeTable<'_>, place: &PlaceOf<'_>, depth: usize) -> Result<Table, Fault> {
    let convert = |(key, value): (&toml::Spanned<_>, _)| {
        let key_text: &std::borrow::Cow<'_, str> = key.get_ref();
        Ok((key_text.to_string(), Entry { key_place: place(key.span()), node: convert(value, place, depth)? }))
    };
    table.iter().map(convert).collect()
}

/// Settings under our names, also those that the file calls by pyribs'.
fn with_our_names(mut file: Table) -> Result<Table, Fault> {
    for (section, entry) in &mut file {
        let Value::Table(table) = &mut entry.node.value else { continue };
        let others: Vec<String> =
            table.keys().filter(|key| settings::our_name(section, key) != *key).cloned().collect();
        for other in others {
            let name = settings::our_name(section, &other);
            let entry = table.remove(&other).expect("the key was just found");
            if table.contains_key(name) {
                let path = format!("{section}.{name}");
                let found = Found::Text("both".into());
                return Err(Fault::new(entry.key_place, &path, &format!("either `{name}` or `{other}`"), found));
            }
            table.insert(name.to_owned(), entry);
        }
    }
    Ok(file)
}

type PlaceOf<'a> = dyn Fn(Range<usize>) -> Place + 'a;

fn convert(value: &toml::Spanned<DeValue<'_>>, place: &PlaceOf<'_>, depth: usize) -> Result<Node, Fault> {
    let own_place = place(value.span());
    let fault = |expected: &str, found: String| Fault::new(own_place.clone(), "", expected, Found::Text(found));
    if depth == 0 {
        return Err(fault(&format!("at most {MAX_DEPTH} levels of nesting"), "more".into()));
    }
    let value = match value.get_ref() {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(integer) => {
            let parsed = i128::from_str_radix(integer.as_str(), integer.radix());
            Value::Integer(parsed.map_err(|_| fault("an integer of at most 64 bits", integer.to_string()))?)
        }
        DeValue::Float(float) => {
            Value::Float(float.as_str().parse().map_err(|_| fault("a number", float.to_string()))?)
        }
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Datetime(value) => Value::Datetime(value.to_string()),
        DeValue::Array(values) => {
            Value::Array(values.iter().map(|value| convert(value, place, depth - 1)).collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => Value::Table(convert_table(table, place, depth - 1)?),
    };
    Ok(Node { value, place: own_place })
}

/// Writes an override into the tree, making the tables on its way.
fn set(table: &mut Table, setting: &Override) -> Result<(), Fault> {
    let place = Place::Flag(setting.flag.clone());
    let node = parse_value(&setting.value, &place)?;
    let (sections, key) = match setting.key.rsplit_once('.') {
        Some((sections, key)) => (sections.split('.').collect::<Vec<_>>(), settings::our_name(sections, key)),
        None => (Vec::new(), setting.key.as_str()),
    };
    let mut table = table;
    for section in sections {
        let empty = || Node { value: Value::Table(Table::new()), place: place.clone() };
        let entry =
            table.entry(section.to_owned()).or_insert_with(|| Entry { key_place: place.clone(), node: empty() });
        // A value where the flag needs a section: the file's is wrong, and is reported when it is read.
        let Value::Table(inner) = &mut entry.node.value else { return Ok(()) };
        table = inner;
    }
    table.insert(key.to_owned(), Entry { key_place: place, node });
    Ok(())
}

fn parse_value(text: &str, place: &Place) -> Result<Node, Fault> {
    let document = format!("value = {text}");
    let as_string = || Ok(Node { value: Value::String(text.to_owned()), place: place.clone() });
    match DeTable::parse(&document) {
        Ok(table) if table.get_ref().len() == 1 => {
            let value = table.get_ref().values().next().expect("there is one value");
            convert(value, &|_| place.clone(), MAX_DEPTH)
        }
        _ => as_string(),
    }
}

impl Value {
    /// The value as an error shows it.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::String(text) => format!("{text:?}"),
            Self::Integer(value) => value.to_string(),
            Self::Float(value) => format!("{value:?}"),
            Self::Bool(value) => value.to_string(),
            Self::Datetime(value) => format!("the date {value}"),
            Self::Array(values) => format!("a list of {}", values.len()),
            Self::Table(_) => "a table".into(),
        }
    }
}
