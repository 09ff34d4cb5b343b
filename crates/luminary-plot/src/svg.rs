//! A small SVG writer. Everything is written with presentation attributes and without ids, so that several figures can
//! stand in one HTML page under a strict content security policy.

use std::fmt::Write;

use base64::Engine;

use crate::color::Rgb;
use crate::font::{self, Weight};
use crate::label::Label;

/// Ink for text.
pub(crate) const TEXT: Rgb = Rgb(0x1f, 0x29, 0x33);
/// Ink for secondary text, tick marks and frames.
pub(crate) const MUTED: Rgb = Rgb(0x52, 0x60, 0x6d);
/// Ink for grid lines.
pub(crate) const FAINT: Rgb = Rgb(0xe4, 0xe7, 0xeb);

/// Browsers draw pixels as squares with this attribute. resvg understands only `SHARP_PIXELS_RESVG` as attribute, and
/// we write no `style` attributes because a content security policy would block them.
pub(crate) const SHARP_PIXELS: &str = r#"image-rendering="pixelated""#;
/// What [`SHARP_PIXELS`] is replaced with before rendering.
#[cfg(feature = "render")]
pub(crate) const SHARP_PIXELS_RESVG: &str = r#"image-rendering="optimizeSpeed""#;

/// Where text stands relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How text looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextStyle {
    pub(crate) size: f64,
    pub(crate) weight: Weight,
    pub(crate) anchor: Anchor,
    pub(crate) color: Rgb,
    /// Longer text becomes smaller, then two lines; what does not fit then is cut.
    pub(crate) max_width: f64,
    /// Written from bottom to top.
    pub(crate) upwards: bool,
}

impl TextStyle {
    pub(crate) fn new(size: f64) -> Self {
        let (weight, anchor) = (Weight::Regular, Anchor::Start);
        Self { size, weight, anchor, color: TEXT, max_width: f64::INFINITY, upwards: false }
    }

    pub(crate) fn anchor(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    pub(crate) fn semibold(self) -> Self {
        Self { weight: Weight::Semibold, ..self }
    }

    pub(crate) fn muted(self) -> Self {
        Self { color: MUTED, ..self }
    }

    pub(crate) fn max_width(self, max_width: f64) -> Self {
        Self { max_width, ..self }
    }

    pub(crate) fn upwards(self) -> Self {
        Self { upwards: true, ..self }
    }
}

/// An SVG document under construction.
pub(crate) struct Svg {
    out: String,
    open: Vec<&'static str>,
}

impl Svg {
    /// A white page; `label` describes it to screen readers.
    pub(crate) fn new(width: f64, height: f64, label: &str) -> Self {
        let mut svg = Self { out: String::new(), open: vec!["svg"] };
        let (w, h) = (coordinate(width), coordinate(height));
        let _ = write!(
            svg.out,
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" aria-label="{}" font-family="{}">"#,
            escape(label),
            font::FAMILY
        );
        svg.rect(0.0, 0.0, width, height, Rgb(255, 255, 255));
        svg
    }

    /// Opens a group; `class` says what is in it.
    pub(crate) fn open_group(&mut self, class: &str, attributes: &str) {
        let space = if attributes.is_empty() { "" } else { " " };
        let _ = write!(self.out, "\n<g class=\"{class}\"{space}{attributes}>");
        self.open.push("g");
    }

    /// Opens an area that clips what is drawn outside it. Coordinates stay those of the page.
    pub(crate) fn open_clip(&mut self, x: f64, y: f64, width: f64, height: f64) {
        let [x, y, w, h] = [x, y, width, height].map(coordinate);
        let _ = write!(
            self.out,
            "\n<svg x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" viewBox=\"{x} {y} {w} {h}\" preserveAspectRatio=\"none\">"
        );
        self.open.push("svg");
    }

    /// Closes what was opened last.
    pub(crate) fn close(&mut self) {
        if let Some(name) = self.open.pop() {
            let _ = write!(self.out, "</{name}>");
        }
    }

