//! Tries a target with inputs that become of its seeds by chance.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::mutate::Mutator;

/// Inputs for each seed, unless somebody has more time.
const N_INPUTS: usize = 2_000;
/// Seeds that are kept at most.
const MAX_CORPUS: usize = 300;

/// What a target makes of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was read.
    Taken,
    /// It was refused.
    Refused,
}

impl<T, E> From<Result<T, E>> for Verdict {
    fn from(result: Result<T, E>) -> Self {
        if result.is_ok() { Self::Taken } else { Self::Refused }
    }
}

/// What reads an input.
pub type Read = Box<dyn FnMut(&[u8]) -> Verdict>;

/// Something that is read, with inputs that it takes.
pub struct Target {
    /// Its name, which is also that of its coverage-guided program.
    pub name: &'static str,
    /// Inputs that somebody did write.
    pub seeds: Vec<Vec<u8>>,
    /// Reads an input.
    pub read: Read,
}

impl Target {
    /// A target with the inputs that it takes.
    pub fn new(name: &'static str, seeds: &[&[u8]], read: impl FnMut(&[u8]) -> Verdict + 'static) -> Self {
        Self { name, seeds: seeds.iter().map(|seed| seed.to_vec()).collect(), read: Box::new(read) }
    }
}

/// Tries a target with its seeds and with what becomes of them.
pub fn fuzz(target: Target) {
    let Target { name, seeds, mut read } = target;
    let time = std::env::var("LUMINARY_FUZZ_SECONDS").ok().map(|text| Duration::from_secs_f64(text.parse().unwrap()));
    for seed in &seeds {
        assert_eq!(read(seed), Verdict::Taken, "{name}: a seed is refused: {}", String::from_utf8_lossy(seed));
    }
    let fresh = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    let mut n_inputs = 0_u64;
    for seed in [1, fresh] {
        let mut mutator = Mutator::new(seed);
        let mut corpus = seeds.clone();
        let start = Instant::now();
        let goes_on = |n: usize| match time {
            Some(time) => !n.is_multiple_of(64) || start.elapsed() < time / 2,
            None => n < N_INPUTS,
        };
        for _ in (0..).take_while(|&n| goes_on(n)) {
            let input = mutator.change(&corpus);
            let shown = Shown { name, seed, input: &input };
            let verdict = read(&input);
            drop(shown);
            n_inputs += 1;
            if verdict == Verdict::Taken && corpus.len() < MAX_CORPUS && !corpus.contains(&input) {
                corpus.push(input);
            }
        }
    }
    eprintln!("{name}: {n_inputs} inputs, seeds 1 and {fresh}");
}

/// Shows an input if the target panics.
struct Shown<'a> {
    name: &'a str,
    seed: u64,
    input: &'a [u8],
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}, seed {}: \"{}\"", self.name, self.seed, self.input.escape_ascii());
        }
    }
}
