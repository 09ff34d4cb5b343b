//! What every strategy promises, tested on each of them.

mod rankings;

use luminary_math::WideRng;

use super::*;
use crate::message_pack;

const DIM: usize = 7;
const BATCH_SIZE: usize = 12;

fn configs() -> Vec<StrategyConfig> {
    vec![
        StrategyConfig::CmaEs(CmaConfig::default()),
        StrategyConfig::CmaEs(CmaConfig { factorisation: Factorisation::Eigen, active: true, ..Default::default() }),
        StrategyConfig::CmaEs(CmaConfig { variant: Variant::Published, ..Default::default() }),
        StrategyConfig::SepCmaEs(SepCmaConfig::default()),
        StrategyConfig::LmMaEs(LmMaConfig::default()),
        StrategyConfig::OpenAiEs(OpenAiConfig::default()),
        StrategyConfig::OpenAiEs(OpenAiConfig { mirror: false, ..Default::default() }),
    ]
}

fn shape(dim: usize, batch_size: usize) -> StrategyShape {
    StrategyShape { dim, batch_size, sigma0: 0.5, bounds: None }
}

/// A strategy with the generator it draws from and the rows of its last ask.
#[derive(Clone)]
struct Run {
    strategy: Strategy,
    rng: WideRng,
    solutions: Vec<f64>,
}

impl Run {
    fn new(config: &StrategyConfig, shape: StrategyShape) -> Self {
        let n_values = shape.dim * shape.batch_size;
        let x0 = vec![1.0; shape.dim];
        let strategy = Strategy::new(config, shape, &x0).unwrap();
        Self { strategy, rng: WideRng::new(5), solutions: vec![0.0; n_values] }
    }

    fn ask(&mut self) {
        self.strategy.get_mut().ask(&mut self.rng, &mut self.solutions);
    }

    /// All rows by their distance to the origin, with the first coordinate weighted more.
    fn ranking(&self) -> Vec<usize> {
        let dim = self.strategy.get().mean().len();
        let cost = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>() + 99.0 * row[0] * row[0];
        let costs: Vec<f64> = self.solutions.chunks_exact(dim).map(cost).collect();
        let mut ranking: Vec<usize> = (0..costs.len()).collect();
        ranking.sort_by(|&a, &b| costs[a].total_cmp(&costs[b]));
        ranking
    }

    /// Ranks all rows and tells.
    fn tell(&mut self, n_parents: usize) {
        let ranking = self.ranking();
        self.strategy.get_mut().tell(&self.solutions, &ranking, n_parents);
    }

    fn go(&mut self, n_iterations: usize, n_parents: usize) {
        for _ in 0..n_iterations {
            self.ask();
            self.tell(n_parents);
        }
    }
}

fn saved(strategy: &Strategy) -> Vec<u8> {
    rmp_serde::to_vec_named(&strategy.save()).unwrap()
}

#[test]
fn a_state_saved_between_ask_and_tell_continues_bit_for_bit() {
    // In sixty dimensions the factor is older than a generation, and outer products wait for its refresh.
    for (config, dim) in configs().into_iter().flat_map(|config| [(config.clone(), DIM), (config, 60)]) {
        let mut original = Run::new(&config, shape(dim, BATCH_SIZE));
        original.go(20, BATCH_SIZE / 2);
        original.ask();
        let mut restored = Run::new(&config, shape(dim, BATCH_SIZE));
        restored.strategy.load(message_pack::from_slice(&saved(&original.strategy)).unwrap()).unwrap();
        restored.rng = original.rng.clone();
        restored.solutions.clone_from(&original.solutions);
        for run in [&mut original, &mut restored] {
            run.tell(3);
            run.go(5, BATCH_SIZE / 2);
        }
        assert_eq!(original.solutions, restored.solutions, "{config:?}");
        assert_eq!(saved(&original.strategy), saved(&restored.strategy), "{config:?}");
    }
}

#[test]
fn a_clone_continues_like_its_original() {
    for config in configs() {
        let mut original = Run::new(&config, shape(DIM, BATCH_SIZE));
        original.go(10, 4);
        original.ask();
        let mut copy = original.clone();
        original.go(3, 4);
        copy.go(3, 4);
        assert_eq!(original.solutions, copy.solutions, "{config:?}");
    }
}

#[test]
fn a_state_of_another_shape_or_strategy_is_refused() {
    for config in configs() {
        // The noise of a larger batch could be that of a batch with surplus rows.
        for other_shape in [shape(DIM + 1, BATCH_SIZE), shape(DIM, BATCH_SIZE - 2)] {
            let other = Run::new(&config, other_shape);
            let mut strategy = Run::new(&config, shape(DIM, BATCH_SIZE)).strategy;
            let refused = strategy.load(other.strategy.save());
            assert!(matches!(refused, Err(CheckpointError::Mismatch { .. })), "{config:?}");
        }
    }
    let sep = Run::new(&StrategyConfig::SepCmaEs(SepCmaConfig::default()), shape(DIM, BATCH_SIZE));
    let mut lm = Run::new(&StrategyConfig::LmMaEs(LmMaConfig::default()), shape(DIM, BATCH_SIZE));
    assert!(matches!(lm.strategy.load(sep.strategy.save()), Err(CheckpointError::Mismatch { .. })));
}

