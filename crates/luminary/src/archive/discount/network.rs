//! A perceptron with two hidden layers, the gradient of its squared error, and Adam.
//!
//! Numbers are of single precision, and everything happens in one thread in a fixed order: the same examples give the
//! same bits on every machine and with any number of threads around.

use luminary_math::{Level, WideRng, dispatch};

use super::products::{Left, multiply};

/// Neurons of each hidden layer, as in the paper.
pub(super) const HIDDEN: usize = 128;

/// Rows that are looked at together when nothing is learnt.
const BLOCK: usize = 64;

/// A network from some inputs to one output: linear, ReLU, linear, ReLU, linear.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Network {
    n_inputs: usize,
    /// Weights and biases of the first layer, of the second and of the last; weights by input, then by output.
    parameters: Vec<f32>,
}

/// Weights and biases, layer by layer. Gradients and moments have the same shape.
struct Layers<'a> {
    weights_1: &'a [f32],
    biases_1: &'a [f32; HIDDEN],
    weights_2: &'a [f32],
    biases_2: &'a [f32; HIDDEN],
    weights_3: &'a [f32],
    bias_3: f32,
}

/// The parameters of the last layer: a weight for each neuron, and a bias.
const LAST_LAYER: usize = HIDDEN + 1;

/// What a batch looks like inside the network, and the gradient of its error. Kept from batch to batch.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    hidden_1: Vec<f32>,
    hidden_2: Vec<f32>,
    outputs: Vec<f32>,
    errors_1: Vec<f32>,
    errors_2: Vec<f32>,
    transposed: Vec<f32>,
    pub(super) gradient: Vec<f32>,
}

impl Network {
    /// Number of parameters of a network with so many inputs.
    pub(super) fn n_parameters(n_inputs: usize) -> usize {
        (n_inputs + 1) * HIDDEN + (HIDDEN + 1) * HIDDEN + LAST_LAYER
    }

    /// Parameters drawn uniformly within one over the square root of a layer's inputs, as is usual for linear layers.
    pub(super) fn random(n_inputs: usize, rng: &mut WideRng) -> Self {
        let layers = [(n_inputs, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, 1)];
        let mut parameters = Vec::with_capacity(Self::n_parameters(n_inputs));
        for (n_from, n_to) in layers {
            let limit = 1.0 / (n_from as f64).sqrt();
            parameters.extend((0..(n_from + 1) * n_to).map(|_| (limit * (2.0 * rng.uniform() - 1.0)) as f32));
        }
        Self { n_inputs, parameters }
    }

    /// All weights and biases.
    pub(super) fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    /// All weights and biases, to be changed.
    pub(super) fn parameters_mut(&mut self) -> &mut [f32] {
        &mut self.parameters
    }

    /// Multiplies every output by a factor.
    pub(super) fn scale_outputs(&mut self, factor: f32) {
        let first = self.parameters.len() - LAST_LAYER;
        self.parameters[first..].iter_mut().for_each(|parameter| *parameter *= factor);
    }

    /// Writes the output for each row of inputs.
    pub(super) fn outputs(&self, inputs: &[f32], out: &mut [f32]) {
        let mut scratch = Scratch::default();
        for (inputs, out) in inputs.chunks(BLOCK * self.n_inputs).zip(out.chunks_mut(BLOCK)) {
            self.forward(inputs, &mut scratch);
            out.copy_from_slice(&scratch.outputs);
        }
    }

