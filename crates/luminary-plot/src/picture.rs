//! A finished image over two measures, with axes around it.

use crate::archive::Measure;
use crate::error::PlotError;
use crate::figure::{Figure, Style};
use crate::frame::{self, Axis, Frame, x_tick_count, y_tick_count};
use crate::scale::Range;
use crate::svg::Svg;

/// An image whose horizontal direction is one measure and whose vertical direction, upwards, is another.
#[derive(Clone, Copy, Debug)]
pub struct Picture<'a> {
    /// Title; may be empty.
    pub title: &'a str,
    /// A line under the title; may be empty.
    pub note: &'a str,
    /// From the left to the right edge of the image.
    pub x: &'a Measure,
    /// From the bottom to the top edge of the image, if that means something.
    pub y: Option<&'a Measure>,
    /// Width and height of the image in pixels.
    pub size: (usize, usize),
    /// Red, green and blue of each pixel, row by row from the top.
    pub rgb: &'a [u8],
}

/// Draws the axes around an image. Whatever the style says about the size, each pixel of the image is one of the figure.
///
/// # Errors
/// If the image has no pixels, more than a figure can have, or another number of them than its size says.
pub fn picture(spec: &Picture, style: &Style) -> Result<Figure, PlotError> {
    let (width, height) = (spec.size.0 as f64, spec.size.1 as f64);
    let png = encode(spec)?;
    let range = |measure: &Measure| Range::new(measure.lower, measure.upper);
    let x = Axis::new(&spec.x.name, range(spec.x), x_tick_count(width, style));
    let y = match spec.y {
        Some(measure) => Axis::new(&measure.name, range(measure), y_tick_count(height, style)),
        None => Axis::bare(Range::new(0.0, 1.0)),
    };

    // The frame takes its margins from the page: found by framing a page of any size, and added to the image's.
    let probe = (10_000.0, 10_000.0);
    let body = frame::draw_heading(&mut Svg::new(1.0, 1.0, ""), frame::page(probe), spec.title, spec.note, style);
    let inner = Frame::inside(body, x.clone(), y.clone(), style).area;
    // Whole pixels, so that those of the image are not blurred.
    let (left, top) = (inner.x.ceil(), inner.y.ceil());
    let page = ((probe.0 - inner.width).ceil() + 1.0 + width, (probe.1 - inner.height).ceil() + 1.0 + height);

    let mut svg = Svg::new(page.0, page.1, spec.title);
    frame::draw_heading(&mut svg, frame::page(page), spec.title, spec.note, style);
    svg.image(left, top, width, height, &png);
    let frame = Frame { area: frame::Area { x: left, y: top, width, height }, x, y };
    frame.draw_axes(&mut svg, style);
    Ok(Figure::new(svg, page))
}

fn encode(spec: &Picture) -> Result<Vec<u8>, PlotError> {
    let (width, height) = spec.size;
    let failed = |error: png::EncodingError| PlotError::Render(error.to_string());
    let mut bytes = Vec::new();
    let side =
        |length: usize| u32::try_from(length).map_err(|_| PlotError::Render(format!("{length} pixels on a side")));
    let mut encoder = png::Encoder::new(&mut bytes, side(width)?, side(height)?);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header().map_err(failed)?.write_image_data(spec.rgb).map_err(failed)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pixel_of_the_image_is_one_of_the_figure() {
        let (width, height) = (300, 200);
        let colour = |i: usize| [(i % 251) as u8, (i / width) as u8, 40];
        let rgb: Vec<u8> = (0..width * height).flat_map(colour).collect();
        let measures = [Measure::new("age", 0.0, 80.0), Measure::new("female – male", -8.0, 8.0)];
        for (title, y) in [("", None), ("Faces", Some(&measures[1]))] {
            let spec = Picture { title, note: "", x: &measures[0], y, size: (width, height), rgb: &rgb };
            let figure = picture(&spec, &Style::default()).unwrap();
            let png = figure.to_png(1.0).unwrap();
            let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            let info = reader.next_frame(&mut pixels).unwrap();
            let at = |x: usize, y: usize| &pixels[3 * (y * info.width as usize + x)..][..3];
            // The image is inside its frame, whose lines lie on the border.
            let found = (0..info.height as usize - height)
                .flat_map(|top| (0..info.width as usize - width).map(move |left| (left, top)))
                .find(|&(left, top)| {
                    let inner = (2..height - 2).step_by(7).flat_map(|y| (2..width - 2).step_by(5).map(move |x| (x, y)));
                    inner.into_iter().all(|(x, y)| at(left + x, top + y) == colour(y * width + x))
                });
            assert!(found.is_some(), "title {title:?}");
            let labels = figure.svg().matches("<text").count();
            assert!(labels > if y.is_some() { 8 } else { 4 }, "{labels} labels");
        }
    }

    #[test]
    fn an_image_with_missing_pixels_is_an_error() {
        let x = Measure::new("age", 0.0, 80.0);
        let spec = Picture { title: "", note: "", x: &x, y: None, size: (30, 20), rgb: &[0; 5] };
        assert!(matches!(picture(&spec, &Style::default()), Err(PlotError::Render(_))));
    }
}
