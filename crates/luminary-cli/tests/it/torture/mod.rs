//! Runs of every kind, killed and interrupted at random moments, again and again: each ends as one that nobody
//! disturbed, to the last bit.
//!
//! The test command does so for a while. `cargo xtask torture --minutes 60` does it for as long as you like and prints its
//! seed; the same seed gives the same sequence of kinds, signals and delays, although what a process is doing when a
//! signal comes differs each time. With `LUMINARY_PYTHON`, an interpreter that has the package, runs of Python are
//! tortured, too.

mod by_hand;
mod kinds;

use std::collections::BTreeMap;
use std::process::Child;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::support::{Answer, Lab, signal};
use kinds::{Kind, kinds};

/// How long the test command does it, for each of its two seeds.
const SECONDS: f64 = 12.0;
/// The seed that is always the same.
const SEED: u64 = 1;

#[test]
fn runs_of_every_kind_survive_kills_at_random_moments() {
    let variable = |name: &str| std::env::var(name).ok();
    let seconds = variable("LUMINARY_TORTURE_SECONDS").map_or(SECONDS, |text| text.parse().unwrap());
    let fresh = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    let seeds = match variable("LUMINARY_TORTURE_SEED") {
        Some(text) => vec![text.parse().unwrap()],
        None => vec![SEED, fresh()],
    };
    let lab = Lab::new();
    let kinds = kinds(&lab);
    for seed in seeds {
        torture(&lab, &kinds, seed, Duration::from_secs_f64(seconds));
    }
}

fn torture(lab: &Lab, kinds: &[Kind], seed: u64, time: Duration) {
    let start = Instant::now();
    let mut chance = Chance(seed);
    let mut tally = Tally::default();
    eprintln!("torture with seed {seed}");
    // Each kind at least once, however little time there is.
    for round in (0..).take_while(|&round| round < kinds.len() || start.elapsed() < time) {
        let kind = &kinds[round % kinds.len()];
        let out = format!("{seed}-{round}");
        kind.live(lab, &out, &mut chance, &mut tally);
        let is_same = kind.essence(lab, &out) == kind.expected;
        assert!(is_same, "seed {seed}, round {round}: a {} run ends otherwise; {tally}", kind.name);
        kind.remove(lab, &out);
    }
    eprintln!("seed {seed}: {tally}");
}

/// What is done to a process.
#[derive(Clone, Copy, Debug)]
enum Blow {
    Kill,
    Signal { name: &'static str, times: usize },
}

impl Blow {
    fn any(chance: &mut Chance) -> Self {
        let name = ["TERM", "INT"][chance.below(2)];
        match chance.below(5) {
            0 | 1 => Self::Kill,
            n => Self::Signal { name, times: n - 1 },
        }
    }
}

/// Waits for a while, strikes, and waits for the process to end.
fn disturb(mut child: Child, longest: Duration, chance: &mut Chance, tally: &mut Tally) {
    std::thread::sleep(longest.mul_f64(chance.share()));
    let blow = Blow::any(chance);
    let was_running = child.try_wait().unwrap().is_none();
    match blow {
        Blow::Kill => child.kill().unwrap(),
        Blow::Signal { name, times } => {
            for _ in 0..times {
                // One that has ended cannot be signalled any more.
                if child.try_wait().unwrap().is_some() {
                    break;
                }
                signal(&child, name);
                std::thread::sleep(longest.mul_f64(0.1 * chance.share()));
            }
        }
    }
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert!(!answer.stderr.contains("panicked"), "{blow:?}: {}", answer.stderr);
    // Ended by itself, stopped in an orderly way, or killed.
    assert!(matches!(answer.code, Some(0 | 130) | None), "{blow:?}: {:?} {}", answer.code, answer.stderr);
    if was_running {
        *tally.blows.entry(format!("{blow:?}")).or_default() += 1;
    }
}

/// What was done to processes that were still running.
#[derive(Debug, Default)]
struct Tally {
    n_runs: BTreeMap<&'static str, usize>,
    blows: BTreeMap<String, usize>,
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let n_blows: usize = self.blows.values().sum();
        write!(f, "{n_blows} blows {:?} to runs {:?}", self.blows, self.n_runs)
    }
}

/// Small random numbers: splitmix64.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn share(&mut self) -> f64 {
        self.next() as f64 / u64::MAX as f64
    }
}
