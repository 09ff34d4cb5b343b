//! The discount model of the paper: a small perceptron that is taught a little after every batch.

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use super::network::{Adam, Network, Scratch};
use super::{DiscountConfig, DiscountModel};
use crate::error::{CheckpointError, ConfigError};
use crate::message_pack;

/// How a [`Perceptron`] is taught. The defaults are those of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PerceptronConfig {
    /// Step size of Adam.
    pub step_size: f64,
    /// Examples of one step.
    pub batch_size: usize,
    /// Most passes over the examples in one training.
    pub n_epochs: usize,
    /// A training ends after a pass whose mean squared error is not above this, in units of the range of discounts.
    ///
    /// The paper's experiments stop at 0.05 of the range, as a number without its unit: this is what that is for their
    /// objectives, which go from 0 to 100.
    pub good_enough: f64,
}

impl Default for PerceptronConfig {
    fn default() -> Self {
        Self { step_size: 1e-3, batch_size: 32, n_epochs: 5, good_enough: 5e-4 }
    }
}

impl PerceptronConfig {
    fn check(&self) -> Result<(), ConfigError> {
        for (what, found) in [("the perceptron's batch_size", self.batch_size), ("its n_epochs", self.n_epochs)] {
            if found == 0 {
                return Err(ConfigError::TooFew { what, minimum: 1, found });
            }
        }
        if !(self.step_size.is_finite() && self.step_size > 0.0) {
            let found = self.step_size;
            return Err(ConfigError::Value { what: "the perceptron's step_size", expected: "finite and > 0", found });
        }
        Ok(())
    }
}

/// A perceptron with two hidden layers of 128 neurons, from measures to a discount.
///
/// Measures are mapped from their bounds to [-1, 1]; what lies outside counts as the nearest border, as in a grid.
/// Discounts are counted from `min_f`, in units of the smallest power of two that no target has exceeded. The unit
/// grows with the targets, and the last layer shrinks by as much, which changes no answer because powers of two do not
/// round (van Hasselt et al., "Learning values across many orders of magnitude", 2016). So nobody has to know the range
/// of the objective beforehand, which the paper's experiments do. Before the first target above `min_f` the
/// answer is `min_f`.
#[derive(Clone, Debug)]
pub struct Perceptron {
    config: PerceptronConfig,
    measure_bounds: Vec<(f64, f64)>,
    min_f: f64,
    seed: u64,
    state: State,
    scratch: Scratch,
}

/// What a perceptron has learnt.
#[derive(Clone, Debug, PartialEq)]
struct State {
    network: Network,
    adam: Adam,
    /// What an output of one stands for, once that is known.
    unit: Option<f64>,
    /// Draws the first parameters, and then the order of examples.
    rng: WideRng,
}

impl State {
    fn new(n_inputs: usize, seed: u64) -> Self {
        let mut rng = WideRng::from_path(seed, "archive/perceptron");
        let network = Network::random(n_inputs, &mut rng);
        Self { network, adam: Adam::new(Network::n_parameters(n_inputs)), unit: None, rng }
    }
}

impl Perceptron {
    /// A perceptron that knows nothing, for an archive of these settings.
    ///
    /// # Errors
    /// Settings out of range, or measures without bounds.
    pub fn new(config: PerceptronConfig, archive: &DiscountConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let has_range = |&(lower, upper): &(f64, f64)| (upper - lower).is_finite() && lower < upper;
        if let Some(dimension) = archive.measure_bounds.iter().position(|bounds| !has_range(bounds)) {
            let (lower, upper) = archive.measure_bounds[dimension];
            return Err(ConfigError::MeasureBounds { dimension, lower, upper });
        }
        Ok(Self {
            config,
            measure_bounds: archive.measure_bounds.clone(),
            min_f: archive.min_f,
            seed: archive.seed,
            state: State::new(archive.measure_bounds.len(), archive.seed),
            scratch: Scratch::default(),
        })
    }

