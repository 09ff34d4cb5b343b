//! How the learning rate alpha changes what CMA-MAE optimises: f - f_A on an objective with two peaks.

use crate::archive::same_length;
use crate::color::{OKABE_ITO, Rgb};
use crate::error::PlotError;
use crate::figure::{Figure, Style};
use crate::frame::{self, Area, Axis, Frame, text_width, x_tick_count, y_tick_count};
use crate::scale::{Range, number};
use crate::svg::{Anchor, Svg, TextStyle, coordinate, polyline};

/// An objective f and the acceptance threshold f_A along one measure.
#[derive(Clone, Debug, PartialEq)]
pub struct AnnealingPanel {
    /// Heading, for example the value of alpha.
    pub title: String,
    /// Positions along the measure.
    pub x: Vec<f64>,
    /// The objective f at each position.
    pub objective: Vec<f64>,
    /// The acceptance threshold f_A of the cell at each position.
    pub threshold: Vec<f64>,
    /// Names of positions, written over the objective.
    pub marks: Vec<(f64, String)>,
}

/// A worked example: the objective has a high, narrow peak X and a lower, broad and therefore easier peak Y; the search
/// has visited the top of Y `visits` times, and its sides less often. Each visit moves the threshold towards the
/// objective by the fraction alpha, f_A <- (1 - alpha) f_A + alpha f (CMA-MAE, algorithm 1), from min_f = 0; cells are so
/// small that the objective is constant in each. With alpha = 0 the search stays at Y, with a small alpha Y loses its
/// appeal slowly and X becomes the better goal, and with alpha = 1 all that is known is flat at once.
pub fn bimodal_example(alpha: f64, visits: f64) -> AnnealingPanel {
    const N_POINTS: usize = 400;
    const X: f64 = 0.22;
    const Y: f64 = 0.66;
    let objective = |x: f64| bell(x, X, 0.05) + 0.8 * bell(x, Y, 0.13);
    // After k visits with the same objective: f_A = f (1 - (1 - alpha)^k). Fewer than half a visit is none.
    let threshold = |x: f64| match visits * bell(x, Y, 0.1) {
        k if k < 0.5 => 0.0,
        k => objective(x) * (1.0 - (1.0 - alpha).powf(k)),
    };
    let x: Vec<f64> = (0..=N_POINTS).map(|i| i as f64 / N_POINTS as f64).collect();
    AnnealingPanel {
        title: format!("α = {}", number(alpha)),
        objective: x.iter().map(|&x| objective(x)).collect(),
        threshold: x.iter().map(|&x| threshold(x)).collect(),
        x,
        marks: vec![(X, "X".into()), (Y, "Y".into())],
    }
}

/// Draws the panels in a row: f as a dashed line, f_A as a filled area under it, and f - f_A, which the search climbs, as
/// the strong line.
///
/// # Errors
/// If the lists of a panel have different lengths.
pub fn annealing(title: &str, panels: &[AnnealingPanel], style: &Style) -> Result<Figure, PlotError> {
    for panel in panels {
        same_length("objectives of a panel", panel.x.len(), panel.objective.len())?;
        same_length("thresholds of a panel", panel.x.len(), panel.threshold.len())?;
    }
    let n = panels.len().max(1) as f64;
    let size = style.size_or(250.0 * n + 90.0, 330.0);
    let mut svg = Svg::new(size.0, size.1, title);
    let body = frame::draw_heading(&mut svg, frame::page(size), title, "", style);
    let plots = body.inset(0.0, 0.0, 0.0, style.font() * 2.2);
    draw_legend(&mut svg, Area { y: plots.bottom(), height: style.font() * 2.2, ..body }, style);
    let all = panels.iter().flat_map(|p| {
        let differences = p.objective.iter().zip(&p.threshold).map(|(f, f_a)| f - f_a);
        p.objective.iter().chain(&p.threshold).copied().chain(differences)
    });
    let data = Range::of(all.chain([0.0]));
    // More air at the top, where the names of positions stand.
    let y_range = Range::new(data.at(-0.08), data.at(1.18));
    for (i, panel) in panels.iter().enumerate() {
        let outer = Area { x: plots.x + i as f64 * plots.width / n, width: plots.width / n - 12.0, ..plots };
        let text = style.label_text().semibold().max_width(outer.width);
        let left = Frame::left_margin(&Axis::new("Objective", y_range, y_tick_count(plots.height, style)), style);
        svg.text(outer.x + left, outer.y + text.size, &panel.title, text);
        let outer = outer.inset(0.0, text.size + 8.0, 0.0, 0.0);
        let x = Axis::new("Measure", Range::of(panel.x.iter().copied()), x_tick_count(outer.width, style));
        let y = Axis::new("Objective", y_range, y_tick_count(outer.height, style));
        let frame = Frame::inside(outer, x, y, style);
        frame.draw_grid(&mut svg);
        draw_panel(&mut svg, &frame, panel);
        draw_marks(&mut svg, &frame, panel, style);
        frame.draw_axes(&mut svg, style);
    }
    Ok(Figure::new(svg, size))
}

