//! A grid of images over measure space, as in the paper's figures.

use std::io::Write;
use std::path::Path;

use luminary::archive::{Archive, Elite};
use luminary_plot::{Measure, Picture, Style, picture};
use luminary_run::RunError;
use luminary_run::config::Labels;
use luminary_run::folder::write_atomically;

use crate::domains::{Image, ImageProblem};

use super::ExperimentError;

/// The best image of each part of measure space.
///
/// The first measure grows from left to right and the second from bottom to top, each from the least to the greatest that
/// the archive's elites have within its bounds; what is outside of them counts as on the border, as in the archive. Further
/// measures are not shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Collage {
    columns: usize,
    rows: usize,
    /// The least and the greatest of the measures that are shown.
    ranges: Vec<(f64, f64)>,
    /// Row by row from the bottom.
    tiles: Vec<Option<Tile>>,
}

/// An elite and its image.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    /// The elite's objective.
    pub objective: f64,
    /// The elite's measures.
    pub measures: Vec<f64>,
    /// What it looks like.
    pub image: Image,
}

/// Smaller images are enlarged to about this many pixels, larger ones shrunk to at most twice as many.
const TILE_SIZE: usize = 64;
/// Pixels between images.
const GAP: usize = 2;
/// Where there is no image.
const BACKGROUND: u8 = 255;

impl Collage {
    /// Images along the first measure, unless somebody wants another number.
    pub const COLUMNS: usize = 12;
    /// Images along the second measure.
    pub const ROWS: usize = 9;

    /// The best elite of each of `columns` by `rows` parts, with its image.
    ///
    /// # Panics
    ///
    /// When there are no columns or rows.
    pub fn gather(archive: &dyn Archive, problem: &dyn ImageProblem, columns: usize, rows: usize) -> Self {
        assert!(columns > 0 && rows > 0, "a collage needs at least one column and one row");
        let rows = if archive.measure_dim() < 2 { 1 } else { rows };
        let ranges = [(0, columns), (1, rows)].map(|(measure, n_parts)| Range::of(archive, measure, n_parts));
        let mut best: Vec<Option<Elite<'_>>> = (0..columns * rows).map(|_| None).collect();
        for elite in archive.elites() {
            let [column, row] = [0, 1].map(|measure| ranges[measure].part(&elite));
            let place = &mut best[row * columns + column];
            if place.as_ref().is_none_or(|other| elite.objective > other.objective) {
                *place = Some(elite);
            }
        }
        let solutions: Vec<f64> = best.iter().flatten().flat_map(|elite| elite.solution).copied().collect();
        let mut images = problem.images(&solutions).into_iter();
        let tile = |elite: Option<Elite<'_>>| {
            elite.map(|elite| Tile {
                objective: elite.objective,
                measures: elite.measures.to_vec(),
                image: images.next().expect("one image for each solution"),
            })
        };
        let shown = ranges.iter().take(archive.measure_dim()).map(|range| (range.low, range.high));
        Self { columns, rows, ranges: shown.collect(), tiles: best.into_iter().map(tile).collect() }
    }

    /// Images along the first measure.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Images along the second measure.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The image of a part, if there is an elite in it; the first row is the lowest.
    pub fn tile(&self, column: usize, row: usize) -> Option<&Tile> {
        self.tiles[row * self.columns + column].as_ref()
    }

    /// Writes the picture, with the measures and their ranges at its sides.
    ///
    /// # Errors
    ///
    /// When the file cannot be written, or the picture is too large.
    ///
    /// # Panics
    ///
    /// When there are fewer labels than measures.
    pub fn write_png(&self, labels: &Labels, path: &Path) -> Result<(), ExperimentError> {
        let (width, height, rgb) = self.draw();
        let axes: Vec<Measure> = self
            .ranges
            .iter()
            .zip(&labels.measures)
            .map(|(&(low, high), name)| Measure::new(name, low, high))
            .collect();
        let spec = Picture {
            title: &labels.objective,
            note: "the best of each part of the measures' ranges",
            x: &axes[0],
            y: axes.get(1),
            size: (width, height),
            rgb: &rgb,
        };
        // Text that can still be read when the picture is shown smaller.
        let style = Style { font_size: (width as f64 / 60.0).clamp(12.0, 24.0), ..Style::default() };
        let png = picture(&spec, &style)?.to_png(1.0)?;
        write_atomically(path, |file| file.write_all(&png)).map_err(RunError::io("write", path))?;
        Ok(())
    }

    /// Width, height and the colours of all pixels.
    fn draw(&self) -> (usize, usize, Vec<u8>) {
        let size = self.tiles.iter().flatten().next().map_or(TILE_SIZE, |tile| shown_size(tile.image.size));
        let (width, height) = (self.columns * (size + GAP) + GAP, self.rows * (size + GAP) + GAP);
        let mut rgb = vec![BACKGROUND; 3 * width * height];
        for row in 0..self.rows {
            for column in 0..self.columns {
                let Some(tile) = self.tile(column, row) else { continue };
                let left = GAP + column * (size + GAP);
                let top = GAP + (self.rows - 1 - row) * (size + GAP);
                for (line, pixels) in resized(&tile.image, size).chunks_exact(3 * size).enumerate() {
                    let start = 3 * ((top + line) * width + left);
                    rgb[start..start + 3 * size].copy_from_slice(pixels);
                }
            }
        }
        (width, height, rgb)
    }
}

