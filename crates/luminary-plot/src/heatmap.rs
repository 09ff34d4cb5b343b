//! Heatmaps: the objective of each cell as colour, over the measures.

use crate::archive::Archive;
use crate::color_scale::ColorScale;
use crate::error::PlotError;
use crate::figure::{Figure, Style};
use crate::frame::{self, Area, Axis, Frame, x_tick_count, y_tick_count};
use crate::panel::{self, Tiles};
use crate::scale::Range;
use crate::svg::Svg;
use crate::tiles::{color_bar_margin, draw_color_bar, draw_tiles};

/// Said where there is nothing to see.
const EMPTY_NOTE: &str = "no elites";

/// Said where elites lie behind each other.
const SHARED_NOTE: &str = "best objective of all elites that share a place";

/// Most measures of which all pairs are drawn.
const MAX_MEASURES: usize = 8;

/// What a heatmap shows.
#[derive(Clone, Copy, Debug)]
pub struct Heatmap<'a> {
    /// Title; may be empty.
    pub title: &'a str,
    /// A line under the title; may be empty.
    pub note: &'a str,
    /// Label of the objective.
    pub objective: &'a str,
    /// The archive.
    pub archive: &'a Archive,
}

/// Draws an archive. One measure gives bars over the cells; two give a heatmap, of Voronoi cells if the archive has
/// centroids; three and more give all pairs of the first eight measures, each place with the best objective found there,
/// or the pair that the style chooses.
///
/// # Errors
/// If the archive does not pass [`Archive::check`], does not have the measures that the style chooses, or has no objective
/// above 0 for logarithmic colours.
pub fn heatmap(spec: &Heatmap, style: &Style) -> Result<Figure, PlotError> {
    spec.archive.check()?;
    let archive = style.goal.turned_archive(spec.archive);
    let spec = Heatmap { archive: &archive, ..*spec };
    let colors = color_scale([spec.archive], style)?;
    Ok(match (style.axes_of(spec.archive)?, spec.archive.measures.len()) {
        (Some(axes), _) => single(&spec, axes, &colors, style),
        (None, 1) => bars(&spec, &colors, style),
        (None, 2) => single(&spec, (0, 1), &colors, style),
        (None, _) => pairs(&spec, &colors, style),
    })
}

/// The colours of one or several archives with turned objectives.
pub(crate) fn color_scale<'a>(
    archives: impl IntoIterator<Item = &'a Archive>,
    style: &Style,
) -> Result<ColorScale, PlotError> {
    ColorScale::of(archives.into_iter().flat_map(|archive| archive.objectives.iter().copied()), style)
}

/// The range of a measure.
pub(crate) fn measure_range(archive: &Archive, measure: usize) -> Range {
    Range::new(archive.measures[measure].lower, archive.measures[measure].upper)
}

fn single(spec: &Heatmap, axes: (usize, usize), colors: &ColorScale, style: &Style) -> Figure {
    let size = style.size_or(560.0, 490.0);
    let mut svg = Svg::new(size.0, size.1, spec.title);
    let shared = if spec.archive.measures.len() > 2 { SHARED_NOTE } else { "" };
    let body = frame::draw_heading(&mut svg, frame::page(size), spec.title, &joined([&note(spec), shared]), style);
    let outer = body.inset(0.0, 0.0, color_bar_margin(colors, spec.objective, body.height * 0.85, style), 0.0);
    let axis = |measure: usize, n_ticks| {
        Axis::new(&spec.archive.measures[measure].name, measure_range(spec.archive, measure), n_ticks)
    };
    let x = axis(axes.0, x_tick_count(outer.width, style));
    let y = axis(axes.1, y_tick_count(outer.height, style));
    let frame = Frame::inside(outer, x, y, style);
    draw_tiles(&mut svg, frame.area, &panel::tiles(spec.archive, axes.0, axes.1), colors);
    frame.draw_axes(&mut svg, style);
    draw_color_bar(&mut svg, frame.area, colors, spec.objective, style);
    Figure::new(svg, size)
}

