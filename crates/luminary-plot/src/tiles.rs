//! Draws the tiles of an archive, and the colour bar beside them.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::color::{EMPTY, NOT_A_NUMBER, Rgb};
use crate::color_scale::ColorScale;
use crate::figure::Style;
use crate::frame::{Area, text_width};
use crate::panel::{PolygonTile, Tiles};
use crate::svg::{Anchor, MUTED, Svg, polyline};

/// Grids with more tiles than this are drawn as an embedded image, which keeps files small.
const MAX_RECTANGLES: usize = 4096;

/// Voronoi cells up to this number get visible borders and exact colours.
const MAX_OUTLINED: usize = 2000;

/// Draws tiles over a light background for the cells without elite.
pub(crate) fn draw_tiles(svg: &mut Svg, area: Area, tiles: &Tiles, colors: &ColorScale) {
    svg.rect(area.x, area.y, area.width, area.height, EMPTY);
    match tiles {
        Tiles::Grid { columns, rows, values } if values.len() <= MAX_RECTANGLES => {
            draw_rectangles(svg, area, (*columns, *rows), values, colors);
        }
        Tiles::Grid { columns, rows, values } => {
            let png = indexed_png((*columns, *rows), values, colors);
            svg.open_group("cells", "");
            svg.image(area.x, area.y, area.width, area.height, &png);
            svg.close();
        }
        Tiles::Polygons(list) => draw_polygons(svg, area, list, colors),
        Tiles::Intervals(list) => {
            svg.open_group("cells", "shape-rendering=\"crispEdges\"");
            for &(from, to, value) in list {
                if let Some(objective) = value {
                    let (x, width) = (area.x + from * area.width, (to - from) * area.width);
                    svg.rect(x, area.y, width, area.height, colors.color(objective));
                }
            }
            svg.close();
        }
    }
}

fn draw_rectangles(svg: &mut Svg, area: Area, shape: (usize, usize), values: &[Option<f64>], colors: &ColorScale) {
    // Neighbours overlap a little, so that no seam shows where a border falls between two pixels.
    const OVERLAP: f64 = 0.4;
    let (width, height) = (area.width / shape.0 as f64, area.height / shape.1 as f64);
    svg.open_group("cells", "shape-rendering=\"crispEdges\"");
    for (i, value) in values.iter().enumerate() {
        if let Some(objective) = *value {
            let (column, row) = ((i % shape.0) as f64, (i / shape.0) as f64);
            let (x, y) = (area.x + column * width, area.bottom() - (row + 1.0) * height);
            let top = (y - OVERLAP).max(area.y);
            let right = (x + width + OVERLAP).min(area.right());
            svg.rect(x, top, right - x, y + height - top, colors.color(objective));
        }
    }
    svg.close();
}

/// Polygons of the same colour become one path, so that 10,000 cells stay a small file.
fn draw_polygons(svg: &mut Svg, area: Area, list: &[PolygonTile], colors: &ColorScale) {
    let outlined = list.len() <= MAX_OUTLINED;
    let mut empty = String::new();
    let mut filled: BTreeMap<String, String> = BTreeMap::new();
    for (polygon, value) in list.iter().filter(|(polygon, _)| polygon.len() >= 3) {
        let data = match value {
            None => &mut empty,
            Some(objective) if outlined => filled.entry(colors.color(*objective).hex()).or_default(),
            Some(objective) => filled.entry(color_of_level(level(*objective, colors), colors).hex()).or_default(),
        };
        for (i, &(x, y)) in polygon.iter().enumerate() {
            let (x, y) = (area.x + x * area.width, area.bottom() - y * area.height);
            let _ = write!(data, "{}{x:.1} {y:.1}", if i == 0 { 'M' } else { 'L' });
        }
        data.push('Z');
    }
    svg.open_clip(area.x, area.y, area.width, area.height);
    if outlined && !empty.is_empty() {
        svg.open_group("empty-cells", "");
        svg.path(&empty, &format!("fill=\"{}\" stroke=\"#d9dee3\" stroke-width=\"0.7\"", EMPTY.hex()));
        svg.close();
    }
    svg.open_group("cells", "stroke-linejoin=\"round\"");
    for (color, data) in filled {
        // A thin line of the same colour closes the seams between neighbours.
        let (stroke, width) = if outlined { ("#ffffff", "0.7") } else { (color.as_str(), "0.5") };
        svg.path(&data, &format!("fill=\"{color}\" stroke=\"{stroke}\" stroke-width=\"{width}\""));
    }
    svg.close();
    svg.close();
}

