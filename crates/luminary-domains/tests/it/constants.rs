//! The fixed points of the definitions: optima, worst points, corners, bounds.

use std::f64::consts::{FRAC_PI_2, PI};

use luminary::problem::{DifferentiableProblem, Problem};
use luminary_domains::linear_projection::SHIFT;
use luminary_domains::{Arm, Domain, LinearProjection};

/// Rounding of a hundred additions.
const TOLERANCE: f64 = 1e-11;

fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= TOLERANCE, "{found} for {expected}");
}

#[test]
fn sphere_and_rastrigin_score_100_at_the_shift_and_0_at_the_worst_corner() {
    assert_eq!(SHIFT, 2.048);
    for n in [2, 7, 100] {
        for problem in [LinearProjection::sphere(n).unwrap(), LinearProjection::rastrigin(n).unwrap()] {
            assert_eq!(problem.evaluate(&vec![SHIFT; n], &mut [0.0; 2]), 100.0);
            assert_near(problem.evaluate(&vec![-5.12; n], &mut [0.0; 2]), 0.0);
            assert!(problem.evaluate(&vec![-6.0; n], &mut [0.0; 2]) < 0.0);
        }
    }
}

#[test]
fn rastrigin_has_local_optima_one_apart() {
    let problem = LinearProjection::rastrigin(10).unwrap();
    let objective_at = |x: f64| problem.evaluate(&[x; 10], &mut [0.0; 2]);
    let (here, between, next) = (objective_at(SHIFT), objective_at(SHIFT + 0.5), objective_at(SHIFT + 1.0));
    assert!(here > next && next > between, "{here} {between} {next}");
    // worst = 7.168^2 + 10 (1 - cos(2 pi 7.168)); one step away the term is 1, half a step away 0.25 + 20.
    let worst = 7.168_f64.powi(2) + 10.0 - 10.0 * (2.0 * PI * 7.168).cos();
    assert_near(next, 100.0 - 100.0 / worst);
    assert_near(between, 100.0 - 2025.0 / worst);
}

#[test]
fn the_plateau_is_flat_inside_the_box_and_falls_outside() {
    let problem = LinearProjection::plateau(100).unwrap();
    for x in [0.0, 1.0, -3.3, 5.12, -5.12] {
        assert_eq!(problem.evaluate(&[x; 100], &mut [0.0; 2]), 100.0);
    }
    let mut solution = [0.0; 100];
    solution[99] = -7.12;
    // The mean penalty is 2^2 / 100 of a worst of 100.
    assert_near(problem.evaluate(&solution, &mut [0.0; 2]), 99.96);
    assert_near(problem.evaluate(&[15.12; 100], &mut [0.0; 2]), 0.0);
}

#[test]
fn linear_projection_measures_meet_their_bounds_in_the_corners() {
    let problem = LinearProjection::sphere(100).unwrap();
    assert_eq!(problem.spec().solution_dim, 100);
    assert_eq!(problem.spec().measure_bounds, [(-256.0, 256.0), (-256.0, 256.0)]);
    for (first, second) in [(5.12, 5.12), (5.12, -5.12), (-5.12, 5.12), (-5.12, -5.12)] {
        let mut solution = [first; 100];
        solution[50..].fill(second);
        let mut measures = [0.0; 2];
        problem.evaluate(&solution, &mut measures);
        assert_near(measures[0], 50.0 * first);
        assert_near(measures[1], 50.0 * second);
    }
    // Outside the box a component counts for 5.12 / x only.
    let mut measures = [0.0; 2];
    problem.evaluate(&[10.24; 100], &mut measures);
    assert_near(measures[0], 25.0);
}

#[test]
fn an_odd_length_gives_the_second_measure_the_larger_half_and_both_the_same_bounds() {
    let problem = LinearProjection::plateau(7).unwrap();
    let mut measures = [0.0; 2];
    problem.evaluate(&[1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0], &mut measures);
    assert_eq!(measures, [3.0, 8.0]);
    assert_eq!(problem.spec().measure_bounds, [(-3.5 * 5.12, 3.5 * 5.12); 2]);
}

#[test]
fn a_stretched_arm_reaches_the_rim_and_scores_100() {
    for n in [1, 5, 100] {
        let arm = Arm::new(n).unwrap();
        let reach = n as f64;
        assert_eq!(arm.spec().measure_bounds, [(-reach, reach); 2]);
        let mut angles = vec![0.0; n];
        let mut measures = [0.0; 2];
        assert_eq!(arm.evaluate(&angles, &mut measures), 100.0);
        assert_eq!(measures, [reach, 0.0]);

        angles[0] = FRAC_PI_2;
        arm.evaluate(&angles, &mut measures);
        assert_near(measures[0], 0.0);
        assert_near(measures[1], reach);

        angles[0] = PI;
        arm.evaluate(&angles, &mut measures);
        assert_near(measures[0], -reach);
        assert_near(measures[1], 0.0);
    }
}

#[test]
fn an_arm_bent_to_a_polygon_comes_back_with_the_best_objective() {
    let arm = Arm::new(100).unwrap();
    let mut measures = [0.0; 2];
    let objective = arm.evaluate(&[2.0 * PI / 100.0; 100], &mut measures);
    assert_near(objective, 100.0);
    assert_near(measures[0], 0.0);
    assert_near(measures[1], 0.0);
}

#[test]
fn the_arm_pays_for_the_population_variance() {
    let arm = Arm::new(4).unwrap();
    assert_near(arm.evaluate(&[0.5, -0.5, 0.5, -0.5], &mut [0.0; 2]), 75.0);
    assert_near(arm.evaluate(&[3.0, -1.0, 3.0, -1.0], &mut [0.0; 2]), -300.0);
}

#[test]
fn each_half_of_the_plateau_gradient_points_back_into_the_box() {
    let problem = LinearProjection::plateau(2).unwrap();
    let mut jacobian = [f64::NAN; 6];
    problem.evaluate_with_jacobian(&[6.12, -7.12], &mut [0.0; 2], &mut jacobian);
    // 100 - mean penalty: the slopes are -2 e / n, with the excesses e = 1 and -2.
    let expected = [-1.0, 2.0, -5.12 / 6.12_f64.powi(2), 0.0, 0.0, -5.12 / 7.12_f64.powi(2)];
    for (found, expected) in jacobian.into_iter().zip(expected) {
        assert_near(found, expected);
    }
}

#[test]
fn the_paper_settings_are_those_of_its_appendix() {
    for domain in Domain::ALL {
        let settings = domain.paper_settings();
        let line = [settings.line_sigma_1, settings.line_sigma_2];
        let found = (settings.map_elites_sigma, line, settings.cma_sigma0, settings.sigma_g);
        let expected = if domain == Domain::Arm { (0.1, [0.1, 0.2], 0.1, 0.05) } else { (0.5, [0.5, 0.2], 0.5, 10.0) };
        assert_eq!(found, expected, "{domain}");
        assert_eq!((settings.alpha, settings.min_f, settings.eta), (0.01, 0.0, 1.0));
        assert_eq!((settings.n_emitters, settings.batch_size, settings.resolution), (15, 36, [100, 100]));
    }
}

#[test]
#[should_panic(expected = "linear projection: components of 1 solutions")]
fn a_solution_of_the_wrong_length_is_a_loud_bug() {
    LinearProjection::sphere(10).unwrap().evaluate(&[0.0; 9], &mut [0.0; 2]);
}
