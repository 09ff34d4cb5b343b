//! Values against the plain reference, over every length and far outside the box.

use luminary_domains::Domain;
use proptest::prelude::*;

use crate::reference;

/// Sums in another order and another sine differ by rounding only.
const RELATIVE_TOLERANCE: f64 = 1e-12;

#[test]
fn every_length_agrees_with_the_plain_reference() {
    for domain in Domain::ALL {
        for n in 1..=300 {
            let Ok(_) = domain.build(n) else {
                assert!(n == 1 && domain != Domain::Arm, "{domain} refused n = {n}");
                continue;
            };
            for spread in [1.0, 5.12, 7.0, 30.0] {
                check_against_reference(domain, &wave(n, spread));
            }
        }
    }
}

#[test]
fn large_components_agree_with_the_plain_reference() {
    for domain in Domain::ALL {
        for n in [2, 9, 100, 113] {
            for spread in [1e3, 1e6, 1e9] {
                // Multiples of 1/1024 add up exactly, so that both ways compute sines of the same headings.
                let x: Vec<f64> = wave(n, spread).iter().map(|x| (x * 1024.0).round() / 1024.0).collect();
                check_against_reference(domain, &x);
            }
        }
    }
}

#[test]
fn huge_components_keep_the_objective_ordered() {
    for domain in [Domain::LpSphere, Domain::LpRastrigin, Domain::LpPlateau] {
        let problem = domain.build(10).unwrap();
        let objective_at = |x: f64| problem.evaluate(&[x; 10], &mut [0.0; 2]);
        let objectives = [6.0, 1e3, 1e10, 1e16, 1e30, 1e100, 1e150].map(objective_at);
        assert!(objectives.is_sorted_by(|a, b| a > b), "{domain}: {objectives:?}");
        assert_eq!(objective_at(1e200), f64::NEG_INFINITY, "{domain}");
        assert_eq!(objective_at(f64::INFINITY), f64::NEG_INFINITY, "{domain}");
    }
}

#[test]
fn a_nan_component_makes_the_objective_nan() {
    for domain in Domain::ALL {
        for n in [2, 3, 8, 9, 17, 100] {
            let problem = domain.build(n).unwrap();
            for nan_idx in 0..n {
                let mut x = wave(n, 3.0);
                x[nan_idx] = f64::NAN;
                let mut measures = [0.0; 2];
                let objective = problem.evaluate(&x, &mut measures);
                assert!(objective.is_nan(), "{domain}, n = {n}, NaN at {nan_idx}: {objective}");
                let its_measure = usize::from(nan_idx >= n / 2);
                assert!(measures[its_measure].is_nan(), "{domain}, n = {n}, NaN at {nan_idx}: {measures:?}");
                if domain != Domain::Arm {
                    assert!(measures[1 - its_measure].is_finite(), "{domain}, n = {n}: the other half has no NaN");
                }
            }
        }
    }
}

#[test]
fn an_infinite_angle_gives_the_arm_no_position() {
    let arm = Domain::Arm.build(20).unwrap();
    let mut angles = wave(20, 1.0);
    angles[13] = f64::INFINITY;
    let mut measures = [0.0; 2];
    assert!(arm.evaluate(&angles, &mut measures).is_nan());
    assert!(measures.iter().all(|measure| measure.is_nan()), "{measures:?}");
}

proptest! {
    #[test]
    fn all_ways_to_evaluate_give_the_same_bits(
        domain_idx in 0..Domain::ALL.len(),
        n in 2..140_usize,
        n_rows in 0..6_usize,
        seed in 1.0..100.0_f64,
        spread in 0.1..12.0_f64,
    ) {
        let problem = Domain::ALL[domain_idx].build(n).unwrap();
        let solutions: Vec<f64> = wave(n_rows * n, spread).iter().map(|x| x + (seed * x).sin()).collect();
        let mut objectives = vec![f64::NAN; n_rows];
        let mut measures = vec![f64::NAN; 2 * n_rows];
        problem.evaluate_batch(&solutions, &mut objectives, &mut measures);
        for (row, solution) in solutions.chunks_exact(n).enumerate() {
            let expected = [objectives[row], measures[2 * row], measures[2 * row + 1]].map(f64::to_bits);
            let mut alone = [0.0; 2];
            let objective = problem.evaluate(solution, &mut alone);
            prop_assert_eq!([objective, alone[0], alone[1]].map(f64::to_bits), expected);
            let objective = problem.evaluate_with_jacobian(solution, &mut alone, &mut vec![0.0; 3 * n]);
            prop_assert_eq!([objective, alone[0], alone[1]].map(f64::to_bits), expected);
        }
    }

    #[test]
    fn random_solutions_agree_with_the_plain_reference(
        domain_idx in 0..Domain::ALL.len(),
        x in prop::collection::vec(-8.0..8.0_f64, 2..60),
    ) {
        check_against_reference(Domain::ALL[domain_idx], &x);
    }
}

fn check_against_reference(domain: Domain, x: &[f64]) {
    let n = x.len();
    let expected = reference::evaluate(domain, x);
    let mut measures = [f64::NAN; 2];
    let objective = domain.build(n).unwrap().evaluate(x, &mut measures);
    let pairs = [
        ("objective", objective, expected.objective, expected.objective_size),
        ("first measure", measures[0], expected.measures[0], expected.measure_sizes[0]),
        ("second measure", measures[1], expected.measures[1], expected.measure_sizes[1]),
    ];
    for (name, found, expected, size) in pairs {
        let error = (found - expected).abs();
        assert!(error <= RELATIVE_TOLERANCE * size, "{domain}, n = {n}, {name}: {found} for {expected}, {error:e} off");
    }
}

/// Components within plus or minus `spread` that repeat nowhere.
fn wave(n: usize, spread: f64) -> Vec<f64> {
    (0..n).map(|i| spread * (1.0 + 2.399963 * i as f64).sin()).collect()
}
