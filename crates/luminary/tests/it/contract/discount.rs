//! Discount model search with the engine's own perceptron.

use luminary::archive::{
    AddReport, Archive, ArchiveConfig, ArchiveKind, Batch, CellArchive, DiscountArchive, DiscountConfig, Examples,
    NonFinite, PerceptronConfig,
};
use luminary::error::ConfigError;
use luminary::preset::{Preset, PresetConfig};
use luminary::problem::Problem;
use luminary::scheduler::{Answer, Order, Scheduler, SchedulerConfig};
use luminary::strategy::Variant;
use luminary_domains::LinearProjection;

use crate::common::{Bowl, TableModel, fingerprint, preset_config};

fn add(archive: &mut dyn Archive, measures: &[f64]) {
    let n_rows = measures.len() / 2;
    let objectives = vec![1.0; n_rows];
    let solutions = vec![0.0; n_rows];
    let batch = Batch { solutions: &solutions, objectives: &objectives, measures, extras: &[] };
    archive.add(&batch, NonFinite::Fail, &mut AddReport::default()).unwrap();
}

#[test]
fn a_training_takes_all_rows_since_the_last_or_those_of_the_last_batch() {
    for (examples, expected) in
        [(Examples::SinceTraining, vec![0.1, 0.1, 0.2, 0.2, 0.3, 0.3]), (Examples::LastBatch, vec![0.3, 0.3])]
    {
        let config = DiscountConfig { examples, ..DiscountConfig::new(vec![(0.0, 1.0); 2]) };
        let mut archive = DiscountArchive::new(1, config, Box::new(TableModel::default())).unwrap();
        add(&mut archive, &[0.1, 0.1, 0.2, 0.2]);
        add(&mut archive, &[0.3, 0.3]);
        assert_eq!(archive.train_model_at(Vec::new()).unwrap().solution_measures, expected, "{examples:?}");
        add(&mut archive, &[0.4, 0.4]);
        assert_eq!(archive.train_model_at(Vec::new()).unwrap().solution_measures, [0.4, 0.4], "{examples:?}");
    }
}

#[test]
fn many_measures_are_kept_by_centroids_in_both_variants_of_cma_es() {
    let problem = Bowl { solution_dim: 8, measure_dim: 6 };
    for variant in [Variant::Standard, Variant::Published] {
        let preset =
            PresetConfig { variant, n_emitters: 2, batch_size: 10, ..Preset::Dms.for_problem(&problem.spec()) };
        let mut config = preset.config();
        let ArchiveKind::Cells(cells) = &mut config.result.as_mut().unwrap().kind else { panic!("it has cells") };
        assert_eq!((cells.name(), cells.n_cells()), ("cvt", 10_000));
        *cells = few_centroids(&problem);
        let mut scheduler = config.build().unwrap();
        scheduler.run(&problem, 20).unwrap();
        let result: &CellArchive = scheduler.result().downcast_ref().unwrap();
        assert!(result.len() > 3 && scheduler.archive().is_empty(), "{variant:?}: {}", result.len());
    }
}

fn few_centroids(problem: &dyn Problem) -> luminary::archive::CellsConfig {
    use luminary::archive::{CellsConfig, CentroidSource, CvtConfig};
    CellsConfig::Cvt(CvtConfig {
        centroids: CentroidSource::Sobol,
        ..CvtConfig::new(300, problem.spec().measure_bounds)
    })
}

/// What the thresholds are for: the search goes on to other cells, while CMA-ES alone stays at the best.
#[test]
fn it_fills_more_cells_than_cma_es() {
    let problem = LinearProjection::sphere(10).unwrap();
    let n_elites = |preset: Preset| {
        let mut scheduler = preset_config(preset, &problem, 3).build().unwrap();
        scheduler.run(&problem, 150).unwrap();
        scheduler.result().len()
    };
    let found = n_elites(Preset::Dms);
    let alone = n_elites(Preset::CmaEs);
    assert!(found > alone, "{found} cells with the model, {alone} without");
}

#[test]
fn its_model_follows_the_objective_of_what_was_found() {
    let problem = LinearProjection::sphere(10).unwrap();
    let mut scheduler = preset_config(Preset::Dms, &problem, 3).build().unwrap();
    scheduler.run(&problem, 100).unwrap();
    let archive: &DiscountArchive = scheduler.archive().downcast_ref().unwrap();
    let best = scheduler.result().best().unwrap();
    let mut at_best = [0.0];
    archive.model().predict(&best.measures, &mut at_best);
    let corner = problem.spec().measure_bounds.iter().map(|bounds| bounds.0).collect::<Vec<_>>();
    let mut in_corner = [0.0];
    archive.model().predict(&corner, &mut in_corner);
    assert!(at_best[0] > 40.0 && in_corner[0] < 20.0, "{at_best:?} {in_corner:?}");
}

fn config(order: Order) -> SchedulerConfig {
    SchedulerConfig { order, ..preset_config(Preset::Dms, &LinearProjection::sphere(5).unwrap(), 7).config() }
}

fn run_by_tickets(scheduler: &mut Scheduler, n_tickets: usize) {
    let problem = LinearProjection::sphere(5).unwrap();
    let mut measures = [0.0; 2];
    for _ in 0..n_tickets {
        let ticket = scheduler.ask_tickets(1).pop().expect("there is work");
        let objective = problem.evaluate(&ticket.solution, &mut measures);
        let answer = Answer { objective, measures: &measures, jacobian: None, extras: &[] };
        scheduler.tell_ticket(ticket.id, &answer).unwrap();
    }
}

#[test]
fn in_both_orders_it_goes_on_from_a_checkpoint_bit_by_bit() {
    for order in [Order::Rows, Order::COMPLETION] {
        let mut whole = config(order).build().unwrap();
        run_by_tickets(&mut whole, 120);
        let mut first = config(order).build().unwrap();
        run_by_tickets(&mut first, 53);
        let mut second = Scheduler::from_checkpoint(&first.to_checkpoint().unwrap()).unwrap();
        run_by_tickets(&mut second, 67);
        assert!(second.to_checkpoint().unwrap() == whole.to_checkpoint().unwrap(), "{order:?}");
        assert!(fingerprint(second.result()) == fingerprint(whole.result()), "{order:?}");
    }
}

#[test]
fn it_needs_a_result_archive_with_cells_and_a_number_as_learning_rate() {
    let mut alone = config(Order::Rows);
    alone.result = None;
    assert!(matches!(alone.build(), Err(ConfigError::Conflict(_))));
    let mut soft = config(Order::Rows);
    let discount = DiscountConfig {
        learning_rate: luminary::archive::LearningRate::At { alpha: 0.1, cells: 100 },
        ..DiscountConfig::new(vec![(0.0, 1.0); 2])
    };
    soft.archive = ArchiveConfig::new(5, ArchiveKind::Discount { discount, perceptron: PerceptronConfig::default() });
    let message = soft.build().unwrap_err().to_string();
    assert!(message.contains("expected a number as the learning rate"), "{message}");
}