#[test]
fn a_reset_strategy_samples_like_a_new_one() {
    for config in configs() {
        let mut fresh = Run::new(&config, shape(DIM, BATCH_SIZE));
        let mut reset = fresh.clone();
        reset.go(30, BATCH_SIZE / 2);
        reset.strategy.get_mut().reset(&[1.0; DIM]);
        reset.rng = fresh.rng.clone();
        fresh.go(5, BATCH_SIZE / 2);
        reset.go(5, BATCH_SIZE / 2);
        assert_eq!(fresh.solutions, reset.solutions, "{config:?}");
    }
}

#[test]
fn without_parents_the_distribution_stays() {
    for config in configs() {
        let mut adapted = Run::new(&config, shape(DIM, BATCH_SIZE));
        adapted.go(10, BATCH_SIZE / 2);
        // Long enough for the factor of a lazily updated covariance to have been refreshed.
        adapted.go(10, 0);
        let mut once = adapted.clone();
        let mut later = adapted;
        later.go(5, 0);
        later.rng = once.rng.clone();
        once.ask();
        later.ask();
        assert_eq!(once.solutions, later.solutions, "{config:?}");
    }
}

#[test]
fn any_number_of_parents_and_a_single_dimension_will_do() {
    for config in configs() {
        for dim in [1, DIM] {
            let mut run = Run::new(&config, shape(dim, BATCH_SIZE));
            for n_parents in (1..=BATCH_SIZE).chain([1, 5, 0, 3]) {
                run.go(2, n_parents);
                assert!(run.solutions.iter().all(|x| x.is_finite()), "{config:?} {dim} {n_parents}");
                assert_eq!(run.strategy.get().stop_reason(), None, "{config:?} {dim} {n_parents}");
            }
        }
    }
}

#[test]
fn samples_stay_within_bounds_under_every_rule() {
    for config in configs() {
        for rule in [BoundsRule::Clip, BoundsRule::Reflect, BoundsRule::Resample { max_tries: 3 }] {
            // The optimum is outside, beyond the lower bounds, so the strategy is driven against them.
            let bounds = Bounds::uniform(DIM, 0.9, 1.2, rule);
            let shape = StrategyShape { bounds: Some(bounds.clone()), ..shape(DIM, BATCH_SIZE) };
            let mut run = Run::new(&config, shape);
            for iteration in 0..100 {
                run.ask();
                assert!(run.solutions.chunks_exact(DIM).all(|row| bounds.contain(row)), "{config:?} {rule:?}");
                run.tell(BATCH_SIZE / 2);
                // A weighted mean of rows at a bound may miss it by rounding.
                let centred = run.strategy.get().mean().iter().all(|x| (0.9 - 1e-12..=1.2 + 1e-12).contains(x));
                assert!(centred, "{config:?} {rule:?} {iteration}");
                if run.strategy.get().stop_reason().is_some() {
                    break;
                }
            }
        }
    }
}

#[test]
fn solutions_that_are_no_numbers_stop_the_strategy() {
    // OpenAI-ES learns from its own noise and never reads the solutions back.
    for config in configs().into_iter().filter(|config| !matches!(config, StrategyConfig::OpenAiEs(_))) {
        for bad in [f64::NAN, f64::INFINITY] {
            let mut run = Run::new(&config, shape(DIM, BATCH_SIZE));
            run.ask();
            run.solutions.fill(bad);
            run.tell(BATCH_SIZE / 2);
            assert_eq!(run.strategy.get().stop_reason(), Some(StopReason::NonFinite), "{config:?} {bad}");
        }
    }
}

#[test]
fn bad_shapes_are_named() {
    for config in configs() {
        let new = |shape| Strategy::new(&config, shape, &[]).map(|_| ());
        assert!(matches!(new(shape(0, 4)), Err(ConfigError::TooFew { what: "solution_dim", .. })), "{config:?}");
        // CMA-ES alone can learn from a single row, when that row is a parent.
        let too_few = if matches!(config, StrategyConfig::CmaEs(_)) { 0 } else { 1 };
        assert!(matches!(new(shape(3, too_few)), Err(ConfigError::TooFew { what: "batch_size", .. })), "{config:?}");
        let no_step = StrategyShape { sigma0: 0.0, ..shape(3, 4) };
        assert!(matches!(new(no_step), Err(ConfigError::Value { what: "sigma0", .. })), "{config:?}");
    }
}
