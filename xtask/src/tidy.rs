//! The project's own rules about its files, as checks: no finger pointing in reviews.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::root;

/// A source file longer than this should have been split.
const MAX_LINES: usize = 500;

/// Checks every file git knows.
pub(crate) fn check() -> Result<(), String> {
    let faults: Vec<String> = source_files()?.iter().flat_map(|path| faults_of(path)).collect();
    if faults.is_empty() {
        println!("tidy: ok");
        return Ok(());
    }
    Err(format!("tidy found:\n  {}", faults.join("\n  ")))
}

fn source_files() -> Result<Vec<PathBuf>, String> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "*.rs", "*.py", "*.toml", "*.md"])
        .current_dir(root())
        .output()
        .map_err(|error| format!("git could not be started: {error}"))?;
    let names = String::from_utf8_lossy(&listed.stdout);
    Ok(names.lines().map(|name| root().join(name)).filter(|path| path.is_file()).collect())
}

fn faults_of(path: &Path) -> Vec<String> {
    let name = path.strip_prefix(root()).unwrap_or(path).display().to_string();
    let Ok(text) = std::fs::read_to_string(path) else {
        return vec![format!("{name}: not UTF-8")];
    };
    let mut faults = Vec::new();
    let is_code = name.ends_with(".rs") || name.ends_with(".py");
    if is_code && text.lines().count() > MAX_LINES {
        faults.push(format!("{name}: {} lines, expected at most {MAX_LINES}: split it", text.lines().count()));
    }
    for (number, line) in text.lines().enumerate() {
        let at = format!("{name}:{}", number + 1);
        if line.ends_with(char::is_whitespace) && !name.ends_with(".md") {
            faults.push(format!("{at}: trailing white space"));
        }
        if is_code && ["TODO", "FIXME", "XXX"].iter().any(|mark| line.contains(mark)) && !name.ends_with("tidy.rs") {
            faults.push(format!("{at}: an unfinished mark; finish it or file an issue"));
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        faults.push(format!("{name}: no newline at the end"));
    }
    faults
}
