//! Random sequences of calls, right and wrong, beside a model of archives, scheduler and tickets that anybody can read:
//! after each call the scheduler is what the model says.
//!
//! `LUMINARY_MODEL_STEPS=1000000` for a long one.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use luminary::WideRng;
use luminary::archive::{
    Acceptance, Archive, ArchiveConfig, Batch, CellArchive, CellIdx, ColumnData, LearningRate, NonFinite, Status,
    UpdateRule,
};
use luminary::error::CallError;
use luminary::scheduler::{
    Answer, Effect, EmitterGroup, Order, Pool, Scheduler, SchedulerConfig, Ticket, TicketId, Told,
};
use luminary::strategy::StrategyConfig;

use crate::common::{ArchiveModel, ModelCell, emitters, state, with_cells};

/// Calls in all, unless somebody has more time.
const N_STEPS: usize = 12_000;
/// Calls of a sequence.
const SEQUENCE: usize = 300;
const SOLUTION_DIM: usize = 3;
const GRID: [usize; 2] = [4, 5];
/// Rows of an iteration: six of one emitter and eight of the other.
const N_ROWS: usize = 14;

/// What was told of a row, with the cell that its measures were made for.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Value {
    objective: f64,
    measures: [f64; 2],
    cell: CellIdx,
}

impl Value {
    fn any(rng: &mut WideRng) -> Self {
        let place = GRID.map(|n| rng.below(n));
        let mut measures = [0.0; 2];
        for ((measure, &i), &n) in measures.iter_mut().zip(&place).zip(&GRID) {
            // Well inside of the cell; those at the ends of the grid also take what lies beyond it.
            let beyond = if rng.below(5) > 0 { 0.0 } else { f64::from(i == n - 1) - f64::from(i == 0) };
            *measure = -1.0 + 2.0 * (i as f64 + 0.5) / n as f64 + 0.1 * (rng.below(3) as f64 - 1.0) + beyond;
        }
        // Few values, so that there are ties.
        let objective = (rng.below(13) as f64 - 6.0) / 2.0;
        Self { objective, measures, cell: CellIdx::new(place[0] * GRID[1] + place[1]) }
    }

    fn answer(&self) -> Answer<'_> {
        Answer::new(self.objective, &self.measures)
    }
}

/// What is known of a ticket without a result.
#[derive(Clone, Copy, Debug)]
struct Open {
    is_out: bool,
    solution: usize,
}

/// What archives, scheduler and tickets should be.
struct Model {
    order: Order,
    policy: NonFinite,
    search: ArchiveModel,
    result: ArchiveModel,
    /// Every solution there was, which elites name by their place here.
    solutions: Vec<Vec<f64>>,
    open: BTreeMap<u64, Open>,
    /// Tickets with a result, or `None` for those that have no value.
    settled: Vec<(u64, Option<Value>)>,
    /// The iteration in progress in rows order.
    round: Option<Round>,
    next_id: u64,
    evaluations: u64,
    iterations: u64,
    n_failed: u64,
    n_injected: u64,
}

struct Round {
    first: u64,
    n_issued: u64,
    /// Results by row, with the solution they are of.
    results: BTreeMap<u64, (usize, Option<Value>)>,
}

impl Model {
    fn new(config: &SchedulerConfig) -> Self {
        let result = ArchiveConfig { acceptance: Acceptance::Elitist, ..config.archive.clone() };
        Self {
            order: config.order,
            policy: config.non_finite.unwrap(),
            search: ArchiveModel::new(&config.archive),
            result: ArchiveModel::new(&result),
            solutions: Vec::new(),
            open: BTreeMap::new(),
            settled: Vec::new(),
            round: None,
            next_id: 0,
            evaluations: 0,
            iterations: 0,
            n_failed: 0,
            n_injected: 0,
        }
    }

    /// Adds rows to both archives; returns their statuses.
    fn add(&mut self, rows: &[(usize, Value)]) -> Vec<Status> {
        let rows: Vec<_> =
            rows.iter().map(|&(solution, value)| (value.cell, value.objective, solution as f64)).collect();
        self.result.add(&rows);
        self.search.add(&rows).into_iter().map(|(status, _)| status).collect()
    }

