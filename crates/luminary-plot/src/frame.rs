//! The area of a plot with its axes: where values lie on the page, tick marks, labels and grid lines.

use crate::figure::Style;
use crate::font;
use crate::scale::{self, Range, Tick};
use crate::svg::{Anchor, FAINT, MUTED, Svg, TextStyle};

/// Length of a tick mark.
const TICK: f64 = 4.0;
/// Lines of a title, and of the notes under it.
const MAX_HEADING_LINES: usize = 3;

/// A rectangle of the page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Area {
    /// What is left after taking margins away; at least 10 pixels on a side.
    pub(crate) fn inset(self, left: f64, top: f64, right: f64, bottom: f64) -> Self {
        let width = (self.width - left - right).max(10.0);
        Self { x: self.x + left, y: self.y + top, width, height: (self.height - top - bottom).max(10.0) }
    }

    pub(crate) fn right(self) -> f64 {
        self.x + self.width
    }

    pub(crate) fn bottom(self) -> f64 {
        self.y + self.height
    }
}

/// What stands along one axis.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) label: String,
    pub(crate) range: Range,
    pub(crate) ticks: Vec<Tick>,
}

impl Axis {
    pub(crate) fn new(label: &str, range: Range, n_ticks: usize) -> Self {
        Self { label: label.to_string(), range, ticks: scale::ticks(range, n_ticks) }
    }

    /// An axis without text and ticks.
    pub(crate) fn bare(range: Range) -> Self {
        Self { label: String::new(), range, ticks: Vec::new() }
    }

    /// Width of the widest tick label.
    fn widest(&self, style: TextStyle) -> f64 {
        self.ticks.iter().map(|t| font::text_width(&t.label, style.size, style.weight)).fold(0.0, f64::max)
    }
}

/// A plot area with two axes.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) area: Area,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
}

impl Frame {
    /// Room left of the area for the ticks and label of the vertical axis.
    pub(crate) fn left_margin(y: &Axis, style: &Style) -> f64 {
        let labels = if y.ticks.is_empty() { 0.0 } else { y.widest(style.tick_text()) + TICK + 5.0 };
        labels + if y.label.is_empty() { 4.0 } else { style.label_text().size + 12.0 }
    }

    /// Room below the area for the ticks and label of the horizontal axis.
    pub(crate) fn bottom_margin(x: &Axis, style: &Style) -> f64 {
        let labels = if x.ticks.is_empty() { 0.0 } else { style.tick_text().size + TICK + 5.0 };
        labels + if x.label.is_empty() { 4.0 } else { style.label_text().size + 12.0 }
    }

    /// A frame inside `outer`, with room for the text of both axes.
    pub(crate) fn inside(outer: Area, x: Axis, y: Axis, style: &Style) -> Self {
        let left = Self::left_margin(&y, style);
        // Half of the last tick label stands out to the right.
        let right = x.ticks.last().map_or(0.0, |t| text_width(&t.label, style.tick_text())) / 2.0;
        let area = outer.inset(left, 0.0, right.max(2.0), Self::bottom_margin(&x, style));
        Self { area, x, y }
    }

    /// The pixel column of a value.
    pub(crate) fn px(&self, value: f64) -> f64 {
        self.area.x + self.x.range.fraction(value) * self.area.width
    }

    /// The pixel row of a value.
    pub(crate) fn py(&self, value: f64) -> f64 {
        self.area.bottom() - self.y.range.fraction(value) * self.area.height
    }

    /// Faint lines at the ticks.
    pub(crate) fn draw_grid(&self, svg: &mut Svg) {
        let area = self.area;
        svg.open_group("grid", "");
        for tick in &self.x.ticks {
            let x = self.px(tick.value);
            svg.line((x, area.y), (x, area.bottom()), FAINT, 1.0);
        }
        for tick in &self.y.ticks {
            let y = self.py(tick.value);
            svg.line((area.x, y), (area.right(), y), FAINT, 1.0);
        }
        svg.close();
    }

    /// Frame, tick marks, tick labels and axis labels.
    pub(crate) fn draw_axes(&self, svg: &mut Svg, style: &Style) {
        self.draw_x_axis(svg, style);
        self.draw_y_axis(svg, style);
        svg.frame(self.area.x, self.area.y, self.area.width, self.area.height, MUTED);
    }

