//! The operations that take most of the time, for single precision on the CPU.
//!
//! Elsewhere (in double precision, on other devices) burn's operations do the same; the tests hold the two against each
//! other. What is gained here is memory traffic: images stay as they lie in memory instead of being turned around for a
//! matrix product, and what belongs together is done in one pass.

mod channels;
mod convolution;
mod planes;
mod wavelet;

use burn_flex::{Flex, FlexTensor};
use burn_tensor::{DType, Device, Tensor, TensorData};

pub(super) use channels::{activate, dot_planes, pull_activation, scale_channels};
pub(super) use convolution::{Geometry, correlate, spread};
pub(super) use planes::correlate_planes;
pub(super) use wavelet::{from_wavelet, to_wavelet};

/// Whether the operations of this module take this tensor.
pub(super) fn takes<const D: usize>(x: &Tensor<D>) -> bool {
    x.dtype() == DType::F32 && x.device() == Device::flex()
}

/// The elements of a tensor in row-major order.
struct Elements(FlexTensor);

impl Elements {
    fn of<const D: usize>(x: Tensor<D>) -> Self {
        let tensor = x.try_into_primitive::<Flex>().expect("the tensor is on the CPU");
        // What is in order already is not copied.
        let is_whole = tensor.is_contiguous() && tensor.bytes().len() == 4 * tensor.layout().num_elements();
        Self(if is_whole { tensor } else { tensor.to_contiguous() })
    }

    fn get(&self) -> &[f32] {
        self.0.storage()
    }

    /// For writing, if nobody else looks at them.
    fn get_mut(&mut self) -> Option<&mut [f32]> {
        self.0.try_storage_mut()
    }

    fn into_tensor<const D: usize>(self) -> Tensor<D> {
        Tensor::from_primitive::<Flex>(self.0)
    }
}

/// A tensor of these elements.
fn tensor<const D: usize>(elements: Vec<f32>, shape: [usize; D]) -> Tensor<D> {
    Tensor::from_data(TensorData::new(elements, shape), (&Device::flex(), DType::F32))
}

#[cfg(test)]
mod tests {
    use crate::place::to_vec;
    use crate::tape::check::wavy;
    use crate::tape::{Tape, Var};

    use super::*;

    /// Asserts that value and gradient are those that burn's operations give in double precision.
    fn assert_as_in_double<const D: usize, const E: usize>(
        shape: [usize; D],
        function: impl Fn(Var<D>, DType) -> Var<E>,
    ) {
        let run = |dtype: DType| {
            let input = Tape::new().input(wavy(shape, 0.83).cast(dtype));
            assert_eq!(takes(input.value()), dtype == DType::F32);
            let output = function(input.clone(), dtype);
            let gradient = output.pull_back(wavy(output.dims(), 0.37).cast(dtype), &input);
            (to_vec(output.into_value()), to_vec(gradient))
        };
        let ((value, gradient), (expected_value, expected_gradient)) = (run(DType::F32), run(DType::F64));
        for (found, expected) in [(value, expected_value), (gradient, expected_gradient)] {
            assert_eq!(found.len(), expected.len());
            let size = expected.iter().map(|x| x.abs()).fold(0.0, f64::max);
            for (index, (found, expected)) in found.iter().zip(&expected).enumerate() {
                // Single precision has 24 bits, and sums are of some thousand terms that nearly cancel; a pixel too many or
                // too few would show in the first digit.
                assert!((found - expected).abs() < 2e-5 * size, "element {index}: {found} and {expected}");
            }
        }
    }

    #[test]
    fn convolutions_are_those_of_double_precision() {
        let kernel = |shape: [usize; 4], dtype| wavy(shape, 0.7).cast(dtype);
        for shape in [[2, 3, 5, 7], [1, 3, 1, 1]] {
            assert_as_in_double(shape, |x, dtype| x.convolve(&kernel([4, 3, 3, 3], dtype), 1));
            assert_as_in_double(shape, |x, dtype| x.convolve(&kernel([4, 3, 1, 1], dtype), 0));
            assert_as_in_double(shape, |x, dtype| x.convolve_transposed(&kernel([3, 2, 3, 3], dtype), 0));
            assert_as_in_double(shape, |x, dtype| x.convolve_transposed(&kernel([3, 2, 4, 4], dtype), 1));
            assert_as_in_double(shape, |x, dtype| x.convolve_depthwise(&kernel([3, 1, 3, 3], dtype), 1));
            assert_as_in_double(shape, |x, dtype| x.filter_transposed(&wavy([4, 4], 0.7).cast(dtype), 1));
        }
        for size in [6, 7] {
            assert_as_in_double([2, 3, size, 5], |x, dtype| x.convolve_halving(&kernel([4, 3, 3, 3], dtype)));
            assert_as_in_double([2, 3, size, 5], |x, dtype| x.convolve_halving(&kernel([4, 3, 1, 1], dtype)));
            assert_as_in_double([2, 3, size, 5], |x, dtype| x.filter(&wavy([4, 4], 0.7).cast(dtype), 1));
        }
    }

    #[test]
    fn strips_of_rows_make_whole_images() {
        let shape = [1, 128, 48, 40];
        const { assert!(128 * 9 * 48 * 40 > 2 * convolution::STRIP, "there are three strips") };
        assert_as_in_double(shape, |x, dtype| x.convolve(&wavy([2, 128, 3, 3], 0.7).cast(dtype), 1));
        assert_as_in_double([1, 2, 48, 40], |x, dtype| {
            x.convolve_transposed(&wavy([2, 128, 3, 3], 0.7).cast(dtype), 0)
        });
    }

    #[test]
    fn styles_are_those_of_double_precision() {
        let image = |dtype| Var::constant(wavy([2, 3, 7, 5], 0.6).cast(dtype));
        assert_as_in_double([2, 3], |scales, dtype| image(dtype).scale_channels(scales));
        assert_as_in_double([2, 3, 7, 5], |x, dtype| x.scale_channels(Var::constant(wavy([2, 3], 0.4).cast(dtype))));
        for n in [1, 2] {
            assert_as_in_double([2, 3, 7, 5], |x, dtype| {
                let (noise, bias) = (wavy([n, 1, 7, 5], 0.3).cast(dtype), wavy([1, 3, 1, 1], 0.9).cast(dtype));
                x.clone().activate(Some(&noise), &bias, 0.2, 1.5) + x.activate(None, &bias, 0.1, 1.0)
            });
        }
        assert_as_in_double([2, 8, 3, 5], |x, _| x.from_wavelet());
    }

    #[test]
    fn what_others_look_at_is_not_written_over() {
        let x = Var::constant(wavy([1, 2, 3, 4], 0.6).cast(DType::F32));
        let before = to_vec(x.value().clone());
        let bias = wavy([1, 2, 1, 1], 0.9).cast(DType::F32);
        let _ = x.clone().activate(None, &bias, 0.2, 1.0);
        let _ = x.clone().scale_channels(Var::constant(wavy([1, 2], 0.4).cast(DType::F32)));
        assert_eq!(to_vec(x.into_value()), before);
    }
}
