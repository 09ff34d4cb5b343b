//! The table as a page of the documentation and as lines of a terminal.

use std::fmt::Write;

use super::keyword::names_in_python;
use super::{Entry, SECTIONS, all};

/// The page docs/settings.md.
pub fn document() -> String {
    let mut page = String::from(HEAD);
    for (section, about) in SECTIONS {
        let _ = write!(page, "\n## `[{section}]`\n\n{about}\n\n| key | takes | default | what it is | in Python |\n");
        page.push_str("|---|---|---|---|---|\n");
        for entry in all().filter(|entry| entry.section() == section) {
            let names = names_in_python(entry);
            let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            let cells = [
                format!("`{}`", entry.key()),
                entry.kind.words(),
                entry.absent.words().to_owned(),
                meaning_and_scope(entry),
                names.join(", "),
            ];
            let _ = writeln!(page, "| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
        }
    }
    page
}

/// Each setting with what it takes, its default and what it is, in two texts for two columns.
pub fn list() -> Vec<(String, String)> {
    all().map(|entry| (entry.path.to_owned(), format!("{}; {}", meaning_and_scope(entry), takes(entry)))).collect()
}

fn takes(entry: &Entry) -> String {
    format!("{}; default: {}", entry.kind.words(), entry.absent.words())
}

fn meaning_and_scope(entry: &Entry) -> String {
    match entry.scope.words() {
        words if words.is_empty() => entry.meaning.to_owned(),
        words => format!("{}; {words}", entry.meaning),
    }
}

const HEAD: &str = "\
# Settings

Every setting, as the table that the program reads configurations by has it. In a file, settings stand in their sections;
`--set archive.min_f=-10` gives one on the command line, and `luminary list settings` prints this page. In Python they are
keywords of `luminary.run` and `luminary.Run`. Where pyribs has another name, that one is understood, too: `sigma0`, `dims`,
`threshold_min`. Wrong values and names are told in the same words everywhere, with the name that was probably meant.

In Python, `iterations` is 1,000 by default, `threads` 1, `metrics_every` 10 and `checkpoint_every` 100. A `luminary.Run` that
is told neither `iterations` nor `evaluations` has no budget to derive a learning rate from; it is 0.01 at 100x100 then.

This page is made by `UPDATE_EXPECTED=1 cargo test -p luminary-run settings`.
";
