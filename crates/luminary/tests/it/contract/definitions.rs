//! The strategy emitters against their definitions, written out call by call with the engine's public parts.

use luminary::WideRng;
use luminary::archive::NonFinite;
use luminary::emitter::{
    ArborescenceConfig, EmitterConfig, EvolutionConfig, Feedback, GeneticConfig, GradientOperatorConfig, Selection,
};
use luminary::preset::Preset;
use luminary::problem::{DifferentiableProblem, Problem};
use luminary::ranker::RankOutcome;
use luminary::restart::RestartConfig;
use luminary::scheduler::{EmitterGroup, Order, Pool, Scheduler, SchedulerConfig};
use luminary::strategy::{GradientConfig, GradientOptimizer};
use luminary::strategy::{Strategy, StrategyConfig, StrategyShape, recombination_weights};
use luminary_domains::LinearProjection;

use crate::common::{Bowl, emitters, preset_config, rankers, soft_archive, trajectory};

const SEED: u64 = 21;
const DIM: usize = 4;

/// One emitter with an archive of its own.
fn alone(problem: &dyn Problem, emitter: EmitterConfig) -> Scheduler {
    let config = SchedulerConfig {
        seed: SEED,
        archive: soft_archive(problem),
        result: None,
        emitters: vec![EmitterGroup { count: 1, emitter }],
        pool: Pool::All,
        initial: None,
        non_finite: Some(NonFinite::Reject),
        order: Order::Rows,
    };
    config.build().unwrap()
}

