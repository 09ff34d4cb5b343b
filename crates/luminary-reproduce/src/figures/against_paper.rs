//! Our QD scores against the paper's, in one look.

use luminary_plot::{AgreementPanel, AgreementPoint, Style, agreement};

use super::{FigureFile, setting};
use crate::comparison::{Length, Metric};
use crate::names::{domain_title, row_title};
use crate::results::{CellResults, Results};

/// A point for each setting, a plot for each domain; nothing if there are no numbers to compare.
pub fn against_paper(results: &Results) -> Option<FigureFile> {
    let point = |cell: &CellResults| {
        let comparison = cell.compare(results.experiment, Metric::QdScore);
        if comparison.length == Length::Other {
            return None;
        }
        let name = row_title(results.experiment, &cell.cell);
        Some(AgreementPoint { name, theirs: comparison.published?.mean, ours: comparison.ours?.mean })
    };
    let panel = |domain| AgreementPanel {
        title: domain_title(domain).into(),
        points: results.of_domain(domain).filter_map(point).collect(),
    };
    let panels: Vec<AgreementPanel> = results.domains().into_iter().map(panel).collect();
    if panels.iter().all(|panel| panel.points.is_empty()) {
        return None;
    }
    let title = format!("QD scores, ours and the paper's, {}", setting(results));
    let labels = ("the paper's", "ours");
    let note = "on the line both are the same, above it ours are better";
    let figure = agreement(&title, note, labels, &panels, &Style::default());
    let caption = "Our mean QD scores against the paper's: on the line both are the same.";
    Some(FigureFile::svg(results, "against-paper", caption.into(), &figure))
}
