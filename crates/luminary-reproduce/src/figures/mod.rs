//! The paper's figures from the trials of a study.

mod against_paper;
mod heatmaps;
mod lines;

use luminary_plot::{Figure, PlotError};

use crate::error::ReproduceError;
use crate::experiment::Experiment;
use crate::frontier;
use crate::names::grouped;
use crate::results::Results;

/// Pixels of a PNG for each of its SVG.
const PNG_SCALE: f64 = 1.5;

/// A figure, ready to be written.
#[derive(Clone, Debug)]
pub struct FigureFile {
    /// File name.
    pub name: String,
    /// What it shows, in a sentence.
    pub caption: String,
    /// Contents of the file.
    pub bytes: Vec<u8>,
}

pub use against_paper::against_paper;

/// The figures of a study, in the order in which they are worth looking at. Lines are SVG and heatmaps PNG, because these
/// are the smaller files. Cells without trials are left out, and so are figures without cells.
///
/// # Errors
/// Figures that cannot be drawn.
pub fn figures(results: &Results) -> Result<Vec<FigureFile>, ReproduceError> {
    let mut files = Vec::new();
    if results.n_finished() == 0 {
        return Ok(files);
    }
    match results.experiment {
        Experiment::Main | Experiment::N1000 => {
            files.push(lines::over_iterations(results)?);
            files.push(lines::distributions(results)?);
            files.extend(heatmaps::side_by_side(results)?);
        }
        Experiment::Alpha => {
            files.push(heatmaps::annealing(results)?);
            files.extend(heatmaps::alpha_blends(results)?);
        }
        Experiment::MinF => files.extend(heatmaps::side_by_side(results)?),
        Experiment::Resolution | Experiment::N1000Resolution => files.push(lines::over_resolutions(results)?),
        Experiment::Frontier | Experiment::FrontierN10 | Experiment::FrontierN1000 => {
            let caption =
                "QD score against the evaluations of a trial: mean over trials, with bands of 95 % confidence.";
            files.push(FigureFile::svg(results, "curves", caption.into(), &frontier::figure(results)?));
        }
    }
    Ok(files)
}

impl FigureFile {
    fn svg(results: &Results, kind: &str, caption: String, figure: &Figure) -> Self {
        let name = format!("{}-{kind}.svg", results.file_stem());
        Self { name, caption, bytes: figure.svg().as_bytes().to_vec() }
    }

    fn png(results: &Results, kind: &str, caption: String, figure: &Figure) -> Result<Self, PlotError> {
        let name = format!("{}-{kind}.png", results.file_stem());
        Ok(Self { name, caption, bytes: figure.to_png(PNG_SCALE)? })
    }
}

/// `n = 100, 100x100 cells` where all cells agree; only what they share otherwise.
fn setting(results: &Results) -> String {
    let Some(first) = results.cells.first().map(|cell| &cell.cell) else { return String::new() };
    let is_shared = results.cells.iter().all(|cell| cell.cell.resolution == first.resolution);
    let cells = if is_shared { format!(", {r}x{r} cells", r = first.resolution) } else { String::new() };
    let variant = crate::results::variant_name(results.variant);
    format!("n = {}{cells}, {} iterations, {variant} equations", first.n, grouped(first.iterations))
}
