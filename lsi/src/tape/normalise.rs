//! Standardising and softmax: operations in which every element depends on its neighbours.

use burn_tensor::{Tensor, activation};

use super::Var;

impl<const D: usize> Var<D> {
    /// Subtracts the mean over `dims` and divides by `sqrt(variance + epsilon)`, with the variance divided by the number of
    /// elements. Layer norm and instance norm are this over different dimensions, times and plus constants.
    pub fn standardise(self, dims: &[usize], epsilon: f64) -> Self {
        let forward = |x: Tensor<D>| {
            let centred = x.clone() - x.mean_dims(dims);
            let scale = centred.clone().square().mean_dims(dims).add_scalar(epsilon).sqrt().recip();
            (centred * scale.clone(), scale)
        };
        if self.node.is_none() {
            return Var::constant(forward(self.value).0);
        }
        let (standardised, scale) = forward(self.value.clone());
        let dims = dims.to_vec();
        self.map(
            |_| standardised,
            |_, standardised| {
                let standardised = standardised.clone();
                move |cotangent: Tensor<D>| {
                    let mean = cotangent.clone().mean_dims(&dims);
                    let slope = (cotangent.clone() * standardised.clone()).mean_dims(&dims);
                    (cotangent - mean - standardised.clone() * slope) * scale.clone()
                }
            },
        )
    }

    /// `exp(x)` divided by its sum over the last dimension.
    pub fn softmax(self) -> Self {
        self.map(
            |x| activation::softmax(x, D - 1),
            |_, y| {
                let y = y.clone();
                move |cotangent: Tensor<D>| {
                    let mean = (cotangent.clone() * y.clone()).sum_dim(D - 1);
                    (cotangent - mean) * y.clone()
                }
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{assert_gradient, wavy};

    #[test]
    fn standardising_has_its_gradient() {
        let factor = wavy([2, 3, 4], 0.8);
        assert_gradient([2, 3, 4], |x| x.standardise(&[2], 1e-5) * &factor);
        assert_gradient([2, 3, 4], |x| x.standardise(&[1, 2], 1e-5) * &factor);
    }

    #[test]
    fn softmax_has_its_gradient() {
        let factor = wavy([2, 3, 4], 0.8);
        assert_gradient([2, 3, 4], |x| x.softmax() * &factor);
    }
}
