//! Every strategy with every option, without emitter or archive.

use luminary::WideRng;
use luminary::strategy::{Bounds, BoundsRule, StopReason, Strategy, StrategyConfig, StrategyShape};

use crate::common::strategies;

const BATCH_SIZE: usize = 12;

/// What a test makes a strategy minimise.
type Cost = fn(&[f64]) -> f64;

fn shape(dim: usize, bounds: Option<Bounds>) -> StrategyShape {
    StrategyShape { dim, batch_size: BATCH_SIZE, sigma0: 0.5, bounds }
}

fn start(config: &StrategyConfig, dim: usize, bounds: Option<Bounds>) -> Strategy {
    Strategy::new(config, shape(dim, bounds), &vec![0.3; dim]).unwrap()
}

/// Asks, ranks by a cost to minimise, tells with `n_parents`, and returns the rows.
fn iterate(strategy: &mut Strategy, rng: &mut WideRng, n_parents: usize, cost: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let dim = strategy.get().mean().len();
    let mut rows = vec![f64::NAN; BATCH_SIZE * dim];
    strategy.get_mut().ask(rng, &mut rows);
    let costs: Vec<f64> = rows.chunks_exact(dim).map(cost).collect();
    let mut ranking: Vec<usize> = (0..BATCH_SIZE).collect();
    ranking.sort_by(|&a, &b| costs[a].total_cmp(&costs[b]));
    strategy.get_mut().tell(&rows, &ranking, n_parents);
    rows
}

fn sphere(row: &[f64]) -> f64 {
    row.iter().map(|x| (x - 1.0) * (x - 1.0)).sum()
}

#[test]
fn the_first_samples_have_the_initial_mean_and_step_size() {
    for (name, config) in strategies() {
        for dim in [1, 2, 10] {
            let mut rng = WideRng::new(1);
            let mut n = 0.0;
            let mut sum = 0.0;
            let mut squares = 0.0;
            for _ in 0..400 {
                let mut strategy = start(&config, dim, None);
                let mut rows = vec![f64::NAN; BATCH_SIZE * dim];
                strategy.get_mut().ask(&mut rng, &mut rows);
                for x in rows {
                    n += 1.0;
                    sum += x - 0.3;
                    squares += (x - 0.3) * (x - 0.3);
                }
            }
            let mean = sum / n;
            let deviation = (squares / n).sqrt();
            // Standard errors are below 0.5 / sqrt(4800) = 0.0072; four of them.
            assert!(mean.abs() < 0.03 && (deviation - 0.5).abs() < 0.03, "{name}, n = {dim}: {mean} {deviation}");
        }
    }
}

#[test]
fn strategies_move_towards_what_ranks_first() {
    for (name, config) in strategies() {
        for dim in [1, 2, 10] {
            let mut strategy = start(&config, dim, None);
            let mut rng = WideRng::new(2);
            let before = sphere(strategy.get().mean());
            for _ in 0..150 {
                iterate(&mut strategy, &mut rng, BATCH_SIZE / 2, sphere);
            }
            let after = sphere(strategy.get().mean());
            // OpenAI-ES keeps its step size and moves by at most 0.01 a component and iteration.
            assert!(after < 0.5 * before, "{name}, n = {dim}: from {before} to {after}");
        }
    }
}

/// Draws a surplus, ranks the first `BATCH_SIZE` rows that the fate of each leaves, and tells. Returns the rows.
fn iterate_with_failures(strategy: &mut Strategy, rng: &mut WideRng, fate: &mut WideRng) -> Vec<f64> {
    let dim = strategy.get().mean().len();
    let n_drawn = BATCH_SIZE + 3;
    let mut rows = vec![f64::NAN; n_drawn * dim];
    strategy.get_mut().ask(rng, &mut rows);
    let costs: Vec<f64> = rows.chunks_exact(dim).map(sphere).collect();
    let mut ranking: Vec<usize> = (0..n_drawn).filter(|_| fate.uniform() < 0.7).take(BATCH_SIZE).collect();
    ranking.sort_by(|&a, &b| costs[a].total_cmp(&costs[b]));
    strategy.get_mut().tell(&rows, &ranking, ranking.len() / 2);
    rows
}

#[test]
fn strategies_learn_from_the_rows_they_get_back() {
    for (name, config) in strategies() {
        for dim in [1, 2, 10] {
            let mut strategy = start(&config, dim, None);
            let mut rng = WideRng::new(2);
            let mut fate = WideRng::new(9);
            let before = sphere(strategy.get().mean());
            for _ in 0..150 {
                iterate_with_failures(&mut strategy, &mut rng, &mut fate);
            }
            let after = sphere(strategy.get().mean());
            // As in the test above, with three rows in ten missing.
            assert!(after < 0.5 * before, "{name}, n = {dim}: from {before} to {after}");
        }
    }
}