    fn begin_round(&mut self) {
        if self.round.is_none() {
            self.round = Some(Round { first: self.next_id, n_issued: 0, results: BTreeMap::new() });
            self.next_id += N_ROWS as u64;
        }
    }

    /// The ids of the tickets that so many rows are handed out as: those that came back, and new ones.
    fn issue(&mut self, n: usize) -> Vec<u64> {
        let back = self.open.iter().filter(|(_, open)| !open.is_out).map(|(&id, _)| id);
        let mut ids: Vec<u64> = back.take(n).collect();
        let n_fresh = (n - ids.len()) as u64;
        if self.order != Order::Rows {
            ids.extend(self.next_id..self.next_id + n_fresh);
            self.next_id += n_fresh;
        } else if n > 0 {
            self.begin_round();
            let round = self.round.as_mut().unwrap();
            let first = round.first + round.n_issued;
            let end = (first + n_fresh).min(round.first + N_ROWS as u64);
            ids.extend(first..end);
            round.n_issued += end - first;
        }
        ids
    }

    fn hand_out(&mut self, id: u64, solution: &[f64]) {
        match self.open.get_mut(&id) {
            Some(open) => {
                assert_eq!(self.solutions[open.solution], solution, "a ticket that came back is issued as it was");
                open.is_out = true;
            }
            None => {
                self.solutions.push(solution.to_vec());
                self.open.insert(id, Open { is_out: true, solution: self.solutions.len() - 1 });
            }
        }
    }

    /// Settles an open ticket, and says what telling it should answer.
    fn settle(&mut self, id: u64, value: Option<Value>) -> (&'static [Effect], Option<Status>) {
        let open = self.open.remove(&id).unwrap();
        self.settled.push((id, value));
        self.n_failed += u64::from(value.is_none());
        let Some(round) = self.round.as_mut() else {
            self.evaluations += 1;
            let status = value.map_or(Status::Invalid, |value| self.add(&[(open.solution, value)])[0]);
            return (&[Effect::Counted, Effect::Stale], Some(status));
        };
        round.results.insert(id, (open.solution, value));
        if round.results.len() < N_ROWS {
            return (&[Effect::Waits], None);
        }
        (&[Effect::Completed], Some(self.end_round()[(id % N_ROWS as u64) as usize]))
    }

    /// Takes the rows of a whole iteration to the archives; returns their statuses.
    fn end_round(&mut self) -> Vec<Status> {
        let results: Vec<_> = self.round.take().unwrap().results.into_values().collect();
        self.evaluations += N_ROWS as u64;
        self.iterations += 1;
        let rows: Vec<_> = results.iter().filter_map(|&(solution, value)| Some((solution, value?))).collect();
        let mut statuses = self.add(&rows).into_iter();
        results.iter().map(|(_, value)| value.map_or(Status::Invalid, |_| statuses.next().unwrap())).collect()
    }

    fn check(&self, scheduler: &Scheduler) {
        let out = self.open.iter().filter(|(_, open)| open.is_out);
        let outstanding = scheduler.outstanding();
        assert!(outstanding.iter().map(|ticket| ticket.id.get()).eq(out.clone().map(|(&id, _)| id)), "tickets out");
        assert!(outstanding.iter().map(|t| &t.solution).eq(out.map(|(_, open)| &self.solutions[open.solution])));
        let iterations = match self.order {
            Order::Rows => self.iterations,
            Order::Completion { .. } => self.evaluations / N_ROWS as u64,
        };
        assert_eq!((scheduler.evaluations(), scheduler.iterations()), (self.evaluations, iterations));
        assert_eq!((scheduler.failures().total(), scheduler.n_injected()), (self.n_failed, self.n_injected));
        self.check_archive(with_cells(scheduler.archive()), &self.search);
        self.check_archive(with_cells(scheduler.result()), &self.result);
        let best = self.result.cells.values().filter_map(|cell| cell.elite).map(|elite| elite.0).reduce(f64::max);
        assert_eq!(scheduler.result().stats().obj_max, best);
    }

