//! Rankers are served the columns they read, or refused when the scheduler is built.

use luminary::archive::{ColumnData, Dtype, ExtraColumn, NonFinite};
use luminary::emitter::{
    Emitter, EmitterConfig, EmitterShape, EvolutionConfig, EvolutionEmitter, Feedback, LearnerParts,
};
use luminary::error::{CallError, CheckpointError, ConfigError};
use luminary::problem::Problem;
use luminary::ranker::{Column, RankOutcome, Ranker, RankerConfig};
use luminary::scheduler::{Answer, EmitterGroup, Order, Pool, Scheduler, SchedulerConfig, Values};
use luminary::strategy::{Strategy, StrategyConfig, StrategyShape};

use super::emitters::{DIM, bowl};
use crate::common::{emitters, rankers, soft_archive};

fn config(ranker: Option<RankerConfig>, order: Order) -> SchedulerConfig {
    let (_, template) = emitters(DIM, &StrategyConfig::default(), None).swap_remove(2);
    let EmitterConfig::Evolution(template) = template else { panic!("the third kind") };
    let emitter = |ranker| EmitterConfig::Evolution(EvolutionConfig { ranker, ..template });
    let mut archive = soft_archive(&bowl());
    archive.extra_columns = vec![ExtraColumn::new("gait", 3).with_dtype(Dtype::I64), ExtraColumn::new("size", 1)];
    SchedulerConfig {
        result: None,
        seed: 5,
        archive,
        emitters: ranker.map(|ranker| EmitterGroup { count: 1, emitter: emitter(ranker) }).into_iter().collect(),
        pool: Pool::All,
        initial: None,
        non_finite: Some(NonFinite::Reject),
        order,
    }
}

#[test]
fn a_ranker_that_the_archive_cannot_serve_is_refused() {
    for (ranker, column) in [
        (RankerConfig::ReportedNovelty, "novelty"),
        (RankerConfig::DominatedNovelty, "dominated novelty"),
        (RankerConfig::KernelDensity, "density"),
        (RankerConfig::Nslc { diversity: None }, "novelty"),
        (RankerConfig::nslc_classic(), "novelty"),
    ] {
        let error = config(Some(ranker.clone()), Order::Rows).build().unwrap_err();
        assert_eq!(error, ConfigError::MissingColumn { column: column.into() }, "{ranker:?}");
        assert!(error.to_string().contains(column), "{error}");
    }
    for ranker in rankers() {
        assert!(config(Some(ranker.clone()), Order::Rows).build().is_ok(), "{ranker:?}");
    }
}

/// Ranks by an extra column, which must be the sum of the solution.
struct BySize {
    name: &'static str,
    n_ranked: usize,
}

impl Ranker for BySize {
    fn rank(&mut self, feedback: &Feedback<'_>, ranking: &mut Vec<usize>) -> RankOutcome {
        let size = feedback.named(self.name).expect("what is required is there");
        assert_eq!(size.len(), feedback.n_rows());
        ranking.clear();
        ranking.extend((0..feedback.n_rows()).filter(|&row| feedback.has_value(row)));
        ranking.sort_by(|&a, &b| size[b].total_cmp(&size[a]));
        for &row in &*ranking {
            assert_eq!(size[row], feedback.solutions[row * DIM..][..DIM].iter().sum::<f64>());
        }
        self.n_ranked += ranking.len();
        RankOutcome::Different
    }

    fn requires(&self) -> Vec<Column> {
        vec![Column::Named(self.name.into())]
    }
}

/// A scheduler whose only emitter ranks by the extra column of this name.
fn by_size(name: &'static str, order: Order) -> Result<Scheduler, ConfigError> {
    let shape = StrategyShape { dim: DIM, batch_size: 6, sigma0: 0.5, bounds: None };
    let strategy = Strategy::new(&StrategyConfig::default(), shape, &[0.0; DIM])?;
    let parts = LearnerParts::new(Box::new(strategy), Box::new(BySize { name, n_ranked: 0 }));
    let measure_bounds = bowl().spec().measure_bounds;
    let shape = EmitterShape { solution_dim: DIM, measure_bounds: &measure_bounds, seed: 1, path: "custom" };
    let emitter: Box<dyn Emitter> = Box::new(EvolutionEmitter::with_parts(parts, &[0.0; DIM], &shape)?);
    config(None, order).build_with(vec![emitter])
}

fn n_ranked(scheduler: &Scheduler) -> usize {
    let emitter = scheduler.emitters().next().unwrap().downcast_ref::<EvolutionEmitter>().unwrap();
    emitter.ranker().downcast_ref::<BySize>().unwrap().n_ranked
}

