//! Every kind of emitter without a scheduler around it: generations of any size, rows without a value, and saving
//! between any two calls.

use luminary::archive::{AddReport, Archive, Batch, CellArchive, NonFinite, Status};
use luminary::emitter::{Emitter, EmitterConfig, EmitterShape, EmitterState, Feedback};
use luminary::problem::{DifferentiableProblem, Problem};
use luminary::restart::RestartCounts;
use luminary::strategy::{Bounds, BoundsRule};
use proptest::prelude::*;

use super::emitters::{DIM, all_emitters, bowl};
use crate::common::soft_archive;

/// An emitter with an archive of its own, driven call by call.
struct Alone {
    config: EmitterConfig,
    emitter: Box<dyn Emitter>,
    archive: CellArchive,
}

impl Alone {
    fn new(config: &EmitterConfig) -> Self {
        let archive = soft_archive(&bowl()).build_cells().unwrap();
        Self { config: config.clone(), emitter: build(config), archive }
    }

    /// The same emitter, saved and restored.
    fn restored(&self) -> Self {
        let bytes = rmp_serde::to_vec_named(&self.emitter.save().unwrap()).unwrap();
        let state: EmitterState<'_> = luminary::checkpoint::from_slice(&bytes).unwrap();
        let mut emitter = build(&self.config);
        emitter.load(state).unwrap();
        Self { config: self.config.clone(), emitter, archive: self.archive.clone() }
    }

    fn ask_gradients(&mut self) -> Vec<f64> {
        let mut points = vec![0.0; self.emitter.n_gradients() * DIM];
        self.emitter.ask_gradients(&self.archive, &mut points);
        points
    }

    fn tell_gradients(&mut self, points: &[f64]) {
        let mut jacobians = Vec::new();
        for point in points.chunks_exact(DIM) {
            let mut jacobian = vec![0.0; 3 * DIM];
            bowl().evaluate_with_jacobian(point, &mut [0.0; 2], &mut jacobian);
            jacobians.extend(jacobian);
        }
        self.add(points, |_| true);
        self.emitter.tell_gradients(&jacobians);
    }

    fn ask(&mut self, n_rows: usize) -> Vec<f64> {
        let mut rows = vec![0.0; n_rows * DIM];
        self.emitter.ask(&self.archive, &mut rows);
        rows
    }

    /// Tells rows, of which only some have a value; the others say whatever `garbage` is.
    fn tell(&mut self, rows: &[f64], has_value: impl Fn(usize) -> bool, garbage: f64) {
        let (objectives, measures, report) = self.add(rows, &has_value);
        let objectives: Vec<f64> = objectives.into_iter().map(|x| if x.is_nan() { garbage } else { x }).collect();
        let delta: Vec<f64> = report
            .delta
            .iter()
            .zip(&report.status)
            .map(|(&x, s)| if *s == Status::Invalid { garbage } else { x })
            .collect();
        let feedback = Feedback::new(rows, &objectives, &measures, &report.status, &delta).with_visits(&report.visits);
        self.emitter.rank(&feedback);
        self.emitter.adapt(&self.archive, &feedback);
    }

    /// Offers rows to the archive; those without a value have no objective.
    fn add(&mut self, rows: &[f64], has_value: impl Fn(usize) -> bool) -> (Vec<f64>, Vec<f64>, AddReport) {
        let n_rows = rows.len() / DIM;
        let mut objectives = vec![0.0; n_rows];
        let mut measures = vec![0.0; 2 * n_rows];
        bowl().evaluate_batch(rows, &mut objectives, &mut measures);
        for row in (0..n_rows).filter(|&row| !has_value(row)) {
            objectives[row] = f64::NAN;
        }
        let mut report = AddReport::default();
        let batch = Batch { solutions: rows, objectives: &objectives, measures: &measures, extras: &[] };
        self.archive.add(&batch, NonFinite::Reject, &mut report).unwrap();
        (objectives, measures, report)
    }

    /// One iteration with `n_surplus` more rows than the emitter needs.
    fn iterate(&mut self, n_surplus: usize, has_value: impl Fn(usize) -> bool, garbage: f64) -> Vec<f64> {
        if self.emitter.n_gradients() > 0 {
            let points = self.ask_gradients();
            self.tell_gradients(&points);
        }
        let rows = self.ask(self.emitter.batch_size() + n_surplus);
        self.tell(&rows, has_value, garbage);
        rows
    }
}

fn build(config: &EmitterConfig) -> Box<dyn Emitter> {
    let measure_bounds = bowl().spec().measure_bounds;
    let shape = EmitterShape { solution_dim: DIM, measure_bounds: &measure_bounds, seed: 3, path: "emitter" };
    config.build(&shape).unwrap()
}

