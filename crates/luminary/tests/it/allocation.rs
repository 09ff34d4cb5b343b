//! After the first iteration nothing allocates, and no checkpoint makes the engine ask for absurd amounts of memory.
//!
//! The whole binary runs on an allocator that counts in thread-local variables, so tests do not disturb each other.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::ControlFlow;

use luminary::WideRng;
use luminary::archive::UpdateRule;
use luminary::preset::Preset;
use luminary::problem::Problem;
use luminary::scheduler::{Observer, Scheduler};
use luminary::strategy::{Strategy, StrategyShape};
use luminary_domains::LinearProjection;

use crate::common::{preset_config, scenarios, strategies};

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    static N_REQUESTS: Cell<u64> = const { Cell::new(0) };
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

fn note(size: usize) {
    // A thread that is being torn down has no counters any more, and nothing to count.
    let _ = N_REQUESTS.try_with(|n| n.set(n.get() + 1));
    let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(size)));
}

// SAFETY: every call is passed on to the system's allocator with the arguments it came with; counting does not
// allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller's promises are those of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller's promises are those of `System`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note(new_size);
        // SAFETY: the caller's promises are those of `System`.
        unsafe { System.realloc(pointer, layout, new_size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are those of `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Runs `work` and returns with its result the size of the largest single request for memory it made.
pub(crate) fn largest_request<T>(work: impl FnOnce() -> T) -> (T, usize) {
    LARGEST.set(0);
    let result = work();
    (result, LARGEST.get())
}

/// Counts requests from the end of one iteration to the end of the next.
#[derive(Default)]
struct Meter {
    n_iterations: u64,
    at_last_end: u64,
    /// The first iteration with requests after the one that may, and how many it made.
    offender: Option<(u64, u64)>,
    n_free: u64,
}

impl Observer for Meter {
    fn iteration_done(&mut self, _scheduler: &Scheduler) -> ControlFlow<()> {
        let now = N_REQUESTS.get();
        self.n_iterations += 1;
        if self.n_iterations > self.n_free && now > self.at_last_end && self.offender.is_none() {
            self.offender = Some((self.n_iterations, now - self.at_last_end));
        }
        self.at_last_end = now;
        ControlFlow::Continue(())
    }
}

#[test]
fn cma_mae_cma_maega_and_map_elites_allocate_nothing_after_the_first_iteration() {
    for preset in [Preset::CmaMae, Preset::CmaMaega, Preset::MapElites, Preset::MapElitesLine] {
        for (n, n_iterations) in [(100, 30), (20, 100)] {
            let problem = LinearProjection::sphere(n).unwrap();
            let mut scheduler = preset.for_problem(&problem.spec()).build().unwrap();
            let mut meter = Meter { n_free: 1, ..Meter::default() };
            scheduler.run_observed(&problem, n_iterations, &mut meter).unwrap();
            assert_eq!(meter.n_iterations, n_iterations);
            assert_eq!(meter.offender, None, "{preset}, n = {n}: (iteration, requests)");
        }
    }
}

#[test]
fn restarts_the_batch_rule_and_every_other_preset_allocate_nothing_either() {
    let mut n_restarts = 0;
    // Groups that share places may need larger buffers when one of them first has many: see below. A discount model gathers
    // its examples anew for every training.
    for preset in Preset::ALL.into_iter().filter(|preset| ![Preset::Auto, Preset::Dms].contains(preset)) {
        for rule in [UpdateRule::Sequential, UpdateRule::Batch] {
            let problem = LinearProjection::sphere(3).unwrap();
            let mut config = preset_config(preset, &problem, 2).config();
            config.archive.rule = rule;
            let mut scheduler = config.build().unwrap();
            let mut meter = Meter { n_free: 1, ..Meter::default() };
            scheduler.run_observed(&problem, 400, &mut meter).unwrap();
            assert_eq!(meter.offender, None, "{preset}, {rule:?}: (iteration, requests)");
            n_restarts += scheduler.restarts().total();
        }
    }
    assert!(n_restarts > 0, "no restart was covered");
}

#[test]
fn bandits_bounds_rankers_and_strategies_settle_too() {
    for scenario in scenarios().into_iter().filter(|scenario| scenario.config.archive.extra_columns.is_empty()) {
        let mut scheduler = scenario.config.build().unwrap();
        // A bandit may need larger buffers when it first picks other emitters, and so do groups that share places; novelty looks at all elites, whose
        // number grows, only grids and centroids reserve the room of all their elites, and candidates are allocated one by one.
        let mut meter = Meter { n_free: 100, ..Meter::default() };
        scheduler.run_observed(scenario.problem.as_ref(), 200, &mut meter).unwrap();
        let is_exempt = ["archive", "dms", "noisy"].iter().any(|name| scenario.name.starts_with(name));
        if !scenario.name.contains("Novelty") && !is_exempt {
            assert_eq!(meter.offender, None, "{}: (iteration, requests)", scenario.name);
        }
    }
}

#[test]
fn surplus_rows_and_partial_rankings_allocate_nothing_after_the_first_iteration() {
    const BATCH_SIZE: usize = 12;
    const N_DRAWN: usize = 15;
    for dim in [4, 60] {
        for (name, config) in strategies() {
            let shape = StrategyShape { dim, batch_size: BATCH_SIZE, sigma0: 0.5, bounds: None };
            let mut strategy = Strategy::new(&config, shape, &vec![0.3; dim]).unwrap();
            let mut rng = WideRng::new(1);
            let mut rows = vec![0.0; N_DRAWN * dim];
            let ranking: Vec<usize> = (0..N_DRAWN).rev().collect();
            let mut after_the_first = None;
            for iteration in 0..60 {
                // Every number of ranked rows has its turn, from a whole batch to none.
                let n_ranked = BATCH_SIZE - iteration * 5 % (BATCH_SIZE + 1);
                strategy.get_mut().ask(&mut rng, &mut rows);
                strategy.get_mut().tell(&rows, &ranking[..n_ranked], n_ranked / 2);
                after_the_first.get_or_insert(N_REQUESTS.get());
            }
            assert_eq!(Some(N_REQUESTS.get()), after_the_first, "{name}, n = {dim}");
        }
    }
}

#[test]
fn the_meter_sees_allocations() {
    let before = N_REQUESTS.get();
    let (values, largest) = largest_request(|| vec![1_u8; 1000]);
    assert!(N_REQUESTS.get() > before && largest >= 1000 && values.len() == 1000);
}
