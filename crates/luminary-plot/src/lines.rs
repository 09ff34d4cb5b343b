//! Draws panels of lines with bands and a common legend; curves and CCDFs are made of them.

use crate::color::Rgb;
use crate::figure::{Figure, Style};
use crate::frame::{self, Area, Axis, Frame, text_width, x_tick_count, y_tick_count};
use crate::ink::{Ink, inks};
use crate::scale::Range;
use crate::svg::{Anchor, Svg, TEXT, TextStyle, coordinate, escape, polyline};

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
    /// Trials to be drawn one by one beside their mean; each may end early.
    pub(crate) trials: Vec<Vec<f64>>,
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
    let algorithm = style.algorithm.as_deref().unwrap_or_default();
    let known: Vec<&str> = names.iter().map(|name| if name.is_empty() { algorithm } else { name }).collect();
    let legend = Legend { inks: inks(&known), names };
    let n = spec.panels.len().max(1);
    let columns = spec.columns.unwrap_or(if n == 4 { 2 } else { 3 }).clamp(1, n);
    let rows = n.div_ceil(columns);
    let default = if n == 1 { (720.0, 430.0) } else { (330.0 * columns as f64 + 180.0, 270.0 * rows as f64 + 60.0) };
    let size = style.size_or(default.0, default.1);
    let mut svg = Svg::new(size.0, size.1, &spec.title);
    let note = if spec.panels.is_empty() { "nothing to show" } else { &spec.note };
    let body = frame::draw_heading(&mut svg, frame::page(size), &spec.title, note, style);
    let legend_width = legend.width(body.width, style);
    let plots = body.inset(0.0, 0.0, legend_width, 0.0);
    legend.draw(&mut svg, plots, legend_width, style);
    let gap = 16.0;
    for (i, panel) in spec.panels.iter().enumerate() {
        let (width, height) = (plots.width / columns as f64, plots.height / rows as f64);
        let (column, row) = ((i % columns) as f64, (i / columns) as f64);
        let outer = Area { x: plots.x + column * width, y: plots.y + row * height, width, height };
        let inner = outer.inset(0.0, 0.0, if columns > 1 { gap } else { 0.0 }, if rows > 1 { gap / 2.0 } else { 0.0 });
        draw_panel(&mut svg, inner, panel, &legend, spec.dots, style);
    }
    Figure::new(svg, size)
}

