//! Every gradient against central finite differences.

use luminary_domains::Domain;
use proptest::prelude::*;

/// Half the distance of the two points of a difference.
const STEP: f64 = 1e-5;

/// With this step the curvature of the Rastrigin function and the rounding of objectives near -1000 both stay below.
const TOLERANCE: f64 = 2e-6;

proptest! {
    #[test]
    fn gradients_inside_the_box_match_finite_differences(
        domain_idx in 0..Domain::ALL.len(),
        solution in prop::collection::vec(-5.1..5.1_f64, 2..40),
    ) {
        check_gradients(Domain::ALL[domain_idx], &solution)?;
    }

    #[test]
    fn gradients_across_the_box_match_finite_differences(
        domain_idx in 0..Domain::ALL.len(),
        solution in prop::collection::vec((-20.0..20.0_f64).prop_map(away_from_kinks), 2..40),
    ) {
        check_gradients(Domain::ALL[domain_idx], &solution)?;
    }
}

#[test]
fn gradients_on_the_edge_of_the_box_are_those_from_inside() {
    for domain in [Domain::LpSphere, Domain::LpRastrigin, Domain::LpPlateau] {
        let problem = domain.build(4).unwrap();
        let mut on_edge = [f64::NAN; 12];
        problem.evaluate_with_jacobian(&[5.12, -5.12, 5.12, -5.12], &mut [0.0; 2], &mut on_edge);
        let mut inside = [f64::NAN; 12];
        let just_inside = 5.12 - 1e-9;
        let solution = [just_inside, -just_inside, just_inside, -just_inside];
        problem.evaluate_with_jacobian(&solution, &mut [0.0; 2], &mut inside);
        for (edge, inside) in on_edge.into_iter().zip(inside) {
            assert!((edge - inside).abs() < 1e-6, "{domain}: {edge} for {inside}");
        }
    }
}

/// The linear projection is not differentiable where a component leaves the box.
fn away_from_kinks(x: f64) -> f64 {
    if (x.abs() - 5.12).abs() < 1e-3 { x + 0.01 } else { x }
}

fn check_gradients(domain: Domain, solution: &[f64]) -> Result<(), TestCaseError> {
    let n = solution.len();
    let problem = domain.build(n).unwrap();
    let mut jacobian = vec![f64::NAN; 3 * n];
    problem.evaluate_with_jacobian(solution, &mut [0.0; 2], &mut jacobian);

    let values_at = |component: usize, offset: f64| {
        let mut moved = solution.to_vec();
        moved[component] += offset;
        let mut measures = [0.0; 2];
        let objective = problem.evaluate(&moved, &mut measures);
        [objective, measures[0], measures[1]]
    };
    for component in 0..n {
        let (above, below) = (values_at(component, STEP), values_at(component, -STEP));
        for row in 0..3 {
            let slope = jacobian[row * n + component];
            let difference = (above[row] - below[row]) / (2.0 * STEP);
            let error = (slope - difference).abs();
            prop_assert!(
                error <= TOLERANCE * (1.0 + slope.abs()),
                "{domain}, n = {n}, row {row}, component {component}: {slope} for {difference}"
            );
        }
    }
    Ok(())
}
