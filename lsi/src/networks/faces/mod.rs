//! Networks that look at faces: age and gender, expression, and identity.
//!
//! They are those of face-api (Vincent Mühler 2018, kept by Vladimir Mandić), small enough for a CPU. Weights are one file
//! that `luminary lsi fetch faces` makes.

mod age_gender;
mod expression;
mod identity;
mod layers;

use std::path::Path;

use crate::place::Place;
use crate::tape::Var;
use crate::weights::{ModelKind, WeightError, WeightFile};

pub use age_gender::AgeGender;
pub use expression::{Expression, ExpressionNet};
pub use identity::Identity;

/// The three networks.
#[derive(Debug)]
pub struct FaceNets {
    place: Place,
    /// How old and how male or female.
    pub age_gender: AgeGender,
    /// Smiling, sad and so on.
    pub expression: ExpressionNet,
    /// Whose face.
    pub identity: Identity,
}

impl FaceNets {
    /// Loads the networks.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, holds another model, or lacks a tensor of the right shape.
    pub fn load(path: &Path, place: &Place) -> Result<Self, WeightError> {
        let file = WeightFile::open(path, ModelKind::FaceNets, place)?;
        Ok(Self {
            place: place.clone(),
            age_gender: AgeGender::load(&file.at("age_gender"))?,
            expression: ExpressionNet::load(&file.at("expression"))?,
            identity: Identity::load(&file.at("identity"))?,
        })
    }

    /// Where the weights are.
    pub fn place(&self) -> &Place {
        &self.place
    }
}

/// Red, green and blue of the mean face that the networks were trained with, of 255.
const MEAN_COLOUR: [f64; 3] = [122.782, 117.001, 104.298];

/// Images of a generator (values -1 to 1) as the networks take them: from 0 to 1 and minus the mean colour.
fn centred(images: Var<4>) -> Var<4> {
    let mean = MEAN_COLOUR.map(|colour| 0.5 - colour / 255.0);
    let (device, dtype) = (images.value().device(), images.value().dtype());
    let shift = burn_tensor::Tensor::<1>::from_data(mean, (&device, dtype)).reshape([1, 3, 1, 1]);
    images.mul_scalar(0.5) + &shift
}
