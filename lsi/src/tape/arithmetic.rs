//! Sums, products and reductions.

use std::ops::{Add, Mul, Sub};

use burn_tensor::Tensor;

use super::Var;

/// Shapes broadcast: a dimension of 1 fits any other.
impl<const D: usize> Add for Var<D> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (dims, other_dims) = (self.dims(), other.dims());
        self.zip(
            other,
            |a, b| a + b,
            |_, _| move |cotangent| sum_to(cotangent, dims),
            |_, _| move |cotangent| sum_to(cotangent, other_dims),
        )
    }
}

/// Shapes broadcast: a dimension of 1 fits any other.
impl<const D: usize> Sub for Var<D> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        let (dims, other_dims) = (self.dims(), other.dims());
        self.zip(
            other,
            |a, b| a - b,
            |_, _| move |cotangent| sum_to(cotangent, dims),
            |_, _| move |cotangent: Tensor<D>| sum_to(cotangent.neg(), other_dims),
        )
    }
}

/// Element by element. Shapes broadcast: a dimension of 1 fits any other.
impl<const D: usize> Mul for Var<D> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let (dims, other_dims) = (self.dims(), other.dims());
        self.zip(
            other,
            |a, b| a * b,
            |_, b| {
                let b = b.clone();
                move |cotangent| sum_to(cotangent * b.clone(), dims)
            },
            |a, _| {
                let a = a.clone();
                move |cotangent| sum_to(cotangent * a.clone(), other_dims)
            },
        )
    }
}

/// A constant summand.
impl<const D: usize> Add<&Tensor<D>> for Var<D> {
    type Output = Self;

    fn add(self, constant: &Tensor<D>) -> Self {
        self + Var::constant(constant.clone())
    }
}

/// A constant factor for each element.
impl<const D: usize> Mul<&Tensor<D>> for Var<D> {
    type Output = Self;

    fn mul(self, constant: &Tensor<D>) -> Self {
        self * Var::constant(constant.clone())
    }
}

impl<const D: usize> Var<D> {
    /// Adds a number to every element.
    pub fn add_scalar(self, scalar: f64) -> Self {
        self.map(|x| x.add_scalar(scalar), |_, _| |cotangent| cotangent)
    }

    /// Multiplies every element by a number.
    pub fn mul_scalar(self, scalar: f64) -> Self {
        self.map(|x| x.mul_scalar(scalar), |_, _| move |cotangent: Tensor<D>| cotangent.mul_scalar(scalar))
    }

    /// Sums over `dims`, which stay with length 1.
    pub fn sum_dims(self, dims: &[usize]) -> Self {
        let shape = self.dims();
        self.map(|x| x.sum_dims(dims), |_, _| move |cotangent: Tensor<D>| cotangent.expand(shape))
    }

    /// Means over `dims`, which stay with length 1.
    pub fn mean_dims(self, dims: &[usize]) -> Self {
        let shape = self.dims();
        let count: usize = dims.iter().map(|&dim| shape[dim]).product();
        self.sum_dims(dims).mul_scalar(1.0 / count as f64)
    }
}

/// Sums over the dimensions in which `dims` has length 1: the adjoint of broadcasting from `dims`.
pub fn sum_to<const D: usize>(tensor: Tensor<D>, dims: [usize; D]) -> Tensor<D> {
    let found = tensor.dims();
    let broadcast: Vec<usize> = (0..D).filter(|&dim| dims[dim] == 1 && found[dim] != 1).collect();
    if broadcast.is_empty() { tensor } else { tensor.sum_dims(&broadcast) }
}

#[cfg(test)]
mod tests {
    use super::super::check::{assert_gradient, wavy};
    use super::*;

    #[test]
    fn sums_and_products_broadcast_forwards_and_backwards() {
        let column = Var::constant(wavy([2, 1, 3], 0.3));
        assert_gradient([1, 4, 3], |x| x.clone() * column.clone() + x);
        assert_gradient([2, 4, 3], |x| column.clone() - x.clone() * x);
        assert_gradient([2, 4, 1], |x| x.clone() * column.clone() - x.mul_scalar(3.0).add_scalar(1.0));
    }

    #[test]
    fn reductions_spread_their_cotangent() {
        assert_gradient([2, 4, 3], |x| (x.clone() * x).sum_dims(&[0, 2]));
        assert_gradient([2, 4, 3], |x| (x.clone() * x).mean_dims(&[1]));
    }
}
