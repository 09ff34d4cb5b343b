//! What every strategy promises when an ask draws more rows than a batch has, and when a ranking leaves rows out.

use super::*;
use crate::message_pack;

/// A batch and a surplus, which is odd and so leaves a mirrored row without its image.
const N_DRAWN: usize = BATCH_SIZE + 5;

/// A run whose asks draw a surplus.
fn over_issued(config: &StrategyConfig, dim: usize) -> Run {
    let mut run = Run::new(config, shape(dim, BATCH_SIZE));
    run.solutions.resize(N_DRAWN * dim, 0.0);
    run
}

impl Run {
    /// Tells the ranking of the rows that `counts` says yes to, with the better half of them as parents.
    fn tell_some(&mut self, counts: impl Fn(usize) -> bool) {
        let mut ranking = self.ranking();
        ranking.retain(|&row| counts(row));
        self.strategy.get_mut().tell(&self.solutions, &ranking, ranking.len() / 2);
    }
}

#[test]
fn rows_that_are_left_out_of_the_ranking_have_no_influence() {
    let counts = |row: usize| row % 3 != 1 && row != 15;
    for (config, dim) in configs().into_iter().flat_map(|config| [(config.clone(), DIM), (config, 60)]) {
        let mut plain = over_issued(&config, dim);
        for _ in 0..8 {
            plain.ask();
            plain.tell_some(counts);
        }
        plain.ask();
        let mut spoilt = plain.clone();
        plain.tell_some(counts);
        let mut ranking = spoilt.ranking();
        ranking.retain(|&row| counts(row));
        for (row, values) in spoilt.solutions.chunks_exact_mut(dim).enumerate() {
            if !counts(row) {
                values.fill(f64::NAN);
            }
        }
        spoilt.strategy.get_mut().tell(&spoilt.solutions, &ranking, ranking.len() / 2);
        assert_eq!(saved(&plain.strategy), saved(&spoilt.strategy), "{config:?}");
    }
}

#[test]
fn any_number_of_ranked_rows_and_parents_among_them_will_do() {
    for config in configs() {
        for dim in [1, DIM] {
            for n_ranked in 0..=N_DRAWN {
                let mut run = over_issued(&config, dim);
                run.go(3, BATCH_SIZE / 2);
                for n_parents in [0, 1, n_ranked / 2, n_ranked] {
                    run.ask();
                    let ranking = run.ranking();
                    let n_parents = n_parents.min(n_ranked);
                    run.strategy.get_mut().tell(&run.solutions, &ranking[..n_ranked], n_parents);
                    let context = format!("{config:?}, n = {dim}: {n_parents} parents of {n_ranked} ranked rows");
                    assert!(run.strategy.get().mean().iter().all(|x| x.is_finite()), "{context}");
                    assert_eq!(run.strategy.get().stop_reason(), None, "{context}");
                }
            }
        }
    }
}

#[test]
fn a_state_saved_between_an_over_issued_ask_and_its_tell_continues_bit_for_bit() {
    for (config, dim) in configs().into_iter().flat_map(|config| [(config.clone(), DIM), (config, 60)]) {
        let mut original = over_issued(&config, dim);
        original.go(20, BATCH_SIZE / 2);
        original.ask();
        let mut restored = Run::new(&config, shape(dim, BATCH_SIZE));
        restored.strategy.load(message_pack::from_slice(&saved(&original.strategy)).unwrap()).unwrap();
        restored.rng = original.rng.clone();
        restored.solutions.clone_from(&original.solutions);
        for run in [&mut original, &mut restored] {
            run.tell_some(|row| row % 4 != 0);
            // An ordinary batch after a larger one.
            run.solutions.truncate(BATCH_SIZE * dim);
            run.go(5, BATCH_SIZE / 2);
        }
        assert_eq!(original.solutions, restored.solutions, "{config:?}");
        assert_eq!(saved(&original.strategy), saved(&restored.strategy), "{config:?}");
    }
}

#[test]
fn a_surplus_once_leaves_nothing_behind() {
    for config in configs() {
        let mut plain = Run::new(&config, shape(DIM, BATCH_SIZE));
        let mut surplus = plain.clone();
        surplus.solutions.resize(N_DRAWN * DIM, 0.0);
        surplus.ask();
        surplus.strategy.get_mut().reset(&[1.0; DIM]);
        surplus.solutions.truncate(BATCH_SIZE * DIM);
        surplus.rng = plain.rng.clone();
        plain.go(5, BATCH_SIZE / 2);
        surplus.go(5, BATCH_SIZE / 2);
        assert_eq!(saved(&plain.strategy), saved(&surplus.strategy), "{config:?}");
    }
}

#[test]
fn noise_is_that_of_whole_rows_a_batch_or_more() {
    let shape = shape(1, BATCH_SIZE);
    for n_rows in [BATCH_SIZE, BATCH_SIZE + 1, MAX_BATCH_SIZE] {
        assert!(shape.check_noise("noise", n_rows).is_ok(), "{n_rows}");
    }
    for n_rows in [0, BATCH_SIZE - 1, MAX_BATCH_SIZE + 1, usize::MAX] {
        assert!(shape.check_noise("noise", n_rows).is_err(), "{n_rows}");
    }
    let wide = StrategyShape { dim: 3, ..shape };
    let refused = wide.check_noise("noise", 3 * BATCH_SIZE + 1).unwrap_err().to_string();
    let message = "expected noise of 12 to 1048576 rows of 3 values in the checkpoint's noise, found 37 values";
    assert_eq!(refused, message);
}

#[test]
#[should_panic(expected = "ask: expected room for 12 to 1048576 rows of 7 values, found room for 77 values")]
fn fewer_rows_than_a_batch_are_a_mistake() {
    let mut run = Run::new(&StrategyConfig::default(), shape(DIM, BATCH_SIZE));
    run.solutions.truncate((BATCH_SIZE - 1) * DIM);
    run.ask();
}

#[test]
#[should_panic(expected = "tell: expected at most 2 parents, the ranked rows, found 3")]
fn parents_that_are_not_ranked_are_a_mistake() {
    let mut run = Run::new(&StrategyConfig::default(), shape(DIM, BATCH_SIZE));
    run.ask();
    run.strategy.get_mut().tell(&run.solutions, &[4, 2], 3);
}
