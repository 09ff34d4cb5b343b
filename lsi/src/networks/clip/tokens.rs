//! From text to tokens.

use std::fmt;

use instant_clip_tokenizer::Token;

/// CLIP's byte pair encoding, with its vocabulary of 49,408 tokens.
pub struct Tokenizer {
    inner: instant_clip_tokenizer::Tokenizer,
}

impl Tokenizer {
    /// The tokenizer of all official CLIP models. Making one takes a moment: keep it.
    pub fn new() -> Self {
        Self { inner: instant_clip_tokenizer::Tokenizer::new() }
    }

    /// The tokens of a text between those for its start and its end.
    pub fn encode(&self, text: &str) -> Vec<usize> {
        let mut tokens = vec![self.inner.start_of_text()];
        self.inner.encode(text, &mut tokens);
        tokens.push(self.inner.end_of_text());
        tokens.into_iter().map(|token| token.to_u16().into()).collect()
    }

    /// What a token of `text` stands for.
    pub(super) fn spell(&self, text: &str, token: usize) -> String {
        let mut tokens: Vec<Token> = Vec::new();
        self.inner.encode(text, &mut tokens);
        tokens.retain(|candidate| usize::from(candidate.to_u16()) == token);
        tokens.truncate(1);
        self.inner.decode(tokens).trim_end().into()
    }
}

impl Default for Tokenizer {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tokenizer")
    }
}
