//! A secret that requests must know.

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::error::ServeError;

/// Bytes of a random token.
const N_RANDOM: usize = 24;
/// Characters of a token that somebody chose, at least.
const MIN_CHOSEN: usize = 16;

/// A secret that requests must know. It does not show in debug output.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A token that nobody can guess.
    ///
    /// # Errors
    /// A system without random numbers.
    pub fn random() -> Result<Self, ServeError> {
        let mut bytes = [0; N_RANDOM];
        getrandom::fill(&mut bytes).map_err(|_| ServeError::NoRandomNumbers)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// A token that somebody chose.
    ///
    /// # Errors
    /// One that is short, or has characters that do not fit into an address.
    pub fn new(text: &str) -> Result<Self, ServeError> {
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || "-_".contains(*c);
        let found = text.chars().take_while(is_plain).count();
        match found == text.len() && found >= MIN_CHOSEN {
            true => Ok(Self(text.to_owned())),
            false => Err(ServeError::Token { expected: MIN_CHOSEN, found }),
        }
    }

    /// The secret, for the address that is printed.
    pub fn secret(&self) -> &str {
        &self.0
    }

    /// Whether somebody knows the token, in a time that depends neither on what they said nor on its length.
    pub(crate) fn matches(&self, found: &str) -> bool {
        let expected = Sha256::digest(self.0.as_bytes());
        let found = Sha256::digest(found.as_bytes());
        expected[..].ct_eq(&found[..]).into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_itself_matches() {
        let token = Token::random().unwrap();
        assert!(token.matches(token.secret()));
        for wrong in ["", "x", &token.secret()[1..], &format!("{}0", token.secret())] {
            assert!(!token.matches(wrong));
        }
        assert_ne!(Token::random().unwrap(), token);
        assert_eq!(format!("{token:?}"), "Token(..)");
    }

    #[test]
    fn a_chosen_token_is_long_and_plain() {
        assert!(Token::new("sixteen-letters_").is_ok());
        let message = Token::new("secret").unwrap_err().to_string();
        assert_eq!(message, "expected a token of at least 16 letters, digits, '-' or '_', found 6 of them");
        assert!(Token::new("sixteen letters and a space").is_err());
    }
}
