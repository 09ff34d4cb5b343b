//! The two complete domains on small random networks.

use std::sync::Arc;

use luminary::problem::{DifferentiableProblem, Problem};
use luminary_lsi::domains::{
    Cutouts, Draw, FaceObjective, Faces, FacesConfig, LsiError, LsiStyleGan, LsiStyleGan2, LsiStyleGan2Config,
    LsiStyleGanConfig, NoiseChoice, PromptPair,
};
use luminary_lsi::networks::Generator;
use luminary_math::WideRng;

use crate::golden;

fn stylegan_config() -> LsiStyleGanConfig {
    LsiStyleGanConfig {
        objective: "a eight".into(),
        measures: vec!["digit".into(), "a digit".into()],
        ..Default::default()
    }
}

fn stylegan(config: LsiStyleGanConfig) -> LsiStyleGan {
    LsiStyleGan::new(golden::stylegan(), golden::clip(), config).unwrap()
}

fn stylegan2_config() -> LsiStyleGan2Config {
    LsiStyleGan2Config {
        objective: "a eight".into(),
        measures: vec![PromptPair::new("digit", "a digit"), PromptPair::new("a", "eight a")],
        cutouts: Cutouts { count: 5, smallest: None, per_pass: 2 },
        n_samples: 200,
        n_starts: 16,
        ..Default::default()
    }
}

fn stylegan2(config: LsiStyleGan2Config) -> LsiStyleGan2 {
    stylegan2_with(golden::stylegan2(), config)
}

fn stylegan2_with(generator: Arc<dyn Generator>, config: LsiStyleGan2Config) -> LsiStyleGan2 {
    LsiStyleGan2::new(generator, golden::clip(), config).unwrap()
}

fn faces_config() -> FacesConfig {
    FacesConfig { n_samples: 200, n_starts: 16, penalty_from: 0.5, ..Default::default() }
}

fn faces(config: FacesConfig) -> Faces {
    Faces::new(golden::mobile_stylegan(), Arc::new(golden::face_nets()), config).unwrap()
}

fn solutions(problem: &dyn Problem, n_rows: usize, scale: f64) -> Vec<f64> {
    let mut solutions = vec![0.0; n_rows * problem.spec().solution_dim];
    WideRng::from_path(5, "solutions").fill_normal(&mut solutions);
    solutions.iter().map(|x| scale * x).collect()
}

#[test]
fn jacobians_are_those_of_finite_differences() {
    assert_jacobian("StyleGAN", &stylegan(stylegan_config()));
    for noise in [NoiseChoice::Off, NoiseChoice::Fixed] {
        assert_jacobian("StyleGAN2", &stylegan2(LsiStyleGan2Config { noise, ..stylegan2_config() }));
    }
    assert_jacobian("MobileStyleGAN", &stylegan2_with(golden::mobile_stylegan(), stylegan2_config()));
    for objective in [FaceObjective::Smile, FaceObjective::Resemble(vec![0.3; 5])] {
        assert_jacobian("faces", &faces(FacesConfig { objective, ..faces_config() }));
    }
}

fn assert_jacobian(what: &str, problem: &dyn DifferentiableProblem) {
    const STEP: f64 = 1e-5;
    // Central differences are right to about STEP^2 times the third derivative, which the 1/cosine of StyleGAN makes large.
    const TOLERANCE: f64 = 1e-6;
    let solution = solutions(problem, 1, 1.0);
    let (mut measures, mut jacobian) = ([0.0; 2], vec![0.0; 3 * solution.len()]);
    let objective = problem.evaluate_with_jacobian(&solution, &mut measures, &mut jacobian);
    let mut plain_measures = [0.0; 2];
    let plain = problem.evaluate(&solution, &mut plain_measures);
    assert!((plain - objective).abs() < 1e-10 * objective.abs(), "{what}: {plain} and {objective}");
    assert!(measures.iter().zip(plain_measures).all(|(a, b)| (a - b).abs() < 1e-10), "{what}");

    let outputs = |solution: &[f64]| {
        let mut measures = [0.0; 2];
        let objective = problem.evaluate(solution, &mut measures);
        [objective, measures[0], measures[1]]
    };
    let gradients: Vec<&[f64]> = jacobian.chunks_exact(solution.len()).collect();
    for index in 0..solution.len() {
        let moved = |step: f64| {
            let mut solution = solution.clone();
            solution[index] += step;
            outputs(&solution)
        };
        let (above, below) = (moved(STEP), moved(-STEP));
        for (output, gradient) in gradients.iter().enumerate() {
            let scale = gradient.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
            let expected = (above[output] - below[output]) / (2.0 * STEP);
            let error = (gradient[index] - expected).abs();
            assert!(
                scale > 0.0 && error <= TOLERANCE * scale,
                "{what}: output {output} by {index}: {error:e} of {scale:e}"
            );
        }
    }
}

