//! Settings as keywords of Python, by their key or another name.

use std::fmt::Write;

use super::super::setting::closest;
use super::{Entry, all};

/// Settings of files and programs, which Python functions have no use for.
const NOT_IN_PYTHON: [&str; 4] = ["problem.domain", "run.out", "run.figures", "render.command"];

/// The setting of programs that functions have a use for.
const EXTRAS: &str = "evaluator.extras";

/// Keywords that Python's functions name themselves, beside the typed rest.
const NAMED: [&str; 10] = [
    "algorithm",
    "solution_dim",
    "ranges",
    "seed",
    "order",
    "over_issue",
    "threads",
    "iterations",
    "metrics_every",
    "checkpoint_every",
];

/// A keyword of Python.
#[derive(Clone, Copy, Debug)]
pub struct Keyword {
    /// The keyword.
    pub name: &'static str,
    /// What it sets.
    pub entry: &'static Entry,
}

/// All keywords. A setting has one for its key and one for each other name.
pub fn keywords() -> Vec<Keyword> {
    let mut keywords: Vec<Keyword> = Vec::new();
    for entry in all() {
        for name in names_in_python(entry) {
            if keywords.iter().all(|keyword| keyword.name != name) {
                keywords.push(Keyword { name, entry });
            }
        }
    }
    keywords
}

/// The setting of a keyword.
///
/// # Errors
/// The keyword that was probably meant, if there is one.
pub fn keyword(name: &str) -> Result<&'static Entry, Option<&'static str>> {
    let keywords = keywords();
    match keywords.iter().find(|keyword| keyword.name == name) {
        Some(keyword) => Ok(keyword.entry),
        None => Err(closest(name, &keywords.iter().map(|keyword| keyword.name).collect::<Vec<_>>())),
    }
}

/// What a setting is called in Python; nothing if it is not for Python.
pub(super) fn names_in_python(entry: &Entry) -> Vec<&'static str> {
    let is_of_programs = entry.section() == "evaluator" && entry.path != EXTRAS;
    if is_of_programs || entry.is_nested() || NOT_IN_PYTHON.contains(&entry.path) {
        return Vec::new();
    }
    let names = std::iter::once(entry.key()).chain(entry.aliases.iter().copied());
    // A word of the language cannot be a keyword argument.
    names.filter(|name| *name != "from").collect()
}

/// The module `luminary._settings`: the type of the keywords that its functions do not name themselves.
pub fn python_module() -> String {
    let mut module = String::from(HEAD);
    for Keyword { name, entry } in keywords().into_iter().filter(|keyword| !NAMED.contains(&keyword.name)) {
        let _ = write!(module, "\n    #: {}; default: {}\n", entry.meaning, entry.absent.words());
        let _ = writeln!(module, "    {name}: {}", entry.kind.python());
    }
    module
}

const HEAD: &str = "\
\"\"\"Settings of runs as typed keywords, made by `UPDATE_EXPECTED=1 cargo test -p luminary-run settings`.\"\"\"

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any, Literal, TypedDict


class Settings(TypedDict, total=False):
    \"\"\"Keywords of :func:`luminary.run` and :class:`luminary.Run`; docs/settings.md has them with their ranges.\"\"\"
";