    /// Computes the gradient of the mean squared error over a batch and returns the error.
    pub(super) fn gradient(&self, inputs: &[f32], targets: &[f32], scratch: &mut Scratch) -> f64 {
        self.forward(inputs, scratch);
        let layers = self.layers();
        let Scratch { hidden_1, hidden_2, outputs, errors_1, errors_2, transposed, gradient } = scratch;
        gradient.resize(self.parameters.len(), 0.0);
        let (weights_1, rest) = gradient.split_at_mut(self.n_inputs * HIDDEN);
        let (biases_1, rest) = rest.split_at_mut(HIDDEN);
        let (weights_2, rest) = rest.split_at_mut(HIDDEN * HIDDEN);
        let (biases_2, rest) = rest.split_at_mut(HIDDEN);
        let (weights_3, bias_3) = rest.split_at_mut(HIDDEN);
        let mut loss = 0.0;
        weights_3.fill(0.0);
        bias_3.fill(0.0);
        resize_rows(errors_2, targets.len());
        let rows = hidden_2.chunks_exact(HIDDEN).zip(errors_2.chunks_exact_mut(HIDDEN));
        for ((hidden, errors), (output, target)) in rows.zip(outputs.iter().zip(targets)) {
            let difference = output - target;
            loss += f64::from(difference) * f64::from(difference);
            let slope = 2.0 * difference / targets.len() as f32;
            bias_3[0] += slope;
            for i in 0..HIDDEN {
                weights_3[i] += slope * hidden[i];
                errors[i] = if hidden[i] > 0.0 { slope * layers.weights_3[i] } else { 0.0 };
            }
        }
        multiply(Left::transposed(hidden_1, HIDDEN), errors_2, &[0.0; HIDDEN], weights_2);
        add_rows(errors_2, biases_2);
        transpose(layers.weights_2, transposed);
        resize_rows(errors_1, targets.len());
        multiply(Left::rows(errors_2, HIDDEN), transposed, &[0.0; HIDDEN], errors_1);
        errors_1.iter_mut().zip(&*hidden_1).for_each(|(error, &hidden)| {
            if hidden <= 0.0 {
                *error = 0.0;
            }
        });
        multiply(Left::transposed(inputs, self.n_inputs), errors_1, &[0.0; HIDDEN], weights_1);
        add_rows(errors_1, biases_1);
        loss / targets.len() as f64
    }

    fn forward(&self, inputs: &[f32], scratch: &mut Scratch) {
        let layers = self.layers();
        let n_rows = inputs.len() / self.n_inputs;
        let Scratch { hidden_1, hidden_2, outputs, .. } = scratch;
        resize_rows(hidden_1, n_rows);
        resize_rows(hidden_2, n_rows);
        multiply(Left::rows(inputs, self.n_inputs), layers.weights_1, layers.biases_1, hidden_1);
        rectify(hidden_1);
        multiply(Left::rows(hidden_1, HIDDEN), layers.weights_2, layers.biases_2, hidden_2);
        rectify(hidden_2);
        outputs.clear();
        outputs.extend(hidden_2.chunks_exact(HIDDEN).map(|hidden| layers.bias_3 + dot(hidden, layers.weights_3)));
    }

    fn layers(&self) -> Layers<'_> {
        let (weights_1, rest) = self.parameters.split_at(self.n_inputs * HIDDEN);
        let (biases_1, rest) = rest.split_first_chunk().expect("the first layer has biases");
        let (weights_2, rest) = rest.split_at(HIDDEN * HIDDEN);
        let (biases_2, rest) = rest.split_first_chunk().expect("the second layer has biases");
        let (weights_3, bias_3) = rest.split_at(HIDDEN);
        Layers { weights_1, biases_1, weights_2, biases_2, weights_3, bias_3: bias_3[0] }
    }
}

fn resize_rows(rows: &mut Vec<f32>, n_rows: usize) {
    rows.resize(n_rows * HIDDEN, 0.0);
}

fn rectify(values: &mut [f32]) {
    values.iter_mut().for_each(|value| *value = value.max(0.0));
}

/// The sum of all rows.
fn add_rows(rows: &[f32], out: &mut [f32]) {
    out.fill(0.0);
    for row in rows.chunks_exact(HIDDEN) {
        out.iter_mut().zip(row).for_each(|(out, value)| *out += value);
    }
}

fn transpose(square: &[f32], out: &mut Vec<f32>) {
    out.resize(square.len(), 0.0);
    for (i, row) in square.chunks_exact(HIDDEN).enumerate() {
        row.iter().enumerate().for_each(|(j, &value)| out[j * HIDDEN + i] = value);
    }
}

/// Scalar product, in eight partial sums whose order is fixed.
fn dot(x: &[f32], y: &[f32]) -> f32 {
    let mut sums = [0.0; 8];
    for (x, y) in x.as_chunks::<8>().0.iter().zip(y.as_chunks::<8>().0) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum()
}

/// Adam (Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015), Algorithm 1 with its recommended settings.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Adam {
    /// The first moments, m.
    pub(super) means: Vec<f32>,
    /// The second moments, v.
    pub(super) squares: Vec<f32>,
    /// beta_1 to the power of the steps taken.
    pub(super) decay_1: f64,
    /// beta_2 to the power of the steps taken.
    pub(super) decay_2: f64,
}