    fn check_archive(&self, archive: &CellArchive, model: &ArchiveModel) {
        let empty = ModelCell { threshold: model.min_f, visits: 0, elite: None };
        for (cell, &threshold) in archive.thresholds().iter().enumerate() {
            let cell = CellIdx::new(cell);
            let expected = model.cells.get(&cell).unwrap_or(&empty);
            let is_close = (threshold - expected.threshold).abs() <= 1e-12 * threshold.abs().max(1.0);
            assert!(threshold == expected.threshold || is_close, "threshold {threshold} for {expected:?}");
            assert_eq!(archive.visits()[cell.index()], expected.visits);
            let found = archive.elite(cell).map(|elite| (elite.objective, elite.solution));
            let known = expected.elite.map(|(objective, id)| (objective, &self.solutions[id as usize][..]));
            assert_eq!(found, known, "elite of cell {}", cell.index());
        }
        let objectives = || model.cells.values().filter_map(|cell| cell.elite).map(|elite| elite.0);
        let stats = archive.stats();
        assert_eq!(stats.n_elites, objectives().count());
        assert!((stats.qd_score - objectives().sum::<f64>()).abs() < 1e-9, "QD score {}", stats.qd_score);
    }
}

/// A scheduler and its model in the hands of somebody who calls at random.
struct World {
    scheduler: Scheduler,
    model: Model,
    rng: WideRng,
}

impl World {
    fn new(config: &SchedulerConfig, seed: u64) -> Self {
        Self { scheduler: config.build().unwrap(), model: Model::new(config), rng: WideRng::new(seed) }
    }

    fn step(&mut self) {
        match self.rng.below(20) {
            0..4 => self.ask(),
            4..11 => self.tell(),
            11 => self.fail(),
            12 => self.lose(),
            13 => self.repeat(),
            14 => self.whole_iteration(),
            15 => self.inject(),
            16 if self.rng.below(5) == 0 => {
                self.scheduler = Scheduler::from_checkpoint(&state(&self.scheduler)).unwrap();
            }
            _ => self.wrong(),
        }
        self.model.check(&self.scheduler);
    }

    fn ask(&mut self) {
        let n = self.rng.below(7);
        let expected = self.model.issue(n);
        let tickets = self.scheduler.ask_tickets(n);
        assert_eq!(tickets.iter().map(|ticket| ticket.id.get()).collect::<Vec<_>>(), expected);
        for Ticket { id, solution, .. } in tickets {
            self.model.hand_out(id.get(), &solution);
        }
    }

    fn any_open(&mut self) -> Option<u64> {
        let n = self.model.open.len();
        (n > 0).then(|| *self.model.open.keys().nth(self.rng.below(n)).unwrap())
    }

    fn tell(&mut self) {
        let Some(id) = self.any_open() else { return };
        let value = Value::any(&mut self.rng);
        let told = self.scheduler.tell_ticket(TicketId::new(id), &value.answer()).unwrap();
        self.settled(told, id, Some(value));
    }

    fn fail(&mut self) {
        let Some(id) = self.any_open() else { return };
        let told = if self.model.policy == NonFinite::Reject && self.rng.below(2) == 0 {
            self.scheduler.tell_ticket(TicketId::new(id), &Answer::new(f64::NAN, &[0.0; 2])).unwrap()
        } else {
            self.scheduler.fail(TicketId::new(id), "it broke").unwrap()
        };
        self.settled(told, id, None);
    }

    fn settled(&mut self, told: Told, id: u64, value: Option<Value>) {
        let (effects, status) = self.model.settle(id, value);
        assert!(effects.contains(&told.effect), "ticket {id}: {told:?}, expected {effects:?}");
        if status.is_some() {
            assert_eq!(told.status, status, "ticket {id}");
        }
    }

    fn lose(&mut self) {
        if let Some(id) = self.any_open() {
            self.scheduler.lost(TicketId::new(id)).unwrap();
            self.model.open.get_mut(&id).unwrap().is_out = false;
        }
    }