/// What the elites have of a measure, in equal parts.
struct Range {
    measure: usize,
    bounds: (f64, f64),
    low: f64,
    high: f64,
    n_parts: usize,
}

impl Range {
    fn of(archive: &dyn Archive, measure: usize, n_parts: usize) -> Self {
        let unbounded = (f64::NEG_INFINITY, f64::INFINITY);
        let bounds = archive.measure_bounds().get(measure).copied().unwrap_or(unbounded);
        let values =
            archive.elites().filter_map(|elite| elite.measures.get(measure).map(|x| x.clamp(bounds.0, bounds.1)));
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        Self { measure, bounds, low, high, n_parts }
    }

    fn part(&self, elite: &Elite<'_>) -> usize {
        let Some(value) = elite.measures.get(self.measure) else { return 0 };
        // All elites at one value make a range of nothing: 0 / 0, which is part 0.
        let share = (value.clamp(self.bounds.0, self.bounds.1) - self.low) / (self.high - self.low);
        ((share * self.n_parts as f64) as usize).min(self.n_parts - 1)
    }
}

/// Whole multiples of small images, whole fractions of large ones.
fn shown_size(size: usize) -> usize {
    if size <= TILE_SIZE { size * (TILE_SIZE / size) } else { size / size.div_ceil(2 * TILE_SIZE) }
}

/// The pixels of an image at another size: repeated, or averaged over squares.
fn resized(image: &Image, size: usize) -> Vec<u8> {
    let square = (image.size / size).max(1);
    let mean = |row: usize, column: usize, colour: usize| {
        let (top, left) = (row * image.size / size, column * image.size / size);
        let pixels = (0..square * square).map(|i| {
            let (y, x) = ((top + i / square).min(image.size - 1), (left + i % square).min(image.size - 1));
            u32::from(image.rgb[3 * (y * image.size + x) + colour])
        });
        (pixels.sum::<u32>() / (square * square) as u32) as u8
    };
    let pixels = (0..size * size).flat_map(|i| (0..3).map(move |colour| (i / size, i % size, colour)));
    pixels.map(|(row, column, colour)| mean(row, column, colour)).collect()
}

#[cfg(test)]
mod tests {
    use luminary::archive::{AddReport, ArchiveConfig, Batch, NonFinite};

    use super::*;

    fn image(size: usize) -> Image {
        Image { size, rgb: (0..3 * size * size).map(|i| (i % 251) as u8).collect() }
    }

    #[test]
    fn small_images_are_repeated_and_large_ones_averaged() {
        assert_eq!((shown_size(32), shown_size(48), shown_size(1024), shown_size(100)), (64, 48, 128, 100));
        let double = resized(&image(2), 4);
        let expected = image(2).rgb;
        assert_eq!(double[..3], expected[..3]);
        assert_eq!(double[3 * 5..3 * 6], expected[..3]);
        assert_eq!(double[3 * 15..], expected[9..]);
        let half = resized(&image(2), 1);
        assert_eq!(half, [(3 + 6 + 9) / 4, (1 + 4 + 7 + 10) / 4, (2 + 5 + 8 + 11) / 4]);
    }

    #[test]
    fn what_is_outside_the_bounds_is_on_the_border() {
        let mut archive = ArchiveConfig::grid(1, vec![10, 10], vec![(-1.0, 1.0); 2]).build().unwrap();
        let measures = [-0.5, 0.0, 0.25, 0.0, 7.0, 0.0];
        let batch = Batch { solutions: &[0.0; 3], objectives: &[1.0; 3], measures: &measures, extras: &[] };
        archive.add(&batch, NonFinite::Fail, &mut AddReport::default()).unwrap();
        let range = Range::of(archive.as_ref(), 0, 3);
        assert_eq!((range.low, range.high), (-0.5, 1.0));
        let mut parts: Vec<usize> = archive.elites().map(|elite| range.part(&elite)).collect();
        parts.sort_unstable();
        assert_eq!(parts, [0, 1, 2]);
        // All at one value.
        let range = Range::of(archive.as_ref(), 1, 3);
        assert!(archive.elites().all(|elite| range.part(&elite) == 0));
    }

    #[test]
    fn the_second_measure_grows_upwards() {
        let tile = |value: u8| {
            let image = Image { size: 64, rgb: vec![value; 3 * 64 * 64] };
            Some(Tile { objective: 1.0, measures: vec![0.0; 2], image })
        };
        let collage = Collage {
            columns: 2,
            rows: 2,
            ranges: vec![(0.0, 1.0); 2],
            tiles: vec![tile(10), tile(20), tile(30), None],
        };
        let (width, height, rgb) = collage.draw();
        assert_eq!((width, height), (2 * 66 + 2, 2 * 66 + 2));
        let at = |x: usize, y: usize| rgb[3 * (y * width + x)];
        assert_eq!([at(30, 30), at(100, 30), at(30, 100), at(100, 100)], [30, BACKGROUND, 10, 20]);
        assert_eq!(at(0, 0), BACKGROUND);
    }
}