    fn inputs(&self, measures: &[f64]) -> Vec<f32> {
        let rows = measures.chunks_exact(self.measure_bounds.len());
        let input = |(measure, &(lower, upper)): (&f64, &(f64, f64))| {
            (2.0 * (measure - lower) / (upper - lower) - 1.0).clamp(-1.0, 1.0) as f32
        };
        rows.flat_map(|row| row.iter().zip(&self.measure_bounds).map(input)).collect()
    }

    /// Targets as the network's outputs should be, after the unit has grown to the largest of them.
    fn outputs_for(&mut self, targets: &[f64]) -> Vec<f32> {
        let largest = targets.iter().fold(0.0_f64, |largest, target| largest.max((target - self.min_f).abs()));
        if largest > 0.0 {
            let unit = power_of_two_from(largest);
            match self.state.unit {
                Some(old) if old >= unit => {}
                Some(old) => {
                    self.state.network.scale_outputs((old / unit) as f32);
                    self.state.unit = Some(unit);
                }
                None => self.state.unit = Some(unit),
            }
        }
        let unit = self.state.unit.unwrap_or(1.0);
        // Only what is beyond the largest unit is clipped.
        targets.iter().map(|target| ((target - self.min_f) / unit).clamp(-1.0, 1.0) as f32).collect()
    }

    /// One pass over all examples in random order; returns the mean squared error, while the network changed.
    fn epoch(&mut self, inputs: &[f32], outputs: &[f32]) -> f64 {
        let n_inputs = self.measure_bounds.len();
        let State { network, adam, rng, .. } = &mut self.state;
        let mut order: Vec<usize> = (0..outputs.len()).collect();
        for i in 0..order.len() {
            let other = i + rng.below(order.len() - i);
            order.swap(i, other);
        }
        let mut total = 0.0;
        let mut batch_inputs = Vec::with_capacity(self.config.batch_size * n_inputs);
        let mut batch_outputs = Vec::with_capacity(self.config.batch_size);
        for rows in order.chunks(self.config.batch_size) {
            batch_inputs.clear();
            batch_outputs.clear();
            for &row in rows {
                batch_inputs.extend_from_slice(&inputs[row * n_inputs..][..n_inputs]);
                batch_outputs.push(outputs[row]);
            }
            let loss = network.gradient(&batch_inputs, &batch_outputs, &mut self.scratch);
            adam.step(network.parameters_mut(), &self.scratch.gradient, self.config.step_size);
            total += loss * rows.len() as f64;
        }
        total / outputs.len() as f64
    }
}

/// The smallest power of two that is not below a positive number, within what can be divided by.
fn power_of_two_from(value: f64) -> f64 {
    let value = value.clamp(1e-300, 1e300);
    // The number without its mantissa.
    let power = f64::from_bits(value.to_bits() >> 52 << 52);
    if power < value { 2.0 * power } else { power }
}

impl DiscountModel for Perceptron {
    fn predict(&self, measures: &[f64], out: &mut [f64]) {
        let Some(unit) = self.state.unit else {
            out.fill(self.min_f);
            return;
        };
        let mut outputs = vec![0.0; out.len()];
        self.state.network.outputs(&self.inputs(measures), &mut outputs);
        out.iter_mut().zip(outputs).for_each(|(out, output)| *out = self.min_f + unit * f64::from(output));
    }

    fn train(&mut self, measures: &[f64], targets: &[f64]) -> Vec<f64> {
        let inputs = self.inputs(measures);
        let outputs = self.outputs_for(targets);
        let mut losses = Vec::new();
        while !outputs.is_empty() && losses.len() < self.config.n_epochs {
            let loss = self.epoch(&inputs, &outputs);
            losses.push(loss);
            if loss <= self.config.good_enough {
                break;
            }
        }
        losses
    }

    fn reset(&mut self) {
        self.state = State::new(self.measure_bounds.len(), self.seed);
    }

    fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        let State { network, adam, unit, rng } = &self.state;
        let saved = Saved {
            parameters: bytes_of(network.parameters()),
            means: bytes_of(&adam.means),
            squares: bytes_of(&adam.squares),
            decay_1: adam.decay_1,
            decay_2: adam.decay_2,
            unit: *unit,
            rng: rng.clone(),
        };
        Ok(rmp_serde::to_vec_named(&saved)?)
    }

    fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        let saved: Saved = message_pack::from_slice(bytes)?;
        if let Some(unit) = saved.unit.filter(|unit| !(unit.is_finite() && *unit > 0.0)) {
            let expected = "a unit that is finite and > 0".into();
            return Err(CheckpointError::Mismatch { what: "perceptron", expected, found: unit.to_string() });
        }
        let mut state = State::new(self.measure_bounds.len(), self.seed);
        load_floats(&saved.parameters, state.network.parameters_mut())?;
        load_floats(&saved.means, &mut state.adam.means)?;
        load_floats(&saved.squares, &mut state.adam.squares)?;
        state.adam.decay_1 = saved.decay_1;
        state.adam.decay_2 = saved.decay_2;
        state.unit = saved.unit;
        state.rng = saved.rng;
        self.state = state;
        Ok(())
    }
}

#[derive(Serialize, Deserialize)]
struct Saved {
    parameters: ByteBuf,
    means: ByteBuf,
    squares: ByteBuf,
    decay_1: f64,
    decay_2: f64,
    unit: Option<f64>,
    rng: WideRng,
}

