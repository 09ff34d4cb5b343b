//! Moving elements about.

use std::ops::Range;

use burn_tensor::Tensor;

use super::Var;

impl<const D: usize> Var<D> {
    /// The same elements in row-major order, in another shape.
    pub fn reshape<const E: usize>(self, shape: [usize; E]) -> Var<E> {
        let dims = self.dims();
        self.map(|x| x.reshape(shape), |_, _| move |cotangent: Tensor<E>| cotangent.reshape(dims))
    }

    /// Dimension `i` of the result is dimension `axes[i]` of the argument.
    pub fn permute(self, axes: [usize; D]) -> Self {
        let mut inverse = [0; D];
        for (to, &from) in axes.iter().enumerate() {
            inverse[from] = to;
        }
        self.map(|x| x.permute(axes), |_, _| move |cotangent: Tensor<D>| cotangent.permute(inverse))
    }

    /// The elements of `range` in dimension `dim`.
    pub fn narrow(self, dim: usize, range: Range<usize>) -> Self {
        let (start, length) = (range.start, range.len());
        self.map(
            |x| x.narrow(dim, start, length),
            |x, _| {
                let shape = x.dims();
                move |cotangent: Tensor<D>| {
                    let beside = |length| {
                        let mut shape = shape;
                        shape[dim] = length;
                        (length > 0).then(|| Tensor::zeros(shape, (&cotangent.device(), cotangent.dtype())))
                    };
                    let (before, after) = (beside(start), beside(shape[dim] - start - length));
                    Tensor::cat(before.into_iter().chain([cotangent]).chain(after).collect(), dim)
                }
            },
        )
    }

    /// Both tensors one after the other in dimension `dim`.
    pub fn cat(self, other: Self, dim: usize) -> Self {
        let (n_first, n_second) = (self.dims()[dim], other.dims()[dim]);
        self.zip(
            other,
            |a, b| Tensor::cat(vec![a, b], dim),
            |_, _| move |cotangent: Tensor<D>| cotangent.narrow(dim, 0, n_first),
            |_, _| move |cotangent: Tensor<D>| cotangent.narrow(dim, n_first, n_second),
        )
    }

    /// Repeats dimensions of length 1 until the shape is `shape`.
    pub fn expand(self, shape: [usize; D]) -> Self {
        let dims = self.dims();
        self.map(|x| x.expand(shape), |_, _| move |cotangent| super::sum_to(cotangent, dims))
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{assert_gradient, wavy};
    use super::*;

    #[test]
    fn moved_elements_take_their_cotangents_back() {
        assert_gradient([2, 3, 4], |x| x.clone().reshape([4, 3, 2]).permute([2, 1, 0]) * x.reshape([2, 3, 4]));
        assert_gradient([2, 3, 4], |x| x.permute([1, 2, 0]).square());
        assert_gradient([2, 5], |x| x.clone().narrow(1, 1..3) * x.narrow(1, 3..5));
        assert_gradient([1, 5], |x| x.expand([3, 5]) * &wavy([3, 5], 0.4));
        assert_gradient([2, 2], |x| x.clone().cat(Var::constant(wavy([2, 3], 0.2)), 1).cat(x.square(), 1));
    }
}
