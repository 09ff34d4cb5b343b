//! Pooling, and borders.

use burn_tensor::module::{avg_pool2d, max_pool2d_with_indices};
use burn_tensor::ops::{AvgPoolOptions, MaxPoolOptions};
use burn_tensor::{IndexingUpdateOp, Tensor};

use super::Var;

impl Var<4> {
    /// The largest value of every second square of 3 by 3 pixels, without a border.
    pub fn max_pool(self) -> Self {
        let [n, channels, height, width] = self.dims();
        let (value, places) =
            max_pool2d_with_indices(self.value.clone(), MaxPoolOptions::new([3, 3]).with_stride([2, 2]));
        let [_, _, new_height, new_width] = value.dims();
        self.map(
            |_| value,
            |_, _| {
                let places = places.reshape([n, channels, new_height * new_width]);
                move |cotangent: Tensor<4>| {
                    let zeros = Tensor::zeros([n, channels, height * width], (&cotangent.device(), cotangent.dtype()));
                    let values = cotangent.reshape([n, channels, new_height * new_width]);
                    zeros
                        .scatter(2, places.clone(), values, IndexingUpdateOp::Add)
                        .reshape([n, channels, height, width])
                }
            },
        )
    }

    /// The mean of every square of 2 by 2 pixels; an odd row or column at the end is left out.
    pub fn mean_pool(self) -> Self {
        let [n, channels, height, width] = self.dims();
        let (new_height, new_width) = (height / 2, width / 2);
        let even = self.narrow(2, 0..2 * new_height).narrow(3, 0..2 * new_width);
        even.map(
            |x| avg_pool2d(x, AvgPoolOptions::new([2, 2])),
            |_, _| {
                move |cotangent: Tensor<4>| {
                    let shares = cotangent.mul_scalar(0.25).reshape([n, channels * new_height, new_width, 1]);
                    let columns = shares.expand([n, channels * new_height, new_width, 2]);
                    let columns = columns.reshape([n, channels * new_height, 1, 2 * new_width]);
                    let rows = columns.expand([n, channels * new_height, 2, 2 * new_width]);
                    rows.reshape([n, channels, 2 * new_height, 2 * new_width])
                }
            },
        )
    }

    /// Adds rows below and columns to the right, filled with `value`.
    pub fn extend(self, rows: usize, columns: usize, value: f64) -> Self {
        let fill = |x: &Self, dim: usize, length: usize| {
            let mut shape = x.dims();
            shape[dim] = length;
            Var::constant(Tensor::full(shape, value, (&x.value.device(), x.value.dtype())))
        };
        let mut extended = self;
        for (dim, length) in [(2, rows), (3, columns)] {
            if length > 0 {
                let border = fill(&extended, dim, length);
                extended = extended.cat(border, dim);
            }
        }
        extended
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{assert_gradient, wavy};
    use super::Var;
    use crate::place::to_vec;

    #[test]
    fn pooling_has_its_gradient() {
        assert_gradient([2, 3, 5, 6], |x| x.max_pool().square());
        assert_gradient([2, 3, 5, 6], |x| x.mean_pool().square());
        assert_gradient([1, 2, 3, 4], |x| x.extend(1, 2, -3.0).square());
    }

    #[test]
    fn pools_are_over_the_right_squares() {
        let image = Var::constant(wavy([1, 1, 5, 4], 0.3));
        let pixels = to_vec(image.value().clone());
        let largest = |top: usize| {
            let square = (top..top + 3).flat_map(|row| (0..3).map(move |column| row * 4 + column));
            square.map(|index| pixels[index]).fold(f64::MIN, f64::max)
        };
        assert_eq!(to_vec(image.clone().max_pool().into_value()), [largest(0), largest(2)]);
        let mean = |top: usize, left: usize| {
            [0, 1, 4, 5].iter().map(|offset| pixels[top * 4 + left + offset]).sum::<f64>() / 4.0
        };
        let expected = [mean(0, 0), mean(0, 2), mean(2, 0), mean(2, 2)];
        let found = to_vec(image.mean_pool().into_value());
        assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-15), "{found:?}");
    }
}
