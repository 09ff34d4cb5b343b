//! The document of all experiments, and the page of a single one.

#[cfg(test)]
mod committed;
mod frontier;
mod misses;
mod section;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use luminary::strategy::Variant;
use luminary_run::RunError;
use luminary_run::folder::write_atomically;

pub use frontier::write_frontier;
pub use section::{File, Section};

use crate::comparison::Score;
use crate::error::ReproduceError;
use crate::experiment::Experiment;
use crate::figures::{self, FigureFile};
use crate::results::Results;
use crate::table::LEGEND;
use section::duration;

/// The document's name, and that of the folder of its files.
const NAME: &str = "reproduction";

/// What the document has, in its order: every experiment with the published equations, and the main tables with the
/// standard ones too.
pub const STUDIES: [(Experiment, Variant); 7] = [
    (Experiment::Main, Variant::Published),
    (Experiment::Main, Variant::Standard),
    (Experiment::Alpha, Variant::Published),
    (Experiment::MinF, Variant::Published),
    (Experiment::Resolution, Variant::Published),
    (Experiment::N1000, Variant::Published),
    (Experiment::N1000Resolution, Variant::Published),
];

/// Where the numbers come from.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The command that made the document.
    pub command: String,
    /// The commit that the trials were run at, if known.
    pub commit: Option<String>,
}

/// Writes the page of a study into a folder: `main-published.md` with `main-published.csv`, figures and statistics beside
/// it. Returns the path of the page.
///
/// # Errors
/// Figures that cannot be drawn and files that cannot be written.
pub fn write_page(results: &Results, folder: &Path) -> Result<PathBuf, ReproduceError> {
    let section = Section::of(results, "")?;
    let page = format!("# {}\n\n{}{RULE}\n\n{LEGEND}\n", section.title, section.text);
    write_files(&section.files, folder)?;
    let path = folder.join(format!("{}.md", results.file_stem()));
    write(&path, page.as_bytes())?;
    Ok(path)
}

/// Writes `reproduction.md` into a folder, and its tables and figures into `reproduction/` beside it. Studies without
/// trials are left out. Returns the path of the document.
///
/// # Errors
/// Figures that cannot be drawn and files that cannot be written.
pub fn write_document(studies: &[Results], origin: &Origin, folder: &Path) -> Result<PathBuf, ReproduceError> {
    let studies: Vec<_> = studies.iter().filter(|results| results.n_finished() > 0).collect();
    let opening = studies.iter().find_map(|results| figures::against_paper(results));
    let mut text = introduction(&studies, opening.as_ref(), origin);
    if let Some(FigureFile { name, bytes, .. }) = opening {
        write(&folder.join(NAME).join(name), &bytes)?;
    }
    for results in &studies {
        let section = Section::of(results, &format!("{NAME}/"))?;
        text += &format!("## {}\n\n{}", section.title, section.text);
        write_files(&section.files, &folder.join(NAME))?;
    }
    let path = folder.join(format!("{NAME}.md"));
    write(&path, format!("{}\n", text.trim_end()).as_bytes())?;
    Ok(path)
}

const RULE: &str = "A number is *reproduced* if it differs from the published one by at most three standard errors of the \
                    difference or 1.5 % of the published value, whichever is more. Where the paper gives no standard \
                    error, its trials are taken to scatter like ours.";

/// The document opens with a figure of the first study that has numbers to compare.
fn introduction(studies: &[&Results], opening: Option<&FigureFile>, origin: &Origin) -> String {
    let commit = origin.commit.as_ref().map_or(String::new(), |commit| format!(" at commit {commit}"));
    let picture =
        opening.map_or(String::new(), |figure| format!("![{0}]({NAME}/{1})\n\n{0}\n\n", figure.caption, figure.name));
    let mut text = format!(
        "# The paper's experiments, reproduced\n\n{picture}\
         Every table and figure of \"Covariance Matrix Adaptation MAP-Annealing\" (Fontaine and Nikolaidis, 2023) outside \
         latent space illumination. The trials were run by `luminary reproduce all` and `luminary reproduce main --variant \
         standard`{commit}; this page is made from them by\n\n    {}\n\n{RULE}\n\n",
        origin.command
    );
    text += "| experiment | equations | finished trials | published numbers reproduced | time of the trials |\n\
             |---|---|---:|---:|---:|\n";
    for results in studies {
        let score = results.score();
        let verdicts = match score.n_compared {
            0 => "the paper has a figure only".into(),
            n => format!("{} of {n} ({:.1} %)", score.n_reproduced, score.percent()),
        };
        let (variant, time) = (crate::results::variant_name(results.variant), duration(results.total_seconds()));
        text += &format!("| {} | {variant} | {} | {verdicts} | {time} |\n", results.experiment, results.n_finished());
    }
    let total = score_of_n_100(studies);
    text +=
        &format!("\nAll tables with n = 100 and the published equations, to which the rule applies: **{total}**.\n");
    text += "Experiments share trials: CMA-MAE with alpha 0.01 and min_f 0, for example, is in three tables but was run \
             once.\n\n";
    text += &misses::markdown(studies);
    text += "The paper prints the coverage of CMA-MAE on LP (Rastrigin) as 80.46 % in one table and as 80.56 % in two \
             others; each table is compared with its own number.\n\n";
    text += &format!("{LEGEND}\n\n");
    text
}

