//! The same seed gives bit-identical archives, whatever the number of threads and whoever makes the calls.

use luminary::scheduler::Scheduler;

use crate::common::{Scenario, fingerprint, run, scenarios, state};

const N_ITERATIONS: u64 = 30;

#[cfg(feature = "rayon")]
#[test]
fn one_two_and_four_threads_give_bit_identical_states() {
    use luminary::scheduler::Threads;
    for scenario in without_extras() {
        let expected = finished(&scenario, |_| {});
        for n_threads in [1, 2, 4] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            let found = pool.install(|| finished(&scenario, |scheduler| scheduler.set_threads(Threads::Pool)));
            assert!(found == expected, "{} differs with {n_threads} threads", scenario.name);
        }
    }
}

#[cfg(feature = "rayon")]
#[test]
fn threads_may_be_switched_in_the_middle_of_a_run() {
    use luminary::scheduler::Threads;
    for scenario in without_extras() {
        let expected = finished(&scenario, |_| {});
        let mut scheduler = scenario.config.build().unwrap();
        // An iteration with many rows may count for several.
        for i in 0.. {
            if scheduler.iterations() >= N_ITERATIONS {
                break;
            }
            scheduler.set_threads(if i % 2 == 0 { Threads::Pool } else { Threads::One });
            scheduler.run(scenario.problem.as_ref(), 1).unwrap();
        }
        assert!(state(&scheduler) == expected, "{}", scenario.name);
    }
}

#[test]
fn a_closed_loop_equals_single_calls() {
    for scenario in without_extras() {
        let expected = finished(&scenario, |_| {});
        let mut scheduler = scenario.config.build().unwrap();
        run(&mut scheduler, scenario.problem.as_ref(), N_ITERATIONS);
        assert!(state(&scheduler) == expected, "{}", scenario.name);
    }
}

#[test]
fn the_same_seed_repeats_and_another_seed_differs() {
    for mut scenario in scenarios() {
        let archive_of = |scenario: &Scenario| {
            let mut scheduler = scenario.config.build().unwrap();
            run(&mut scheduler, scenario.problem.as_ref(), 5);
            fingerprint(scheduler.result())
        };
        let first = archive_of(&scenario);
        assert!(first == archive_of(&scenario), "{} does not repeat", scenario.name);
        scenario.config.seed += 1;
        assert!(first != archive_of(&scenario), "{} ignores its seed", scenario.name);
    }
}

/// The closed loop does not know extra columns; those scenarios are for callers who evaluate themselves.
fn without_extras() -> impl Iterator<Item = Scenario> {
    scenarios().into_iter().filter(|scenario| scenario.config.archive.extra_columns.is_empty())
}

/// The complete state after a closed loop.
fn finished(scenario: &Scenario, prepare: impl Fn(&mut Scheduler) + Send) -> Vec<u8> {
    let mut scheduler = scenario.config.build().unwrap();
    prepare(&mut scheduler);
    scheduler.run(scenario.problem.as_ref(), N_ITERATIONS).unwrap();
    state(&scheduler)
}
