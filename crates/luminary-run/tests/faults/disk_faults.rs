//! Operations that fail.

use std::fs;

use luminary_run::disk::Disk;

use crate::lives::{Essence, LIVES, Life, RUN, empty_folder};
use crate::monitor::{FAULTS, Fault, Watcher};

/// Lives with a fault at an operation, goes on without one, and compares; says whether the operation came at all.
fn survives(life: Life, number: usize, fault: Fault, expected: &Essence) -> bool {
    let root = empty_folder();
    let path = root.path().join(RUN);
    let watcher = Watcher::with_fault(number, fault);
    let lived = life.live(&watcher.disk(), &path);
    if let Err(error) = lived {
        let went_on = life.live(&Disk::default(), &path);
        went_on.unwrap_or_else(|then| panic!("{life:?}, {fault:?} at {number}: first {error}, then {then}"));
    }
    assert!(Essence::of(&path) == *expected, "{life:?}, {fault:?} at {number} changes the result");
    watcher.steps().len() > number
}

fn survives_everywhere(fault: Fault) {
    for life in LIVES {
        let root = empty_folder();
        let path = root.path().join(RUN);
        life.live(&Disk::default(), &path).unwrap();
        let expected = Essence::of(&path);
        fs::remove_dir_all(&path).unwrap();
        let n_faults = (0..).take_while(|&number| survives(life, number, fault, &expected)).count();
        eprintln!("{life:?}: {fault:?} at each of {n_faults} operations");
        assert!(n_faults > 50, "{life:?} does only {n_faults} operations");
    }
}

#[test]
fn an_operation_that_fails_once_costs_nothing_that_was_saved() {
    survives_everywhere(FAULTS[0]);
}

#[test]
fn short_writes_are_finished() {
    survives_everywhere(FAULTS[1]);
}

#[test]
fn a_disk_that_fills_up_costs_nothing_that_was_saved() {
    survives_everywhere(FAULTS[2]);
}

#[test]
fn a_disk_that_goes_away_costs_nothing_that_was_saved() {
    survives_everywhere(FAULTS[3]);
}