    fn draw_x_axis(&self, svg: &mut Svg, style: &Style) {
        let (area, text) = (self.area, style.tick_text().anchor(Anchor::Middle));
        svg.open_group("x-axis", "");
        let mut free_from = f64::NEG_INFINITY;
        for tick in &self.x.ticks {
            let x = self.px(tick.value);
            svg.line((x, area.bottom()), (x, area.bottom() + TICK), MUTED, 1.0);
            // Labels that would touch the one before are left out.
            let half = text_width(&tick.label, text) / 2.0;
            if x - half >= free_from {
                svg.text(x, area.bottom() + TICK + 3.0 + text.size * 0.85, &tick.label, text);
                free_from = x + half + 4.0;
            }
        }
        if !self.x.label.is_empty() {
            let text = style.label_text().anchor(Anchor::Middle).max_width(area.width + 20.0);
            let y = area.bottom() + Self::bottom_margin(&self.x, style) - 5.0;
            svg.text(area.x + area.width / 2.0, y, &self.x.label, text);
        }
        svg.close();
    }

    pub(crate) fn draw_y_axis(&self, svg: &mut Svg, style: &Style) {
        let (area, text) = (self.area, style.tick_text().anchor(Anchor::End));
        svg.open_group("y-axis", "");
        for tick in &self.y.ticks {
            let y = self.py(tick.value);
            svg.line((area.x - TICK, y), (area.x, y), MUTED, 1.0);
            svg.text(area.x - TICK - 4.0, y + text.size * 0.36, &tick.label, text);
        }
        if !self.y.label.is_empty() {
            let text = style.label_text().anchor(Anchor::Middle).upwards().max_width(area.height + 20.0);
            let x = area.x - Self::left_margin(&self.y, style) + text.size;
            svg.text(x, area.y + area.height / 2.0, &self.y.label, text);
        }
        svg.close();
    }
}

/// How many ticks fit well along a horizontal side.
pub(crate) fn x_tick_count(width: f64, style: &Style) -> usize {
    ((width / (style.font() * 6.5)) as usize).clamp(3, 10)
}

/// How many ticks fit well along a vertical side.
pub(crate) fn y_tick_count(height: f64, style: &Style) -> usize {
    ((height / (style.font() * 5.5)) as usize).clamp(3, 10)
}

/// Draws the title and the notes under it at the top of the page; returns the area below them.
pub(crate) fn draw_heading(svg: &mut Svg, page: Area, title: &str, note: &str, style: &Style) -> Area {
    let mut top = 0.0;
    if !title.is_empty() {
        let text = style.title_text();
        for line in font::lines(title, text.size, text.weight, page.width, MAX_HEADING_LINES) {
            top += text.size * if top > 0.0 { 1.25 } else { 1.0 };
            svg.text(page.x, page.y + top, &line, text);
        }
        top += text.size * 0.3;
    }
    if !note.is_empty() {
        let text = style.note_text();
        for line in font::lines(note, text.size, text.weight, page.width, MAX_HEADING_LINES) {
            top += text.size * 1.2;
            svg.text(page.x, page.y + top, &line, text);
        }
        top += text.size * 0.3;
    }
    if top > 0.0 {
        top += style.font() * 0.8;
    }
    page.inset(0.0, top, 0.0, 0.0)
}

/// The page without its outer margin.
pub(crate) fn page(size: (f64, f64)) -> Area {
    Area { x: 0.0, y: 0.0, width: size.0, height: size.1 }.inset(14.0, 12.0, 14.0, 10.0)
}

pub(crate) fn text_width(text: &str, style: TextStyle) -> f64 {
    font::text_width(text, style.size, style.weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_where_the_axes_say() {
        let area = Area { x: 100.0, y: 50.0, width: 200.0, height: 100.0 };
        let frame = Frame { area, x: Axis::bare(Range::new(0.0, 10.0)), y: Axis::bare(Range::new(-1.0, 1.0)) };
        assert_eq!((frame.px(0.0), frame.px(5.0), frame.px(10.0)), (100.0, 200.0, 300.0));
        assert_eq!((frame.py(-1.0), frame.py(0.0), frame.py(1.0)), (150.0, 100.0, 50.0));
    }

    #[test]
    fn crowded_tick_labels_are_left_out() {
        let style = Style::default();
        let area = Area { x: 0.0, y: 0.0, width: 100.0, height: 50.0 };
        let x = Axis::new("", Range::new(0.0, 1_000_000.0), 10);
        let frame = Frame { area, x, y: Axis::bare(Range::new(0.0, 1.0)) };
        let mut svg = Svg::new(100.0, 100.0, "");
        frame.draw_axes(&mut svg, &style);
        let out = svg.finish();
        assert_eq!(out.matches("<line").count(), 11);
        assert!(out.matches("<text").count() < 4, "{out}");
    }
}