#[test]
fn surplus_rows_stay_within_bounds_too() {
    for (name, config) in strategies() {
        for rule in [BoundsRule::Clip, BoundsRule::Reflect, BoundsRule::Resample { max_tries: 2 }] {
            let bounds = Bounds::uniform(4, 0.2, 0.4, rule);
            let mut strategy = start(&config, 4, Some(bounds.clone()));
            let mut rng = WideRng::new(3);
            let mut fate = WideRng::new(9);
            for _ in 0..30 {
                let rows = iterate_with_failures(&mut strategy, &mut rng, &mut fate);
                assert!(rows.chunks_exact(4).all(|row| bounds.contain(row)), "{name}, {rule:?}");
                if strategy.get().stop_reason().is_some() {
                    strategy.get_mut().reset(&[0.3; 4]);
                }
            }
        }
    }
}

#[test]
fn samples_stay_finite_and_within_bounds_for_any_number_of_parents() {
    for (name, config) in strategies() {
        for rule in [BoundsRule::Clip, BoundsRule::Reflect, BoundsRule::Resample { max_tries: 2 }] {
            for dim in [1, 2, 10] {
                let bounds = Bounds::uniform(dim, 0.2, 0.4, rule);
                let mut strategy = start(&config, dim, Some(bounds.clone()));
                let mut rng = WideRng::new(3);
                for n_parents in (0..=BATCH_SIZE).chain((0..=BATCH_SIZE).rev()) {
                    let rows = iterate(&mut strategy, &mut rng, n_parents, sphere);
                    assert!(
                        rows.chunks_exact(dim).all(|row| bounds.contain(row)),
                        "{name}, {rule:?}, {n_parents} parents"
                    );
                    if strategy.get().stop_reason().is_some() {
                        strategy.get_mut().reset(&vec![0.3; dim]);
                    }
                }
            }
        }
    }
}

#[test]
fn without_parents_the_distribution_stays() {
    for (name, config) in strategies() {
        let mut strategy = start(&config, 3, None);
        let mut rng = WideRng::new(4);
        for _ in 0..5 {
            iterate(&mut strategy, &mut rng, 3, sphere);
        }
        let mean = strategy.get().mean().to_vec();
        iterate(&mut strategy, &mut rng, 0, sphere);
        assert_eq!(strategy.get().mean(), mean, "{name}");
    }
}

#[test]
fn a_reset_forgets_everything() {
    for (name, config) in strategies() {
        for dim in [1, 3] {
            let mut used = start(&config, dim, None);
            let mut rng = WideRng::new(5);
            for _ in 0..40 {
                iterate(&mut used, &mut rng, 6, sphere);
            }
            let mut fresh = start(&config, dim, None);
            used.get_mut().reset(&vec![-2.0; dim]);
            fresh.get_mut().reset(&vec![-2.0; dim]);
            let mut rngs = [WideRng::new(6), WideRng::new(6)];
            for _ in 0..20 {
                let a = iterate(&mut used, &mut rngs[0], 6, sphere);
                let b = iterate(&mut fresh, &mut rngs[1], 6, sphere);
                assert_eq!(a, b, "{name}, n = {dim}");
            }
        }
    }
}

#[test]
fn a_clone_goes_on_like_the_original() {
    for (name, config) in strategies() {
        let mut strategy = start(&config, 4, None);
        let mut rng = WideRng::new(7);
        for _ in 0..15 {
            iterate(&mut strategy, &mut rng, 6, sphere);
        }
        let mut copy = strategy.clone();
        let mut rng_copy = rng.clone();
        for _ in 0..15 {
            let a = iterate(&mut strategy, &mut rng, 6, sphere);
            assert_eq!(a, iterate(&mut copy, &mut rng_copy, 6, sphere), "{name}");
        }
    }
}

#[test]
fn rankings_that_lead_nowhere_or_away_for_ever_end_in_a_stop_or_stay_finite() {
    for (name, config) in strategies() {
        for dim in [1, 3] {
            // Constant rankings are noise; the second cost rewards going to infinity.
            let costs: [(&str, Cost); 3] =
                [("flat", |_| 0.0), ("outwards", |row| -row[0]), ("inwards", |row| row.iter().map(|x| x.abs()).sum())];
            for (kind, cost) in costs {
                let mut strategy = start(&config, dim, None);
                let mut rng = WideRng::new(8);
                let mut reason = None;
                for _ in 0..3000 {
                    let rows = iterate(&mut strategy, &mut rng, 6, cost);
                    assert!(rows.iter().all(|x| x.is_finite()), "{name}, {kind}");
                    reason = strategy.get().stop_reason();
                    if reason.is_some() {
                        break;
                    }
                }
                if kind == "outwards" && !matches!(config, StrategyConfig::OpenAiEs(_)) {
                    assert_eq!(reason, Some(StopReason::StepTooLarge), "{name}, n = {dim}");
                }
            }
        }
    }
}
