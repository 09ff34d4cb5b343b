//! Keywords of Python as settings of a run, read by the reader of configurations.

use std::path::PathBuf;

use luminary::problem::ProblemSpec;
use luminary_run::config::settings::{self, Entry, Kind, keyword};
use luminary_run::config::{ConfigFileError, Override, RunConfig};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

/// What the problem is called in titles unless a keyword says so.
const NAME: &str = "python";

/// The run that keywords describe, and which of them change nothing in it. Those that are None count as absent.
///
/// # Errors
/// `TypeError` for a keyword that there is not, `ValueError` for a value that does not suit.
pub(crate) fn config_of(keywords: &Bound<'_, PyDict>) -> PyResult<(RunConfig, Vec<String>)> {
    let mut given: Vec<Given<'_>> = Vec::new();
    for (name, value) in keywords {
        if value.is_none() {
            continue;
        }
        let name: String = name.extract()?;
        let entry = keyword(&name).map_err(|meant| unknown(&name, meant))?;
        if let Some(twin) = given.iter().find(|twin| twin.entry.path == entry.path) {
            let message = format!("expected either `{}` or `{name}`, found both", twin.name);
            return Err(PyTypeError::new_err(message));
        }
        given.push(Given { name, entry, value });
    }
    let spec = ProblemSpec {
        solution_dim: solution_dim(&take(&mut given, "problem.n")?)?,
        measure_bounds: measure_bounds(&take(&mut given, "problem.measures")?.value)?,
    };
    let overrides = given.iter().map(Given::to_override).collect::<PyResult<Vec<_>>>()?;
    let mut config = RunConfig::custom(NAME, &spec, &overrides).map_err(value_error)?;
    let idle = config.without_effect(None, &overrides).map_err(value_error)?;
    let notes = idle.iter().map(ToString::to_string).collect();
    let has = |path: &str| given.iter().any(|one| one.entry.path == path);
    let has_budget = has("run.iterations") || has("run.evaluations");
    if !has_budget && !has("archive.learning_rate") {
        config.forget_budget();
    }
    // The calling thread evaluates; more threads are for who asks for them.
    if !has("run.threads") {
        config.run.threads = 1;
    }
    Ok((config, notes))
}

/// A keyword and its value.
struct Given<'py> {
    name: String,
    entry: &'static Entry,
    value: Bound<'py, PyAny>,
}

impl Given<'_> {
    fn to_override(&self) -> PyResult<Override> {
        let py = self.value.py();
        let named = |error: PyErr| {
            let message = format!("{}: {}", self.name, error.value(py));
            match error.is_instance_of::<PyTypeError>(py) {
                true => PyTypeError::new_err(message),
                false => PyValueError::new_err(message),
            }
        };
        Ok(Override::new(self.name.clone(), self.entry.path, toml_of(&self.value).map_err(named)?))
    }
}

fn unknown(name: &str, meant: Option<&str>) -> PyErr {
    let help = meant.map_or(String::new(), |meant| format!("; did you mean '{meant}'?"));
    PyTypeError::new_err(format!("run() got an unexpected keyword argument '{name}'{help}"))
}

/// Takes a setting of the problem's shape out of the others.
fn take<'py>(given: &mut Vec<Given<'py>>, path: &str) -> PyResult<Given<'py>> {
    if let Some(position) = given.iter().position(|one| one.entry.path == path) {
        return Ok(given.remove(position));
    }
    let entry = settings::all().find(|entry| entry.path == path).expect("the path is in the table");
    let name = entry.aliases.first().copied().unwrap_or(entry.key());
    Err(PyValueError::new_err(format!("{name}: expected {}, found nothing", entry.meaning)))
}

/// The number of components, which the table of settings limits: memory for more would run out before anything could be said.
fn solution_dim(given: &Given<'_>) -> PyResult<usize> {
    let kind = given.entry.kind;
    let Kind::Integer(least, most) = kind else { unreachable!("components are counted") };
    let value = plain(&given.value)?;
    let is_whole = value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>();
    let number = value.extract::<u64>().ok().filter(|number| is_whole && (least..=most).contains(number));
    let message = || PyResult::Ok(format!("{}: expected {}, found {}", given.name, kind.words(), given.value.repr()?));
    match number {
        Some(number) => Ok(number as usize),
        // One that is negative or too large for any machine word.
        None if is_whole => Err(PyValueError::new_err(message()?)),
        None => Err(PyTypeError::new_err(message()?)),
    }
}

fn measure_bounds(value: &Bound<'_, PyAny>) -> PyResult<Vec<(f64, f64)>> {
    let read = || -> PyResult<Vec<(f64, f64)>> { plain(value)?.try_iter()?.map(|pair| pair?.extract()).collect() };
    let Ok(bounds) = read() else {
        let expected = "lower and upper bound of each measure, such as [(-1, 1), (0, 10)]";
        return Err(PyValueError::new_err(format!("ranges: expected {expected}, found {}", value.repr()?)));
    };
    if bounds.is_empty() {
        return Err(PyValueError::new_err("ranges: expected at least one measure, found none"));
    }
    let is_good = |&&(lower, upper): &&(f64, f64)| lower < upper && (upper - lower).is_finite();
    match bounds.iter().find(|pair| !is_good(pair)) {
        None => Ok(bounds),
        Some((lower, upper)) => {
            Err(PyValueError::new_err(format!("ranges: expected finite lower < upper, found [{lower}, {upper}]")))
        }
    }
}

/// A mistake with the keyword's name as its place.
fn value_error(error: ConfigFileError) -> PyErr {
    let mut mistake = *error.0;
    if mistake.origin == "command line" {
        mistake.origin = "settings".into();
    }
    PyValueError::new_err(mistake.to_string())
}

/// NumPy's values as Python's own.
fn plain<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if value.hasattr("tolist")? { value.call_method0("tolist") } else { Ok(value.clone()) }
}

/// A value as TOML.
fn toml_of(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let value = plain(value)?;
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(flag.is_true().to_string());
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(value.str()?.to_string());
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return Ok(toml_number(number.value()));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(quoted(text.to_str()?));
    }
    if value.hasattr("__fspath__")? {
        let path: PathBuf = value.extract()?;
        let text = path
            .to_str()
            .ok_or_else(|| PyValueError::new_err(format!("expected a path that is Unicode, found {path:?}")))?;
        return Ok(quoted(text));
    }
    if let Ok(table) = value.cast::<PyDict>() {
        let entry = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let Ok(name) = key.extract::<String>() else {
                return Err(PyTypeError::new_err(format!("expected texts as names, found {}", key.repr()?)));
            };
            Ok(format!("{} = {}", quoted(&name), toml_of(&value)?))
        };
        let entries = table.iter().map(entry).collect::<PyResult<Vec<_>>>()?;
        return Ok(format!("{{ {} }}", entries.join(", ")));
    }
    let Ok(items) = value.try_iter() else {
        let message = format!("expected a number, text, list or dict as a setting, found {}", value.get_type());
        return Err(PyTypeError::new_err(message));
    };
    let items = items.map(|item| toml_of(&item?)).collect::<PyResult<Vec<_>>>()?;
    Ok(format!("[{}]", items.join(", ")))
}

/// All digits of a number; TOML spells what is not finite as Rust does.
fn toml_number(value: f64) -> String {
    match value {
        _ if value.is_nan() => "nan".into(),
        _ if value.is_infinite() => if value > 0.0 { "inf" } else { "-inf" }.into(),
        _ => format!("{value:?}"),
    }
}

/// Text in TOML's quotes.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            _ if c.is_control() => quoted.push_str(&format!("\\U{:08X}", u32::from(c))),
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
