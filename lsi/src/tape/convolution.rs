//! Convolutions with constant kernels. None of them keeps its argument: what is pulled back depends on the kernel alone.

use burn_tensor::Tensor;
use burn_tensor::module::{avg_pool2d, conv_transpose2d, conv2d, interpolate};
use burn_tensor::ops::{AvgPoolOptions, ConvOptions, ConvTransposeOptions, InterpolateMode, InterpolateOptions};

use super::Var;
use super::cpu::{self, Geometry};

impl Var<4> {
    /// Correlates with a kernel of outputs by inputs by height by width, with zeros around the image.
    pub fn convolve(self, kernel: &Tensor<4>, padding: usize) -> Self {
        self.correlate(kernel, Geometry { stride: 1, padding, groups: 1 })
    }

    /// Correlates each channel with its own kernel (channels by 1 by height by width).
    pub fn convolve_depthwise(self, kernels: &Tensor<4>, padding: usize) -> Self {
        let for_pull = kernels.clone();
        self.map_over(
            |x| correlate_planes(x, kernels, padding),
            |_| {
                // The adjoint of a correlation is the correlation with the kernel turned by 180 degrees.
                let turned = for_pull.flip([2, 3]);
                let padding = turned.dims()[2] - 1 - padding;
                move |cotangent| correlate_planes(cotangent, &turned, padding)
            },
        )
    }

    /// Correlates with a kernel at every second row and column, without a border: the result has half the size. The kernel
    /// is of outputs by inputs by height by width, or of channels by 1 by height by width for one kernel each.
    pub fn convolve_halving(self, kernel: &Tensor<4>) -> Self {
        let (channels, [n_outputs, n_inputs, _, _]) = (self.dims()[1], kernel.dims());
        let groups = channels / n_inputs;
        assert_eq!(groups * n_inputs, channels, "convolve_halving: a kernel of {n_outputs} by {n_inputs} channels");
        self.correlate(kernel, Geometry { stride: 2, padding: 0, groups })
    }

    /// The adjoint of a correlation with stride 2, which doubles the size of an image: each pixel adds the kernel (inputs
    /// by outputs by height by width) times its value to the result, 2 pixels apart, and `padding` pixels are cut off all
    /// around.
    pub fn convolve_transposed(self, kernel: &Tensor<4>, padding: usize) -> Self {
        let for_pull = kernel.clone();
        let geometry = Geometry { stride: 2, padding, groups: 1 };
        self.map_over(
            |x| {
                let ([_, _, height, width], [_, _, kernel_height, kernel_width]) = (x.dims(), kernel.dims());
                let size = |from: usize, kernel: usize| 2 * (from - 1) + kernel - 2 * padding;
                spread(x, kernel, geometry, [size(height, kernel_height), size(width, kernel_width)])
            },
            |_| move |cotangent| correlate(cotangent, &for_pull, geometry),
        )
    }

    /// Correlates every channel with the same square kernel.
    pub fn filter(self, kernel: &Tensor<2>, padding: usize) -> Self {
        let channels = self.dims()[1];
        let [height, width] = kernel.dims();
        let kernel: Tensor<4> = kernel.clone().unsqueeze();
        self.convolve_depthwise(&kernel.expand([channels, 1, height, width]), padding)
    }

    /// [`convolve_transposed`](Self::convolve_transposed) of every channel with the same kernel.
    pub fn filter_transposed(self, kernel: &Tensor<2>, padding: usize) -> Self {
        let [n, channels, height, width] = self.dims();
        let planes = self.reshape([n * channels, 1, height, width]);
        let planes = planes.convolve_transposed(&kernel.clone().unsqueeze(), padding);
        let [_, _, height, width] = planes.dims();
        planes.reshape([n, channels, height, width])
    }

    fn correlate(self, kernel: &Tensor<4>, geometry: Geometry) -> Self {
        let for_pull = kernel.clone();
        let [_, _, height, width] = self.dims();
        self.map_over(
            |x| correlate(x, kernel, geometry),
            |_| move |cotangent| spread(cotangent, &for_pull, geometry, [height, width]),
        )
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
}

/// Correlates images with kernels of outputs by inputs (of a group) by height by width.
fn correlate(x: Tensor<4>, kernel: &Tensor<4>, geometry: Geometry) -> Tensor<4> {
    let Geometry { stride, padding, groups } = geometry;
    if groups == 1 && cpu::takes(&x) {
        return cpu::correlate(x, kernel, geometry);
    }
    conv2d(x, kernel.clone(), None, ConvOptions::new([stride; 2], [padding; 2], [1, 1], groups))
}

/// The adjoint of [`correlate`] for images of the given height and width.
fn spread(y: Tensor<4>, kernel: &Tensor<4>, geometry: Geometry, size: [usize; 2]) -> Tensor<4> {
    let Geometry { stride, padding, groups } = geometry;
    if groups == 1 && cpu::takes(&y) {
        return cpu::spread(y, kernel, geometry, size);
    }
    let ([_, _, height, width], [_, _, kernel_height, kernel_width]) = (y.dims(), kernel.dims());
    // Rows and columns at the end that no kernel reaches.
    let rest = |size: usize, from: usize, kernel: usize| size + 2 * padding - stride * (from - 1) - kernel;
    let rest = [rest(size[0], height, kernel_height), rest(size[1], width, kernel_width)];
    conv_transpose2d(
        y,
        kernel.clone(),
        None,
        ConvTransposeOptions::new([stride; 2], [padding; 2], rest, [1, 1], groups),
    )
}

/// Correlates each channel with its own kernel.
fn correlate_planes(x: Tensor<4>, kernels: &Tensor<4>, padding: usize) -> Tensor<4> {
    if cpu::takes(&x)
        && let Some(y) = cpu::correlate_planes(&x, kernels, padding)
    {
        return y;
    }
    let channels = x.dims()[1];
    conv2d(x, kernels.clone(), None, ConvOptions::new([1, 1], [padding; 2], [1, 1], channels))
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
