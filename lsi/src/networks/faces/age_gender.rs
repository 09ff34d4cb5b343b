//! Age and gender: a small Xception (Chollet 2017).

use crate::networks::Linear;
use crate::tape::Var;
use crate::weights::{WeightError, Weights};

use super::centred;
use super::layers::{BORDER, Convolution, Separable, channel_means};

/// Tells how old and how male or female a face looks.
#[derive(Debug)]
pub struct AgeGender {
    first: Convolution,
    entry: [Reduction; 2],
    middle: [[Separable; 3]; 2],
    exit: Reduction,
    last: Separable,
    age: Linear,
    gender: Linear,
}

impl AgeGender {
    /// Height and width of the images it was trained on.
    pub const IMAGE_SIZE: usize = 112;

    pub(super) fn load(weights: &Weights<'_>) -> Result<Self, WeightError> {
        let entry = weights.at("entry_flow");
        let first = Convolution::load(&entry.at("conv_in"), 3, 3)?;
        let one = Reduction::load(&entry.at("reduction_block_0"), first.n_outputs())?;
        let two = Reduction::load(&entry.at("reduction_block_1"), one.n_outputs())?;
        let channels = two.n_outputs();
        let block = |name: &str| -> Result<_, WeightError> {
            let block = weights.at("middle_flow").at(name);
            let layer = |name: &str| Separable::load(&block.at(name), channels);
            Ok([layer("separable_conv0")?, layer("separable_conv1")?, layer("separable_conv2")?])
        };
        let middle = [block("main_block_0")?, block("main_block_1")?];
        let exit = Reduction::load(&weights.at("exit_flow.reduction_block"), channels)?;
        let last = Separable::load(&weights.at("exit_flow.separable_conv"), exit.n_outputs())?;
        let age = Linear::load(&weights.at("fc.age"), 1, last.n_outputs())?;
        let gender = Linear::load(&weights.at("fc.gender"), 2, last.n_outputs())?;
        Ok(Self { first, entry: [one, two], middle, exit, last, age, gender })
    }

    /// A row for each face (values -1 to 1, of any size that can be halved four times): the age in years, and the logits of
    /// being male and of being female.
    pub fn forward(&self, faces: Var<4>) -> Var<2> {
        let [one, two] = &self.entry;
        let mut x = relu(self.first.halve_extended(centred(faces)));
        x = one.forward(x.clone(), x);
        x = two.forward(relu(x.clone()), x);
        for [first, second, third] in &self.middle {
            let y = first.forward(relu(x.clone()));
            let y = second.forward(relu(y));
            x = third.forward(relu(y)) + x;
        }
        x = self.exit.forward(relu(x.clone()), x);
        let features = channel_means(relu(self.last.forward(x)));
        self.age.forward(features.clone()).cat(self.gender.forward(features), 1)
    }
}

/// Two convolutions and a pool that halves the size, beside a convolution that does so at once.
#[derive(Debug)]
struct Reduction {
    first: Separable,
    second: Separable,
    beside: Convolution,
}

impl Reduction {
    fn load(weights: &Weights<'_>, n_inputs: usize) -> Result<Self, WeightError> {
        let first = Separable::load(&weights.at("separable_conv0"), n_inputs)?;
        let second = Separable::load(&weights.at("separable_conv1"), first.n_outputs())?;
        Ok(Self { first, second, beside: Convolution::load(&weights.at("expansion_conv"), n_inputs, 1)? })
    }

    fn n_outputs(&self) -> usize {
        self.second.n_outputs()
    }

    /// `activated` is what the convolutions work on, `x` what goes beside them.
    fn forward(&self, activated: Var<4>, x: Var<4>) -> Var<4> {
        let y = self.second.forward(relu(self.first.forward(activated)));
        // What lies beyond the image never is the largest value.
        y.extend(BORDER, BORDER, f64::from(f32::MIN)).max_pool() + self.beside.halve(x)
    }
}

fn relu(x: Var<4>) -> Var<4> {
    x.leaky_relu(0.0)
}