    /// What was told is told again, and then something else.
    fn repeat(&mut self) {
        let n = self.model.settled.len();
        if n == 0 {
            return;
        }
        let (id, value) = self.model.settled[self.rng.below(n)];
        let id = TicketId::new(id);
        let Some(value) = value else {
            assert_eq!(self.scheduler.fail(id, "again").unwrap().effect, Effect::Repeated);
            return;
        };
        assert_eq!(self.scheduler.tell_ticket(id, &value.answer()).unwrap().effect, Effect::Repeated);
        assert_eq!(self.scheduler.lost(id), Ok(()), "a settled ticket stays settled");
        let other = Value { objective: value.objective + 1.0, ..value };
        let contradicted = CallError::TicketContradicted { id };
        assert_eq!(self.scheduler.tell_ticket(id, &other.answer()).unwrap_err(), contradicted);
        assert_eq!(self.scheduler.fail(id, "late").unwrap_err(), contradicted);
    }

    /// Asks for a whole iteration, or tells one, as far as that is due.
    fn whole_iteration(&mut self) {
        if self.model.order != Order::Rows {
            return;
        }
        if self.model.round.is_none() {
            let solutions = self.scheduler.ask().unwrap().to_vec();
            let ids = self.model.issue(N_ROWS);
            for (id, solution) in ids.into_iter().zip(solutions.chunks_exact(SOLUTION_DIM)) {
                self.model.hand_out(id, solution);
            }
        } else if self.model.round.as_ref().is_some_and(|round| round.results.is_empty()) {
            self.tell_whole_iteration();
        }
    }

    fn tell_whole_iteration(&mut self) {
        let values: Vec<Value> = (0..N_ROWS).map(|_| Value::any(&mut self.rng)).collect();
        let objectives: Vec<f64> = values.iter().map(|value| value.objective).collect();
        let measures: Vec<f64> = values.iter().flat_map(|value| value.measures).collect();
        let solutions = self.scheduler.asked_solutions().to_vec();
        self.scheduler.tell(&objectives, &measures).unwrap();
        // Rows that nobody had taken yet are told with the others, and have no tickets any more.
        let round = self.model.round.as_mut().unwrap();
        for ((id, value), solution) in (round.first..).zip(values).zip(solutions.chunks_exact(SOLUTION_DIM)) {
            self.model.open.remove(&id);
            self.model.solutions.push(solution.to_vec());
            round.results.insert(id, (self.model.solutions.len() - 1, Some(value)));
        }
        let statuses = self.model.end_round();
        assert_eq!(self.scheduler.last_report().status, statuses);
    }

    fn inject(&mut self) {
        let value = Value::any(&mut self.rng);
        let solution = vec![value.objective; SOLUTION_DIM];
        let batch =
            Batch { solutions: &solution, objectives: &[value.objective], measures: &value.measures, extras: &[] };
        let report = self.scheduler.inject(&batch).unwrap();
        self.model.solutions.push(solution);
        self.model.n_injected += 1;
        let row = self.model.solutions.len() - 1;
        assert_eq!(report.status, self.model.add(&[(row, value)]));
    }

