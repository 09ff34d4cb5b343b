//! Archives that are handed to a scheduler, and result archives that are chosen.

use luminary::archive::{
    AddReport, Archive, ArchiveConfig, ArchiveKind, ArchiveStats, Batch, Best, CategoricalConfig, CellsConfig,
    DensityConfig, DiscountArchive, DiscountConfig, DnsConfig, Elite, ExtraColumn, LearningRate, NonFinite, Status,
};
use luminary::emitter::{EmitterConfig, GaussianConfig};
use luminary::error::{CallError, CheckpointError, ConfigError};
use luminary::problem::Problem;
use luminary::scheduler::{Answer, EmitterGroup, Order, Pool, Scheduler, SchedulerConfig};

use crate::common::{Bowl, TableModel, fingerprint};

const BOWL: Bowl = Bowl { solution_dim: 3, measure_dim: 2 };

fn config(archive: ArchiveConfig, result: Option<ArchiveConfig>) -> SchedulerConfig {
    let emitter = EmitterConfig::Gaussian(GaussianConfig {
        x0: vec![0.0; 3],
        sigma: vec![0.5],
        batch_size: 8,
        bounds: None,
        initial_solutions: None,
    });
    SchedulerConfig {
        seed: 3,
        archive,
        result,
        emitters: vec![EmitterGroup { count: 2, emitter }],
        pool: Pool::All,
        initial: None,
        non_finite: None,
        order: Order::Rows,
    }
}

fn grid() -> ArchiveConfig {
    ArchiveConfig::grid(3, vec![8; 2], BOWL.spec().measure_bounds)
}

/// Keeps nothing, and refuses rows with an objective above a limit although it is not said beforehand.
#[derive(Debug)]
struct Moody {
    limit: f64,
    bounds: Vec<(f64, f64)>,
    n_learnt: usize,
}

impl Archive for Moody {
    fn add(&mut self, batch: &Batch<'_>, _policy: NonFinite, report: &mut AddReport) -> Result<(), CallError> {
        if batch.objectives.iter().any(|&objective| objective > self.limit) {
            return Err(CallError::Conflict("not today"));
        }
        report.begin(batch, &[]);
        report.status.fill(Status::New);
        report.delta.copy_from_slice(batch.objectives);
        Ok(())
    }

    fn solution_dim(&self) -> usize {
        3
    }

    fn measure_bounds(&self) -> &[(f64, f64)] {
        &self.bounds
    }

    fn len(&self) -> usize {
        0
    }

    fn nth_elite(&self, i: usize) -> Elite<'_> {
        panic!("there is no elite {i}")
    }

    fn keeps_elites(&self) -> bool {
        false
    }

    fn learn(&mut self, result: &dyn Archive) {
        self.n_learnt += 1;
        assert_eq!(result.is_empty(), self.n_learnt == 1, "the first time is before the first row");
    }

    fn stats(&self) -> ArchiveStats {
        ArchiveStats::of(0, std::iter::empty(), 0.0, None)
    }

    fn best(&self) -> Option<&Best> {
        None
    }

    fn clear(&mut self) {}
}

fn moody(limit: f64) -> Scheduler {
    let archive = Moody { limit, bounds: BOWL.spec().measure_bounds, n_learnt: 0 };
    let config = config(ArchiveConfig::custom(&archive), Some(grid()));
    config.build_with_archive(Box::new(archive), Vec::new()).unwrap()
}

#[test]
fn a_custom_archive_that_refuses_leaves_the_result_archive_alone() {
    let mut scheduler = moody(50.0);
    let n_rows = scheduler.ask().unwrap().len() / 3;
    let mut objectives = vec![1.0; n_rows];
    objectives[5] = 99.0;
    let measures = vec![0.5; 2 * n_rows];
    let before = fingerprint(scheduler.result());
    assert_eq!(scheduler.tell(&objectives, &measures), Err(CallError::Conflict("not today")));
    assert!(fingerprint(scheduler.result()) == before && scheduler.iterations() == 0);
    objectives[5] = 9.0;
    scheduler.tell(&objectives, &measures).unwrap();
    assert_eq!((scheduler.result().len(), scheduler.iterations()), (1, 1));
}

#[test]
fn emitters_see_the_result_archive_where_the_searched_one_keeps_no_elites() {
    let mut scheduler = moody(f64::INFINITY);
    scheduler.run(&BOWL, 30).unwrap();
    assert!(scheduler.archive().is_empty() && scheduler.result().len() > 20, "{}", scheduler.result().len());
    let archive: &Moody = scheduler.archive().downcast_ref().unwrap();
    assert_eq!(archive.n_learnt, 31, "once at the beginning and after every tell");
    // Rows lie around the elites, far from x0.
    let asked = scheduler.ask().unwrap().to_vec();
    assert!(asked.chunks_exact(3).any(|row| row[0].abs() > 1.5));
}

#[test]
fn an_archive_that_cannot_be_saved_makes_the_checkpoint_fail_not_the_run() {
    let mut scheduler = moody(f64::INFINITY);
    scheduler.run(&BOWL, 2).unwrap();
    assert!(matches!(scheduler.to_checkpoint(), Err(CheckpointError::Unsupported { what: "archive" })));
    scheduler.run(&BOWL, 2).unwrap();
}