#[test]
fn batches_give_the_same_as_single_solutions() {
    for batch_size in [1, 3] {
        assert_batches_agree(&stylegan(LsiStyleGanConfig { batch_size, ..stylegan_config() }));
        assert_batches_agree(&stylegan2(LsiStyleGan2Config { batch_size, ..stylegan2_config() }));
        let noise = NoiseChoice::EachSolution;
        assert_batches_agree(&stylegan(LsiStyleGanConfig { batch_size, noise, ..stylegan_config() }));
        let cutouts_drawn = Draw::EachSolution;
        assert_batches_agree(&stylegan2(LsiStyleGan2Config { batch_size, noise, cutouts_drawn, ..stylegan2_config() }));
    }
}

fn assert_batches_agree(problem: &dyn Problem) {
    let (n_rows, dim) = (5, problem.spec().solution_dim);
    let solutions = solutions(problem, n_rows, 0.7);
    let (mut objectives, mut measures) = (vec![0.0; n_rows], vec![0.0; 2 * n_rows]);
    problem.evaluate_batch(&solutions, &mut objectives, &mut measures);
    for row in 0..n_rows {
        let mut own = [0.0; 2];
        let objective = problem.evaluate(&solutions[row * dim..(row + 1) * dim], &mut own);
        // Larger batches may sum in another order.
        assert!((objective - objectives[row]).abs() < 1e-10 * objective.abs(), "{objective} and {}", objectives[row]);
        assert!((0..2).all(|i| (own[i] - measures[2 * row + i]).abs() < 1e-10), "{own:?}");
    }
}

#[test]
fn evaluations_are_pure_and_follow_from_the_seed() {
    let config = LsiStyleGan2Config {
        noise: NoiseChoice::EachSolution,
        cutouts_drawn: Draw::EachSolution,
        ..stylegan2_config()
    };
    let evaluate = |problem: &LsiStyleGan2| {
        let (mut objectives, mut measures) = (vec![0.0; 3], vec![0.0; 6]);
        problem.evaluate_batch(&solutions(problem, 3, 0.5), &mut objectives, &mut measures);
        (objectives, measures)
    };
    let problem = stylegan2(config.clone());
    let first = evaluate(&problem);
    assert_eq!(first, evaluate(&problem));
    assert_eq!(first, evaluate(&stylegan2(config.clone())));
    assert_ne!(first, evaluate(&stylegan2(LsiStyleGan2Config { seed: 1, ..config })));
}

#[test]
fn the_stylegan_objective_is_ten_times_ten_minus_one_over_the_cosine() {
    // The objective's prompt as a measure too gives the loss itself, which is one over the cosine because the golden
    // model's logit scale is 100.
    let config = LsiStyleGanConfig { measures: vec!["a eight".into(), "digit".into()], ..stylegan_config() };
    let problem = stylegan(config);
    let solution = solutions(&problem, 1, 1.0);
    let mut measures = [0.0; 2];
    let objective = problem.evaluate(&solution, &mut measures);
    assert!((objective - 10.0 * (10.0 - measures[0])).abs() < 1e-9, "{objective} and {measures:?}");
    assert!(measures.iter().all(|loss| loss.abs() >= 1.0 - 1e-6), "{measures:?}");
}

