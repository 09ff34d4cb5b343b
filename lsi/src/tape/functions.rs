//! Functions applied to each element.

use burn_tensor::{Tensor, activation};

use super::Var;

impl<const D: usize> Var<D> {
    /// `x^2`.
    pub fn square(self) -> Self {
        self.map(|x| x.square(), |x, _| times(x.mul_scalar(2.0)))
    }

    /// The square root. The derivative at zero is infinite.
    pub fn sqrt(self) -> Self {
        self.map(|x| x.sqrt(), |_, y| times(y.clone().recip().mul_scalar(0.5)))
    }

    /// `1 / x`.
    pub fn recip(self) -> Self {
        self.map(|x| x.recip(), |_, y| times(y.clone().square().neg()))
    }

    /// `1 / sqrt(x)`.
    pub fn rsqrt(self) -> Self {
        self.map(|x| x.sqrt().recip(), |x, y| times((y.clone() / x).mul_scalar(-0.5)))
    }

    /// The arc sine.
    pub fn asin(self) -> Self {
        self.map(|x| x.asin(), |x, _| times(x.square().neg().add_scalar(1.0).sqrt().recip()))
    }

    /// What is above `min`, and `min` for the rest.
    pub fn clamp_min(self, min: f64) -> Self {
        self.map(
            |x| x.clamp_min(min),
            |x, _| {
                let is_clamped = x.lower_equal_scalar(min);
                move |cotangent: Tensor<D>| cotangent.mask_fill(is_clamped.clone(), 0.0)
            },
        )
    }

    /// `x` above zero, `slope x` below.
    pub fn leaky_relu(self, slope: f64) -> Self {
        self.map(
            |x| activation::leaky_relu(x, slope),
            // A mask is a quarter of the memory of the argument.
            |x, _| {
                let is_negative = x.lower_equal_scalar(0.0);
                move |cotangent: Tensor<D>| {
                    let scaled = cotangent.clone().mul_scalar(slope);
                    cotangent.mask_where(is_negative.clone(), scaled)
                }
            },
        )
    }

    /// `x sigmoid(1.702 x)`, the activation of CLIP.
    pub fn quick_gelu(self) -> Self {
        const STEEPNESS: f64 = 1.702;
        let gate = |x: &Tensor<D>| activation::sigmoid(x.clone().mul_scalar(STEEPNESS));
        self.map(
            |x| gate(&x) * x,
            |x, y| {
                let gate = gate(&x);
                let slope = gate.clone() + y.clone() * gate.neg().add_scalar(1.0).mul_scalar(STEEPNESS);
                times(slope)
            },
        )
    }
}

/// The pull of a function with this derivative.
fn times<const D: usize>(derivative: Tensor<D>) -> impl Fn(Tensor<D>) -> Tensor<D> + 'static {
    move |cotangent| cotangent * derivative.clone()
}

#[cfg(test)]
mod tests {
    use super::super::check::assert_gradient;

    #[test]
    fn functions_have_their_derivatives() {
        assert_gradient([3, 4], |x| x.square());
        assert_gradient([3, 4], |x| x.square().add_scalar(0.5).sqrt());
        assert_gradient([3, 4], |x| x.add_scalar(3.0).recip());
        assert_gradient([3, 4], |x| x.square().add_scalar(0.5).rsqrt());
        assert_gradient([3, 4], |x| x.mul_scalar(0.4).asin());
        assert_gradient([3, 4], |x| x.clamp_min(0.2));
        assert_gradient([3, 4], |x| x.leaky_relu(0.2));
        assert_gradient([3, 4], |x| x.quick_gelu());
    }
}