    /// A call that is refused whatever has happened.
    fn wrong(&mut self) {
        let unknown = TicketId::new(1 << 40);
        let open = self.any_open().map(TicketId::new);
        let scheduler = &mut self.scheduler;
        let n = scheduler.asked_solutions().len() / SOLUTION_DIM;
        let has_round = self.model.round.is_some();
        let row = [0.5; SOLUTION_DIM];
        let extra = [ColumnData::F64(&[1.0])];
        let error = match (self.rng.below(16), open) {
            (0, _) => scheduler.tell(&vec![1.0; n + 1], &vec![0.0; 2 * (n + 1)]),
            (1, _) => scheduler.tell(&vec![1.0; n], &vec![0.0; 2 * n + 1]),
            (2, _) => scheduler.tell_gradients(&vec![1.0; n], &vec![0.0; 2 * n], &vec![0.0; 9 * n]),
            (3, _) => scheduler.ask_gradients().map(drop),
            (4, _) if has_round || self.model.order != Order::Rows => scheduler.ask().map(drop),
            (5, _) => scheduler.tell_ticket(unknown, &Answer::new(1.0, &[0.0; 2])).map(drop),
            (6, _) => scheduler.fail(unknown, "gone").map(drop),
            (7, _) => scheduler.lost(unknown),
            (8, Some(id)) => scheduler.tell_ticket(id, &Answer::new(1.0, &[0.0; 3])).map(drop),
            (9, Some(id)) => scheduler.tell_ticket(id, &Answer::new(1.0, &[])).map(drop),
            (10, Some(id)) => {
                let answer = Answer { jacobian: Some(&[0.0; 9]), ..Answer::new(1.0, &[0.0; 2]) };
                scheduler.tell_ticket(id, &answer).map(drop)
            }
            (11, Some(id)) => {
                scheduler.tell_ticket(id, &Answer { extras: &extra, ..Answer::new(1.0, &[0.0; 2]) }).map(drop)
            }
            (12, Some(id)) if self.model.policy == NonFinite::Fail => {
                scheduler.tell_ticket(id, &Answer::new(1.0, &[0.0, f64::INFINITY])).map(drop)
            }
            (13, _) if self.model.policy == NonFinite::Fail => {
                let batch = Batch { solutions: &row, objectives: &[f64::NAN], measures: &[0.0; 2], extras: &[] };
                scheduler.inject(&batch).map(drop)
            }
            (14, _) => {
                let batch = Batch { solutions: &row, objectives: &[9e9], measures: &[0.0; 2], extras: &extra };
                scheduler.inject(&batch).map(drop)
            }
            _ => {
                let batch = Batch { solutions: &row[1..], objectives: &[9e9], measures: &[0.0; 2], extras: &[] };
                scheduler.inject(&batch).map(drop)
            }
        };
        assert!(error.is_err(), "a wrong call was taken");
    }
}

/// Both rules, soft and elitist, in every order, with values that are not finite refused and counted.
fn configs() -> Vec<SchedulerConfig> {
    let soft = Acceptance::Soft { learning_rate: LearningRate::Fixed(0.25), min_f: -2.0 };
    let orders = [Order::Rows, Order::COMPLETION, Order::Completion { over_issue: 1.4 }];
    let mut configs = Vec::new();
    for order in orders {
        for (acceptance, rule) in
            [(Acceptance::Elitist, UpdateRule::Sequential), (soft, UpdateRule::Sequential), (soft, UpdateRule::Batch)]
        {
            for policy in [NonFinite::Fail, NonFinite::Reject] {
                configs.push(config(acceptance, rule, order, policy));
            }
        }
    }
    configs
}

fn config(acceptance: Acceptance, rule: UpdateRule, order: Order, policy: NonFinite) -> SchedulerConfig {
    let archive = ArchiveConfig::grid(SOLUTION_DIM, GRID.to_vec(), vec![(-1.0, 1.0); 2]);
    let sources = emitters(SOLUTION_DIM, &StrategyConfig::default(), None).into_iter();
    let wanted = sources.filter(|(name, _)| ["gaussian", "evolution"].contains(name));
    SchedulerConfig {
        seed: 3,
        archive: ArchiveConfig { acceptance, rule, ..archive },
        result: None,
        emitters: wanted.map(|(_, emitter)| EmitterGroup { count: 1, emitter }).collect(),
        pool: Pool::All,
        initial: None,
        non_finite: Some(policy),
        order,
    }
}

#[test]
fn a_scheduler_equals_its_model_after_every_call() {
    let n_steps: usize = std::env::var("LUMINARY_MODEL_STEPS").map_or(N_STEPS, |text| text.parse().unwrap());
    let fresh = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    let configs = configs();
    for seed in [1, fresh] {
        eprintln!("{} steps from seed {seed}", n_steps / 2);
        for (number, config) in (0..n_steps / 2 / SEQUENCE).zip(configs.iter().cycle()) {
            let mut world = World::new(config, seed.wrapping_add(number as u64));
            (0..SEQUENCE).for_each(|_| world.step());
        }
    }
}