/// Evaluates rows, tells them, and hands what became of them to `learn`.
fn tell(
    scheduler: &mut Scheduler,
    problem: &dyn Problem,
    rows: &[f64],
    n_neighbours: Option<usize>,
    learn: impl FnOnce(&Scheduler, &Feedback<'_>),
) {
    let n_rows = rows.len() / DIM;
    let (mut objectives, mut measures) = (vec![0.0; n_rows], vec![0.0; 2 * n_rows]);
    problem.evaluate_batch(rows, &mut objectives, &mut measures);
    // One evaluation fails now and then; it is not ranked.
    if scheduler.iterations() % 7 == 3 {
        objectives[0] = f64::NAN;
    }
    let mut novelty = vec![0.0; n_rows];
    if let Some(n_neighbours) = n_neighbours {
        scheduler.archive().novelty(&measures, n_neighbours, &mut Vec::new(), &mut novelty);
    }
    scheduler.tell(&objectives, &measures).unwrap();
    let report = scheduler.last_report().clone();
    let feedback = Feedback::new(rows, &objectives, &measures, &report.status, &report.delta)
        .with_visits(&report.visits)
        .with_novelty(&novelty);
    learn(scheduler, &feedback);
}

/// Sample, rank, select, adapt, and restart at an elite drawn uniformly; every random number from one stream.
#[test]
fn the_evolution_emitter_is_its_strategy_told_the_ranking() {
    let problem = LinearProjection::sphere(DIM).unwrap();
    for ranker_config in rankers() {
        for (selection, no_improvement) in [(Selection::Mu, false), (Selection::Filter, true)] {
            let (_, template) = emitters(DIM, &StrategyConfig::default(), None).swap_remove(2);
            let EmitterConfig::Evolution(template) = template else { panic!("the third kind") };
            let restart = RestartConfig { no_improvement, every: Some(11) };
            let config = EvolutionConfig { ranker: ranker_config.clone(), selection, restart, ..template };
            let mut scheduler = alone(&problem, EmitterConfig::Evolution(config.clone()));

            let mut rng = WideRng::from_path(SEED, "emitter/0/strategy");
            let mut ranker = ranker_config.build(&problem.spec().measure_bounds).unwrap();
            ranker.reset(&mut rng);
            let batch_size = config.batch_size.unwrap();
            let shape = StrategyShape { dim: DIM, batch_size, sigma0: config.sigma0, bounds: None };
            let mut strategy = Strategy::new(&config.strategy, shape, &config.x0).unwrap();
            let (mut age, mut n_restarts) = (0, 0);
            for iteration in 0..80 {
                let mut rows = vec![0.0; batch_size * DIM];
                strategy.get_mut().ask(&mut rng, &mut rows);
                assert_eq!(scheduler.ask().unwrap(), rows, "{ranker_config:?}, {selection:?}, iteration {iteration}");
                tell(&mut scheduler, &problem, &rows, ranker.novelty_neighbours(), |scheduler, feedback| {
                    let mut ranking = Vec::new();
                    let is_flat = ranker.rank(feedback, &mut ranking) == RankOutcome::Alike;
                    let n_parents = match selection {
                        Selection::Mu => ranking.len() / 2,
                        Selection::Filter => feedback.n_accepted(),
                    };
                    strategy.get_mut().tell(&rows, &ranking, n_parents);
                    age += 1;
                    let is_over = strategy.get().stop_reason().is_some() || is_flat || age == 11;
                    if is_over || (no_improvement && feedback.n_accepted() == 0) {
                        (age, n_restarts) = (0, n_restarts + 1);
                        let archive = scheduler.archive();
                        match archive.len() {
                            0 => strategy.get_mut().reset(&config.x0),
                            n => strategy.get_mut().reset(archive.nth_elite(rng.below(n)).solution),
                        }
                        ranker.reset(&mut rng);
                    }
                });
            }
            assert_eq!(scheduler.restarts().total(), n_restarts);
            assert!(n_restarts >= 7, "{ranker_config:?}");
        }
    }
}

/// Branch along normalised gradients, step towards the weighted mean of the best, adapt the coefficients.
#[test]
fn the_arborescence_emitter_branches_along_gradients_and_steps_to_the_parents() {
    let problem = LinearProjection::rastrigin(DIM).unwrap();
    for step in [GradientConfig::Ascent { learning_rate: 1.0 }, GradientConfig::adam(0.1)] {
        let (_, template) = emitters(DIM, &StrategyConfig::default(), None).swap_remove(3);
        let EmitterConfig::Arborescence(template) = template else { panic!("the fourth kind") };
        let config = ArborescenceConfig { step, ..template };
        let mut scheduler = alone(&problem, EmitterConfig::Arborescence(config.clone()));

        let mut rng = WideRng::from_path(SEED, "emitter/0/strategy");
        let mut ranker = config.ranker.build(&problem.spec().measure_bounds).unwrap();
        ranker.reset(&mut rng);
        let shape = StrategyShape { dim: 3, batch_size: config.batch_size, sigma0: config.sigma0, bounds: None };
        let mut strategy = Strategy::new(&config.strategy, shape, &[0.0; 3]).unwrap();
        let mut optimizer = GradientOptimizer::new(step, &config.x0).unwrap();
        let mut age = 0;
        for iteration in 0..30 {
            let label = format!("{step:?}, iteration {iteration}");
            assert_close(scheduler.ask_gradients().unwrap(), optimizer.theta(), &label);
            let jacobian = tell_gradients(&mut scheduler, &problem);
            let mut coefficients = vec![0.0; 3 * config.batch_size];
            strategy.get_mut().ask(&mut rng, &mut coefficients);
            let rows = branches(optimizer.theta(), &jacobian, &coefficients);
            assert_close(scheduler.ask().unwrap(), &rows, &label);
            let rows = scheduler.asked_solutions().to_vec();
            tell(&mut scheduler, &problem, &rows, None, |scheduler, feedback| {
                let mut ranking = Vec::new();
                let is_flat = ranker.rank(feedback, &mut ranking) == RankOutcome::Alike;
                let n_parents = ranking.len() / 2;
                let mut weights = vec![0.0; n_parents];
                recombination_weights(&mut weights);
                let weighted =
                    |i: usize| weights.iter().zip(&ranking).map(|(w, row)| w * rows[row * DIM + i]).sum::<f64>();
                let direction: Vec<f64> = (0..DIM).map(|i| weighted(i) - optimizer.theta()[i]).collect();
                optimizer.step(&direction);
                strategy.get_mut().tell(&coefficients, &ranking, n_parents);
                age += 1;
                if strategy.get().stop_reason().is_some() || is_flat || age == 9 {
                    age = 0;
                    let archive = scheduler.archive();
                    optimizer.reset(archive.nth_elite(rng.below(archive.len())).solution);
                    strategy.get_mut().reset(&[0.0; 3]);
                    ranker.reset(&mut rng);
                }
            });
        }
        assert!(scheduler.restarts().timeout >= 3);
    }
}

/// `theta + sum_j c_j g_j / (|g_j| + 1e-8)` for each row of coefficients.
fn branches(theta: &[f64], jacobian: &[f64], coefficients: &[f64]) -> Vec<f64> {
    let length = |gradient: &[f64]| gradient.iter().map(|g| g * g).sum::<f64>().sqrt() + 1e-8;
    let lengths: Vec<f64> = jacobian.chunks_exact(DIM).map(length).collect();
    let row = |c: &[f64]| {
        let branch = |i: usize| theta[i] + (0..3).map(|j| c[j] * jacobian[j * DIM + i] / lengths[j]).sum::<f64>();
        (0..DIM).map(branch).collect::<Vec<_>>()
    };
    coefficients.chunks_exact(3).flat_map(row).collect()
}

fn tell_gradients(scheduler: &mut Scheduler, problem: &dyn DifferentiableProblem) -> Vec<f64> {
    let (mut measures, mut jacobian) = ([0.0; 2], vec![0.0; 3 * DIM]);
    let theta = scheduler.asked_solutions().to_vec();
    let objective = problem.evaluate_with_jacobian(&theta, &mut measures, &mut jacobian);
    scheduler.tell_gradients(&[objective], &measures, &jacobian).unwrap();
    jacobian
}

/// Equal up to the rounding of sums in another order, which rankings do not see and steps do not amplify much.
fn assert_close(found: &[f64], expected: &[f64], label: &str) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{label}: {found} and {expected}");
    }
}