const BETA_1: f32 = 0.9;
const BETA_2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

impl Adam {
    pub(super) fn new(n_parameters: usize) -> Self {
        Self { means: vec![0.0; n_parameters], squares: vec![0.0; n_parameters], decay_1: 1.0, decay_2: 1.0 }
    }

    /// Goes down a gradient.
    pub(super) fn step(&mut self, parameters: &mut [f32], gradient: &[f32], step_size: f64) {
        self.decay_1 *= f64::from(BETA_1);
        self.decay_2 *= f64::from(BETA_2);
        let length = (step_size / (1.0 - self.decay_1)) as f32;
        let correction = (1.0 / (1.0 - self.decay_2)) as f32;
        descend_at(Level::best(), parameters, gradient, &mut self.means, &mut self.squares, length, correction);
    }
}

dispatch! {
    fn descend_at(
        level: Level,
        parameters: &mut [f32],
        gradient: &[f32],
        means: &mut [f32],
        squares: &mut [f32],
        length: f32,
        correction: f32,
    ) {
        let moments = means.iter_mut().zip(squares.iter_mut());
        for ((parameter, &slope), (mean, square)) in parameters.iter_mut().zip(gradient).zip(moments) {
            *mean = BETA_1 * *mean + (1.0 - BETA_1) * slope;
            *square = BETA_2 * *square + (1.0 - BETA_2) * slope * slope;
            *parameter -= length * *mean / ((*square * correction).sqrt() + EPSILON);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, rng: &mut WideRng) -> Vec<f32> {
        (0..n).map(|_| 2.0 * rng.uniform() as f32 - 1.0).collect()
    }

    #[test]
    fn the_gradient_is_that_of_differences() {
        for n_inputs in [1, 2, 10] {
            let mut rng = WideRng::new(n_inputs as u64);
            let network = Network::random(n_inputs, &mut rng);
            assert_eq!(network.parameters().len(), Network::n_parameters(n_inputs));
            let n_rows = 7;
            let inputs = numbers(n_rows * n_inputs, &mut rng);
            let targets = numbers(n_rows, &mut rng);
            let mut scratch = Scratch::default();
            network.gradient(&inputs, &targets, &mut scratch);
            let gradient = scratch.gradient.clone();
            let largest = gradient.iter().fold(0.0_f32, |largest, slope| largest.max(slope.abs()));
            let loss = |at: usize, by: f32| {
                let mut moved = network.clone();
                moved.parameters_mut()[at] += by;
                moved.gradient(&inputs, &targets, &mut Scratch::default())
            };
            // Some parameters of each layer, and the bias of the last.
            let n = gradient.len();
            for at in (0..n).step_by(397).chain(n - 5..n) {
                let h = 1e-3;
                let difference = (loss(at, h) - loss(at, -h)) / f64::from(2.0 * h);
                let found = f64::from(gradient[at]);
                // Single precision, and a kink that one of the neurons may cross.
                assert!(
                    (found - difference).abs() < 2e-3 * f64::from(largest),
                    "{n_inputs} {at}: {found} {difference}"
                );
            }
        }
    }

    #[test]
    fn outputs_do_not_depend_on_the_rows_beside_them() {
        let mut rng = WideRng::new(3);
        let network = Network::random(2, &mut rng);
        let inputs = numbers(2 * (BLOCK + 5), &mut rng);
        let mut together = vec![0.0; BLOCK + 5];
        network.outputs(&inputs, &mut together);
        for (inputs, &expected) in inputs.chunks_exact(2).zip(&together) {
            let mut alone = [0.0];
            network.outputs(inputs, &mut alone);
            assert_eq!(alone[0], expected);
        }
    }

    #[test]
    fn instruction_sets_take_the_same_steps() {
        let gradient = numbers(1000, &mut WideRng::new(1));
        let step = |level| {
            let mut parameters = numbers(1000, &mut WideRng::new(2));
            let mut adam = Adam::new(1000);
            descend_at(level, &mut parameters, &gradient, &mut adam.means, &mut adam.squares, 0.1, 1.5);
            (parameters, adam)
        };
        assert!(Level::available().all(|level| step(level) == step(Level::BASELINE)));
    }
}
