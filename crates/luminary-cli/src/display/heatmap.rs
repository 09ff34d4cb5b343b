//! The archive as a small picture: two pixels a character, upper and lower half block.

use luminary::archive::{Archive, Cells};

use super::colour::{Colours, viridis};

/// Best objective of each pixel, row by row from the top, over the first two measures; `None` where there is no elite.
struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<Option<f64>>,
}

/// The lines of the picture, at most `max_width` characters by `max_lines`; more measures than two are looked at from
/// the side of the first two.
pub(super) fn lines(archive: &dyn Archive, max_width: usize, max_lines: usize, colours: Colours) -> Vec<String> {
    let picture = Picture::of(archive, max_width, 2 * max_lines);
    let values = || picture.pixels.iter().flatten().copied();
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let scale = |value: f64| if high > low { (value - low) / (high - low) } else { 1.0 };
    (0..picture.height.div_ceil(2)).map(|line| picture.line(line, &scale, colours)).collect()
}

impl Picture {
    fn of(archive: &dyn Archive, max_width: usize, max_height: usize) -> Self {
        let bounds = archive.measure_bounds();
        let side = (archive.stats().n_cells as f64).sqrt().floor().max(1.0) as usize;
        let resolution = |i: usize| match archive.cells() {
            _ if i >= bounds.len() => 1,
            Some(Cells::Grid(grid)) => grid.config().resolution[i],
            _ => side,
        };
        let max_side = max_width.min(max_height).max(1);
        let (width, height) = match bounds.len() {
            1 => (fit(resolution(0), max_width.max(1)), 2),
            _ => (fit(resolution(0), max_side), fit(resolution(1), max_side)),
        };
        let mut picture = Self { width, height, pixels: vec![None; width * height] };
        for elite in archive.elites() {
            let cell = |i: usize| match bounds.get(i) {
                Some(&(lower, upper)) => {
                    let position = (elite.measures[i] - lower) / (upper - lower) * resolution(i) as f64;
                    (position as usize).min(resolution(i) - 1)
                }
                None => 0,
            };
            picture.fill(elite.objective, span(cell(0), resolution(0), width), span(cell(1), resolution(1), height));
        }
        picture
    }

    /// Raises the pixels of a cell to its objective. The second measure grows upwards.
    fn fill(&mut self, objective: f64, columns: std::ops::Range<usize>, rows: std::ops::Range<usize>) {
        for row in rows {
            for column in columns.clone() {
                let pixel = &mut self.pixels[(self.height - 1 - row) * self.width + column];
                *pixel = Some(pixel.map_or(objective, |old| old.max(objective)));
            }
        }
    }

    fn line(&self, line: usize, scale: &dyn Fn(f64) -> f64, colours: Colours) -> String {
        let mut text = String::new();
        for column in 0..self.width {
            let pixel = |row: usize| {
                let index = (row < self.height).then_some(row * self.width + column)?;
                self.pixels[index].map(scale)
            };
            let (upper, lower) = (pixel(2 * line), pixel(2 * line + 1));
            if colours == Colours::None {
                text.push(shade(upper.into_iter().chain(lower).reduce(f64::max)));
                continue;
            }
            match (upper, lower) {
                (None, None) => text.push_str("\x1b[0m "),
                (Some(value), None) => text.push_str(&format!("\x1b[0m{}▀", colours.select(38, viridis(value)))),
                (None, Some(value)) => text.push_str(&format!("\x1b[0m{}▄", colours.select(38, viridis(value)))),
                (Some(upper), Some(lower)) => {
                    text.push_str(&colours.select(38, viridis(upper)));
                    text.push_str(&colours.select(48, viridis(lower)));
                    text.push('▀');
                }
            }
        }
        if colours != Colours::None {
            text.push_str("\x1b[0m");
        }
        text
    }
}

/// Without colours, denser is better.
fn shade(value: Option<f64>) -> char {
    const SHADES: [char; 4] = ['░', '▒', '▓', '█'];
    value.map_or(' ', |value| SHADES[((value * 4.0) as usize).min(3)])
}

/// Pixels for a number of intervals: a whole number each if there is room, or several intervals a pixel.
fn fit(intervals: usize, max: usize) -> usize {
    if intervals <= max { intervals * (max / intervals) } else { max }
}

/// The pixels of an interval.
fn span(interval: usize, intervals: usize, pixels: usize) -> std::ops::Range<usize> {
    let start = interval * pixels / intervals;
    let end = ((interval + 1) * pixels / intervals).max(start + 1).min(pixels);
    start..end
}

#[cfg(test)]
mod tests {
    use luminary::archive::{AddReport, ArchiveConfig, Batch, NonFinite};

    use super::*;

    fn archive(resolution: Vec<usize>, measures: &[f64], objectives: &[f64]) -> Box<dyn Archive> {
        let k = resolution.len();
        let mut archive = ArchiveConfig::grid(1, resolution, vec![(0.0, 1.0); k]).build().unwrap();
        let solutions = vec![0.0; objectives.len()];
        let batch = Batch { solutions: &solutions, objectives, measures, extras: &[] };
        archive.add(&batch, NonFinite::Fail, &mut AddReport::default()).unwrap();
        archive
    }

    #[test]
    fn the_first_measure_goes_right_and_the_second_up() {
        let archive = archive(vec![2, 2], &[0.1, 0.1, 0.9, 0.9, 0.9, 0.1], &[0.0, 4.0, 2.0]);
        assert_eq!(lines(archive.as_ref(), 2, 1, Colours::None), ["░█"]);
        assert_eq!(lines(archive.as_ref(), 4, 2, Colours::None), ["  ██", "░░▓▓"]);
    }

    #[test]
    fn any_resolution_and_number_of_measures_fits() {
        for resolution in [vec![100, 100], vec![7, 300], vec![1, 1], vec![5], vec![4, 4, 4]] {
            let archive = archive(resolution.clone(), &vec![0.5; 2 * resolution.len()], &[1.0, 2.0]);
            for (width, height) in [(1, 1), (50, 25), (60, 5), (13, 9)] {
                let lines = lines(archive.as_ref(), width, height, Colours::None);
                assert!(!lines.is_empty() && lines.len() <= height, "{resolution:?}");
                assert!(lines.iter().all(|line| line.chars().count() <= width), "{resolution:?}");
                assert!(lines.concat().contains('█'), "{resolution:?} {width}");
            }
        }
    }
}