#[test]
fn an_extra_column_reaches_the_ranker_that_names_it_in_either_order() {
    let mut rows = by_size("size", Order::Rows).unwrap();
    for _ in 0..5 {
        let solutions = rows.ask().unwrap().to_vec();
        let (objectives, measures, gait, size) = values_of(&solutions);
        let extras = [ColumnData::I64(&gait), ColumnData::F64(&size)];
        rows.tell_values(&Values::new(&objectives, &measures).with_extras(&extras)).unwrap();
    }
    assert_eq!(n_ranked(&rows), 5 * 6);

    let mut completion = by_size("size", Order::Completion { over_issue: 1.5 }).unwrap();
    for i in 0..60 {
        let ticket = completion.ask_tickets(1).remove(0);
        if i % 5 == 2 {
            completion.fail(ticket.id, "no result").unwrap();
            continue;
        }
        let (objectives, measures, gait, size) = values_of(&ticket.solution);
        let extras = [ColumnData::I64(&gait), ColumnData::F64(&size)];
        let answer = Answer { extras: &extras, ..Answer::new(objectives[0], &measures) };
        completion.tell_ticket(ticket.id, &answer).unwrap();
    }
    assert_eq!(n_ranked(&completion), 60 - 12, "every value is ranked once");
}

#[test]
fn a_ranker_that_cannot_be_saved_makes_the_checkpoint_fail_and_not_the_run() {
    let error = by_size("size", Order::Rows).unwrap().to_checkpoint().unwrap_err();
    assert!(matches!(error, CheckpointError::Unsupported { what: "ranker" }), "{error}");
}

#[test]
fn columns_of_any_type_come_back_with_the_elites_also_when_saved_while_results_wait() {
    for order in [Order::Rows, Order::COMPLETION] {
        let mut scheduler = config(Some(rankers().swap_remove(0)), order).build().unwrap();
        let tickets = scheduler.ask_tickets(64);
        for (i, ticket) in tickets.iter().enumerate() {
            if i == 3 {
                scheduler = Scheduler::from_checkpoint(&scheduler.to_checkpoint().unwrap()).unwrap();
            }
            let (objectives, measures, gait, size) = values_of(&ticket.solution);
            let wrong_type = [ColumnData::F64(&[7.0; 3]), ColumnData::F64(&size)];
            let answer = Answer { extras: &wrong_type, ..Answer::new(objectives[0], &measures) };
            let error = scheduler.tell_ticket(ticket.id, &answer).unwrap_err();
            assert!(matches!(error, CallError::Dtype { expected: Dtype::I64, found: Dtype::F64, .. }), "{error}");
            let extras = [ColumnData::I64(&gait), ColumnData::F64(&size)];
            let answer = Answer { extras: &extras, ..Answer::new(objectives[0], &measures) };
            scheduler.tell_ticket(ticket.id, &answer).unwrap();
        }
        let archive = scheduler.archive();
        assert!(archive.len() > 1);
        for elite in (0..archive.len()).map(|i| archive.nth_elite(i)) {
            let sum: f64 = elite.solution.iter().sum();
            assert_eq!(elite.extra(0), ColumnData::I64(&[GAIT; 3]), "{order:?}");
            assert_eq!(elite.extra(1), ColumnData::F64(&[sum]), "{order:?}");
        }
    }
}

#[test]
fn a_ranker_that_names_a_column_of_another_type_is_refused() {
    let error = by_size("gait", Order::Rows).unwrap_err();
    assert_eq!(error, ConfigError::MissingColumn { column: "gait".into() });
}

/// A number that double precision cannot hold.
const GAIT: i64 = (1 << 53) + 1;

fn values_of(solutions: &[f64]) -> (Vec<f64>, Vec<f64>, Vec<i64>, Vec<f64>) {
    let n_rows = solutions.len() / DIM;
    let mut objectives = vec![0.0; n_rows];
    let mut measures = vec![0.0; 2 * n_rows];
    bowl().evaluate_batch(solutions, &mut objectives, &mut measures);
    let size = solutions.chunks_exact(DIM).map(|row| row.iter().sum()).collect();
    (objectives, measures, vec![GAIT; 3 * n_rows], size)
}

#[test]
fn an_extra_column_that_does_not_exist_or_is_wider_is_refused() {
    for name in ["height", "gait"] {
        let error = by_size(name, Order::Rows).unwrap_err();
        assert_eq!(error, ConfigError::MissingColumn { column: name.into() });
    }
}
