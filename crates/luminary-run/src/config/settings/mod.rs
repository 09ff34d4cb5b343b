//! The one table of settings: what each is called, takes, defaults to and means.
//!
//! The reader of configurations takes its names, ranges and words from here. The flags of the command line, the file that
//! `luminary init` writes, `luminary list settings`, docs/settings.md and the keywords of Python are made from it, and tests
//! hold them to it. To add a setting, add its entry and read it.

mod algorithm;
mod archive;
mod document;
mod evaluator;
mod keyword;
mod kind;
mod problem;
mod render;
mod run;
mod scope;
#[cfg(test)]
mod tests;

pub use document::{document, list};
#[cfg(unix)]
pub(crate) use evaluator::MAX_WORKERS;
pub use keyword::{Keyword, keyword, keywords, python_module};
pub use kind::{Kind, Range};
pub use scope::Scope;

/// A setting.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Entry {
    /// Section and key: `archive.min_f`.
    pub path: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// What holds where it is not given.
    pub absent: Absent,
    /// What it is, as words that can follow "expected".
    pub meaning: &'static str,
    /// Other names, which are those of pyribs.
    pub aliases: &'static [&'static str],
    /// Where it has a meaning.
    pub scope: Scope,
    /// Its flag on the command line, if it has one of its own: `seed` for `--seed`. All can be given by `--set`.
    pub flag: Option<&'static str>,
}

/// What holds where a setting is not given. Values are TOML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// This value.
    Is(&'static str),
    /// What the words say.
    Follows {
        /// Where the value comes from, or that there is none.
        from: &'static str,
        /// A value that could be given.
        example: &'static str,
    },
    /// Nothing: it has to be given.
    Required {
        /// A value that could be given.
        example: &'static str,
    },
}

impl Absent {
    /// The default as people read it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Is(value) => value,
            Self::Follows { from, .. } => from,
            Self::Required { .. } => "required",
        }
    }

    /// A value that can be given.
    pub fn example(self) -> &'static str {
        match self {
            Self::Is(example) | Self::Follows { example, .. } | Self::Required { example } => example,
        }
    }
}

impl Entry {
    /// The section: `archive`.
    pub fn section(&self) -> &'static str {
        self.path.split('.').next().unwrap_or_default()
    }

    /// The key behind its section: `min_f`, `bounds.lower`.
    pub fn key(&self) -> &'static str {
        self.path.split_once('.').map_or(self.path, |(_, key)| key)
    }

    /// Whether it belongs to a setting that is a table, such as `bounds.lower`.
    pub fn is_nested(&self) -> bool {
        self.key().contains('.')
    }

    const fn new(path: &'static str, kind: Kind, absent: Absent, meaning: &'static str) -> Self {
        Self { path, kind, absent, meaning, aliases: &[], scope: Scope::Always, flag: None }
    }

    const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    const fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    const fn flag(mut self, flag: &'static str) -> Self {
        self.flag = Some(flag);
        self
    }
}

/// All settings, in the order in which people read about them. A path that means different things to different kinds of
/// archives is there for each.
pub fn all() -> impl Iterator<Item = &'static Entry> {
    problem::ENTRIES
        .iter()
        .chain(evaluator::ENTRIES)
        .chain(archive::ENTRIES)
        .chain(algorithm::ENTRIES)
        .chain(run::ENTRIES)
        .chain(render::ENTRIES)
}

/// The sections of a file, each with what it is about.
pub const SECTIONS: [(&str, &str); 6] = [
    ("problem", "What is evaluated: a built-in domain, or the shape of a problem of your own."),
    ("evaluator", "A program as the objective; see [external-evaluators.md](external-evaluators.md)."),
    ("archive", "Which archive, and what it accepts; see [command-line.md](command-line.md#archive)."),
    ("algorithm", "How solutions are found."),
    ("run", "How long, with which seed, and what is recorded."),
    ("render", "A program that draws an elite; see [external-evaluators.md](external-evaluators.md)."),
];

/// The setting of a path.
pub(super) fn find(path: &str) -> Option<&'static Entry> {
    all().find(|entry| entry.path == path)
}

/// The settings of a path.
pub(super) fn at(path: &str) -> impl Iterator<Item = &'static Entry> {
    all().filter(move |entry| entry.path == path)
}

/// What we call a setting of a section that may have been given by another name: `sigma` for `sigma0`.
pub(super) fn our_name<'a>(section: &str, name: &'a str) -> &'a str {
    let alias = all().find(|entry| entry.section() == section && entry.aliases.contains(&name));
    alias.map_or(name, |entry| entry.key())
}

/// The section that a setting stands in, by its name.
pub(super) fn section_of(name: &str) -> Option<&'static str> {
    all().find(|entry| entry.key() == name || entry.aliases.contains(&name)).map(Entry::section)
}

/// Shorthands for the tables.
const fn is(value: &'static str) -> Absent {
    Absent::Is(value)
}

const fn follows(from: &'static str, example: &'static str) -> Absent {
    Absent::Follows { from, example }
}

const fn none(example: &'static str) -> Absent {
    Absent::Follows { from: "none", example }
}

const fn required(example: &'static str) -> Absent {
    Absent::Required { example }
}
