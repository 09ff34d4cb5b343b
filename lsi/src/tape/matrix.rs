//! Matrix products.

use burn_tensor::Tensor;

use super::Var;

impl Var<2> {
    /// `x W^T + b` for rows `x`, with the weight as PyTorch stores it: outputs by inputs.
    pub fn linear(self, weight: &Tensor<2>, bias: Option<&Tensor<1>>) -> Self {
        let for_pull = weight.clone();
        let product = self.map(
            |x| x.matmul(weight.clone().transpose()),
            |_, _| move |cotangent: Tensor<2>| cotangent.matmul(for_pull.clone()),
        );
        match bias {
            Some(bias) => product + &bias.clone().unsqueeze(),
            None => product,
        }
    }
}

impl Var<4> {
    /// The product of the matrices in the last two dimensions, for every pair of leading indices.
    pub fn matmul(self, other: Self) -> Self {
        self.zip(
            other,
            |a, b| a.matmul(b),
            |_, b| {
                let b = b.clone();
                move |cotangent: Tensor<4>| cotangent.matmul(b.clone().transpose())
            },
            |a, _| {
                let a = a.clone();
                move |cotangent: Tensor<4>| a.clone().transpose().matmul(cotangent)
            },
        )
    }

    /// `A x B^T` for the image `x` in the last two dimensions: a linear map that acts on rows and columns apart, such as
    /// resizing.
    pub fn sandwich(self, rows: &Tensor<2>, columns: &Tensor<2>) -> Self {
        let (a, b) = (rows.clone(), columns.clone());
        self.map(
            |x| sandwich(x, rows, columns),
            |_, _| {
                let (a, b) = (a.transpose(), b.transpose());
                move |cotangent| sandwich(cotangent, &a, &b)
            },
        )
    }
}

fn sandwich(x: Tensor<4>, rows: &Tensor<2>, columns: &Tensor<2>) -> Tensor<4> {
    let [n, c, h, w] = x.dims();
    let [new_h, new_w] = [rows.dims()[0], columns.dims()[0]];
    let narrowed = x.reshape([n * c * h, w]).matmul(columns.clone().transpose());
    let stacked = narrowed.reshape([n * c, h, new_w]);
    let rows = rows.clone().unsqueeze::<3>().expand([n * c, new_h, h]);
    rows.matmul(stacked).reshape([n, c, new_h, new_w])
}

#[cfg(test)]
mod tests {
    use super::super::check::{assert_gradient, wavy};
    use super::*;

    #[test]
    fn matrix_products_have_their_gradients() {
        let (weight, bias) = (wavy([3, 4], 0.7), wavy([3], 0.9));
        assert_gradient([2, 4], |x| x.linear(&weight, Some(&bias)).square());
        assert_gradient([2, 1, 3, 3], |x| x.clone().matmul(x.permute([0, 1, 3, 2])));
    }

    #[test]
    fn a_sandwich_acts_on_rows_and_columns_apart() {
        let (rows, columns) = (wavy([2, 3], 0.4), wavy([5, 4], 0.6));
        assert_gradient([2, 2, 3, 4], |x| x.sandwich(&rows, &columns).square());

        let image = wavy([1, 1, 3, 4], 0.3);
        let direct = rows.clone().matmul(image.clone().reshape([3, 4])).matmul(columns.clone().transpose());
        let found = Var::constant(image).sandwich(&rows, &columns).into_value().reshape([2, 5]);
        assert!((found - direct).abs().max().into_scalar::<f64>() < 1e-14);
    }
}
