//! The tokenizer against ids of the official one.

use luminary_lsi::networks::clip::{PromptError, Tokenizer};

use crate::golden;

#[test]
fn tokens_are_those_of_the_official_tokenizer() {
    let tokenizer = Tokenizer::new();
    // Ids from the tokenizer that the official models are published with.
    let expected: [(&str, &[usize]); 3] = [
        ("a photo of a cat", &[49406, 320, 1125, 539, 320, 2368, 49407]),
        ("Hi there", &[49406, 1883, 997, 49407]),
        ("a diagram", &[49406, 320, 22697, 49407]),
    ];
    for (text, tokens) in expected {
        assert_eq!(tokenizer.encode(text), tokens, "{text}");
    }
}

#[test]
fn prompts_that_a_model_cannot_encode_are_refused() {
    let clip = golden::clip();
    let unknown = clip.embed_text("a digit nine").unwrap_err();
    assert_eq!(unknown, PromptError::UnknownWord { text: "a digit nine".into(), word: "nine".into() });
    assert_eq!(unknown.to_string(), "prompt \"a digit nine\": this model does not know \"nine\"");
    let long = clip.embed_text("a a a a a a").unwrap_err();
    assert_eq!(long, PromptError::TooLong { text: "a a a a a a".into(), most: 7, found: 8 });
}

#[test]
fn small_models_are_trained_on_clips_tokens() {
    let script = include_str!("../../training/digits.py");
    let table = script.split_once("TOKENS = {").unwrap().1.split_once('}').unwrap().0;
    let tokenizer = Tokenizer::new();
    let mut n_words = 0;
    for entry in table.split_terminator("],").filter(|entry| !entry.trim().is_empty()) {
        let (word, tokens) = entry.split_once(": [").unwrap();
        let word = word.trim().trim_matches('"');
        let tokens: Vec<usize> = tokens.split(", ").map(|token| token.parse().unwrap()).collect();
        let encoded = tokenizer.encode(word);
        match word {
            "<start>" => assert_eq!(tokens, encoded[..1]),
            "<end>" => assert_eq!(tokens, encoded[encoded.len() - 1..]),
            _ => assert_eq!(tokens, encoded[1..encoded.len() - 1], "{word}"),
        }
        n_words += 1;
    }
    assert!(n_words > 25, "{n_words}");
}
