//! Figures as PNG.
//!
//! A feature of its own: rendering brings in most of what there is to compile, and who serves pages needs none of it.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia;
use resvg::usvg::{self, fontdb};

use crate::error::PlotError;
use crate::figure::Figure;
use crate::font;
use crate::svg::{SHARP_PIXELS, SHARP_PIXELS_RESVG};

/// Longest side of a PNG in pixels.
const MAX_PIXELS: f64 = 16_384.0;

impl Figure {
    /// The figure as PNG, `scale` pixels for each pixel of its size (2 is good for screens and documents). Text is drawn
    /// with the embedded font, so the picture is the same on every machine.
    ///
    /// # Errors
    /// [`PlotError::Render`] if the picture would have no pixels or more than 16,384 on a side.
    pub fn to_png(&self, scale: f64) -> Result<Vec<u8>, PlotError> {
        let (width, height) = ((self.size().0 * scale).round(), (self.size().1 * scale).round());
        if !(width >= 1.0 && height >= 1.0 && width <= MAX_PIXELS && height <= MAX_PIXELS) {
            return Err(PlotError::Render(format!(
                "expected 1 to {MAX_PIXELS} pixels on each side, found {width} x {height}"
            )));
        }
        let failed = |what: String| PlotError::Render(what);
        let options = usvg::Options { fontdb: fonts(), font_family: "Luminary Sans".into(), ..Default::default() };
        // Text cannot be hit by this: quotation marks in it are escaped.
        let svg = self.svg().replace(SHARP_PIXELS, SHARP_PIXELS_RESVG);
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
    use crate::svg::{Svg, TextStyle};

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
