//! Draws panels of lines with bands and a common legend; curves and CCDFs are made of them.

use crate::color::{OKABE_ITO, Rgb};
use crate::figure::{Figure, Style};
use crate::frame::{self, Area, Axis, Frame, text_width, x_tick_count, y_tick_count};
use crate::scale::Range;
use crate::svg::{Anchor, Svg, coordinate, polyline};

/// More points than this are thinned out; a line on a page does not show more.
const MAX_POINTS: usize = 1200;

/// One line with its band. All lists have the same length; NaN makes a gap.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) x: Vec<f64>,
    pub(crate) mean: Vec<f64>,
    /// Half the width of the band at each point.
    pub(crate) band: Vec<f64>,
}

/// One plot with its lines.
#[derive(Clone, Debug)]
pub(crate) struct LinePanel {
    pub(crate) title: String,
    pub(crate) x_label: String,
    pub(crate) y_label: String,
    pub(crate) lines: Vec<Line>,
    /// Values that the vertical axis must show.
    pub(crate) y_includes: Vec<f64>,
    /// Values beyond which nothing can be, although a confidence band may reach there.
    pub(crate) y_limits: Option<(f64, f64)>,
}

/// A figure of one or several plots side by side.
#[derive(Clone, Debug)]
pub(crate) struct LineFigure {
    pub(crate) title: String,
    pub(crate) note: String,
    pub(crate) panels: Vec<LinePanel>,
    pub(crate) columns: Option<usize>,
    /// Whether each point gets a dot.
    pub(crate) dots: bool,
}

/// Draws the figure. The same name has the same colour in all panels.
pub(crate) fn draw(spec: &LineFigure, style: &Style) -> Figure {
    let names = names(&spec.panels);
    let n = spec.panels.len().max(1);
    let columns = spec.columns.unwrap_or(if n == 4 { 2 } else { 3 }).clamp(1, n);
    let rows = n.div_ceil(columns);
    let default = if n == 1 { (720.0, 430.0) } else { (330.0 * columns as f64 + 180.0, 270.0 * rows as f64 + 60.0) };
    let size = style.size_or(default.0, default.1);
    let mut svg = Svg::new(size.0, size.1, &spec.title);
    let note = if spec.panels.is_empty() { "nothing to show" } else { &spec.note };
    let body = frame::draw_heading(&mut svg, frame::page(size), &spec.title, note, style);
    let legend_width = legend_width(&names, body.width, style);
    let plots = body.inset(0.0, 0.0, legend_width, 0.0);
    draw_legend(&mut svg, plots, &names, legend_width, style);
    let gap = 16.0;
    for (i, panel) in spec.panels.iter().enumerate() {
        let (width, height) = (plots.width / columns as f64, plots.height / rows as f64);
        let (column, row) = ((i % columns) as f64, (i / columns) as f64);
        let outer = Area { x: plots.x + column * width, y: plots.y + row * height, width, height };
        let inner = outer.inset(0.0, 0.0, if columns > 1 { gap } else { 0.0 }, if rows > 1 { gap / 2.0 } else { 0.0 });
        draw_panel(&mut svg, inner, panel, &names, spec.dots, style);
    }
    Figure::new(svg, size)
}

fn draw_panel(svg: &mut Svg, outer: Area, panel: &LinePanel, names: &[&str], dots: bool, style: &Style) {
    let mut outer = outer;
    let title = style.label_text().semibold();
    let title_y = outer.y + title.size;
    if !panel.title.is_empty() {
        outer = outer.inset(0.0, title.size + 8.0, 0.0, 0.0);
    }
    let values = |line: &Line| {
        let ends = line.mean.iter().zip(&line.band).flat_map(|(mean, band)| [mean - band, mean + band]);
        ends.collect::<Vec<_>>()
    };
    let y_range = Range::of(panel.lines.iter().flat_map(values).chain(panel.y_includes.iter().copied()));
    let y_range = match panel.y_limits {
        Some((low, high)) => Range::new(y_range.lower.max(low), y_range.upper.min(high)),
        None => y_range,
    };
    let x_range = Range::of(panel.lines.iter().flat_map(|line| line.x.iter().copied()));
    let x_range = if dots { x_range.padded(0.025) } else { x_range };
    let x = Axis::new(&panel.x_label, x_range, x_tick_count(outer.width, style));
    let y = Axis::new(&panel.y_label, rounded_out(y_range), y_tick_count(outer.height, style));
    let frame = Frame::inside(outer, x, y, style);
    svg.text(frame.area.x, title_y, &panel.title, title.max_width(frame.area.width));
    frame.draw_grid(svg);
    svg.open_clip(frame.area.x, frame.area.y, frame.area.width, frame.area.height);
    for line in &panel.lines {
        draw_band(svg, &frame, line, ink(names, &line.name).0);
    }
    for line in &panel.lines {
        draw_line(svg, &frame, line, ink(names, &line.name), dots);
    }
    svg.close();
    frame.draw_axes(svg, style);
}

/// A little air at the ends, but none below zero for data that never goes there.
fn rounded_out(range: Range) -> Range {
    let padded = range.padded(0.04);
    Range::new(if range.lower >= 0.0 { padded.lower.max(0.0) } else { padded.lower }, padded.upper)
}

fn draw_band(svg: &mut Svg, frame: &Frame, line: &Line, color: Rgb) {
    for part in parts(line) {
        if part.iter().all(|&i| line.band[i] == 0.0) {
            continue;
        }
        let edge = |i: usize, side: f64| (frame.px(line.x[i]), frame.py(line.mean[i] + side * line.band[i]));
        let there = part.iter().map(|&i| edge(i, 1.0));
        let back = part.iter().rev().map(|&i| edge(i, -1.0));
        let data = polyline(there.chain(back)) + "Z";
        svg.path(&data, &format!("class=\"band\" fill=\"{}\" fill-opacity=\"0.2\"", color.hex()));
    }
}