fn bytes_of(values: &[f32]) -> ByteBuf {
    ByteBuf::from(values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
}

fn load_floats(bytes: &[u8], out: &mut [f32]) -> Result<(), CheckpointError> {
    if bytes.len() != size_of_val(out) {
        return Err(CheckpointError::Mismatch {
            what: "perceptron",
            expected: format!("{} bytes of numbers", size_of_val(out)),
            found: bytes.len().to_string(),
        });
    }
    for (out, &value) in out.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *out = f32::from_le_bytes(value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::{Examples, LearningRate};

    fn perceptron(measure_dim: usize, min_f: f64) -> Perceptron {
        let archive = DiscountConfig {
            measure_bounds: vec![(0.0, 10.0); measure_dim],
            learning_rate: LearningRate::Fixed(0.1),
            min_f,
            n_initial: 0,
            n_empty: 0,
            examples: Examples::SinceTraining,
            seed: 1,
        };
        Perceptron::new(PerceptronConfig::default(), &archive).unwrap()
    }

    fn points(n: usize, measure_dim: usize, seed: u64) -> Vec<f64> {
        let mut rng = WideRng::new(seed);
        (0..n * measure_dim).map(|_| 10.0 * rng.uniform()).collect()
    }

    fn hill(measures: &[f64]) -> f64 {
        100.0 - measures.iter().map(|measure| (measure - 5.0).powi(2)).sum::<f64>()
    }

    fn answers(model: &Perceptron, measures: &[f64]) -> Vec<f64> {
        let mut out = vec![f64::NAN; measures.len() / model.measure_bounds.len()];
        model.predict(measures, &mut out);
        out
    }

    #[test]
    fn it_fits_a_hill_of_two_and_of_ten_measures() {
        for (measure_dim, tolerance) in [(2, 3.0), (10, 12.0)] {
            let mut model = perceptron(measure_dim, 0.0);
            for round in 0..40 {
                let measures = points(600, measure_dim, round);
                let targets: Vec<f64> = measures.chunks_exact(measure_dim).map(hill).collect();
                let losses = model.train(&measures, &targets);
                assert!(!losses.is_empty() && losses.len() <= 5);
            }
            let unseen = points(200, measure_dim, 99);
            let squared = |(row, found): (&[f64], f64)| (hill(row) - found).powi(2);
            let sum: f64 = unseen.chunks_exact(measure_dim).zip(answers(&model, &unseen)).map(squared).sum();
            let error = (sum / 200.0).sqrt();
            assert!(error < tolerance, "{measure_dim} measures: {error} of a range of 128");
        }
    }

    #[test]
    fn it_says_min_f_until_it_is_taught_more_and_then_in_any_unit() {
        for (min_f, height) in [(-7.0, 1e-9), (3.0, 1.0), (0.0, 1e12)] {
            let mut model = perceptron(1, min_f);
            let measures = points(100, 1, 1);
            model.train(&measures, &[min_f; 100]);
            assert!(answers(&model, &measures).iter().all(|&found| found == min_f));
            for _ in 0..60 {
                let targets: Vec<f64> = measures.iter().map(|x| min_f + height * x / 10.0).collect();
                model.train(&measures, &targets);
            }
            let at = answers(&model, &[1.0, 9.0]);
            // Two thirds of the difference at least; a height of 1e-9 loses digits beside -7.
            assert!(at[1] - at[0] > 0.5 * height, "{min_f} {height}: {at:?}");
        }
    }

    #[test]
    fn a_larger_target_changes_the_unit_and_no_answer() {
        let mut model = perceptron(2, 0.0);
        model.train(&points(50, 2, 1), &[1.0; 50]);
        let measures = points(9, 2, 2);
        let before = answers(&model, &measures);
        assert_eq!(model.state.unit, Some(1.0));
        model.outputs_for(&[3.0]);
        assert_eq!(model.state.unit, Some(4.0));
        assert_eq!(answers(&model, &measures), before);
        model.outputs_for(&[0.1]);
        assert_eq!(model.state.unit, Some(4.0), "it never shrinks");
        for (value, power) in [(1.0, 1.0), (1.1, 2.0), (0.5, 0.5), (0.3, 0.5), (100.0, 128.0)] {
            assert_eq!(power_of_two_from(value), power);
        }
        assert!(power_of_two_from(f64::INFINITY).is_finite() && power_of_two_from(1e-320) > 0.0);
    }

    #[test]
    fn no_target_breaks_it() {
        for (min_f, targets) in
            [(-1e308, [1e308, -1e308, 0.0]), (0.0, [5e-324, 0.0, -0.0]), (1.0, [1e308, 1.0, -1e308])]
        {
            let mut model = perceptron(1, min_f);
            for _ in 0..20 {
                model.train(&[0.0, 5.0, 10.0], &targets);
                assert!(answers(&model, &[2.0, 7.0]).iter().all(|answer| answer.is_finite()), "{min_f} {targets:?}");
            }
        }
    }

    #[test]
    fn saved_at_any_moment_it_goes_on_bit_by_bit() {
        let mut model = perceptron(3, 0.0);
        let mut restored = perceptron(3, 0.0);
        for round in 0..4 {
            restored.load_bytes(&model.to_bytes().unwrap()).unwrap();
            let measures = points(70, 3, round);
            let targets: Vec<f64> = measures.chunks_exact(3).map(hill).collect();
            assert_eq!(model.train(&measures, &targets), restored.train(&measures, &targets));
            assert_eq!(answers(&model, &measures), answers(&restored, &measures));
            assert!(model.to_bytes().unwrap() == restored.to_bytes().unwrap());
        }
        let before = model.to_bytes().unwrap();
        let other = perceptron(2, 0.0).to_bytes().unwrap();
        assert!(matches!(model.load_bytes(&other), Err(CheckpointError::Mismatch { .. })));
        assert!(model.to_bytes().unwrap() == before, "a failed load changes nothing");
        model.reset();
        assert!(model.to_bytes().unwrap() == perceptron(3, 0.0).to_bytes().unwrap());
    }

    #[test]
    fn what_lies_outside_the_bounds_counts_as_the_border() {
        let mut model = perceptron(2, 0.0);
        let measures = points(50, 2, 1);
        model.train(&measures, &measures.chunks_exact(2).map(hill).collect::<Vec<_>>());
        assert_eq!(answers(&model, &[-4.0, 1e30]), answers(&model, &[0.0, 10.0]));
    }
}