fn bits(rows: &[f64]) -> Vec<u64> {
    rows.iter().map(|x| x.to_bits()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn any_rows_may_lack_a_value_and_what_else_they_say_does_not_matter(
        patterns in prop::collection::vec((0..7_usize, any::<u32>()), 1..12),
    ) {
        for (name, config) in all_emitters(None) {
            let mut told_nan = Alone::new(&config);
            let mut told_zero = Alone::new(&config);
            for &(n_surplus, pattern) in &patterns {
                let has_value = |row: usize| pattern >> (row % 32) & 1 == 1;
                let rows = told_nan.iterate(n_surplus, has_value, f64::NAN);
                prop_assert!(rows.iter().all(|x| x.is_finite()), "{name}");
                let same_rows = told_zero.iterate(n_surplus, has_value, 0.0);
                prop_assert_eq!(bits(&rows), bits(&same_rows), "{}", name);
            }
            prop_assert_eq!(told_nan.emitter.restarts(), told_zero.emitter.restarts());
        }
    }

    #[test]
    fn saved_between_any_two_calls_an_emitter_goes_on_bit_by_bit(n_iterations in 1..12_usize, n_surplus in 0..5_usize) {
        for (name, config) in all_emitters(None) {
            let mut original = Alone::new(&config);
            for i in 0..n_iterations {
                original.iterate(n_surplus, |row| (row + i) % 4 != 0, f64::NAN);
            }
            let mut copies = vec![original.restored()];
            let mut points = Vec::new();
            if original.emitter.n_gradients() > 0 {
                points = original.ask_gradients();
                copies[0].ask_gradients();
                copies.push(original.restored());
                original.tell_gradients(&points);
                copies.iter_mut().for_each(|copy| copy.tell_gradients(&points));
                copies.push(original.restored());
            }
            let rows = original.ask(original.emitter.batch_size() + n_surplus);
            for copy in &mut copies {
                prop_assert_eq!(bits(&copy.ask(rows.len() / DIM)), bits(&rows), "{}: {} points", name, points.len());
            }
            copies.push(original.restored());
            original.tell(&rows, |row| row != 1, f64::NAN);
            copies.iter_mut().for_each(|copy| copy.tell(&rows, |row| row != 1, f64::NAN));
            let next = bits(&original.iterate(0, |_| true, f64::NAN));
            for copy in &mut copies {
                prop_assert_eq!(&bits(&copy.iterate(0, |_| true, f64::NAN)), &next, "{}", name);
            }
        }
    }
}

#[test]
fn a_generation_without_a_value_restarts_the_emitter_from_an_elite() {
    for (name, config) in all_emitters(None) {
        let mut alone = Alone::new(&config);
        alone.iterate(0, |_| true, f64::NAN);
        let before = alone.emitter.restarts();
        alone.iterate(2, |_| false, f64::NAN);
        let expected = before.map(|before| RestartCounts { no_values: before.no_values + 1, ..before });
        assert_eq!(alone.emitter.restarts(), expected, "{name}");
        let rows = alone.iterate(0, |_| true, f64::NAN);
        assert!(rows.iter().all(|x| x.is_finite()), "{name}");
    }
}

#[test]
fn a_single_value_in_a_generation_is_learnt_from() {
    for (name, config) in all_emitters(None).into_iter().filter(|(_, config)| build(config).restarts().is_some()) {
        let next_rows = |value_of: usize| {
            let mut alone = Alone::new(&config);
            alone.iterate(1, |row| row == value_of, f64::NAN);
            assert_eq!(alone.emitter.restarts().unwrap().total(), 0, "{name}");
            alone.iterate(0, |_| true, f64::NAN)
        };
        // OpenAI-ES ranks its parents against each other, which a single row cannot be, and a difference takes two.
        let learns = !name.contains("OpenAI") && !name.contains("estimated");
        assert!(!learns || next_rows(0) != next_rows(1), "{name}: which row had the value makes no difference");
    }
}

#[test]
fn rows_of_any_number_stay_within_bounds_and_follow_from_the_seed() {
    for rule in [BoundsRule::Clip, BoundsRule::Reflect, BoundsRule::Resample { max_tries: 3 }] {
        let bounds = Bounds { lower: vec![0.0, -0.3, f64::NEG_INFINITY], upper: vec![0.2, 0.5, 0.4], rule };
        for (name, config) in all_emitters(Some(&bounds)) {
            let run = || {
                let mut alone = Alone::new(&config);
                let all: Vec<f64> = (0..8).flat_map(|i| alone.iterate(3 * i, |row| row % 3 != i, f64::NAN)).collect();
                assert!(all.chunks_exact(DIM).all(|row| bounds.contain(row)), "{name}, {rule:?}");
                bits(&all)
            };
            assert!(run() == run(), "{name}, {rule:?}");
        }
    }
}

#[test]
fn emitters_without_generations_draw_row_by_row_from_the_archive_as_it_is() {
    let mut n_emitters = 0;
    for (name, config) in all_emitters(None) {
        let mut alone = Alone::new(&config);
        if alone.emitter.has_generations() {
            continue;
        }
        n_emitters += 1;
        let mut rows = Vec::new();
        // Rows are asked for before others are told, and some never are.
        for n_rows in [1, 1, 3, 1, 0, 2] {
            rows.push(alone.ask(n_rows));
        }
        for batch in &rows[2..] {
            for row in batch.chunks_exact(DIM) {
                alone.tell(row, |_| true, f64::NAN);
            }
        }
        let n_elites = alone.archive.len();
        assert!(n_elites > 0, "{name}");
        for _ in 0..50 {
            let row = alone.ask(1);
            alone.tell(&row, |_| true, f64::NAN);
        }
        assert!(alone.archive.len() > n_elites, "{name}: elites are varied one by one too");
    }
    assert_eq!(n_emitters, 3);
}
