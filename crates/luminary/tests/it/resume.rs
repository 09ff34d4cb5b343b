//! A run that was saved and restored, at any time, equals one that never stopped; damaged checkpoints are refused.

use luminary::checkpoint::CHECKPOINT_VERSION;
use luminary::emitter::{EliteSource, Emitter, EmitterState, Feedback};
use luminary::error::CheckpointError;
use luminary::preset::Preset;
use luminary::scheduler::Scheduler;
use luminary_domains::LinearProjection;
use proptest::prelude::*;

use crate::allocation::largest_request;
use crate::common::{Driver, Scenario, preset_config, scenarios, state};

/// Calls of an uninterrupted run. Gradient scenarios need four for an iteration, and restarts come every nine.
const N_CALLS: usize = 44;

#[test]
fn restored_after_any_call_a_run_goes_on_bit_by_bit() {
    for scenario in scenarios() {
        let (mut scheduler, mut driver) = (scenario.config.build().unwrap(), Driver::default());
        let mut cuts = Vec::new();
        let mut phases = std::collections::BTreeSet::new();
        for _ in 0..N_CALLS {
            cuts.push((driver, state(&scheduler)));
            phases.insert(driver.step(&mut scheduler, scenario.problem.as_ref()));
        }
        assert!(phases.len() == if scheduler.has_gradient_emitters() { 4 } else { 2 }, "{}", scenario.name);
        let expected = state(&scheduler);
        for (n_calls, (mut driver, checkpoint)) in cuts.into_iter().enumerate() {
            let mut restored = restore(&scenario, &checkpoint);
            assert!(state(&restored) == checkpoint, "{}: saved again after {n_calls} calls", scenario.name);
            for _ in n_calls..N_CALLS {
                driver.step(&mut restored, scenario.problem.as_ref());
            }
            assert!(state(&restored) == expected, "{}: restored after {n_calls} calls", scenario.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn restored_at_random_iterations_a_long_run_goes_on_bit_by_bit(cuts in prop::collection::vec(1..400_u64, 1..4)) {
        // Long enough for the strategies' own stop tests, with 100 x 100 cells.
        for preset in [Preset::CmaMae, Preset::CmaMaega, Preset::CmaMeStar] {
            let problem = LinearProjection::sphere(4).unwrap();
            let mut config = preset_config(preset, &problem, cuts[0]);
            config.resolution = vec![100; 2];
            let mut uninterrupted = config.build().unwrap();
            uninterrupted.run(&problem, cuts.iter().sum()).unwrap();
            let mut interrupted = config.build().unwrap();
            for &n_iterations in &cuts {
                interrupted.run(&problem, n_iterations).unwrap();
                interrupted = Scheduler::from_checkpoint(&state(&interrupted)).unwrap();
            }
            prop_assert!(state(&interrupted) == state(&uninterrupted), "{preset}");
        }
    }
}

#[test]
fn a_restored_scheduler_reports_what_the_saved_one_did() {
    for scenario in scenarios() {
        let (mut scheduler, mut driver) = (scenario.config.build().unwrap(), Driver::default());
        for _ in 0..N_CALLS {
            driver.step(&mut scheduler, scenario.problem.as_ref());
        }
        let restored = restore(&scenario, &state(&scheduler));
        assert_eq!(restored.config(), scheduler.config());
        assert_eq!(restored.archive().stats(), scheduler.archive().stats());
        assert_eq!(restored.result().stats(), scheduler.result().stats());
        assert_eq!(restored.result().best(), scheduler.result().best());
        assert_eq!(restored.restarts(), scheduler.restarts());
        assert_eq!(restored.iterations(), scheduler.iterations());
        assert_eq!(restored.evaluations(), scheduler.evaluations());
        assert_eq!(restored.n_invalid(), scheduler.n_invalid());
        assert_eq!(restored.needs_gradients(), scheduler.needs_gradients());
        for (a, b) in scheduler.result().elites().zip(restored.result().elites()) {
            for column in 0..scenario.config.archive.extra_columns.len() {
                assert_eq!(a.extra(column), b.extra(column));
            }
        }
    }
}

// Damage.

#[test]
fn a_checkpoint_cut_at_any_length_is_refused() {
    let checkpoint = small_checkpoint();
    for length in 0..checkpoint.len() {
        match Scheduler::from_checkpoint(&checkpoint[..length]) {
            Err(CheckpointError::NotACheckpoint { found }) => assert!(length < 8 && found == length),
            Err(CheckpointError::Truncated { found, .. }) if length < 24 => assert_eq!(found, length as u64),
            Err(CheckpointError::Truncated { expected, found }) => {
                assert_eq!((expected, found), (checkpoint.len() as u64 - 24, length as u64 - 24));
            }
            other => panic!("cut at {length}: {other:?}"),
        }
    }
    let mut longer = checkpoint.clone();
    longer.push(0);
    assert!(matches!(Scheduler::from_checkpoint(&longer), Err(CheckpointError::Truncated { .. })));
}

#[test]
fn a_flipped_bit_anywhere_is_noticed() {
    let checkpoint = small_checkpoint();
    for position in (0..24).chain((24..checkpoint.len()).step_by(7)) {
        let mut damaged = checkpoint.clone();
        damaged[position] ^= 1 << (position % 8);
        let error = Scheduler::from_checkpoint(&damaged).expect_err("a flipped bit went unnoticed");
        let expected = match position {
            0..8 => matches!(error, CheckpointError::NotACheckpoint { .. }),
            8..12 => matches!(error, CheckpointError::Version { .. }),
            12..20 => matches!(error, CheckpointError::Truncated { .. }),
            _ => matches!(error, CheckpointError::Checksum { .. }),
        };
        assert!(expected, "bit at {position}: {error}");
    }
}

#[test]
fn other_bytes_and_other_versions_are_named() {
    assert!(matches!(Scheduler::from_checkpoint(&[]), Err(CheckpointError::NotACheckpoint { found: 0 })));
    assert!(matches!(
        Scheduler::from_checkpoint(b"PK\x03\x04 a zip file, not a run"),
        Err(CheckpointError::NotACheckpoint { .. })
    ));
    let mut newer = small_checkpoint();
    newer[8..12].copy_from_slice(&(CHECKPOINT_VERSION + 1).to_le_bytes());
    let error = Scheduler::from_checkpoint(&newer).unwrap_err();
    assert!(matches!(error, CheckpointError::Version { found, .. } if found == CHECKPOINT_VERSION + 1));
    assert_eq!(error.to_string(), "expected checkpoint version 2 or older, found 3");
}

/// Bodies with a valid checksum but arbitrary content come from bugs and from strangers. They must give an error or a
/// scheduler, and never ask for much more memory than they hold themselves.
fn assert_harmless(body: &[u8]) {
    let sealed = seal(body);
    let (outcome, largest) = largest_request(|| Scheduler::from_checkpoint(&sealed));
    assert!(largest < 1 << 26, "a body of {} bytes asked for {largest} bytes at once", body.len());
    if let Ok(scheduler) = outcome {
        assert_eq!(scheduler.result().len(), scheduler.result().elites().count());
        assert!(scheduler.to_checkpoint().is_ok());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn mutated_bodies_with_a_right_checksum_do_no_harm(
        which in 0..HOSTILE.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3_u8), 1..4),
    ) {
        let mut body = small_checkpoint_of(HOSTILE[which])[24..].to_vec();
        for (position, byte, kind) in edits {
            let at = position.index(body.len());
            match kind {
                0 => body[at] = byte,
                1 => body[at] ^= 1 << (byte % 8),
                _ => body.insert(at, byte),
            }
        }
        assert_harmless(&body);
    }

    #[test]
    fn arbitrary_bodies_do_no_harm(body in prop::collection::vec(any::<u8>(), 0..300)) {
        assert_harmless(&body);
    }
}

/// Replaces numbers by name rather than by chance: the settings that decide how much memory is asked for, and counters
/// at the end of their range.
#[test]
fn hostile_numbers_in_a_sealed_body_do_no_harm() {
    let huge = [
        &[0xcf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff][..],
        &[0xce, 0xff, 0xff, 0xff, 0xf0],
        &[0xcf, 0, 0, 0, 0x10, 0, 0, 0, 0],
    ];
    let mut n_replaced = 0;
    for preset in HOSTILE {
        let body = small_checkpoint_of(preset)[24..].to_vec();
        for at in 0..body.len() {
            // A positive fixint or a u8 that follows a field name is a number with a name.
            if body[at] >= 0x80 || at == 0 || !body[at - 1].is_ascii_alphanumeric() {
                continue;
            }
            for number in huge {
                let mut hostile = body[..at].to_vec();
                hostile.extend_from_slice(number);
                hostile.extend_from_slice(&body[at + 1..]);
                assert_harmless(&hostile);
                n_replaced += 1;
            }
        }
    }
    assert!(n_replaced > 100, "only {n_replaced} numbers were found");
}

#[test]
fn a_state_of_another_configuration_is_refused() {
    let problem = LinearProjection::sphere(2).unwrap();
    let body_of = |preset: Preset, n_emitters: usize| {
        let mut config = preset_config(preset, &problem, 1);
        config.n_emitters = n_emitters;
        let mut scheduler = config.build().unwrap();
        scheduler.run(&problem, 2).unwrap();
        state(&scheduler)[24..].to_vec()
    };
    // The configuration of one run and the state of another: both bodies are maps of engine, config and state.
    let graft = |config_of: &[u8], state_of: &[u8]| {
        let split = |body: &[u8]| body.windows(6).position(|window| window == b"\xa5state").expect("a state");
        seal(&[&config_of[..split(config_of)], &state_of[split(state_of)..]].concat())
    };
    let mae = body_of(Preset::CmaMae, 2);
    assert!(Scheduler::from_checkpoint(&graft(&mae, &mae)).is_ok(), "grafting itself is sound");
    for other in [
        body_of(Preset::CmaMae, 3),
        body_of(Preset::CmaMe, 2),
        body_of(Preset::CmaMaega, 2),
        body_of(Preset::MapElites, 2),
    ] {
        let error = Scheduler::from_checkpoint(&graft(&mae, &other)).unwrap_err();
        assert!(matches!(error, CheckpointError::Mismatch { .. }), "{error}");
    }
}

// Custom emitters.

/// Counts through the first component; saves its counter if it is told how.
struct Counter {
    count: u8,
    can_save: bool,
}

impl Emitter for Counter {
    fn batch_size(&self) -> usize {
        1
    }

    fn ask(&mut self, _elites: &dyn EliteSource, solutions: &mut [f64]) {
        solutions.fill(0.0);
        solutions[0] = f64::from(self.count);
    }

    fn adapt(&mut self, _elites: &dyn EliteSource, _feedback: &Feedback<'_>) {
        self.count += 1;
    }

    fn save(&self) -> Result<EmitterState<'_>, CheckpointError> {
        match self.can_save {
            true => Ok(EmitterState::custom(vec![self.count])),
            false => Err(CheckpointError::Unsupported { what: "counter" }),
        }
    }

    fn load(&mut self, state: EmitterState<'_>) -> Result<(), CheckpointError> {
        self.count = state.into_custom_bytes()?[0];
        Ok(())
    }
}

/// The defaults of the trait: runs, but cannot be saved.
struct Forgetful;

impl Emitter for Forgetful {
    fn batch_size(&self) -> usize {
        1
    }

    fn ask(&mut self, _elites: &dyn EliteSource, solutions: &mut [f64]) {
        solutions.fill(0.0);
    }
}

#[test]
fn custom_emitters_are_saved_in_their_own_encoding() {
    let problem = LinearProjection::sphere(2).unwrap();
    let config = preset_config(Preset::CmaMae, &problem, 1).config();
    let custom = |count| -> Vec<Box<dyn Emitter>> { vec![Box::new(Counter { count, can_save: true })] };
    let mut scheduler = config.build_with(custom(0)).unwrap();
    scheduler.run(&problem, 3).unwrap();
    let checkpoint = state(&scheduler);
    let mut restored = Scheduler::from_checkpoint_with(&checkpoint, custom(99)).unwrap();
    for scheduler in [&mut scheduler, &mut restored] {
        scheduler.run(&problem, 2).unwrap();
    }
    assert!(state(&restored) == state(&scheduler));
    let asked = restored.ask().unwrap();
    assert_eq!(asked[asked.len() - 2], 5.0, "the counter went on from 3");
    // Without its custom emitter the checkpoint does not fit.
    assert!(matches!(Scheduler::from_checkpoint(&checkpoint), Err(CheckpointError::Mismatch { .. })));
}

#[test]
fn emitters_that_cannot_be_saved_make_the_checkpoint_fail_and_not_the_run() {
    let problem = LinearProjection::sphere(2).unwrap();
    let config = preset_config(Preset::CmaMae, &problem, 1).config();
    let unsaved: [Box<dyn Emitter>; 2] = [Box::new(Forgetful), Box::new(Counter { count: 0, can_save: false })];
    for emitter in unsaved {
        let mut scheduler = config.build_with(vec![emitter]).unwrap();
        scheduler.run(&problem, 3).unwrap();
        assert!(matches!(scheduler.to_checkpoint(), Err(CheckpointError::Unsupported { .. })));
        scheduler.run(&problem, 3).unwrap();
        assert_eq!(scheduler.iterations(), 6);
    }
}

/// Presets whose states between them have every kind of content.
const HOSTILE: [Preset; 3] = [Preset::CmaMae, Preset::CmaMaega, Preset::MapElitesLine];

fn restore(scenario: &Scenario, checkpoint: &[u8]) -> Scheduler {
    Scheduler::from_checkpoint(checkpoint).unwrap_or_else(|error| panic!("{}: {error}", scenario.name))
}

fn small_checkpoint() -> Vec<u8> {
    small_checkpoint_of(Preset::CmaMae)
}

/// A checkpoint of a few kilobytes, taken between ask and tell.
fn small_checkpoint_of(preset: Preset) -> Vec<u8> {
    let problem = LinearProjection::sphere(2).unwrap();
    let mut config = preset_config(preset, &problem, 1);
    (config.resolution, config.n_emitters, config.batch_size) = (vec![3; 2], 1, 4);
    let mut config = config.config();
    config.initial = config.initial.map(|initial| luminary::scheduler::InitialPopulation { n_solutions: 5, ..initial });
    let mut scheduler = config.build().unwrap();
    scheduler.run(&problem, 3).unwrap();
    if scheduler.needs_gradients() {
        scheduler.ask_gradients().unwrap();
    } else {
        scheduler.ask().unwrap();
    }
    state(&scheduler)
}

/// A body with the header that makes it a checkpoint.
fn seal(body: &[u8]) -> Vec<u8> {
    let mut bytes = b"LUMINARY".to_vec();
    bytes.extend_from_slice(&CHECKPOINT_VERSION.to_le_bytes());
    bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(body).to_le_bytes());
    bytes.extend_from_slice(body);
    bytes
}
