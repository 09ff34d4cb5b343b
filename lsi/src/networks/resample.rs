//! Resizing images, as matrices on rows and columns.

use burn_tensor::Tensor;

use crate::place::Place;
use crate::tape::Var;

/// A way to make images of another size: each row and each column of the result is a weighted sum of those of the
/// argument.
#[derive(Clone, Debug)]
pub struct Resample {
    rows: Tensor<2>,
    columns: Tensor<2>,
}

/// A square part of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Index of its first row.
    pub top: usize,
    /// Index of its first column.
    pub left: usize,
    /// Its height and width.
    pub size: usize,
}

impl Resample {
    /// Bilinear interpolation from squares of `from` to squares of `to` pixels in which the corners' centres stay corners'
    /// centres ("align corners").
    pub fn bilinear(from: usize, to: usize, place: &Place) -> Self {
        let step = if to > 1 { (from - 1) as f64 / (to - 1) as f64 } else { 0.0 };
        let mut weights = vec![0.0; to * from];
        for (index, row) in weights.chunks_exact_mut(from).enumerate() {
            let position = index as f64 * step;
            let below = (position as usize).min(from - 1);
            let above = (below + 1).min(from - 1);
            let fraction = position - below as f64;
            row[below] += 1.0 - fraction;
            row[above] += fraction;
        }
        let matrix = place.tensor(weights, [to, from]);
        Self { rows: matrix.clone(), columns: matrix }
    }

    /// The pixels of a window of images of `from` pixels, averaged to squares of `to` pixels: each result is the mean of
    /// the pixels that its share of the window touches ("adaptive average pooling").
    pub fn average(window: Window, from: usize, to: usize, place: &Place) -> Self {
        let matrix = |start| place.tensor(average_matrix(start, window.size, from, to), [to, from]);
        Self { rows: matrix(window.top), columns: matrix(window.left) }
    }

    /// Resizes images.
    pub fn forward(&self, images: Var<4>) -> Var<4> {
        images.sandwich(&self.rows, &self.columns)
    }
}

fn average_matrix(start: usize, size: usize, from: usize, to: usize) -> Vec<f64> {
    let mut weights = vec![0.0; to * from];
    for (index, row) in weights.chunks_exact_mut(from).enumerate() {
        let first = index * size / to;
        let end = ((index + 1) * size).div_ceil(to);
        row[start + first..start + end].fill(1.0 / (end - first) as f64);
    }
    weights
}

#[cfg(test)]
mod tests {
    use crate::place::{Precision, to_vec};

    use super::*;

    fn place() -> Place {
        Place::cpu(Precision::Double)
    }

    fn ramp(size: usize) -> Var<4> {
        let values = (0..size * size).map(|i| (i / size) as f64 + 10.0 * (i % size) as f64).collect();
        Var::constant(place().tensor(values, [1, 1, size, size]))
    }

    #[test]
    fn bilinear_keeps_the_corners_and_straight_lines() {
        for (from, to) in [(5, 9), (9, 4), (7, 7)] {
            let resized = to_vec(Resample::bilinear(from, to, &place()).forward(ramp(from)).into_value());
            let step = (from - 1) as f64 / (to - 1) as f64;
            for (index, value) in resized.iter().enumerate() {
                let expected = step * ((index / to) as f64 + 10.0 * (index % to) as f64);
                assert!((value - expected).abs() < 1e-12, "{from} to {to}, pixel {index}: {value} and {expected}");
            }
        }
    }

    #[test]
    fn averages_are_over_the_pixels_of_the_window_only() {
        // Window rows 1 to 5 and columns 0 to 4 of the ramp, two by two pixels each, the middle ones shared.
        let window = Window { top: 1, left: 0, size: 5 };
        let pooled = to_vec(Resample::average(window, 6, 2, &place()).forward(ramp(6)).into_value());
        assert_eq!(pooled, [2.0 + 10.0, 2.0 + 30.0, 4.0 + 10.0, 4.0 + 30.0]);
        let whole = Window { top: 0, left: 0, size: 4 };
        let same = to_vec(Resample::average(whole, 4, 4, &place()).forward(ramp(4)).into_value());
        assert_eq!(same, to_vec(ramp(4).into_value()));
    }
}
