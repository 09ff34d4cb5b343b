//! Our numbers against somebody else's: a point for each, on the diagonal where both are the same.

use crate::color::Rgb;
use crate::figure::{Figure, Style};
use crate::frame::{self, Area, Axis, Frame, x_tick_count, y_tick_count};
use crate::ink::{Ink, Marker, inks};
use crate::scale::Range;
use crate::svg::{MUTED, Svg, coordinate};

/// One number from both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct AgreementPoint {
    /// What it is about; the same name has the same colour everywhere.
    pub name: String,
    /// The number to be met.
    pub theirs: f64,
    /// The number that was found.
    pub ours: f64,
}

/// One plot.
#[derive(Clone, Debug, PartialEq)]
pub struct AgreementPanel {
    /// Heading of the plot.
    pub title: String,
    /// The points; those that are not finite are left out.
    pub points: Vec<AgreementPoint>,
}

/// Radius of a point.
const RADIUS: f64 = 4.0;

/// Draws plots side by side, with the names in a legend.
pub fn agreement(title: &str, note: &str, labels: (&str, &str), panels: &[AgreementPanel], style: &Style) -> Figure {
    let n = panels.len().max(1) as f64;
    let size = style.size_or(250.0 * n + 170.0, 330.0);
    let mut svg = Svg::new(size.0, size.1, title);
    let body = frame::draw_heading(&mut svg, frame::page(size), title, note, style);
    let names = names(panels);
    let inks = inks(&names);
    let legend_width = legend_width(&names, body.width, style);
    let width = (body.width - legend_width) / n;
    for (i, panel) in panels.iter().enumerate() {
        let outer = Area { x: body.x + i as f64 * width, width, ..body }.inset(0.0, 0.0, 14.0, 0.0);
        draw_panel(&mut svg, outer, panel, labels, (&names, &inks), style);
    }
    let x = body.right() - legend_width + 10.0;
    let text = style.tick_text().max_width(legend_width - 26.0);
    svg.open_group("legend", "");
    for (i, (name, &ink)) in names.iter().zip(&inks).enumerate() {
        let y = body.y + (i as f64 + 1.0) * text.size * 1.75;
        draw_point(&mut svg, (x, y), ink);
        svg.text(x + 14.0, y + text.size * 0.36, name, text);
    }
    svg.close();
    Figure::new(svg, size)
}

fn draw_panel(
    svg: &mut Svg,
    outer: Area,
    panel: &AgreementPanel,
    labels: (&str, &str),
    (names, inks): (&[&str], &[Ink]),
    style: &Style,
) {
    let title = style.label_text().semibold();
    let below = outer.inset(0.0, title.size + 8.0, 0.0, 0.0);
    let range = Range::of(panel.points.iter().flat_map(|point| [point.theirs, point.ours])).padded(0.06);
    let x = Axis::new(labels.0, range, x_tick_count(below.width, style));
    let y = Axis::new(labels.1, range, y_tick_count(below.height, style));
    let frame = Frame::inside(below, x, y, style);
    svg.text(frame.area.x, outer.y + title.size, &panel.title, title.max_width(frame.area.width));
    frame.draw_grid(svg);
    svg.line((frame.area.x, frame.area.bottom()), (frame.area.right(), frame.area.y), MUTED, 1.0);
    svg.open_group("points", "");
    for point in panel.points.iter().filter(|point| point.theirs.is_finite() && point.ours.is_finite()) {
        let i = names.iter().position(|name| *name == point.name).expect("every point has a name");
        draw_point(svg, (frame.px(point.theirs), frame.py(point.ours)), inks[i]);
    }
    svg.close();
    frame.draw_axes(svg, style);
}

/// A point of its own shape where another name has the same colour.
fn draw_point(svg: &mut Svg, (x, y): (f64, f64), ink: Ink) {
    const WHITE: Rgb = Rgb(255, 255, 255);
    match ink.marker {
        Marker::Disc => svg.circle(x, y, RADIUS, ink.color),
        Marker::Ring => {
            svg.circle(x, y, RADIUS, ink.color);
            svg.circle(x, y, RADIUS * 0.5, WHITE);
        }
        Marker::Square => draw_square(svg, (x, y), RADIUS, ink.color),
        Marker::Frame => {
            draw_square(svg, (x, y), RADIUS, ink.color);
            draw_square(svg, (x, y), RADIUS * 0.5, WHITE);
        }
    }
}

fn draw_square(svg: &mut Svg, (x, y): (f64, f64), half_side: f64, color: Rgb) {
    let left = coordinate(x - half_side);
    let top = coordinate(y - half_side);
    let side = coordinate(2.0 * half_side);
    svg.path(&format!("M{left} {top}h{side}v{side}h-{side}Z"), &format!("fill=\"{}\"", color.hex()));
}

fn legend_width(names: &[&str], available: f64, style: &Style) -> f64 {
    let widest = names.iter().map(|name| frame::text_width(name, style.tick_text())).fold(0.0, f64::max);
    (widest + 30.0).min(available * 0.35)
}

fn names(panels: &[AgreementPanel]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for point in panels.iter().flat_map(|panel| &panel.points) {
        if !names.contains(&point.name.as_str()) {
            names.push(&point.name);
        }
    }
    names
}