/// One measure: a bar for each elite, and a strip under the bars that also shows which cells are empty.
fn bars(spec: &Heatmap, colors: &ColorScale, style: &Style) -> Figure {
    const STRIP: f64 = 16.0;
    let size = style.size_or(640.0, 360.0);
    let mut svg = Svg::new(size.0, size.1, spec.title);
    let body = frame::draw_heading(&mut svg, frame::page(size), spec.title, &note(spec), style);
    let measure = &spec.archive.measures[0];
    let x = Axis::new(&measure.name, measure_range(spec.archive, 0), x_tick_count(body.width, style));
    let range = colors.range.padded(0.04);
    let ticks = colors.ticks(range, y_tick_count(body.height, style));
    let y = Axis { label: spec.objective.into(), range, ticks };
    let frame = Frame::inside(body, x, y, style);
    let strip = Area { y: frame.area.bottom() - STRIP, height: STRIP, ..frame.area };
    let upper = Frame { area: frame.area.inset(0.0, 0.0, 0.0, STRIP + 4.0), ..frame.clone() };
    upper.draw_grid(&mut svg);
    let tiles = panel::tiles(spec.archive, 0, 0);
    if let Tiles::Intervals(list) = &tiles {
        svg.open_group("bars", "shape-rendering=\"crispEdges\"");
        for &(from, to, value) in list {
            if let Some(objective) = value.filter(|v| !v.is_nan()) {
                let top = upper.py(colors.place(objective)).clamp(upper.area.y, upper.area.bottom());
                let (x, width) = (upper.area.x + from * upper.area.width, (to - from) * upper.area.width);
                svg.rect(x, top, width, upper.area.bottom() - top, colors.color(objective));
            }
        }
        svg.close();
    }
    draw_tiles(&mut svg, strip, &tiles, colors);
    // Objectives are read on the bars, measures under the strip.
    let x_only = Frame { y: Axis::bare(frame.y.range), ..frame.clone() };
    x_only.draw_axes(&mut svg, style);
    Frame { x: Axis::bare(frame.x.range), ..upper }.draw_y_axis(&mut svg, style);
    Figure::new(svg, size)
}

/// Three measures and more: a triangle of all pairs with common axes.
fn pairs(spec: &Heatmap, colors: &ColorScale, style: &Style) -> Figure {
    let shown = spec.archive.measures.len().min(MAX_MEASURES);
    let side = shown - 1;
    let default_side = (170.0 * side as f64).max(420.0);
    let size = style.size_or(default_side + 130.0, default_side + 70.0);
    let mut svg = Svg::new(size.0, size.1, spec.title);
    let n_measures = spec.archive.measures.len();
    let left_out = if shown < n_measures { format!("first {shown} of {n_measures} measures") } else { String::new() };
    let text = joined([&note(spec), SHARED_NOTE, &left_out]);
    let body = frame::draw_heading(&mut svg, frame::page(size), spec.title, &text, style);
    let outer = body.inset(0.0, 0.0, color_bar_margin(colors, spec.objective, body.height * 0.85, style), 0.0);
    let n_ticks = x_tick_count(outer.width / side as f64, style).clamp(3, 4);
    let axis =
        |measure: usize| Axis::new(&spec.archive.measures[measure].name, measure_range(spec.archive, measure), n_ticks);
    let left = (1..shown).map(|i| Frame::left_margin(&axis(i), style)).fold(0.0, f64::max);
    let all = outer.inset(left, 0.0, 4.0, Frame::bottom_margin(&axis(0), style));
    let gap = 8.0;
    let step = (all.width / side as f64, all.height / side as f64);
    for row in 0..side {
        for column in 0..=row {
            let area = Area {
                x: all.x + column as f64 * step.0,
                y: all.y + row as f64 * step.1,
                width: (step.0 - gap).max(2.0),
                height: (step.1 - gap).max(2.0),
            };
            let area = Area { height: if row + 1 == side { area.height + gap } else { area.height }, ..area };
            draw_tiles(&mut svg, area, &panel::tiles(spec.archive, column, row + 1), colors);
            let x = if row + 1 == side { axis(column) } else { Axis::bare(measure_range(spec.archive, column)) };
            let y = if column == 0 { axis(row + 1) } else { Axis::bare(measure_range(spec.archive, row + 1)) };
            Frame { area, x, y }.draw_axes(&mut svg, style);
        }
    }
    draw_color_bar(&mut svg, all, colors, spec.objective, style);
    Figure::new(svg, size)
}

/// The note, or that there is nothing to see.
fn note(spec: &Heatmap) -> String {
    let empty = spec.archive.elite_cells.is_empty();
    joined([spec.note, if empty { EMPTY_NOTE } else { "" }])
}

/// The parts that are not empty, in one line.
fn joined<const N: usize>(parts: [&str; N]) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}
