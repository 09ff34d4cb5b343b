//! Parallel axes: each elite as a line across all measures and the objective.

use std::fmt::Write;

use crate::archive::{Measure, same_length};
use crate::color_scale::ColorScale;
use crate::error::PlotError;
use crate::figure::{Figure, Style};
use crate::frame::{self, Area, text_width, y_tick_count};
use crate::goal::Goal;
use crate::scale::{Range, Tick, number};
use crate::svg::{Anchor, MUTED, Svg, coordinate};

/// What a parallel axes plot shows.
#[derive(Clone, Debug)]
pub struct ParallelAxes<'a> {
    /// Title; may be empty.
    pub title: &'a str,
    /// The measures; each gets an axis with its bounds.
    pub measures: &'a [Measure],
    /// The measures of all elites, row by row.
    pub values: &'a [f64],
    /// Label of the objective, which gets the last axis.
    pub objective: &'a str,
    /// The objective of each elite.
    pub objectives: &'a [f64],
    /// If there are more elites, evenly spaced ones by objective are drawn, always with the best; 3,000 is a good number.
    pub max_lines: usize,
}

/// Draws the elites as lines, the best ones on top. Elites with values that are not finite are left out, and counted in
/// the note under the title.
///
/// # Errors
/// If there are no measures, or if rows and objectives do not fit together.
pub fn parallel_axes(spec: &ParallelAxes, style: &Style) -> Result<Figure, PlotError> {
    let n_measures = spec.measures.len();
    if n_measures == 0 {
        let (expected, found) = ("at least 1".into(), "0".into());
        return Err(PlotError::Shape { what: "number of measures", expected, found });
    }
    same_length("measures of elites", spec.objectives.len() * n_measures, spec.values.len())?;
    let objectives = style.goal.turned(spec.objectives);
    let spec = &ParallelAxes { objectives: &objectives, ..*spec };
    let (shown, n_finite) = chosen(spec);
    let ranges = ranges(spec, style);
    let colors = ColorScale::linear(ranges[n_measures], style);

    let size = style.size_or((110.0 * n_measures as f64 + 200.0).clamp(620.0, 1600.0), 420.0);
    let mut svg = Svg::new(size.0, size.1, spec.title);
    let body = frame::draw_heading(&mut svg, frame::page(size), spec.title, &note(spec, shown.len(), n_finite), style);
    let label = style.label_text();
    let area = body.inset(40.0, label.size + 14.0, 60.0, 8.0);
    let x = |i: usize| area.x + area.width * i as f64 / n_measures as f64;
    draw_lines(&mut svg, area, &shown, spec, &ranges, &colors, style);
    for (i, &range) in ranges.iter().enumerate() {
        let name = spec.measures.get(i).map_or(spec.objective, |measure| measure.name.as_str());
        let goal = if i == n_measures { style.goal } else { Goal::Maximise };
        let ticks = goal.ticks(range, y_tick_count(area.height, style));
        draw_axis(&mut svg, area, x(i), range, &ticks, style);
        let text = label.anchor(Anchor::Middle).max_width(area.width / n_measures as f64 - 8.0);
        let text = if i == n_measures { text.semibold() } else { text };
        svg.text(x(i), area.y - 10.0, name, text);
    }
    Ok(Figure::new(svg, size))
}

/// The rows to draw, from the worst to the best objective, and how many could be drawn.
fn chosen(spec: &ParallelAxes) -> (Vec<usize>, usize) {
    let n = spec.measures.len();
    let finite =
        |&i: &usize| spec.objectives[i].is_finite() && spec.values[i * n..(i + 1) * n].iter().all(|v| v.is_finite());
    let mut rows: Vec<usize> = (0..spec.objectives.len()).filter(finite).collect();
    rows.sort_by(|&a, &b| spec.objectives[a].total_cmp(&spec.objectives[b]));
    let n_finite = rows.len();
    let lines = spec.max_lines.max(1);
    if n_finite > lines {
        // The last of each stretch, so that the best elite stays.
        rows = (1..=lines).map(|i| rows[(i as u128 * n_finite as u128 / lines as u128) as usize - 1]).collect();
    }
    (rows, n_finite)
}

