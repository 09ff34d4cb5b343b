//! Convolutions with constant kernels. None of them keeps its argument: what is pulled back depends on the kernel alone.

use burn_tensor::Tensor;
use burn_tensor::module::{avg_pool2d, conv_transpose2d, conv2d, interpolate};
use burn_tensor::ops::{AvgPoolOptions, ConvOptions, ConvTransposeOptions, InterpolateMode, InterpolateOptions};

use super::Var;

impl Var<4> {
    /// Correlates with a kernel of outputs by inputs by height by width, with zeros around the image.
    pub fn convolve(self, kernel: &Tensor<4>, padding: usize) -> Self {
        let for_pull = kernel.clone();
        self.map(
            |x| conv2d(x, kernel.clone(), None, ConvOptions::new([1, 1], [padding; 2], [1, 1], 1)),
            |_, _| {
                // The adjoint of a correlation is the correlation with the kernel turned by 180 degrees and with inputs
                // and outputs exchanged.
                let turned = for_pull.flip([2, 3]).swap_dims(0, 1);
                let [_, _, height, width] = turned.dims();
                let padding = [height - 1 - padding, width - 1 - padding];
                move |cotangent| conv2d(cotangent, turned.clone(), None, ConvOptions::new([1, 1], padding, [1, 1], 1))
            },
        )
    }

    /// Correlates each channel with its own kernel (channels by 1 by height by width).
    pub fn convolve_depthwise(self, kernel: &Tensor<4>, padding: usize) -> Self {
        let groups = kernel.dims()[0];
        let for_pull = kernel.clone();
        self.map(
            |x| conv2d(x, kernel.clone(), None, ConvOptions::new([1, 1], [padding; 2], [1, 1], groups)),
            |_, _| {
                let turned = for_pull.flip([2, 3]);
                let [_, _, height, width] = turned.dims();
                let padding = [height - 1 - padding, width - 1 - padding];
                let options = ConvOptions::new([1, 1], padding, [1, 1], groups);
                move |cotangent| conv2d(cotangent, turned.clone(), None, options.clone())
            },
        )
    }

    /// Correlates with a kernel at every second row and column, without a border: the result has half the size. The kernel
    /// is of outputs by inputs by height by width, or of channels by 1 by height by width for one kernel each.
    pub fn convolve_halving(self, kernel: &Tensor<4>) -> Self {
        let channels = self.dims()[1];
        let [n_outputs, n_inputs, kernel_height, kernel_width] = kernel.dims();
        let groups = channels / n_inputs;
        assert_eq!(groups * n_inputs, channels, "convolve_halving: a kernel of {n_outputs} by {n_inputs} channels");
        let for_pull = kernel.clone();
        self.map(
            |x| conv2d(x, kernel.clone(), None, ConvOptions::new([2, 2], [0, 0], [1, 1], groups)),
            |x, y| {
                let ([_, _, height, width], [_, _, new_height, new_width]) = (x.dims(), y.dims());
                // Rows and columns at the end that no kernel reaches.
                let rest = [height - 2 * (new_height - 1) - kernel_height, width - 2 * (new_width - 1) - kernel_width];
                let options = ConvTransposeOptions::new([2, 2], [0, 0], rest, [1, 1], groups);
                move |cotangent| conv_transpose2d(cotangent, for_pull.clone(), None, options.clone())
            },
        )
    }

    /// The adjoint of a correlation with stride 2, which doubles the size of an image: each pixel adds the kernel (inputs
    /// by outputs by height by width) times its value to the result, 2 pixels apart, and `padding` pixels are cut off all
    /// around.
    pub fn convolve_transposed(self, kernel: &Tensor<4>, padding: usize) -> Self {
        let for_pull = kernel.clone();
        let options = ConvTransposeOptions::new([2, 2], [padding; 2], [0, 0], [1, 1], 1);
        self.map(
            |x| conv_transpose2d(x, kernel.clone(), None, options),
            |_, _| {
                let options = ConvOptions::new([2, 2], [padding; 2], [1, 1], 1);
                move |cotangent| conv2d(cotangent, for_pull.clone(), None, options.clone())
            },
        )
    }

    /// Correlates every channel with the same kernel of height by width.
    pub fn filter(self, kernel: &Tensor<2>, padding: usize) -> Self {
        self.channel_by_channel(|plane| plane.convolve(&kernel.clone().unsqueeze(), padding))
    }

    /// [`convolve_transposed`](Self::convolve_transposed) of every channel with the same kernel.
    pub fn filter_transposed(self, kernel: &Tensor<2>, padding: usize) -> Self {
        self.channel_by_channel(|plane| plane.convolve_transposed(&kernel.clone().unsqueeze(), padding))
    }

    /// Repeats every pixel in a square of 2 by 2.
    pub fn upsample_nearest(self) -> Self {
        self.map(
            |x| {
                let [_, _, height, width] = x.dims();
                let options = InterpolateOptions::new(InterpolateMode::Nearest);
                interpolate(x, options.with_output_size([2 * height, 2 * width]))
            },
            |_, _| |cotangent| avg_pool2d(cotangent, AvgPoolOptions::new([2, 2])).mul_scalar(4.0),
        )
    }

    fn channel_by_channel(self, operation: impl FnOnce(Self) -> Self) -> Self {
        let [n, channels, height, width] = self.dims();
        let planes = operation(self.reshape([n * channels, 1, height, width]));
        let [_, _, height, width] = planes.dims();
        planes.reshape([n, channels, height, width])
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{assert_gradient, wavy};

    #[test]
    fn convolutions_have_their_gradients() {
        assert_gradient([2, 3, 4, 5], |x| x.convolve(&wavy([2, 3, 3, 3], 0.7), 1).square());
        assert_gradient([2, 3, 4, 5], |x| x.convolve(&wavy([2, 3, 1, 1], 0.7), 0).square());
        assert_gradient([2, 3, 4, 5], |x| x.convolve_depthwise(&wavy([3, 1, 3, 3], 0.7), 1).square());
        assert_gradient([2, 3, 4, 5], |x| x.filter(&wavy([4, 4], 0.7), 1).square());
    }

    #[test]
    fn halving_convolutions_have_their_gradients_also_where_the_kernel_does_not_reach() {
        for size in [6, 7] {
            assert_gradient([2, 3, size, 5], |x| x.convolve_halving(&wavy([2, 3, 3, 3], 0.7)).square());
            assert_gradient([2, 3, size, 5], |x| x.convolve_halving(&wavy([3, 1, 3, 3], 0.7)).square());
            assert_gradient([2, 3, size, 5], |x| x.convolve_halving(&wavy([2, 3, 1, 1], 0.7)).square());
        }
    }

    #[test]
    fn transposed_convolutions_double_the_size_and_have_their_gradients() {
        assert_gradient([2, 3, 4, 5], |x| {
            let y = x.convolve_transposed(&wavy([3, 2, 4, 4], 0.7), 1);
            assert_eq!(y.dims(), [2, 2, 8, 10]);
            y.square()
        });
        assert_gradient([1, 2, 3, 4], |x| x.convolve_transposed(&wavy([2, 2, 3, 3], 0.7), 0).square());
        assert_gradient([1, 2, 3, 4], |x| x.filter_transposed(&wavy([4, 4], 0.7), 1).square());
        assert_gradient([1, 2, 3, 4], |x| x.upsample_nearest().square());
    }
}