/// The tables that are to be reproduced.
fn score_of_n_100(studies: &[&Results]) -> Score {
    let is_meant = |results: &&&Results| {
        let has_n_100 = matches!(results.experiment, Experiment::Main | Experiment::Alpha | Experiment::MinF);
        has_n_100 && results.variant == Variant::Published
    };
    studies.iter().filter(is_meant).map(|results| results.score()).fold(Score::default(), |sum, score| sum + score)
}

fn write_files(files: &[File], folder: &Path) -> Result<(), ReproduceError> {
    files.iter().try_for_each(|file| write(&folder.join(&file.name), &file.bytes))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), ReproduceError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(RunError::io("make the folder", folder))?;
    }
    Ok(write_atomically(path, |writer| writer.write_all(bytes)).map_err(RunError::io("write", path))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Study;

    /// The links of a Markdown text.
    fn links(text: &str) -> Vec<&str> {
        text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()).collect()
    }

    #[test]
    fn the_document_has_every_study_with_trials_and_every_file_it_links_to() {
        let folder = tempfile::tempdir().unwrap();
        let studies = STUDIES.map(|(experiment, variant)| {
            let study = Study::new(experiment, variant, Some(50)).trials(2);
            match experiment {
                Experiment::N1000 => Results::of_study(&study),
                _ => Results::synthetic(&study),
            }
        });
        let origin = Origin { command: "luminary reproduce all".into(), commit: Some("0123abc".into()) };
        let path = write_document(&studies, &origin, folder.path()).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().filter(|line| line.starts_with("## ")).count(), 6, "all but the one without trials");
        assert!(text.contains("0123abc") && text.contains("    luminary reproduce all\n") && text.ends_with('\n'));
        let links = links(&text);
        assert!(links.len() > 20, "{links:?}");
        for link in &links {
            assert!(fs::metadata(folder.path().join(link)).is_ok_and(|file| file.len() > 0), "{link}");
        }
        let n_files = fs::read_dir(folder.path().join(NAME)).unwrap().count();
        assert_eq!(n_files, links.len(), "no file without a link");
    }

    #[test]
    fn the_document_opens_with_ours_against_the_papers_if_trials_are_as_long() {
        let document = |iterations| {
            let folder = tempfile::tempdir().unwrap();
            let study = Study::new(Experiment::Main, Variant::Published, iterations).trials(1);
            let path = write_document(&[Results::synthetic(&study)], &Origin::default(), folder.path()).unwrap();
            fs::read_to_string(path).unwrap()
        };
        let whole = document(None);
        assert!(whole.lines().nth(2).is_some_and(|line| line.contains("main-published-against-paper.svg")), "{whole}");
        let shortened = document(Some(50));
        assert!(!shortened.contains("against-paper") && shortened.contains("| not comparable |"));
    }

    #[test]
    fn a_page_has_its_files_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let study = Study::new(Experiment::Alpha, Variant::Published, Some(50)).trials(1);
        let path = write_page(&Results::synthetic(&study), folder.path()).unwrap();
        assert_eq!(path, folder.path().join("alpha-published.md"));
        let text = fs::read_to_string(path).unwrap();
        assert!(text.starts_with("# ") && text.contains(RULE) && text.contains(LEGEND));
        for link in links(&text) {
            assert!(folder.path().join(link).exists(), "{link}");
        }
    }
}