#[test]
fn latents_far_from_the_mean_are_penalised() {
    let with = stylegan2(stylegan2_config());
    let without = stylegan2(LsiStyleGan2Config { penalty: 0.0, ..stylegan2_config() });
    let free = 0.15 * with.statistics().typical_norm * 6f64.sqrt();
    let direction = solutions(&with, 1, 1.0);
    let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    for length in [0.5 * free, 3.0 * free] {
        let solution: Vec<f64> = direction.iter().map(|x| x * length / norm(&direction)).collect();
        let difference = without.evaluate(&solution, &mut [0.0; 2]) - with.evaluate(&solution, &mut [0.0; 2]);
        let expected = 50.0 * 0.1 * (length - free).max(0.0).powi(2);
        assert!((difference - expected).abs() < 1e-8, "{difference} and {expected}");
    }
}

#[test]
fn exchanging_the_prompts_of_a_pair_changes_the_sign_of_a_measure() {
    let mut config = stylegan2_config();
    config.measures[1] = PromptPair::new(config.measures[0].second.clone(), config.measures[0].first.clone());
    let problem = stylegan2(config);
    let mut measures = [0.0; 2];
    problem.evaluate(&solutions(&problem, 1, 0.5), &mut measures);
    assert!(measures[0] != 0.0 && (measures[0] + measures[1]).abs() < 1e-12, "{measures:?}");
}

#[test]
fn the_start_is_the_best_of_its_samples() {
    let objective = |n_starts: usize| {
        let problem = stylegan2(LsiStyleGan2Config { n_starts, penalty: 0.0, ..stylegan2_config() });
        let start = problem.find_start();
        let layer = &start[..6];
        assert!(start.chunks_exact(6).all(|other| other == layer), "samples have one w for all layers");
        problem.evaluate(&start, &mut [0.0; 2])
    };
    // More samples of the same stream cannot be worse, and 64 are better than one.
    let (one, some, many) = (objective(1), objective(16), objective(64));
    assert!(one <= some && some <= many && one < many, "{one}, {some}, {many}");
}

#[test]
fn images_are_the_generators_in_bytes() {
    let problem = stylegan2(stylegan2_config());
    let images = problem.render(&solutions(&problem, 2, 0.5));
    assert_eq!(images.len(), 2);
    assert!(images.iter().all(|image| image.size == 16 && image.rgb.len() == 3 * 16 * 16));
    assert_ne!(images[0], images[1]);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let build = |config| LsiStyleGan2::new(golden::stylegan2(), golden::clip(), config).err();
    let config = stylegan2_config();
    let bounds = vec![(0.0, 1.0)];
    let expected = LsiError::BoundsCount { n_measures: 2, found: 1 };
    assert_eq!(build(LsiStyleGan2Config { measure_bounds: bounds, ..config.clone() }), Some(expected));
    let bounds = vec![(0.0, 1.0), (2.0, 1.0)];
    let expected = LsiError::Bounds { measure: 1, found: (2.0, 1.0) };
    assert_eq!(build(LsiStyleGan2Config { measure_bounds: bounds, ..config.clone() }), Some(expected));
    let expected = LsiError::TooFew { what: "starts", minimum: 1, found: 0 };
    assert_eq!(build(LsiStyleGan2Config { n_starts: 0, ..config.clone() }), Some(expected));
    let cutouts = Cutouts { smallest: Some(17), ..config.cutouts };
    let expected = LsiError::CutoutSize { resolution: 16, found: 17 };
    assert_eq!(build(LsiStyleGan2Config { cutouts, ..config.clone() }), Some(expected));
    assert!(matches!(build(LsiStyleGan2Config { objective: "nine".into(), ..config }), Some(LsiError::Prompt(_))));

    let flat = LsiStyleGanConfig { worst_loss: 0.0, ..stylegan_config() };
    let error = LsiStyleGan::new(golden::stylegan(), golden::clip(), flat).err();
    assert!(matches!(error, Some(LsiError::Number { what: "worst loss", .. })), "{error:?}");
}