fn discount() -> DiscountArchive {
    let config = DiscountConfig {
        learning_rate: LearningRate::Fixed(0.2),
        n_initial: 50,
        n_empty: 5,
        seed: 1,
        ..DiscountConfig::new(BOWL.spec().measure_bounds)
    };
    DiscountArchive::new(3, config, Box::new(TableModel::default())).unwrap()
}

#[test]
fn a_discount_archive_learns_in_a_scheduler_and_resumes() {
    let archive = discount();
    let config = config(ArchiveConfig::custom(&archive), Some(grid()));
    let mut scheduler = config.build_with_archive(Box::new(archive), Vec::new()).unwrap();
    scheduler.run(&BOWL, 10).unwrap();
    let checkpoint = scheduler.to_checkpoint().unwrap();
    let mut restored = Scheduler::from_checkpoint_with_archive(&checkpoint, Box::new(discount()), Vec::new()).unwrap();
    for scheduler in [&mut scheduler, &mut restored] {
        scheduler.run(&BOWL, 10).unwrap();
    }
    assert!(restored.to_checkpoint().unwrap() == scheduler.to_checkpoint().unwrap());
    let archive: &DiscountArchive = scheduler.archive().downcast_ref().unwrap();
    let mut taught = [0.0];
    archive.model().predict(&[0.0, 0.0], &mut taught);
    assert!(taught[0] > 50.0, "the model follows the objectives of about 99 at the origin: {taught:?}");
    assert!(matches!(Scheduler::from_checkpoint(&checkpoint), Err(CheckpointError::Config(ConfigError::Conflict(_)))));
}

#[test]
fn archives_that_do_not_go_together_are_refused() {
    let bounds = BOWL.spec().measure_bounds;
    let density = DensityConfig { measure_bounds: bounds.clone(), buffer_size: 10, bandwidth: 0.1, seed: 0 };
    let density = ArchiveConfig::new(3, ArchiveKind::Density(density));
    let dns = DnsConfig { measure_bounds: bounds.clone(), capacity: 5, n_neighbours: 2 };
    let dns = ArchiveConfig::new(3, ArchiveKind::Dns(dns));
    assert!(config(density.clone(), Some(grid())).build().is_ok());
    assert!(config(density.clone(), Some(dns.clone())).build().is_ok());
    assert!(config(grid(), Some(dns.clone())).build().is_ok());
    let mut with_extras = grid();
    with_extras.extra_columns = vec![ExtraColumn::new("age", 1)];
    for result in [None, Some(density.clone()), Some(with_extras)] {
        let error = config(density.clone(), result).build().unwrap_err();
        assert!(matches!(error, ConfigError::Conflict(_)), "{error}");
    }
    let other = ArchiveConfig::grid(4, vec![8; 2], bounds.clone());
    let expected =
        ConfigError::ArchiveShape { expected_solution: 3, expected_measures: 2, found_solution: 4, found_measures: 2 };
    assert_eq!(config(grid(), Some(other.clone())).build().unwrap_err(), expected);
    let error = config(grid(), None).build_with_archive(other.build().unwrap(), Vec::new()).unwrap_err();
    assert_eq!(error, expected);
    let archive = discount();
    let without_cells = config(ArchiveConfig::custom(&archive), Some(dns));
    assert!(matches!(without_cells.build_with_archive(Box::new(archive), Vec::new()), Err(ConfigError::Conflict(_))));
}

#[test]
fn a_ticket_told_with_what_is_no_category_changes_nothing_or_counts_as_failed() {
    let names = |n: usize| (0..n).map(|i| i.to_string()).collect();
    let categories = CellsConfig::Categorical(CategoricalConfig { categories: vec![names(2), names(3)] });
    for order in [Order::Rows, Order::Completion { over_issue: 1.0 }] {
        let config = |policy| SchedulerConfig {
            order,
            non_finite: Some(policy),
            ..config(ArchiveConfig::cells(3, categories.clone()), None)
        };
        let good = Answer { objective: 1.0, measures: &[1.0, 2.0], jacobian: None, extras: &[] };
        let bad = Answer { measures: &[1.0, 2.5], ..good };
        let mut strict = config(NonFinite::Fail).build().unwrap();
        let id = strict.ask_tickets(1)[0].id;
        let before = strict.to_checkpoint().unwrap();
        assert!(matches!(strict.tell_ticket(id, &bad), Err(CallError::Category { measure: 1, found: 2.5, .. })));
        assert!(strict.to_checkpoint().unwrap() == before);
        strict.tell_ticket(id, &good).unwrap();
        let mut lenient = config(NonFinite::Reject).build().unwrap();
        let tickets = lenient.ask_tickets(100);
        for (i, ticket) in tickets.iter().enumerate() {
            lenient.tell_ticket(ticket.id, if i == 0 { &bad } else { &good }).unwrap();
        }
        assert_eq!((lenient.evaluations(), lenient.result().len()), (tickets.len() as u64, 1), "{order:?}");
    }
}
