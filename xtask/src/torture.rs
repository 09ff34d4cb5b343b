//! `cargo xtask torture`: kills runs of every kind at random moments for as long as you like.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::process::run;

/// The test that does it, of the command line's.
const TEST: &str = "runs_of_every_kind_survive_kills_at_random_moments";

/// Reads `--minutes`, `--seed` and `--only`, and tortures.
pub(crate) fn torture(arguments: &[&str]) -> Result<(), String> {
    let mut minutes = 1.0;
    let mut seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut only = None;
    for pair in arguments.chunks(2) {
        match pair {
            ["--minutes", text] => minutes = number(text, "minutes")?,
            ["--seed", text] => seed = number(text, "a seed")?,
            ["--only", word] => only = Some(*word),
            other => return Err(format!("expected --minutes N, --seed S or --only WORD, found {}", other.join(" "))),
        }
    }
    // As the tests build it: other features would compile its dependencies again.
    run(Command::new(env!("CARGO"))
        .args(["test", "--workspace", "--test", "it", TEST, "--", "--nocapture"])
        .envs(only.map(|word| ("LUMINARY_TORTURE_ONLY", word)))
        .env("LUMINARY_TORTURE_SECONDS", (60.0 * minutes).to_string())
        .env("LUMINARY_TORTURE_SEED", seed.to_string()))
}

fn number<T: std::str::FromStr>(text: &str, name: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("expected {name} as a number, found {text:?}"))
}
