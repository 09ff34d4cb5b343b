//! Settings of `[render]`.

use super::kind::Kind;
use super::{Entry, Scope, required};

const COMMAND: &str = "a list of texts: a program that draws an elite, and its arguments";

pub(super) const ENTRIES: &[Entry] = &[Entry::new(
    "render.command",
    Kind::Other { expected: COMMAND, python: "Iterable[str]" },
    required("[\"python3\", \"draw.py\", \"{output}\"]"),
    COMMAND,
)
.scope(Scope::Program)];
