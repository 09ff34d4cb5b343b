//! Gradients against finite differences, for the tests of this crate.

use burn_tensor::{DType, Device, Tensor, TensorData};

use super::{Tape, Var};

/// A smooth tensor in f64: the sine of `rate` times the index, plus a little of a second frequency so that no two
/// elements are alike and none is zero.
pub(crate) fn wavy<const D: usize>(shape: [usize; D], rate: f64) -> Tensor<D> {
    let count = shape.iter().product();
    let values = (0..count).map(|i| (rate * (i as f64 + 0.5)).sin() + 0.3 * (1.9 * i as f64).cos()).collect();
    from_vec(values, shape)
}

/// Asserts that the gradient of `function` is that of central differences, in every direction.
pub(crate) fn assert_gradient<const D: usize, const E: usize>(shape: [usize; D], function: impl Fn(Var<D>) -> Var<E>) {
    const STEP: f64 = 1e-5;
    // Central differences are right to about STEP^2 and to rounding / STEP, for values of order 1.
    const TOLERANCE: f64 = 1e-7;
    let point = wavy(shape, 0.83);
    let tape = Tape::new();
    let input = tape.input(point.clone());
    let output = function(input.clone());
    let cotangent = wavy(output.dims(), 0.37);
    let gradient = to_vec(output.pull_back(cotangent.clone(), &input));

    let values = to_vec(point);
    for index in 0..values.len() {
        let at = |step: f64| {
            let mut values = values.clone();
            values[index] += step;
            let output = function(Var::constant(from_vec(values, shape))).into_value();
            (output * cotangent.clone()).sum().into_scalar::<f64>()
        };
        let expected = (at(STEP) - at(-STEP)) / (2.0 * STEP);
        let error = (gradient[index] - expected).abs();
        assert!(error < TOLERANCE * (1.0 + expected.abs()), "element {index}: {} and {expected}", gradient[index]);
    }
}

fn from_vec<const D: usize>(values: Vec<f64>, shape: [usize; D]) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values, shape), (&Device::flex(), DType::F64))
}

fn to_vec<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.try_into_vec_as::<f64>().expect("f64 tensors on the CPU can be read")
}
