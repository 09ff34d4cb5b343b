//! The document about what lies beyond the paper.

use std::path::{Path, PathBuf};

use super::section::duration;
use super::{Origin, Section, write, write_files};
use crate::error::ReproduceError;
use crate::results::Results;

/// The document's name, and that of the folder of its files.
const NAME: &str = "frontier";

/// Writes `frontier.md` into a folder, and its tables and figures into `frontier/` beside it. Studies without trials are
/// left out. Returns the path of the document.
///
/// # Errors
/// Figures that cannot be drawn and files that cannot be written.
pub fn write_frontier(studies: &[Results], origin: &Origin, folder: &Path) -> Result<PathBuf, ReproduceError> {
    let studies: Vec<_> = studies.iter().filter(|results| results.n_finished() > 0).collect();
    let n_trials: usize = studies.iter().map(|results| results.n_finished()).sum();
    let seconds = studies.iter().map(|results| results.total_seconds()).sum();
    let commit = origin.commit.as_ref().map_or(String::new(), |commit| format!(" at commit {commit}"));
    let mut text = format!(
        "{STORY}\n## Results\n\n{n_trials} trials, run by `luminary reproduce frontier`{commit}; their times add up to {} on \
         one core. This page is made from them by\n\n    {}\n\n{LEGEND}\n\n",
        duration(seconds),
        origin.command,
    );
    for results in studies {
        let section = Section::of(results, &format!("{NAME}/"))?;
        text += &format!("### {}\n\n{}", section.title, section.text);
        write_files(&section.files, &folder.join(NAME))?;
    }
    let path = folder.join(format!("{NAME}.md"));
    write(&path, format!("{}\n", text.trim_end()).as_bytes())?;
    Ok(path)
}

const LEGEND: &str = "Numbers are QD scores, normalised to 0..100 as in the paper: means ± standard errors. ↑ and ↓ mark what is \
                      better or worse than CMA-MAE with the paper's α and as many evaluations (Welch test, one-sided, \
                      p < 0.01). The seeds are not those with which the rules were made.";

/// What is told before the numbers. The rules are described where they are implemented: `emitter/probes.rs`,
/// `scheduler/shares.rs` and `preset/auto.rs` of the engine.
const STORY: &str = include_str!("frontier.md");

#[cfg(test)]
mod tests {
    use luminary::strategy::Variant;

    use super::*;
    use crate::{Experiment, Study};

    #[test]
    fn the_document_tells_the_story_and_links_to_files_that_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let results = Experiment::FRONTIER
            .map(|experiment| Results::synthetic(&Study::new(experiment, Variant::Standard, Some(100)).trials(2)));
        let origin = Origin { command: "luminary reproduce frontier --no-run".into(), commit: None };
        let path = write_frontier(&results, &origin, folder.path()).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.starts_with("# ") && text.contains("luminary reproduce frontier"));
        let links: Vec<&str> = text.split("](frontier/").skip(1).map(|rest| rest.split(')').next().unwrap()).collect();
        assert!(links.len() >= 6, "{links:?}");
        for link in links {
            assert!(folder.path().join(NAME).join(link).exists(), "{link}");
        }
    }
}
