//! The text encoder: a causal transformer.

use burn_tensor::Tensor;
use thiserror::Error;

use crate::place::Place;
use crate::tape::Var;
use crate::weights::{WeightError, WeightFile};

use super::super::Linear;
use super::tokens::Tokenizer;
use super::transformer::{Attention, LayerNorm, Transformer, n_heads};

/// Texts to vectors.
#[derive(Debug)]
pub struct TextEncoder {
    tokenizer: Tokenizer,
    /// The token of each row of the embedding; all tokens in order if there is none.
    vocabulary: Option<Vec<usize>>,
    place: Place,
    width: usize,
    /// Row by row.
    embedding: Vec<f64>,
    positions: Tensor<2>,
    transformer: Transformer,
    norm: LayerNorm,
    projection: Linear,
}

/// A text that cannot be encoded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PromptError {
    /// The text has more tokens than the model has positions.
    #[error("prompt {text:?}: expected at most {most} tokens with start and end, found {found}")]
    TooLong {
        /// The text.
        text: String,
        /// The number of positions.
        most: usize,
        /// The number of tokens.
        found: usize,
    },
    /// The model was trained without a word of the text.
    #[error("prompt {text:?}: this model does not know {word:?}")]
    UnknownWord {
        /// The text.
        text: String,
        /// The word, or the part of it that makes a token.
        word: String,
    },
}

impl TextEncoder {
    pub(super) fn load(file: &WeightFile, embedding_dim: usize) -> Result<Self, WeightError> {
        let text = file.at("text_model");
        let [n_rows, width] = text.dims("embeddings.token_embedding.weight")?;
        let [n_positions, _] = text.dims("embeddings.position_embedding.weight")?;
        let vocabulary = match text.has("vocabulary") {
            true => Some(text.values("vocabulary", [n_rows])?.into_iter().map(|token| token as usize).collect()),
            false => None,
        };
        Ok(Self {
            tokenizer: Tokenizer::new(),
            vocabulary,
            place: file.place().clone(),
            width,
            embedding: text.values("embeddings.token_embedding.weight", [n_rows, width])?,
            positions: text.tensor("embeddings.position_embedding.weight", [n_positions, width])?,
            transformer: Transformer::load(&text.at("encoder.layers"), width, n_heads(file, "text_heads", width)?)?,
            norm: LayerNorm::load(&text.at("final_layer_norm"), width)?,
            projection: Linear::load_without_bias(&file.at("text_projection"), embedding_dim, width)?,
        })
    }

    /// The vector of a text, of any length, as a single row.
    ///
    /// # Errors
    ///
    /// A text that is too long, or that has words which the model does not know.
    pub fn forward(&self, text: &str) -> Result<Var<2>, PromptError> {
        let rows = self.rows(text)?;
        let n_tokens = rows.len();
        let values = rows.iter().flat_map(|&row| &self.embedding[row * self.width..(row + 1) * self.width]);
        let tokens = self.place.tensor(values.copied().collect(), [n_tokens, self.width]);
        let tokens = tokens + self.positions.clone().narrow(0, 0, n_tokens);
        // The official models fill texts up to all positions and then look at the end's token, which cannot see what
        // comes after it: the filling changes nothing and is left out.
        let tokens = self.transformer.forward(Var::constant(tokens.unsqueeze()), Attention::Causal);
        let end = self.norm.forward(tokens.narrow(1, n_tokens - 1..n_tokens));
        Ok(self.projection.forward(end.reshape([1, self.width])))
    }

    /// The embedding's rows of a text's tokens.
    fn rows(&self, text: &str) -> Result<Vec<usize>, PromptError> {
        let tokens = self.tokenizer.encode(text);
        let most = self.positions.dims()[0];
        if tokens.len() > most {
            return Err(PromptError::TooLong { text: text.into(), most, found: tokens.len() });
        }
        let n_rows = self.embedding.len() / self.width;
        let row_of = |token: usize| match &self.vocabulary {
            Some(vocabulary) => vocabulary.iter().position(|&known| known == token),
            None => (token < n_rows).then_some(token),
        };
        let known = |token| {
            row_of(token)
                .ok_or_else(|| PromptError::UnknownWord { text: text.into(), word: self.tokenizer.spell(text, token) })
        };
        tokens.into_iter().map(known).collect()
    }
}
