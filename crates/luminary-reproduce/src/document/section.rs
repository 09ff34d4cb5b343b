//! What is written about one study: tables, figures and statistics.

use luminary::strategy::Variant;

use crate::error::ReproduceError;
use crate::experiment::Experiment;
use crate::names::grouped;
use crate::results::Results;
use crate::{against_paper, analysis, figures, table};

/// A file beside the text.
#[derive(Clone, Debug)]
pub struct File {
    /// Its name.
    pub name: String,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// The text about a study and the files that it names.
#[derive(Clone, Debug)]
pub struct Section {
    /// Heading.
    pub title: String,
    /// The text below the heading, Markdown.
    pub text: String,
    /// Tables as CSV, and figures.
    pub files: Vec<File>,
}

impl Section {
    /// Writes about a study; its files are in the folder `links`, seen from the text: empty, or with a slash at its end.
    ///
    /// # Errors
    /// Figures that cannot be drawn.
    pub fn of(results: &Results, links: &str) -> Result<Self, ReproduceError> {
        let stem = results.file_stem();
        let mut section = Self { title: title(results), text: summary(results), files: Vec::new() };
        let csv = section.add(format!("{stem}.csv"), table::csv(results).into_bytes(), links);
        section.text += &format!("The table for machines: {csv}.\n\n");
        section.add_tables(results);
        if results.experiment == Experiment::Main && results.variant == Variant::Standard {
            section.add_against_paper(results, links);
        }
        if results.experiment == Experiment::Main {
            section.add_statistics(results, links);
        }
        for figure in figures::figures(results)? {
            section.text += &format!("![{}]({links}{})\n\n{}\n\n", figure.caption, figure.name, figure.caption);
            section.files.push(File { name: figure.name, bytes: figure.bytes });
        }
        Ok(section)
    }

    fn add_tables(&mut self, results: &Results) {
        let tables = table::markdown(results);
        // The paper shows these numbers as figures, which come first to the eye.
        self.text += &match results.experiment {
            Experiment::Resolution | Experiment::N1000Resolution => {
                format!("<details><summary>All numbers</summary>\n\n{tables}</details>\n\n")
            }
            _ => tables,
        };
    }

    fn add_statistics(&mut self, results: &Results, links: &str) {
        let analyses = analysis::analyses(results);
        let name = format!("{}-statistics.csv", results.file_stem());
        let csv = self.add(name, analysis::csv(&analyses).into_bytes(), links);
        self.text += &format!(
            "### Statistics, {} equations\n\nF and t tests on the QD scores of single trials, as in the paper; p values of \
             pairs are Bonferroni-corrected for all pairs of a domain. For machines: {csv}.\n\n{}",
            crate::results::variant_name(results.variant),
            analysis::markdown(&analyses)
        );
    }

    fn add_against_paper(&mut self, results: &Results, links: &str) {
        let tests = against_paper::against_paper(results);
        let name = format!("{}-against-paper.csv", results.file_stem());
        let csv = self.add(name, against_paper::csv(&tests).into_bytes(), links);
        self.text += &format!(
            "### Are the standard equations better than the published numbers?\n\nOur mean QD score against the paper's, \
             with the p value of a one-sided Welch test for ours being larger (from the published means and standard \
             errors of 20 trials, with their rounding taken at its worst for us). For machines: {csv}.\n\n{}",
            against_paper::markdown(&tests)
        );
    }

    /// Adds a file and gives the link to it.
    fn add(&mut self, name: String, bytes: Vec<u8>, links: &str) -> String {
        let link = format!("[{name}]({links}{name})");
        self.files.push(File { name, bytes });
        link
    }
}

fn title(results: &Results) -> String {
    let what = match results.experiment {
        Experiment::Main => "Main tables: 8 algorithms on 4 domains",
        Experiment::Alpha => "Ablation of the archive learning rate alpha",
        Experiment::MinF => "Ablation of the initial threshold min_f",
        Experiment::Resolution => "Resolutions from 50x50 to 500x500",
        Experiment::N1000 => "1000 dimensions",
        Experiment::N1000Resolution => "1000 dimensions at resolutions from 50x50 to 500x500",
        Experiment::Frontier => "Beyond the paper: 100 dimensions",
        Experiment::FrontierN10 => "Beyond the paper: 10 dimensions",
        Experiment::FrontierN1000 => "Beyond the paper: 1000 dimensions at 300x300",
    };
    match results.variant {
        Variant::Published => what.into(),
        Variant::Standard if results.experiment.is_frontier() => what.into(),
        Variant::Standard => format!("{what}, standard equations"),
    }
}

/// Trials, verdicts and time in a few sentences.
fn summary(results: &Results) -> String {
    let variant = crate::results::variant_name(results.variant);
    let iterations = results.cells.iter().map(|cell| cell.cell.iterations);
    let span = match (iterations.clone().min(), iterations.max()) {
        (Some(few), Some(many)) if few < many => format!("{} to {}", grouped(few), grouped(many)),
        (_, many) => grouped(many.unwrap_or(0)),
    };
    let counts: Vec<_> = results.cells.iter().map(|cell| cell.trials.len()).filter(|&n| n > 0).collect();
    let each = match (counts.iter().min(), counts.iter().max()) {
        (Some(few), Some(many)) if few < many => format!("{few} to {many} trials"),
        (Some(1), _) => "1 trial".into(),
        (Some(n), _) => format!("{n} trials"),
        _ => "no trials yet".into(),
    };
    let settings = match (counts.len(), results.cells.len()) {
        (some, all) if some < all => format!("{some} of the experiment's {all} settings"),
        (all, _) => format!("{all} settings"),
    };
    let mut text = format!(
        "{settings} with {each} each, {span} iterations, {variant} equations; the times of the trials add up to {}.\n",
        duration(results.total_seconds())
    );
    let score = results.score();
    if score.n_compared > 0 {
        text += &format!("**{score}.**\n");
    }
    if score.n_compared > 0 && results.variant == Variant::Standard {
        text += "The rule is meant for the published equations; here a miss means that these equations give another \
                 number, often a better one.\n";
    }
    text + "\n"
}

/// Seconds as `2.5 hours`, `12 minutes` or `7 s`.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        _ if seconds >= 5400.0 => format!("{:.1} hours", seconds / 3600.0),
        _ if seconds >= 90.0 => format!("{:.0} minutes", seconds / 60.0),
        _ => format!("{seconds:.0} s"),
    }
}
