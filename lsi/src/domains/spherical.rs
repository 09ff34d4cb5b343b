//! Distances between unit vectors.

use burn_tensor::Tensor;

use crate::tape::Var;

/// The angle between each row of `vectors` and each row of `targets`, all unit vectors: `2 asin(|a - b| / 2)`.
pub(super) fn angles(vectors: Var<2>, targets: &Tensor<2>) -> Var<2> {
    // |a - b|^2 = 2 - 2 a.b for unit vectors. Rounding may take it below zero for equal ones, where the root has no
    // derivative either.
    let squared = vectors.linear(targets, None).mul_scalar(-2.0).add_scalar(2.0).clamp_min(1e-12);
    squared.sqrt().mul_scalar(0.5).asin().mul_scalar(2.0)
}

#[cfg(test)]
mod tests {
    use crate::place::{Place, Precision, to_vec};

    use super::*;

    #[test]
    fn angles_are_angles() {
        let place = Place::cpu(Precision::Double);
        let radians = [0.0f64, 0.3, 1.0, 2.5];
        let on_circle = |angles: &[f64]| angles.iter().flat_map(|a| [a.cos(), a.sin()]).collect::<Vec<_>>();
        let vectors = Var::constant(place.tensor(on_circle(&radians), [4, 2]));
        let found = to_vec(angles(vectors, &place.tensor(vec![1.0, 0.0], [1, 2])).into_value());
        for (found, expected) in found.iter().zip(radians) {
            // The clamp leaves an angle of 1e-6 between equal vectors.
            assert!((found - expected).abs() < 2e-6, "{found} and {expected}");
        }
    }
}