fn draw_line(svg: &mut Svg, frame: &Frame, line: &Line, (color, dash): (Rgb, &str), dots: bool) {
    for part in parts(line) {
        let points: Vec<(f64, f64)> = part.iter().map(|&i| (frame.px(line.x[i]), frame.py(line.mean[i]))).collect();
        svg.path(&polyline(points.iter().copied()), &line_attributes(color, dash));
        if dots || points.len() == 1 {
            points.iter().for_each(|&(x, y)| svg.circle(x, y, 2.8, color));
        }
    }
}

fn line_attributes(color: Rgb, dash: &str) -> String {
    let dash = if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
    let stroke = color.hex();
    format!("class=\"line\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"2\" stroke-linejoin=\"round\"{dash}")
}

/// Runs of points without gaps, thinned out: of each stretch the ends, the lowest and the highest point stay.
fn parts(line: &Line) -> Vec<Vec<usize>> {
    let drawable = |i: usize| line.x[i].is_finite() && line.mean[i].is_finite();
    let mut runs: Vec<Vec<usize>> = Vec::new();
    let mut before = false;
    for i in 0..line.x.len() {
        let now = drawable(i);
        match runs.last_mut() {
            Some(run) if now && before => run.push(i),
            _ if now => runs.push(vec![i]),
            _ => {}
        }
        before = now;
    }
    let stretch = line.x.len().div_ceil(MAX_POINTS / 4);
    if line.x.len() <= MAX_POINTS {
        return runs;
    }
    let thin = |run: Vec<usize>| {
        let keep = |chunk: &[usize]| {
            let by_mean = |a: &&usize, b: &&usize| line.mean[**a].total_cmp(&line.mean[**b]);
            let ends = [chunk[0], chunk[chunk.len() - 1]];
            let mut kept: Vec<usize> = ends.into_iter().collect();
            kept.extend(chunk.iter().min_by(by_mean).into_iter().chain(chunk.iter().max_by(by_mean)));
            kept.sort_unstable();
            kept.dedup();
            kept
        };
        run.chunks(stretch).flat_map(keep).collect()
    };
    runs.into_iter().map(thin).collect()
}

/// The names of all lines, each once, in order of appearance.
fn names(panels: &[LinePanel]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for line in panels.iter().flat_map(|panel| &panel.lines) {
        if !names.contains(&line.name.as_str()) {
            names.push(&line.name);
        }
    }
    names
}

/// Colour and dashes of a line; after eight colours they come again with dashes.
fn ink(names: &[&str], name: &str) -> (Rgb, &'static str) {
    let i = names.iter().position(|n| *n == name).unwrap_or(0);
    let dash = ["", "7 3", "2 3", "9 3 2 3"][i / OKABE_ITO.len() % 4];
    (OKABE_ITO[i % OKABE_ITO.len()], dash)
}

const SWATCH: f64 = 22.0;

fn legend_width(names: &[&str], available: f64, style: &Style) -> f64 {
    if names.len() < 2 && names.iter().all(|name| name.is_empty()) {
        return 0.0;
    }
    let widest = names.iter().map(|name| text_width(name, style.tick_text())).fold(0.0, f64::max);
    // A little more than the widest name, which would be shortened if rounding made its room too small.
    (16.0 + SWATCH + 8.0 + widest + 1.0).min(available * 0.35)
}

fn draw_legend(svg: &mut Svg, plots: Area, names: &[&str], width: f64, style: &Style) {
    if width == 0.0 {
        return;
    }
    let text = style.tick_text().anchor(Anchor::Start).max_width(width - 16.0 - SWATCH - 8.0);
    let step = (text.size * 1.75).min(plots.height / names.len() as f64);
    svg.open_group("legend", "");
    for (i, name) in names.iter().enumerate() {
        let (x, y) = (plots.right() + 16.0, plots.y + (i as f64 + 0.6) * step);
        let (color, dash) = ink(names, name);
        svg.path(&format!("M{} {}h{SWATCH}", coordinate(x), coordinate(y)), &line_attributes(color, dash));
        svg.text(
            x + SWATCH + 8.0,
            y + text.size * 0.36,
            name,
            crate::svg::TextStyle { color: crate::svg::TEXT, ..text },
        );
    }
    svg.close();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(mean: Vec<f64>) -> Line {
        Line { name: "a".into(), x: (0..mean.len()).map(|i| i as f64).collect(), band: vec![0.0; mean.len()], mean }
    }

    #[test]
    fn gaps_split_a_line() {
        assert_eq!(
            parts(&line(vec![1.0, 2.0, f64::NAN, 3.0, f64::INFINITY, 4.0, 5.0])),
            [vec![0, 1], vec![3], vec![5, 6]]
        );
    }

    #[test]
    fn thinning_keeps_ends_and_spikes() {
        let mut mean = vec![1.0; 10_000];
        mean[7_777] = 50.0;
        mean[3_333] = -50.0;
        let kept = &parts(&line(mean))[0];
        assert!(kept.len() <= MAX_POINTS && kept.contains(&7_777) && kept.contains(&3_333), "{}", kept.len());
        assert_eq!((kept[0], kept[kept.len() - 1]), (0, 9_999));
        assert!(kept.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn more_than_eight_lines_stay_distinct() {
        let names: Vec<String> = (0..24).map(|i| i.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut inks: Vec<_> = names.iter().map(|name| ink(&names, name)).map(|(c, d)| (c.hex(), d)).collect();
        inks.sort();
        inks.dedup();
        assert_eq!(inks.len(), 24);
    }
}
