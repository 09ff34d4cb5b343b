//! Runs of every kind, killed and interrupted at random moments, again and again: each ends as one that nobody
//! disturbed, to the last bit.
//!
//! The test command does so for a while. `cargo xtask torture --minutes 60` does it for as long as you like and prints its
//! seed; the same seed gives the same sequence of kinds, signals and delays, although what a process is doing when a
//! signal comes differs each time. With `LUMINARY_PYTHON`, an interpreter that has the package, runs of Python are
//! tortured, too; `LUMINARY_TORTURE_ONLY` picks the kinds that have a word in their name. All along a live view shows the
//! folder in which this happens, and must go on answering.
//!
//! Folders are in memory where the system has a place for that: a kill loses nothing that was written, synced or not, so
//! nobody needs to wait for a disk. Power losses are another laboratory, `luminary-run/tests/faults`.

mod blow;
mod by_hand;
mod kept;
mod kinds;
mod progress;
mod python;
mod tally;
mod view;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::support::Lab;
use kinds::{Kind, kinds};
use tally::Tally;
use view::View;

/// How long the test command does it, for each of its two seeds.
const SECONDS: f64 = 12.0;
/// The seed that is always the same.
const SEED: u64 = 1;
/// How long until the long form says how far it is.
const REPORT_EVERY: Duration = Duration::from_secs(60);

#[test]
fn runs_of_every_kind_survive_kills_at_random_moments() {
    let variable = |name: &str| std::env::var(name).ok();
    let seconds = variable("LUMINARY_TORTURE_SECONDS").map_or(SECONDS, |text| text.parse().unwrap());
    let fresh = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    let seeds = match variable("LUMINARY_TORTURE_SEED") {
        Some(text) => vec![text.parse().unwrap()],
        None => vec![SEED, fresh()],
    };
    let lab = Lab::in_memory();
    let view = View::of(&lab);
    let kinds = kinds(&lab);
    for seed in seeds {
        torture(&lab, &view, &kinds, seed, Duration::from_secs_f64(seconds));
    }
}

fn torture(lab: &Lab, view: &View, kinds: &[Kind], seed: u64, time: Duration) {
    let start = Instant::now();
    let mut reported = start;
    let mut chance = Chance(seed);
    let mut tally = Tally::default();
    eprintln!("torture with seed {seed}");
    let lives: Vec<&Kind> = kinds.iter().flat_map(|kind| vec![kind; kind.n_lives]).collect();
    // Each kind at least once, however little time there is.
    for round in (0..).take_while(|&round| round < kinds.len() || start.elapsed() < time) {
        let kind = if round < kinds.len() { &kinds[round] } else { lives[round % lives.len()] };
        let out = format!("{seed}-{round}");
        kind.live(lab, &out, &mut chance, &mut tally);
        assert!(
            kind.is_as_expected(lab, &out),
            "seed {seed}, round {round}: a {} run ends otherwise; {tally}",
            kind.name
        );
        view.check();
        kind.remove(lab, &out);
        if reported.elapsed() > REPORT_EVERY {
            reported = Instant::now();
            eprintln!("{tally}");
        }
    }
    eprintln!("seed {seed}: {tally}");
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