const F: Rgb = Rgb(0x52, 0x60, 0x6d);
const F_A: Rgb = OKABE_ITO[4];
const DIFFERENCE: Rgb = OKABE_ITO[0];

fn draw_panel(svg: &mut Svg, frame: &Frame, panel: &AnnealingPanel) {
    let finite = |i: &usize| [panel.x[*i], panel.objective[*i], panel.threshold[*i]].iter().all(|v| v.is_finite());
    let shown: Vec<usize> = (0..panel.x.len()).filter(finite).collect();
    let along = |value: &dyn Fn(usize) -> f64| {
        shown.iter().map(|&i| (frame.px(panel.x[i]), frame.py(value(i)))).collect::<Vec<_>>()
    };
    svg.open_clip(frame.area.x, frame.area.y, frame.area.width, frame.area.height);
    if let (Some(&first), Some(&last)) = (shown.first(), shown.last()) {
        let base = [(frame.px(panel.x[last]), frame.py(0.0)), (frame.px(panel.x[first]), frame.py(0.0))];
        let area = polyline(along(&|i| panel.threshold[i]).into_iter().chain(base)) + "Z";
        svg.path(&area, &format!("fill=\"{}\" fill-opacity=\"0.35\"", F_A.hex()));
    }
    svg.path(&polyline(along(&|i| panel.objective[i])), &dashed());
    svg.path(&polyline(along(&|i| panel.objective[i] - panel.threshold[i])), &solid());
    svg.close();
}

/// Each mark stands over the objective at the nearest position.
fn draw_marks(svg: &mut Svg, frame: &Frame, panel: &AnnealingPanel, style: &Style) {
    for (position, name) in &panel.marks {
        let distance = |i: &usize| (panel.x[*i] - position).abs();
        let Some(i) = (0..panel.x.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))) else { continue };
        let (x, y) = (frame.px(panel.x[i]), frame.py(panel.objective[i]));
        if frame.x.range.fraction(*position).clamp(0.0, 1.0) == frame.x.range.fraction(*position) {
            svg.text(x, (y - 5.0).max(frame.area.y + 10.0), name, style.label_text().anchor(Anchor::Middle));
        }
    }
}

fn draw_legend(svg: &mut Svg, area: Area, style: &Style) {
    let text = style.label_text();
    let y = area.y + area.height * 0.7;
    let mut x = area.x + 40.0;
    svg.open_group("legend", "");
    let entries =
        [("f", "", "", dashed()), ("f", "A", "", String::new()), ("f − f", "A", ", which the search climbs", solid())];
    for (name, subscript, rest, attributes) in entries {
        if attributes.is_empty() {
            let fill = format!("fill=\"{}\" fill-opacity=\"0.35\"", F_A.hex());
            svg.path(&format!("M{} {}h26v-10h-26Z", coordinate(x), coordinate(y + 5.0)), &fill);
        } else {
            svg.path(&format!("M{} {}h26", coordinate(x), coordinate(y)), &attributes);
        }
        x += 33.0;
        let small = TextStyle { size: text.size * 0.72, ..text };
        for (part, style, drop) in [(name, text, 0.0), (subscript, small, text.size * 0.2), (rest, text, 0.0)] {
            svg.text(x, y + text.size * 0.36 + drop, part, style);
            x += text_width(part, style);
        }
        x += 26.0;
    }
    svg.close();
}

fn dashed() -> String {
    format!("fill=\"none\" stroke=\"{}\" stroke-width=\"1.4\" stroke-dasharray=\"5 4\"", F.hex())
}

fn solid() -> String {
    format!("fill=\"none\" stroke=\"{}\" stroke-width=\"2.2\" stroke-linejoin=\"round\"", DIFFERENCE.hex())
}

fn bell(x: f64, middle: f64, width: f64) -> f64 {
    (-0.5 * ((x - middle) / width).powi(2)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peak_of_difference(alpha: f64) -> f64 {
        let panel = bimodal_example(alpha, 60.0);
        let difference = |i: &usize| panel.objective[*i] - panel.threshold[*i];
        let best = (0..panel.x.len()).max_by(|a, b| difference(a).total_cmp(&difference(b)));
        panel.x[best.expect("the example has points")]
    }

    #[test]
    fn annealing_moves_the_goal_away_from_the_visited_peak() {
        let zero = bimodal_example(0.0, 60.0);
        assert!(zero.threshold.iter().all(|&t| t == 0.0));
        assert!((peak_of_difference(0.02) - 0.22).abs() < 0.02);
        let appeal = |alpha: f64| {
            let panel = bimodal_example(alpha, 60.0);
            let at = (0.66 * (panel.x.len() - 1) as f64) as usize;
            panel.objective[at] - panel.threshold[at]
        };
        assert!(appeal(0.0) > 0.75 && appeal(0.02) < 0.3 && appeal(0.02) > 0.1 && appeal(1.0).abs() < 0.03);
    }
}
