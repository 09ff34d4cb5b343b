//! Several archives side by side with common colours: runs compared, or the blend between optimising and exploring.

use crate::archive::Archive;
use crate::color_scale::ColorScale;
use crate::error::PlotError;
use crate::figure::{Figure, Style};
use crate::frame::{self, Area, Axis, Frame, text_width, x_tick_count};
use crate::heatmap::{color_scale, measure_range};
use crate::panel;
use crate::scale::{Range, number};
use crate::svg::{Anchor, MUTED, Svg};
use crate::tiles::{color_bar_margin, draw_color_bar, draw_tiles};

/// An archive with its name.
#[derive(Clone, Debug)]
pub struct NamedArchive<'a> {
    /// Heading of its heatmap.
    pub name: String,
    /// The archive. Of more than two measures the first two are shown, or those that the style chooses.
    pub archive: &'a Archive,
}

/// What a comparison shows.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    /// Title; may be empty.
    pub title: &'a str,
    /// A line under the title; may be empty.
    pub note: &'a str,
    /// Label of the objective.
    pub objective: &'a str,
    /// The archives, in reading order.
    pub archives: Vec<NamedArchive<'a>>,
    /// Heatmaps side by side; chosen if absent.
    pub columns: Option<usize>,
}

/// Draws small heatmaps in a grid, all with the same colours for the same objectives.
///
/// # Errors
/// If an archive does not pass [`Archive::check`] or lacks what the style asks for.
pub fn comparison(spec: &Comparison, style: &Style) -> Result<Figure, PlotError> {
    draw(spec, style, 0.0, |_, _| {})
}

/// Draws the archives of CMA-MAE with several learning rates alpha in a row, over an arrow from optimising (alpha = 0
/// acts like CMA-ES) to exploring (alpha = 1 acts like CMA-ME).
///
/// # Errors
/// If an archive does not pass [`Archive::check`] or lacks what the style asks for.
pub fn alpha_blend(
    title: &str,
    objective: &str,
    archives: &[(f64, &Archive)],
    style: &Style,
) -> Result<Figure, PlotError> {
    let name = |alpha: f64| format!("α = {}", number(alpha));
    let archives: Vec<NamedArchive> =
        archives.iter().map(|&(alpha, archive)| NamedArchive { name: name(alpha), archive }).collect();
    let columns = Some(archives.len().max(1));
    let spec = Comparison { title, note: "", objective, archives, columns };
    draw(&spec, style, style.font() * 3.0, |svg, area| draw_blend_arrow(svg, area, style))
}

/// Draws the grid of heatmaps, and `below` in a strip of the given height under it.
fn draw(spec: &Comparison, style: &Style, strip: f64, below: impl FnOnce(&mut Svg, Area)) -> Result<Figure, PlotError> {
    for named in &spec.archives {
        named.archive.check()?;
        style.axes_of(named.archive)?;
    }
    let turned: Vec<_> = spec.archives.iter().map(|named| style.goal.turned_archive(named.archive)).collect();
    let named = |(named, archive): (&NamedArchive, _)| NamedArchive { name: named.name.clone(), archive };
    let archives = spec.archives.iter().zip(turned.iter().map(|archive| &**archive)).map(named).collect();
    let spec = &Comparison { archives, ..*spec };
    let colors = color_scale(spec.archives.iter().map(|named| named.archive), style)?;
    let n = spec.archives.len().max(1);
    let columns = spec.columns.unwrap_or(if n == 4 { 2 } else { n.min(4) }).clamp(1, n);
    let rows = n.div_ceil(columns);
    let size = style.size_or(230.0 * columns as f64 + 135.0, 232.0 * rows as f64 + 90.0 + strip);
    let mut svg = Svg::new(size.0, size.1, spec.title);
    let body = frame::draw_heading(&mut svg, frame::page(size), spec.title, spec.note, style);
    let body = body.inset(0.0, 0.0, color_bar_margin(&colors, spec.objective, body.height * 0.85, style), strip);
    let layout = Layout::new(spec, body, (columns, rows), style);
    for (i, named) in spec.archives.iter().enumerate() {
        layout.draw_heatmap(&mut svg, i, named, &colors, style);
    }
    let grid = layout.grid_area(style);
    draw_color_bar(&mut svg, grid, &colors, spec.objective, style);
    below(&mut svg, Area { y: body.bottom(), height: strip, x: grid.x, width: grid.width });
    Ok(Figure::new(svg, size))
}

/// Where the heatmaps stand. If all archives have the same measures, only the outer axes are labelled.
struct Layout {
    columns: usize,
    rows: usize,
    n: usize,
    shared: bool,
    left: f64,
    bottom: f64,
    all: Area,
}

impl Layout {
    const ROW_GAP: f64 = 14.0;
    /// Wide enough for the numbers at the ends of two neighbouring axes.
    const COLUMN_GAP: f64 = 30.0;