/// The range of each axis; the objective's is the last.
fn ranges(spec: &ParallelAxes, style: &Style) -> Vec<Range> {
    let mut ranges: Vec<Range> = spec.measures.iter().map(|m| Range::new(m.lower, m.upper)).collect();
    let data = || Range::of(spec.objectives.iter().copied());
    let chosen = style.color_range.map(|(low, high)| Range::new(style.goal.turn(low), style.goal.turn(high)));
    ranges.push(chosen.unwrap_or_else(data));
    ranges
}

fn draw_lines(
    svg: &mut Svg,
    area: Area,
    rows: &[usize],
    spec: &ParallelAxes,
    ranges: &[Range],
    colors: &ColorScale,
    style: &Style,
) {
    let n = spec.measures.len();
    // Many lines are drawn thin and light, few strong.
    let opacity = (12.0 / (rows.len() as f64).sqrt()).clamp(0.12, 0.8);
    let width = coordinate((style.font() / 12.0) * if rows.len() > 300 { 0.8 } else { 1.3 });
    let attributes =
        format!("fill=\"none\" stroke-width=\"{width}\" stroke-opacity=\"{opacity:.2}\" stroke-linejoin=\"round\"");
    svg.open_clip(area.x - 2.0, area.y - 2.0, area.width + 4.0, area.height + 4.0);
    svg.open_group("elites", &attributes);
    for &row in rows {
        let objective = spec.objectives[row];
        let values = spec.values[row * n..(row + 1) * n].iter().copied().chain([objective]);
        let mut data = String::new();
        for (i, (value, range)) in values.zip(ranges).enumerate() {
            let x = area.x + area.width * i as f64 / n as f64;
            let y = area.bottom() - range.fraction(value).clamp(-1.0, 2.0) * area.height;
            let _ = write!(data, "{}{x:.1} {y:.1}", if i == 0 { 'M' } else { 'L' });
        }
        svg.path(&data, &format!("stroke=\"{}\"", colors.color(objective).hex()));
    }
    svg.close();
    svg.close();
}

fn draw_axis(svg: &mut Svg, area: Area, x: f64, range: Range, ticks: &[Tick], style: &Style) {
    svg.open_group("axis", "");
    svg.line((x, area.y), (x, area.bottom()), MUTED, 1.2);
    let text = style.tick_text();
    for tick in ticks {
        let y = area.bottom() - range.fraction(tick.value) * area.height;
        svg.line((x, y), (x + 4.0, y), MUTED, 1.0);
        // A light plate keeps the number readable over the lines.
        let width = text_width(&tick.label, text);
        let plate = crate::svg::polyline([(x + 6.0, y), (x + 8.0 + width, y)]);
        let height = coordinate(text.size * 1.1);
        svg.path(&plate, &format!("stroke=\"#ffffff\" stroke-opacity=\"0.75\" stroke-width=\"{height}\""));
        svg.text(x + 7.0, y + text.size * 0.36, &tick.label, crate::svg::TextStyle { color: crate::svg::TEXT, ..text });
    }
    svg.close();
}

fn note(spec: &ParallelAxes, n_shown: usize, n_finite: usize) -> String {
    let n = spec.objectives.len();
    let mut parts = Vec::new();
    match (n, n_shown) {
        (0, _) => parts.push("no elites".to_string()),
        (n, shown) if shown < n_finite => {
            parts.push(format!("{} of {} elites, evenly spaced by objective", number(shown as f64), number(n as f64)))
        }
        (n, _) => parts.push(format!("{} elites", number(n as f64))),
    }
    if n_finite < n {
        parts.push(format!("{} left out because of values that are not finite", n - n_finite));
    }
    parts.join(" · ")
}