    pub(crate) fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, fill: Rgb) {
        let [x, y, w, h] = [x, y, width, height].map(coordinate);
        let _ = write!(self.out, r#"<rect x="{x}" y="{y}" width="{w}" height="{h}" fill="{}"/>"#, fill.hex());
    }

    /// A rectangle without filling.
    pub(crate) fn frame(&mut self, x: f64, y: f64, width: f64, height: f64, stroke: Rgb) {
        let [x, y, w, h] = [x, y, width, height].map(coordinate);
        let stroke = stroke.hex();
        let _ = write!(self.out, r#"<rect x="{x}" y="{y}" width="{w}" height="{h}" fill="none" stroke="{stroke}"/>"#);
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: Rgb, width: f64) {
        let [x1, y1, x2, y2, width] = [from.0, from.1, to.0, to.1, width].map(coordinate);
        let stroke = stroke.hex();
        let _ = write!(
            self.out,
            r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{stroke}" stroke-width="{width}"/>"#
        );
    }

    /// A path with attributes as written.
    pub(crate) fn path(&mut self, data: &str, attributes: &str) {
        let _ = write!(self.out, r#"<path d="{data}" {attributes}/>"#);
    }

    pub(crate) fn circle(&mut self, x: f64, y: f64, radius: f64, fill: Rgb) {
        let [x, y, r] = [x, y, radius].map(coordinate);
        let _ = write!(self.out, r#"<circle cx="{x}" cy="{y}" r="{r}" fill="{}"/>"#, fill.hex());
    }

    /// Text on its baseline. What is cut off can be read as a tooltip.
    pub(crate) fn text(&mut self, x: f64, y: f64, text: &str, style: TextStyle) {
        if text.is_empty() {
            return;
        }
        let label = Label::of(text, style.size, style.weight, style.max_width);
        for (line, shift) in label.lines.iter().zip(label.shifts(style.size)) {
            // Text that is written upwards has its next line to the right.
            let (x, y) = if style.upwards { (x + shift, y) } else { (x, y + shift) };
            self.text_line(x, y, line, TextStyle { size: label.size, ..style }, label.cut_from.as_deref());
        }
    }

    fn text_line(&mut self, x: f64, y: f64, line: &str, style: TextStyle, tooltip: Option<&str>) {
        let [x, y, size] = [x, y, style.size].map(coordinate);
        let _ = write!(self.out, r#"<text x="{x}" y="{y}" font-size="{size}" fill="{}""#, style.color.hex());
        match style.anchor {
            Anchor::Start => {}
            Anchor::Middle => self.out.push_str(r#" text-anchor="middle""#),
            Anchor::End => self.out.push_str(r#" text-anchor="end""#),
        }
        if style.weight == Weight::Semibold {
            self.out.push_str(r#" font-weight="600""#);
        }
        if style.upwards {
            let _ = write!(self.out, r#" transform="rotate(-90 {x} {y})""#);
        }
        let tooltip = tooltip.map_or(String::new(), |whole| format!("<title>{}</title>", escape(whole)));
        let _ = write!(self.out, ">{tooltip}{}</text>", escape(line));
    }

    /// A PNG image, its pixels drawn as sharp squares: see [`SHARP_PIXELS`].
    pub(crate) fn image(&mut self, x: f64, y: f64, width: f64, height: f64, png: &[u8]) {
        let [x, y, w, h] = [x, y, width, height].map(coordinate);
        let data = base64::engine::general_purpose::STANDARD.encode(png);
        let _ = write!(
            self.out,
            r#"<image x="{x}" y="{y}" width="{w}" height="{h}" preserveAspectRatio="none" {SHARP_PIXELS} href="data:image/png;base64,{data}"/>"#
        );
    }

    /// The finished document.
    pub(crate) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.out.push('\n');
        self.out
    }
}

/// A coordinate with at most two decimals. Values that no page has are clamped.
pub(crate) fn coordinate(value: f64) -> String {
    let value = if value.is_nan() { 0.0 } else { value.clamp(-1e6, 1e6) };
    let mut text = format!("{value:.2}");
    text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    if text == "-0" { "0".into() } else { text }
}

/// Path data of a polyline through pixels.
pub(crate) fn polyline(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut data = String::new();
    for (i, (x, y)) in points.into_iter().enumerate() {
        let _ = write!(data, "{}{} {}", if i == 0 { 'M' } else { 'L' }, coordinate(x), coordinate(y));
    }
    data
}

/// Text as content or attribute of XML and HTML. Characters that XML does not allow become a replacement character.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short_and_finite() {
        assert_eq!(coordinate(1.0), "1");
        assert_eq!(coordinate(-0.001), "0");
        assert_eq!(coordinate(12.345), "12.35");
        assert_eq!(coordinate(100.0), "100");
        assert_eq!(coordinate(f64::NAN), "0");
        assert_eq!(coordinate(f64::INFINITY), "1000000");
    }

    #[test]
    fn markup_in_text_is_inert() {
        let mut svg = Svg::new(100.0, 100.0, "\"><script>");
        svg.text(0.0, 0.0, "<script>alert('1')</script>\u{0}", TextStyle::new(10.0));
        let out = svg.finish();
        assert!(!out.contains("<script"), "{out}");
        assert!(out.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;\u{fffd}"));
    }
}