    fn new(spec: &Comparison, body: Area, (columns, rows): (usize, usize), style: &Style) -> Self {
        let archives: Vec<&Archive> = spec.archives.iter().map(|named| named.archive).collect();
        let shared = archives.windows(2).all(|pair| pair[0].measures == pair[1].measures);
        let width = body.width / columns as f64;
        let axes = archives.iter().map(|archive| axes(archive, width, style));
        let left = axes.clone().map(|(_, y)| Frame::left_margin(&y, style)).fold(0.0, f64::max);
        let bottom = axes.map(|(x, _)| Frame::bottom_margin(&x, style)).fold(0.0, f64::max);
        Self { columns, rows, n: archives.len(), shared, left, bottom, all: body }
    }

    /// The area of the heatmap in a column and row, without title and axes.
    fn heatmap_area(&self, column: usize, row: usize, style: &Style) -> Area {
        let title = style.label_text().size + 8.0;
        let (n_columns, n_rows) = (self.columns as f64, self.rows as f64);
        let (column, row) = (column as f64, row as f64);
        let (x, y, width, height);
        if self.shared {
            width = (self.all.width - self.left - (n_columns - 1.0) * Self::COLUMN_GAP) / n_columns;
            height = (self.all.height - self.bottom - (n_rows - 1.0) * Self::ROW_GAP) / n_rows - title;
            x = self.all.x + self.left + column * (width + Self::COLUMN_GAP);
            y = self.all.y + row * (height + title + Self::ROW_GAP) + title;
        } else {
            width = (self.all.width - (n_columns - 1.0) * Self::COLUMN_GAP) / n_columns - self.left;
            height = (self.all.height - (n_rows - 1.0) * Self::ROW_GAP) / n_rows - title - self.bottom;
            x = self.all.x + column * (width + self.left + Self::COLUMN_GAP) + self.left;
            y = self.all.y + row * (height + title + self.bottom + Self::ROW_GAP) + title;
        }
        Area { x, y, width: width.max(10.0), height: height.max(10.0) }
    }

    /// From the first heatmap to the last.
    fn grid_area(&self, style: &Style) -> Area {
        let first = self.heatmap_area(0, 0, style);
        let last = self.heatmap_area(self.columns - 1, self.rows - 1, style);
        Area { width: last.right() - first.x, height: last.bottom() - first.y, ..first }
    }

    fn draw_heatmap(&self, svg: &mut Svg, i: usize, named: &NamedArchive, colors: &ColorScale, style: &Style) {
        let (column, row) = (i % self.columns, i / self.columns);
        let area = self.heatmap_area(column, row, style);
        let title = style.label_text().semibold().max_width(area.width);
        svg.text(area.x, area.y - 8.0, &named.name, title);
        draw_tiles(svg, area, &panel::tiles(named.archive, across(style), upwards(style)), colors);
        let (mut x, mut y) = axes(named.archive, area.width, style);
        // The heatmap is at the edge if no other stands below it.
        if self.shared && i + self.columns < self.n {
            x = Axis::bare(x.range);
        }
        if self.shared && column > 0 {
            y = Axis::bare(y.range);
        }
        Frame { area, x, y }.draw_axes(svg, style);
    }
}

fn axes(archive: &Archive, width: f64, style: &Style) -> (Axis, Axis) {
    let n_ticks = x_tick_count(width, style).clamp(3, 4);
    let axis = |i: usize| Axis::new(&archive.measures[i].name, measure_range(archive, i), n_ticks);
    let y = if archive.measures.len() > 1 { axis(upwards(style)) } else { Axis::bare(Range::new(0.0, 1.0)) };
    (axis(across(style)), y)
}

/// The measure that runs across.
fn across(style: &Style) -> usize {
    style.axes.map_or(0, |axes| axes.0)
}

/// The measure that runs upwards.
fn upwards(style: &Style) -> usize {
    style.axes.map_or(1, |axes| axes.1)
}

fn draw_blend_arrow(svg: &mut Svg, area: Area, style: &Style) {
    let text = style.tick_text();
    let (left, right) = ("optimises, like CMA-ES", "explores, like CMA-ME");
    let y = area.y + area.height * 0.55;
    let (from, to) = (area.x + text_width(left, text) + 10.0, area.right() - text_width(right, text) - 10.0);
    // Too few heatmaps to stand between two ends.
    if to - from <= 20.0 {
        return;
    }
    svg.open_group("blend", "");
    svg.text(area.x, y + text.size * 0.36, left, text);
    svg.text(area.right(), y + text.size * 0.36, right, text.anchor(Anchor::End));
    svg.line((from, y), (to, y), MUTED, 1.2);
    for (end, inwards) in [(to, -7.0), (from, 7.0)] {
        let head = crate::svg::polyline([(end + inwards, y - 4.0), (end, y), (end + inwards, y + 4.0)]);
        svg.path(&head, &format!("fill=\"none\" stroke=\"{}\" stroke-width=\"1.2\"", MUTED.hex()));
    }
    svg.close();
}