/// MAP-Elites: without noise the children are their parents, and the line operator stays on the line between two.
#[test]
fn variation_emitters_vary_elites_and_nothing_else() {
    let problem = Bowl { solution_dim: DIM, measure_dim: 2 };
    for (preset, has_line) in [(Preset::MapElites, false), (Preset::MapElitesLine, true)] {
        let mut config = preset_config(preset, &problem, SEED);
        (config.sigma, config.line_sigma) = (0.0, 0.5);
        let mut scheduler = config.build().unwrap();
        scheduler.run(&problem, 1).unwrap();
        let elites: Vec<Vec<f64>> = scheduler.archive().elites().map(|elite| elite.solution.to_vec()).collect();
        let mut n_between = 0;
        for child in scheduler.ask().unwrap().chunks_exact(DIM) {
            if elites.iter().any(|elite| elite == child) {
                continue;
            }
            let is_between = |a: &[f64], b: &[f64]| {
                let t = (child[0] - a[0]) / (b[0] - a[0]);
                (0..DIM).all(|i| (a[i] + t * (b[i] - a[i]) - child[i]).abs() < 1e-9)
            };
            let found = elites.iter().any(|a| elites.iter().any(|b| a != b && is_between(a, b)));
            assert!(has_line && found, "{preset}: {child:?} is neither an elite nor on a line between two");
            n_between += 1;
        }
        assert_eq!(n_between > 0, has_line);
    }
}

/// Pick an elite, vary it, and step by `|c_0| grad f + sum c_j grad m_j`, or by `sigma_g grad f`.
#[test]
fn the_gradient_operator_steps_from_varied_elites_along_their_gradients() {
    let problem = LinearProjection::rastrigin(DIM).unwrap();
    for measure_gradients in [false, true] {
        let (_, template) = emitters(DIM, &StrategyConfig::default(), None).swap_remove(5);
        let EmitterConfig::GradientOperator(template) = template else { panic!("the sixth kind") };
        let config = GradientOperatorConfig { measure_gradients, line_sigma: None, ..template };
        let batch_size = config.batch_size;
        let mut scheduler = alone(&problem, EmitterConfig::GradientOperator(config.clone()));
        let mut rng = WideRng::from_path(SEED, "emitter/0/variation");
        for iteration in 0..30 {
            let label = format!("measure gradients {measure_gradients}, iteration {iteration}");
            let mut points = vec![0.0; batch_size * DIM];
            rng.fill_normal(&mut points);
            for point in points.chunks_exact_mut(DIM) {
                let archive = scheduler.archive();
                let parent = match archive.len() {
                    0 => &config.x0,
                    n => archive.nth_elite(rng.below(n)).solution,
                };
                point.iter_mut().zip(parent).for_each(|(x, parent)| *x = parent + config.sigma[0] * *x);
            }
            assert_eq!(scheduler.ask_gradients().unwrap(), points, "{label}");
            let mut jacobians = vec![0.0; batch_size * 3 * DIM];
            let mut objectives = vec![0.0; batch_size];
            let mut measures = vec![0.0; 2 * batch_size];
            for i in 0..batch_size {
                let jacobian = &mut jacobians[i * 3 * DIM..][..3 * DIM];
                let point = &points[i * DIM..][..DIM];
                objectives[i] = problem.evaluate_with_jacobian(point, &mut measures[2 * i..][..2], jacobian);
            }
            scheduler.tell_gradients(&objectives, &measures, &jacobians).unwrap();
            let mut coefficients = vec![1.0; 3 * batch_size];
            if measure_gradients {
                rng.fill_normal(&mut coefficients);
            }
            let mut rows = Vec::new();
            for i in 0..batch_size {
                let c = &mut coefficients[3 * i..][..3];
                c[0] = c[0].abs();
                c.iter_mut().for_each(|c| *c *= config.sigma_g);
                if !measure_gradients {
                    c[1..].fill(0.0);
                }
                rows.extend(branches(&points[i * DIM..][..DIM], &jacobians[i * 3 * DIM..][..3 * DIM], c));
            }
            assert_close(scheduler.ask().unwrap(), &rows, &label);
            let rows = scheduler.asked_solutions().to_vec();
            tell(&mut scheduler, &problem, &rows, None, |_, _| {});
        }
    }
}

/// The genetic emitter with an operator is the emitter that is named after the operator.
#[test]
fn the_genetic_emitter_is_the_gaussian_and_the_iso_line_emitter() {
    let problem = Bowl { solution_dim: DIM, measure_dim: 2 };
    for (name, emitter) in emitters(DIM, &StrategyConfig::default(), None) {
        let genetic = match &emitter {
            EmitterConfig::Gaussian(config) => GeneticConfig::from(config),
            EmitterConfig::IsoLine(config) => GeneticConfig::from(config),
            _ => continue,
        };
        let mut scheduler = alone(&problem, emitter.clone());
        let mut genetic = alone(&problem, EmitterConfig::Genetic(genetic));
        assert!(trajectory(&mut scheduler, &problem, 20) == trajectory(&mut genetic, &problem, 20), "{name}");
    }
}
