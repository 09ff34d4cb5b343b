//! Power losses, at each operation.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use luminary_run::disk::Disk;
use luminary_run::export;

use crate::lives::{Essence, Life, RUN, empty_folder};
use crate::monitor::{Step, Watcher};
use crate::power::{Chance, Loss, Model};

/// What must have survived of a run after these steps.
#[derive(Debug, Default, PartialEq)]
struct Promise {
    /// The iteration of the newest checkpoint that was written.
    iteration: u64,
    /// Calls about tickets that somebody was answered.
    n_calls: u64,
}

impl Promise {
    fn after(steps: &[Step]) -> Self {
        let mut promise = Self::default();
        let mut renamed = 0;
        let mut n_lines = 0;
        for step in steps {
            match step {
                Step::Rename { to, .. } if to.extension().is_some_and(|extension| extension == "ckpt") => {
                    renamed = to.file_stem().unwrap().to_str().unwrap().parse().unwrap();
                }
                Step::SyncFolder(path) if path.ends_with("checkpoints") => promise.iteration = renamed,
                Step::Write { path, bytes, .. } if path.ends_with("journal.jsonl") => {
                    n_lines += bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
                }
                Step::Sync(path) if path.ends_with("journal.jsonl") => promise.n_calls = n_lines,
                _ => {}
            }
        }
        promise
    }

    fn is_kept(&self, path: &Path) -> bool {
        if *self == Self::default() {
            return true;
        }
        let Ok(scheduler) = export::load(path) else { return false };
        scheduler.iterations() >= self.iteration && scheduler.n_calls() >= self.n_calls
    }
}

/// The steps of a life in a folder, and how it ends.
fn watched(life: Life, root: &Path) -> (Vec<Step>, Essence) {
    let watcher = Watcher::new();
    life.live(&watcher.disk(), &root.join(RUN)).unwrap();
    (watcher.steps(), Essence::of(&root.join(RUN)))
}

/// Lives once, and then goes on from what power losses after each of its operations leave.
fn survives_power_losses(life: Life) {
    let root = empty_folder();
    let root = root.path().canonicalize().unwrap();
    let (steps, expected) = watched(life, &root);
    let n_rounds: u64 = std::env::var("LUMINARY_FAULT_ROUNDS").map_or(1, |rounds| rounds.parse().unwrap());
    let fresh = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    // One seed that is always the same, and fresh ones.
    let seeds: Vec<u64> = [1].into_iter().chain((0..n_rounds).map(|round| Chance(fresh ^ round).next())).collect();
    eprintln!("{life:?}: {} operations, seeds {seeds:?}", steps.len());
    for end in 0..=steps.len() {
        let model = Model::after(&root, &steps[..end]);
        let promise = Promise::after(&steps[..end]);
        let somes = seeds.iter().map(|&seed| Loss::Some(Chance(seed ^ end as u64).next()));
        for loss in [Loss::All, Loss::None].into_iter().chain(somes) {
            let place = empty_folder();
            let path = place.path().join(RUN);
            model.write(&root, place.path(), loss);
            let last = &steps[..end].last();
            assert!(promise.is_kept(&path), "{life:?}, {loss:?} after {end} ({last:?}) breaks {promise:?}");
            let lived = life.live(&Disk::default(), &path);
            lived.unwrap_or_else(|error| panic!("{life:?}, {loss:?} after {end} ({last:?}): {error}"));
            assert!(Essence::of(&path) == expected, "{life:?}, {loss:?} after {end} ({last:?}) changes the result");
        }
    }
}

/// How often a promise would be broken if some of the steps were left out.
fn n_broken(life: Life, is_left_out: impl Fn(&Step) -> bool) -> usize {
    let root = empty_folder();
    let root = root.path().canonicalize().unwrap();
    let (steps, _) = watched(life, &root);
    let breaks = |end: &usize| {
        let place = empty_folder();
        let done: Vec<Step> = steps[..*end].iter().filter(|step| !is_left_out(step)).cloned().collect();
        Model::after(&root, &done).write(&root, place.path(), Loss::All);
        !Promise::after(&steps[..*end]).is_kept(&place.path().join(RUN))
    };
    (0..=steps.len()).filter(breaks).count()
}

#[test]
fn the_laboratory_notices_every_sync_that_is_missing() {
    let of_name = |step: &Step, name: &str| matches!(step, Step::Sync(path) if path.ends_with(name));
    let of_folder = |step: &Step, name: &str| matches!(step, Step::SyncFolder(path) if path.ends_with(name));
    let of_state = |step: &Step| matches!(step, Step::Sync(path) if path.to_string_lossy().ends_with(".ckpt.tmp"));
    assert_eq!(n_broken(Life::BuiltIn, |_| false), 0);
    assert!(n_broken(Life::BuiltIn, of_state) > 0);
    assert!(n_broken(Life::BuiltIn, |step| of_folder(step, "checkpoints")) > 0);
    assert!(n_broken(Life::BuiltIn, |step| of_folder(step, RUN)) > 0);
    assert!(n_broken(Life::ByHand, |step| of_folder(step, RUN)) > 0);
    assert!(n_broken(Life::ByHand, |step| of_name(step, "journal.jsonl")) > 0);
    assert!(n_broken(Life::ByTicket, |step| of_name(step, "journal.jsonl")) > 0);
}

#[test]
fn a_power_loss_costs_a_built_in_run_nothing_that_was_saved() {
    survives_power_losses(Life::BuiltIn);
}

#[test]
fn a_power_loss_costs_a_run_with_failures_nothing_that_was_saved() {
    survives_power_losses(Life::Failing);
}

#[test]
fn a_power_loss_costs_a_run_that_starts_from_elites_nothing_that_was_saved() {
    survives_power_losses(Life::Started);
}

#[test]
fn a_power_loss_costs_nothing_that_was_told() {
    survives_power_losses(Life::ByHand);
}

#[test]
fn a_power_loss_costs_a_run_in_completion_order_nothing_that_was_saved() {
    survives_power_losses(Life::ByTicket);
}
