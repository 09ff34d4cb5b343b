//! A finished figure, and how figures look.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia;
use resvg::usvg::{self, fontdb};

use crate::archive::Archive;
use crate::color::ColorMap;
use crate::color_scale::Spacing;
use crate::error::PlotError;
use crate::font;
use crate::goal::Goal;
use crate::svg::{SHARP_PIXELS, SHARP_PIXELS_RESVG, Svg, TextStyle};

/// Longest side of a PNG in pixels.
const MAX_PIXELS: f64 = 16_384.0;

/// What can be chosen for any figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Style {
    /// Width and height in pixels; each kind of figure has its own default.
    pub size: Option<(f64, f64)>,
    /// Size of the text of axes in pixels; everything else follows. Kept between 4 and 100.
    pub font_size: f64,
    /// Colours of objectives.
    pub color_map: ColorMap,
    /// Objectives at the two ends of the colours; those of the data, without outliers, if absent. Arrows at the ends of the
    /// colour bar say that there are objectives outside.
    pub color_range: Option<(f64, f64)>,
    /// How objectives are spaced along the colours.
    pub spacing: Spacing,
    /// The measures that heatmaps show across and upwards, counted from 0; all pairs, or the first two, if absent.
    pub axes: Option<(usize, usize)>,
    /// Whether higher or lower objectives are better.
    pub goal: Goal,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            size: None,
            font_size: 12.0,
            color_map: ColorMap::Viridis,
            color_range: None,
            spacing: Spacing::Linear,
            axes: None,
            goal: Goal::Maximise,
        }
    }
}

impl Style {
    /// The size, or the default of the figure; never so small that margins do not fit.
    pub(crate) fn size_or(&self, width: f64, height: f64) -> (f64, f64) {
        let scale = self.font() / 12.0;
        let (w, h) = self.size.unwrap_or((width * scale, height * scale));
        let keep = |side: f64, default: f64| if side.is_finite() { side.clamp(120.0, 20_000.0) } else { default };
        (keep(w, width), keep(h, height))
    }

    /// The chosen measures.
    ///
    /// # Errors
    /// If the archive does not have them, or if they are the same.
    pub(crate) fn axes_of(&self, archive: &Archive) -> Result<Option<(usize, usize)>, PlotError> {
        let n_measures = archive.measures.len();
        match self.axes {
            Some((x, y)) if x >= n_measures || y >= n_measures || x == y => Err(PlotError::Shape {
                what: "measures of a heatmap",
                expected: format!("two different ones of the {n_measures} measures, counted from 0"),
                found: format!("{x} and {y}"),
            }),
            axes => Ok(axes),
        }
    }

    pub(crate) fn font(&self) -> f64 {
        if self.font_size.is_finite() { self.font_size.clamp(4.0, 100.0) } else { 12.0 }
    }

    pub(crate) fn tick_text(&self) -> TextStyle {
        TextStyle::new(self.font() * 0.95).muted()
    }

    pub(crate) fn label_text(&self) -> TextStyle {
        TextStyle::new(self.font() * 1.08)
    }

    pub(crate) fn title_text(&self) -> TextStyle {
        TextStyle::new(self.font() * 1.33).semibold()
    }

    pub(crate) fn note_text(&self) -> TextStyle {
        TextStyle::new(self.font() * 0.95).muted()
    }
}

/// A finished figure.
#[derive(Clone, Debug)]
pub struct Figure {
    svg: String,
    width: f64,
    height: f64,
}

impl Figure {
    pub(crate) fn new(svg: Svg, size: (f64, f64)) -> Self {
        Self { svg: svg.finish(), width: size.0, height: size.1 }
    }

    /// The figure as SVG.
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (f64, f64) {
        (self.width, self.height)
    }

    /// The figure as PNG, `scale` pixels for each pixel of its size (2 is good for screens and documents). Text is drawn
    /// with the embedded font, so the picture is the same on every machine.
    ///
    /// # Errors
    /// [`PlotError::Render`] if the picture would have no pixels or more than 16,384 on a side.
    pub fn to_png(&self, scale: f64) -> Result<Vec<u8>, PlotError> {
        let (width, height) = ((self.width * scale).round(), (self.height * scale).round());
        if !(width >= 1.0 && height >= 1.0 && width <= MAX_PIXELS && height <= MAX_PIXELS) {
            return Err(PlotError::Render(format!(
                "expected 1 to {MAX_PIXELS} pixels on each side, found {width} x {height}"
            )));
        }
        let failed = |what: String| PlotError::Render(what);
        let options = usvg::Options { fontdb: fonts(), font_family: "Luminary Sans".into(), ..Default::default() };
        // Text cannot be hit by this: quotation marks in it are escaped.
        let svg = self.svg.replace(SHARP_PIXELS, SHARP_PIXELS_RESVG);
        let tree = usvg::Tree::from_str(&svg, &options).map_err(|error| failed(error.to_string()))?;
        let mut pixmap = tiny_skia::Pixmap::new(width as u32, height as u32)
            .ok_or_else(|| failed(format!("no memory for {width} x {height} pixels")))?;
        let transform = tiny_skia::Transform::from_scale(
            (width / f64::from(tree.size().width())) as f32,
            (height / f64::from(tree.size().height())) as f32,
        );
        resvg::render(&tree, transform, &mut pixmap.as_mut());
        encode(&pixmap).map_err(|error| failed(error.to_string()))
    }
}

/// Without an alpha channel, because pages are white, and without filters, which enlarge flat colours and sharp edges:
/// about a quarter smaller than a general encoder makes them.
fn encode(pixmap: &tiny_skia::Pixmap) -> Result<Vec<u8>, png::EncodingError> {
    let pixels: Vec<u8> = pixmap.pixels().iter().flat_map(|pixel| [pixel.red(), pixel.green(), pixel.blue()]).collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, pixmap.width(), pixmap.height());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    encoder.set_filter(png::Filter::NoFilter);
    encoder.write_header()?.write_image_data(&pixels)?;
    Ok(bytes)
}

fn fonts() -> Arc<fontdb::Database> {
    static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    let load = || {
        let mut database = fontdb::Database::new();
        database.load_font_data(font::REGULAR.to_vec());
        database.load_font_data(font::SEMIBOLD.to_vec());
        database.set_sans_serif_family("Luminary Sans");
        Arc::new(database)
    };
    FONTS.get_or_init(load).clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::color::Rgb;

    #[test]
    fn text_is_drawn_with_the_embedded_font() {
        let mut svg = Svg::new(60.0, 20.0, "");
        svg.text(2.0, 15.0, "■■■", TextStyle::new(16.0));
        let figure = Figure::new(svg, (60.0, 20.0));
        let pixmap = tiny_skia::Pixmap::decode_png(&figure.to_png(2.0).unwrap()).unwrap();
        assert_eq!((pixmap.width(), pixmap.height()), (120, 40));
        let ink = crate::svg::TEXT;
        let dark = pixmap.pixels().iter().filter(|p| Rgb(p.red(), p.green(), p.blue()) == ink).count();
        assert!(dark > 500, "only {dark} pixels have the colour of text");
    }

    #[test]
    fn absurd_sizes_are_refused() {
        let figure = Figure::new(Svg::new(60.0, 20.0, ""), (60.0, 20.0));
        for scale in [0.0, -1.0, 1e9, f64::NAN, f64::INFINITY] {
            let message = figure.to_png(scale).unwrap_err().to_string();
            assert!(message.contains("expected 1 to 16384 pixels"), "{message}");
        }
    }
}
