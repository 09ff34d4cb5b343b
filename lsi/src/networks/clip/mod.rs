//! CLIP (Radford et al., "Learning Transferable Visual Models From Natural Language Supervision", 2021), with vision
//! transformer: images and texts as unit vectors whose cosine tells how well they fit.
//!
//! Tensors are named as in the Hugging Face files of the official models (`vision_model.embeddings.class_embedding` and so
//! on), which load as they are. Small models of the same shape may add two things: header texts `vision_heads` and
//! `text_heads`, where the number of attention heads is not the width divided by 64, and a tensor `text_model.vocabulary`
//! with the token of each row of the token embedding, where it does not have all.

mod image;
mod text;
mod tokens;
mod transformer;

use std::path::Path;

use burn_tensor::Tensor;

use crate::place::Place;
use crate::tape::Var;
use crate::weights::{ModelKind, WeightError, WeightFile};

pub use image::ImageEncoder;
pub use text::{PromptError, TextEncoder};
pub use tokens::Tokenizer;

/// Both encoders and the scale of their logits.
#[derive(Debug)]
pub struct Clip {
    place: Place,
    image: ImageEncoder,
    text: TextEncoder,
    logit_scale: f64,
}

impl Clip {
    /// Loads a model.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, holds another model, or lacks a tensor of the right shape.
    pub fn load(path: &Path, place: &Place) -> Result<Self, WeightError> {
        Self::from_weights(&WeightFile::open(path, ModelKind::Clip, place)?)
    }

    /// Builds the network from an open file.
    ///
    /// # Errors
    ///
    /// Tensors that are missing or have other shapes.
    pub fn from_weights(file: &WeightFile) -> Result<Self, WeightError> {
        let image = ImageEncoder::load(file)?;
        let text = TextEncoder::load(file, image.embedding_dim())?;
        let logit_scale = file.at("").values("logit_scale", [])?[0].exp();
        Ok(Self { place: file.place().clone(), image, text, logit_scale })
    }

    /// The unit vector of each image. Images are as large as [`image_size`](Self::image_size), with values 0 to 1 that
    /// [`normalise`](Self::normalise) has been applied to.
    pub fn embed_images(&self, images: Var<4>) -> Var<2> {
        unit(self.image.forward(images))
    }

    /// The unit vector of a text.
    ///
    /// # Errors
    ///
    /// A text that is too long, or that has words which the model does not know.
    pub fn embed_text(&self, text: &str) -> Result<Tensor<1>, PromptError> {
        Ok(unit(self.text.forward(text)?).into_value().squeeze_dim(0))
    }

    /// Subtracts the mean and divides by the deviation of the images that CLIP was trained on, for each colour.
    pub fn normalise(&self, images: Var<4>) -> Var<4> {
        let offset = std::array::from_fn::<_, 3, _>(|i| -COLOUR_MEAN[i] / COLOUR_DEVIATION[i]);
        let scale = COLOUR_DEVIATION.map(|deviation| 1.0 / deviation);
        let per_colour = |values: [f64; 3]| self.place.tensor(values.to_vec(), [1, 3, 1, 1]);
        images * &per_colour(scale) + &per_colour(offset)
    }

    /// Height and width of the images it takes.
    pub fn image_size(&self) -> usize {
        self.image.image_size()
    }

    /// What cosines are multiplied by to give logits: 100 in the official models.
    pub fn logit_scale(&self) -> f64 {
        self.logit_scale
    }

    /// Where the weights are, and so where images must be.
    pub fn place(&self) -> &Place {
        &self.place
    }
}

const COLOUR_MEAN: [f64; 3] = [0.48145466, 0.4578275, 0.40821073];
const COLOUR_DEVIATION: [f64; 3] = [0.26862954, 0.26130258, 0.27577711];

/// Rows divided by their lengths.
fn unit(rows: Var<2>) -> Var<2> {
    let scale = rows.clone().square().sum_dims(&[1]).rsqrt();
    rows * scale
}
