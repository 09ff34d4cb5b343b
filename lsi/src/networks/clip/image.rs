//! The image encoder: a vision transformer.

use burn_tensor::Tensor;

use crate::tape::Var;
use crate::weights::{WeightError, WeightFile};

use super::super::Linear;
use super::transformer::{Attention, LayerNorm, Transformer, n_heads};

/// Images to vectors.
#[derive(Debug)]
pub struct ImageEncoder {
    /// From the pixels of a patch to a token.
    patch: Linear,
    patch_size: usize,
    image_size: usize,
    class: Tensor<3>,
    positions: Tensor<3>,
    norm_before: LayerNorm,
    transformer: Transformer,
    norm_after: LayerNorm,
    projection: Linear,
    embedding_dim: usize,
}

impl ImageEncoder {
    pub(super) fn load(file: &WeightFile) -> Result<Self, WeightError> {
        let vision = file.at("vision_model");
        let embeddings = vision.at("embeddings");
        let [width, _, patch_size, _] = embeddings.dims("patch_embedding.weight")?;
        let patch = embeddings.tensor("patch_embedding.weight", [width, 3, patch_size, patch_size])?;
        let patch = Linear::new(patch.reshape([width, 3 * patch_size * patch_size]), None);
        let [n_positions, _] = embeddings.dims("position_embedding.weight")?;
        let n_patches = n_positions.saturating_sub(1);
        let side = n_patches.isqrt();
        if side == 0 || side * side != n_patches {
            let what = format!("expected one position more than a square has patches, found {n_positions}");
            return Err(file.invalid(what));
        }
        let [embedding_dim, _] = file.at("visual_projection").dims("weight")?;
        Ok(Self {
            patch,
            patch_size,
            image_size: side * patch_size,
            class: embeddings.tensor("class_embedding", [width])?.unsqueeze(),
            positions: embeddings.tensor("position_embedding.weight", [n_positions, width])?.unsqueeze(),
            // The official files spell it so.
            norm_before: LayerNorm::load(&vision.at("pre_layrnorm"), width)?,
            transformer: Transformer::load(&vision.at("encoder.layers"), width, n_heads(file, "vision_heads", width)?)?,
            norm_after: LayerNorm::load(&vision.at("post_layernorm"), width)?,
            projection: Linear::load_without_bias(&file.at("visual_projection"), embedding_dim, width)?,
            embedding_dim,
        })
    }

    /// Height and width of the images it takes.
    pub fn image_size(&self) -> usize {
        self.image_size
    }

    /// Length of the vectors it gives.
    pub fn embedding_dim(&self) -> usize {
        self.embedding_dim
    }

    /// The vector of each image, of any length.
    ///
    /// # Panics
    ///
    /// When the images have another size.
    pub fn forward(&self, images: Var<4>) -> Var<2> {
        let [n, colours, height, width] = images.dims();
        let expected = [3, self.image_size, self.image_size];
        assert_eq!([colours, height, width], expected, "expected images of (colours, height, width) {expected:?}");
        let tokens = self.tokens(images);
        let [_, n_patches, token_dim] = tokens.dims();
        let class = Var::constant(self.class.clone().expand([n, 1, token_dim]));
        let tokens = class.cat(tokens, 1) + &self.positions;
        debug_assert_eq!(tokens.dims()[1], n_patches + 1);
        let tokens = self.transformer.forward(self.norm_before.forward(tokens), Attention::Full);
        let class = self.norm_after.forward(tokens.narrow(1, 0..1));
        self.projection.forward(class.reshape([n, token_dim]))
    }

    /// A token for each patch, row by row.
    fn tokens(&self, images: Var<4>) -> Var<3> {
        let [n, colours, height, _] = images.dims();
        let (side, size) = (height / self.patch_size, self.patch_size);
        // n, colour, patch row, row, patch column, column: the patch's place comes first, then its pixels.
        let patches = images.reshape([n, colours, side, size, side, size]).permute([0, 2, 4, 1, 3, 5]);
        let tokens = self.patch.forward(patches.reshape([n * side * side, colours * size * size]));
        let token_dim = tokens.dims()[1];
        tokens.reshape([n, side * side, token_dim])
    }
}