fn draw_panel(svg: &mut Svg, outer: Area, panel: &LinePanel, legend: &Legend, dots: bool, style: &Style) {
    let mut outer = outer;
    let title = style.label_text().semibold();
    let title_y = outer.y + title.size;
    if !panel.title.is_empty() {
        outer = outer.inset(0.0, title.size + 8.0, 0.0, 0.0);
    }
    let values = |line: &Line| {
        let ends = line.mean.iter().zip(&line.band).flat_map(|(mean, band)| [mean - band, mean + band]);
        ends.chain(line.trials.iter().flatten().copied()).collect::<Vec<_>>()
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
    svg.open_group("panel", &panel_attributes(&frame));
    svg.open_clip(frame.area.x, frame.area.y, frame.area.width, frame.area.height);
    for line in &panel.lines {
        draw_band(svg, &frame, line, legend.ink(&line.name).color);
        draw_trials(svg, &frame, line, legend.ink(&line.name).color);
    }
    for line in &panel.lines {
        draw_line(svg, &frame, line, legend.ink(&line.name), dots);
    }
    svg.close();
    svg.close();
    frame.draw_axes(svg, style);
}

/// What the report needs to read values off the lines of a panel: its frame in pixels, both ranges, and both labels.
fn panel_attributes(frame: &Frame) -> String {
    let Frame { area, x, y } = frame;
    let [left, top, width, height] = [area.x, area.y, area.width, area.height].map(coordinate);
    let ranges = [x.range.lower, x.range.upper, y.range.lower, y.range.upper].map(|end| format!("{end:e}"));
    format!(
        "data-frame=\"{left} {top} {width} {height}\" data-ranges=\"{}\" data-x=\"{}\" data-y=\"{}\"",
        ranges.join(" "),
        escape(&x.label),
        escape(&y.label)
    )
}

/// A little air at the ends, but none below zero for data that never goes there.
fn rounded_out(range: Range) -> Range {
    let padded = range.padded(0.04);
    Range::new(if range.lower >= 0.0 { padded.lower.max(0.0) } else { padded.lower }, padded.upper)
}

fn draw_band(svg: &mut Svg, frame: &Frame, line: &Line, color: Rgb) {
    for part in parts(&line.x, &line.mean) {
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

/// Each trial as a thin line behind the mean.
fn draw_trials(svg: &mut Svg, frame: &Frame, line: &Line, color: Rgb) {
    for trial in &line.trials {
        for part in parts(&line.x, trial) {
            let data = polyline(part.iter().map(|&i| (frame.px(line.x[i]), frame.py(trial[i]))));
            let stroke = color.hex();
            svg.path(&data, &format!("class=\"trial\" fill=\"none\" stroke=\"{stroke}\" stroke-opacity=\"0.4\""));
        }
    }
}

fn draw_line(svg: &mut Svg, frame: &Frame, line: &Line, ink: Ink, dots: bool) {
    for part in parts(&line.x, &line.mean) {
        let points: Vec<(f64, f64)> = part.iter().map(|&i| (frame.px(line.x[i]), frame.py(line.mean[i]))).collect();
        let attributes = format!("{} data-name=\"{}\"", line_attributes(ink), escape(&line.name));
        svg.path(&polyline(points.iter().copied()), &attributes);
        if dots || points.len() == 1 {
            points.iter().for_each(|&(x, y)| svg.circle(x, y, 2.8, ink.color));
        }
    }
}

fn line_attributes(ink: Ink) -> String {
    let dash = if ink.dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{}\"", ink.dash) };
    let stroke = ink.color.hex();
    format!("class=\"line\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"2\" stroke-linejoin=\"round\"{dash}")
}

/// Runs of points without gaps, thinned out: of each stretch the ends, the lowest and the highest point stay.
fn parts(x: &[f64], y: &[f64]) -> Vec<Vec<usize>> {
    let n_points = x.len().min(y.len());
    let drawable = |i: usize| x[i].is_finite() && y[i].is_finite();
    let mut runs: Vec<Vec<usize>> = Vec::new();
    let mut before = false;
    for i in 0..n_points {
        let now = drawable(i);
        match runs.last_mut() {
            Some(run) if now && before => run.push(i),
            _ if now => runs.push(vec![i]),
            _ => {}
        }
        before = now;
    }
    let stretch = n_points.div_ceil(MAX_POINTS / 4);
    if n_points <= MAX_POINTS {
        return runs;
    }
    let thin = |run: Vec<usize>| {
        let keep = |chunk: &[usize]| {
            let by_height = |a: &&usize, b: &&usize| y[**a].total_cmp(&y[**b]);
            let ends = [chunk[0], chunk[chunk.len() - 1]];
            let mut kept: Vec<usize> = ends.into_iter().collect();
            kept.extend(chunk.iter().min_by(by_height).into_iter().chain(chunk.iter().max_by(by_height)));
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

/// What lines are called, and how they are drawn.
struct Legend<'a> {
    names: Vec<&'a str>,
    inks: Vec<Ink>,
}

/// Length of the sample of a line.
const SWATCH: f64 = 22.0;
/// Room left of the samples.
const LEGEND_GAP: f64 = 16.0;

impl Legend<'_> {
    fn ink(&self, name: &str) -> Ink {
        let i = self.names.iter().position(|other| *other == name).expect("every line has a name");
        self.inks[i]
    }

    /// Nothing for a single line without a name.
    fn width(&self, available: f64, style: &Style) -> f64 {
        if self.names.len() < 2 && self.names.iter().all(|name| name.is_empty()) {
            return 0.0;
        }
        let widest = self.names.iter().map(|name| text_width(name, style.tick_text())).fold(0.0, f64::max);
        // A little more than the widest name, which would be shortened if rounding made its room too small.
        (LEGEND_GAP + SWATCH + 8.0 + widest + 1.0).min(available * 0.35)
    }

    fn draw(&self, svg: &mut Svg, plots: Area, width: f64, style: &Style) {
        if width == 0.0 {
            return;
        }
        let text = style.tick_text().anchor(Anchor::Start).max_width(width - LEGEND_GAP - SWATCH - 8.0);
        let text = TextStyle { color: TEXT, ..text };
        let step = (text.size * 1.75).min(plots.height / self.names.len() as f64);
        svg.open_group("legend", "");
        for (i, (name, ink)) in self.names.iter().zip(&self.inks).enumerate() {
            let x = plots.right() + LEGEND_GAP;
            let y = plots.y + (i as f64 + 0.6) * step;
            svg.path(&format!("M{} {}h{SWATCH}", coordinate(x), coordinate(y)), &line_attributes(*ink));
            svg.text(x + SWATCH + 8.0, y + text.size * 0.36, name, text);
        }
        svg.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts_of(y: &[f64]) -> Vec<Vec<usize>> {
        parts(&(0..y.len()).map(|i| i as f64).collect::<Vec<_>>(), y)
    }

    #[test]
    fn gaps_split_a_line() {
        assert_eq!(parts_of(&[1.0, 2.0, f64::NAN, 3.0, f64::INFINITY, 4.0, 5.0]), [vec![0, 1], vec![3], vec![5, 6]]);
    }

    #[test]
    fn thinning_keeps_ends_and_spikes() {
        let mut y = vec![1.0; 10_000];
        y[7_777] = 50.0;
        y[3_333] = -50.0;
        let kept = &parts_of(&y)[0];
        assert!(kept.len() <= MAX_POINTS && kept.contains(&7_777) && kept.contains(&3_333), "{}", kept.len());
        assert_eq!((kept[0], kept[kept.len() - 1]), (0, 9_999));
        assert!(kept.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