/// A PNG with one pixel for each tile, in 256 colours: 0 is empty, 1 not a number, the others go from low to high.
fn indexed_png(shape: (usize, usize), values: &[Option<f64>], colors: &ColorScale) -> Vec<u8> {
    let rows = values.chunks_exact(shape.0).rev();
    let pixels: Vec<u8> = rows.flatten().map(|value| value.map_or(0, |objective| level(objective, colors))).collect();
    encode_png(shape, &pixels, colors)
}

fn encode_png(shape: (usize, usize), pixels: &[u8], colors: &ColorScale) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, shape.0 as u32, shape.1 as u32);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(palette(colors));
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(pixels));
    written.expect("the image has a valid size and is written to memory");
    out
}

/// Red, green and blue of all levels.
pub(crate) fn palette(colors: &ColorScale) -> Vec<u8> {
    let bytes = |level| {
        let Rgb(r, g, b) = color_of_level(level, colors);
        [r, g, b]
    };
    (0..=255).flat_map(bytes).collect()
}

fn level(objective: f64, colors: &ColorScale) -> u8 {
    let fraction = colors.fraction(objective);
    if fraction.is_nan() { 1 } else { 2 + (fraction.clamp(0.0, 1.0) * 253.0).round() as u8 }
}

fn color_of_level(level: u8, colors: &ColorScale) -> Rgb {
    match level {
        0 => EMPTY,
        1 => NOT_A_NUMBER,
        level => colors.map.at(f64::from(level - 2) / 253.0),
    }
}

/// Room right of a heatmap for its colour bar.
pub(crate) fn color_bar_margin(colors: &ColorScale, label: &str, height: f64, style: &Style) -> f64 {
    let ticks = colors.ticks(colors.range, crate::frame::y_tick_count(height, style));
    let widest = ticks.iter().map(|t| text_width(&t.label, style.tick_text())).fold(0.0, f64::max);
    let label = if label.is_empty() { 0.0 } else { style.label_text().size + 10.0 };
    BAR_GAP + BAR_WIDTH + 9.0 + widest + label
}

const BAR_GAP: f64 = 18.0;
const BAR_WIDTH: f64 = 14.0;

/// Height of the arrows that say that objectives lie outside.
const ARROW: f64 = 7.0;

/// A triangle at an end of the colour bar; its tip lies `height` pixels below.
fn draw_arrow(svg: &mut Svg, (x, y): (f64, f64), height: f64, color: Rgb) {
    let corners = [(x, y), (x + BAR_WIDTH / 2.0, y + height), (x + BAR_WIDTH, y)];
    let attributes = format!("class=\"outside\" fill=\"{}\" stroke=\"{}\"", color.hex(), MUTED.hex());
    svg.path(&(polyline(corners) + "Z"), &attributes);
}

/// Draws the colour bar right of `area`, as high as it, with arrows where objectives lie outside its range.
pub(crate) fn draw_color_bar(svg: &mut Svg, area: Area, colors: &ColorScale, label: &str, style: &Style) {
    let x = area.right() + BAR_GAP;
    svg.open_group("color-bar", "");
    let levels: Vec<u8> = (2..=255).rev().collect();
    svg.image(x, area.y, BAR_WIDTH, area.height, &encode_png((1, levels.len()), &levels, colors));
    svg.frame(x, area.y, BAR_WIDTH, area.height, MUTED);
    if colors.has_above {
        draw_arrow(svg, (x, area.y), -ARROW, colors.map.at(1.0));
    }
    if colors.has_below {
        draw_arrow(svg, (x, area.bottom()), ARROW, colors.map.at(0.0));
    }
    let text = style.tick_text();
    for tick in colors.ticks(colors.range, crate::frame::y_tick_count(area.height, style)) {
        let y = area.bottom() - colors.range.fraction(tick.value) * area.height;
        svg.line((x + BAR_WIDTH, y), (x + BAR_WIDTH + 4.0, y), MUTED, 1.0);
        svg.text(x + BAR_WIDTH + 8.0, y + text.size * 0.36, &tick.label, text);
    }
    if !label.is_empty() {
        let text = style.label_text().anchor(Anchor::Middle).upwards().max_width(area.height + 20.0);
        let right = area.right() + color_bar_margin(colors, label, area.height, style);
        svg.text(right - 3.0, area.y + area.height / 2.0, label, text);
    }
    svg.close();
}
