//! The commented configuration that `luminary init` writes, made from the table of settings.

use std::fmt::Write;

use luminary::archive::ArchiveKind;

use super::settings::{Absent, Entry, Kind, Scope, all};

/// Settings that are set; the others are shown behind a `#`.
const SET: [&str; 6] =
    ["problem.domain", "problem.n", "archive.resolution", "algorithm.preset", "run.iterations", "run.seed"];

/// Where comments begin.
const INDENT: usize = 40;

/// Choices among more names are better looked up.
const MAX_NAMES: usize = 4;

/// A configuration with every setting: those that matter most are set, the others are shown with their default or an
/// example.
pub fn template() -> String {
    let of = |section: &'static str| all().filter(move |entry| entry.section() == section && !entry.is_nested());
    let mut text = String::from(
        "# A run of Luminary. Check it with `luminary check`, start it with `luminary run`.\n\
         # Settings behind `#` show their default, or an example where the default is said.\n\n[problem]\n",
    );
    for entry in of("problem").filter(|entry| entry.scope != Scope::OwnProblem) {
        add(&mut text, entry);
    }
    text.push_str(
        "\n# A program instead of a domain: see docs/external-evaluators.md. Without [evaluator], `luminary create`, `ask` and\n\
         # `tell` drive the run by hand.\n# [problem]\n",
    );
    of("problem").filter(|entry| entry.scope != Scope::Domain).for_each(|entry| add_comment(&mut text, entry));
    text.push_str("# [evaluator]\n");
    of("evaluator").for_each(|entry| add_comment(&mut text, entry));
    text.push_str("\n[archive]\n");
    let of_other_kinds = |entry: &Entry| matches!(entry.scope, Scope::Kind(kind) if kind != "grid");
    for entry in of("archive").filter(|entry| !of_other_kinds(entry)) {
        add(&mut text, entry);
    }
    text.push_str("\n# Other kinds of archives, instead of a grid.\n");
    for (kind, about) in ArchiveKind::ALL.iter().filter(|(kind, _)| *kind != "grid") {
        let _ = writeln!(text, "# [archive]    # {about}\n# kind = {kind:?}");
        of("archive").filter(|entry| entry.scope == Scope::Kind(kind)).for_each(|entry| add_comment(&mut text, entry));
        text.push_str("#\n");
    }
    for section in ["algorithm", "run"] {
        let _ = write!(text, "\n[{section}]\n");
        of(section).for_each(|entry| add(&mut text, entry));
    }
    text.push_str("\n# [render]\n");
    of("render").for_each(|entry| add_comment(&mut text, entry));
    text
}

/// A line that sets what matters most, and shows what else there is.
fn add(text: &mut String, entry: &Entry) {
    match SET.contains(&entry.path) {
        true => add_line(text, "", entry),
        false => add_comment(text, entry),
    }
}

fn add_comment(text: &mut String, entry: &Entry) {
    add_line(text, "# ", entry);
}

fn add_line(text: &mut String, mark: &str, entry: &Entry) {
    let setting = format!("{mark}{} = {}", entry.key(), entry.absent.example());
    let choices = match entry.kind {
        Kind::Choice(names) if names().len() <= MAX_NAMES => {
            let quoted: Vec<_> = names().iter().map(|name| format!("{name:?}")).collect();
            format!(" ({})", quoted.join(", "))
        }
        _ => String::new(),
    };
    let default = match entry.absent {
        Absent::Is(_) => String::new(),
        Absent::Follows { from, .. } => format!("; default: {from}"),
        Absent::Required { .. } => "; required".into(),
    };
    let _ = writeln!(text, "{setting:<INDENT$} # {}{choices}{default}", entry.meaning);
}
