//! Tickets on the real engine: rows order equals whole iterations, any sequence of calls repeats from its journal, and
//! wrong calls change nothing.

use luminary::WideRng;
use luminary::archive::{Batch, ColumnData, NonFinite, Status};
use luminary::error::CallError;
use luminary::problem::DifferentiableProblem;
use luminary::scheduler::{
    Answer, Call, Effect, NextCall, Order, Scheduler, SchedulerConfig, Threads, Ticket, TicketId, TicketKind, Told,
};
use proptest::prelude::*;

use crate::common::{Scenario, run, scenarios, state};

/// The result of a ticket, with room for its lists.
#[derive(Clone)]
struct Result {
    objective: f64,
    measures: Vec<f64>,
    jacobian: Option<Vec<f64>>,
    extras: Vec<Vec<f64>>,
}

impl Result {
    fn of(ticket: &Ticket, scenario: &Scenario) -> Self {
        let problem: &dyn DifferentiableProblem = scenario.problem.as_ref();
        let mut measures = vec![0.0; problem.spec().measure_dim()];
        let mut jacobian = vec![0.0; (1 + measures.len()) * ticket.solution.len()];
        let objective = problem.evaluate_with_jacobian(&ticket.solution, &mut measures, &mut jacobian);
        let columns = &scenario.config.archive.extra_columns;
        // As the driver of whole iterations makes them.
        let of_column = |width: usize| (1..=width).map(|i| ticket.solution[0] * i as f64).collect();
        let extras = columns.iter().map(|column| of_column(column.width)).collect();
        let jacobian = (ticket.kind == TicketKind::Gradient).then_some(jacobian);
        Self { objective, measures, jacobian, extras }
    }

    fn call(&self, id: TicketId) -> Call {
        Call::Tell {
            id,
            objective: self.objective,
            measures: self.measures.clone(),
            jacobian: self.jacobian.clone(),
            extras: self.extras.clone(),
        }
    }

    fn tell(&self, scheduler: &mut Scheduler, id: TicketId) -> std::result::Result<Told, CallError> {
        let extras: Vec<ColumnData<'_>> = self.extras.iter().map(|values| ColumnData::F64(values)).collect();
        let jacobian = self.jacobian.as_deref();
        scheduler
            .tell_ticket(id, &Answer { objective: self.objective, measures: &self.measures, jacobian, extras: &extras })
    }
}

/// A scheduler in the hands of somebody who calls at random and writes everything down.
struct World<'a> {
    scenario: &'a Scenario,
    scheduler: Scheduler,
    journal: Vec<Call>,
    /// Tickets this caller has, also those it said were lost.
    out: Vec<Ticket>,
    told: Vec<(TicketId, Result)>,
    rng: WideRng,
}

impl<'a> World<'a> {
    fn new(scenario: &'a Scenario, seed: u64) -> Self {
        let scheduler = scenario.config.build().unwrap();
        Self { scenario, scheduler, journal: Vec::new(), out: Vec::new(), told: Vec::new(), rng: WideRng::new(seed) }
    }

    fn ask(&mut self, n: usize) {
        self.journal.push(Call::Ask { n });
        for ticket in self.scheduler.ask_tickets(n) {
            assert_eq!(ticket.seed, ticket.id.seed(self.scenario.config.seed));
            match self.out.iter().find(|known| known.id == ticket.id) {
                Some(known) => assert_eq!(*known, ticket, "a ticket that was lost is issued again as it was"),
                None => self.out.push(ticket),
            }
        }
    }

    fn take_out(&mut self) -> Option<Ticket> {
        let n = self.out.len();
        (n > 0).then(|| self.out.swap_remove(self.rng.below(n)))
    }

    fn tell(&mut self) {
        let Some(ticket) = self.take_out() else { return };
        let result = Result::of(&ticket, self.scenario);
        self.journal.push(result.call(ticket.id));
        let told = result.tell(&mut self.scheduler, ticket.id).unwrap();
        assert_ne!(told.effect, Effect::Repeated);
        self.told.push((ticket.id, result));
    }

    fn fail(&mut self) {
        let Some(ticket) = self.take_out() else { return };
        let n_failures = self.scheduler.failures().total();
        self.journal.push(Call::Fail { id: ticket.id, reason: "it broke".into() });
        self.scheduler.fail(ticket.id, "it broke").unwrap();
        assert_eq!(self.scheduler.failures().total(), n_failures + 1);
        assert_eq!(self.scheduler.fail(ticket.id, "again").unwrap().effect, Effect::Repeated);
        let result = Result::of(&ticket, self.scenario);
        self.refuse(CallError::TicketContradicted { id: ticket.id }, |scheduler| {
            result.tell(scheduler, ticket.id).map(drop)
        });
    }

    fn lose(&mut self) {
        let n = self.out.len();
        if n > 0 {
            let id = self.out[self.rng.below(n)].id;
            self.journal.push(Call::Lost { id });
            self.scheduler.lost(id).unwrap();
        }
    }

    /// What was told before is told again, and then something else.
    fn repeat(&mut self) {
        let n = self.told.len();
        if n == 0 {
            return;
        }
        let (id, mut result) = self.told[self.rng.below(n)].clone();
        let before = state(&self.scheduler);
        let is_finite = result.objective.is_finite();
        if is_finite {
            assert_eq!(result.tell(&mut self.scheduler, id).unwrap().effect, Effect::Repeated);
            assert_eq!(self.scheduler.lost(id), Ok(()), "a settled ticket stays settled");
            assert!(state(&self.scheduler) == before, "a repeated result changed something");
        }
        result.objective = 1234.5;
        self.refuse(CallError::TicketContradicted { id }, |scheduler| result.tell(scheduler, id).map(drop));
        if is_finite {
            self.refuse(CallError::TicketContradicted { id }, |scheduler| scheduler.fail(id, "late").map(drop));
        }
    }

    fn unknown(&mut self) {
        let id = TicketId::new(1 << 40);
        self.refuse(CallError::UnknownTicket { id }, |s| s.tell_ticket(id, &Answer::new(1.0, &[0.0; 2])).map(drop));
        self.refuse(CallError::UnknownTicket { id }, |scheduler| scheduler.fail(id, "").map(drop));
        self.refuse(CallError::UnknownTicket { id }, |scheduler| scheduler.lost(id));
    }

    fn refuse(&mut self, expected: CallError, call: impl FnOnce(&mut Scheduler) -> std::result::Result<(), CallError>) {
        let before = state(&self.scheduler);
        assert_eq!(call(&mut self.scheduler), Err(expected));
        assert!(state(&self.scheduler) == before, "a refused call changed something");
    }

    fn inject(&mut self) {
        let spec = self.scenario.problem.spec();
        let mut solution = vec![0.0; spec.solution_dim];
        self.rng.fill_normal(&mut solution);
        let mut measures = vec![0.0; spec.measure_dim()];
        let objective = self.scenario.problem.evaluate(&solution, &mut measures);
        if !objective.is_finite() {
            return;
        }
        let widths = self.scenario.config.archive.extra_columns.iter().map(|column| column.width);
        let extras: Vec<Vec<f64>> = widths.map(|width| vec![0.25; width]).collect();
        let columns: Vec<ColumnData<'_>> = extras.iter().map(|values| values.as_slice().into()).collect();
        let evaluations = self.scheduler.evaluations();
        let batch = Batch { solutions: &solution, objectives: &[objective], measures: &measures, extras: &columns };
        self.scheduler.inject(&batch).unwrap();
        assert_eq!(self.scheduler.evaluations(), evaluations, "nobody asked for it");
        self.journal.push(Call::Inject { solution, objective, measures, extras });
    }

    fn save_and_load(&mut self) {
        let saved = state(&self.scheduler);
        self.scheduler = Scheduler::from_checkpoint(&saved).unwrap();
        assert!(state(&self.scheduler) == saved, "saved, loaded and saved again");
    }

    fn step(&mut self) {
        match self.rng.below(40) {
            0..10 => {
                let n = 1 + self.rng.below(7);
                self.ask(n);
            }
            10..31 => self.tell(),
            31 | 32 => self.fail(),
            33 | 34 => self.lose(),
            35 | 36 => self.repeat(),
            37 => self.unknown(),
            38 => self.inject(),
            _ => self.save_and_load(),
        }
    }
}

fn orders() -> [Order; 3] {
    [Order::Rows, Order::COMPLETION, Order::Completion { over_issue: 1.4 }]
}

/// Everything in every order; policies that refuse values that are not finite are tested elsewhere.
fn worlds() -> impl Iterator<Item = Scenario> {
    let in_order = |order| {
        scenarios().into_iter().map(move |mut scenario| {
            scenario.config.order = order;
            scenario.config.non_finite = Some(NonFinite::Reject);
            scenario.name = format!("{} in {order:?}", scenario.name);
            scenario
        })
    };
    orders().into_iter().flat_map(in_order)
}

/// What a search has found and learnt, without how it was called.
fn learnt(scheduler: &Scheduler) -> (Vec<u8>, Vec<u8>, Vec<Vec<u8>>, u64, u64) {
    let emitters = scheduler.emitters().map(|emitter| rmp_serde::to_vec_named(&emitter.save().unwrap()).unwrap());
    (
        scheduler.archive().to_bytes().unwrap(),
        scheduler.result().to_bytes().unwrap(),
        emitters.collect(),
        scheduler.iterations(),
        scheduler.evaluations(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]

    #[test]
    fn in_rows_order_tickets_give_the_bits_of_whole_iterations(seed in 0..u64::MAX) {
        for mut scenario in scenarios() {
            scenario.config.non_finite = Some(NonFinite::Reject);
            let mut whole = scenario.config.build().unwrap();
            run(&mut whole, scenario.problem.as_ref(), 6);
            let mut world = World::new(&scenario, seed);
            while world.scheduler.iterations() < 6 {
                match world.rng.below(10) {
                    0..3 => {
                        let n = 1 + world.rng.below(30);
                        world.ask(n);
                    }
                    3 => world.lose(),
                    4 => world.repeat(),
                    5 => world.save_and_load(),
                    _ => world.tell(),
                }
            }
            prop_assert!(learnt(&world.scheduler) == learnt(&whole), "{}", scenario.name);
        }
    }

    #[test]
    fn any_sequence_of_calls_repeats_from_its_journal(seed in 0..u64::MAX) {
        for scenario in worlds() {
            let mut world = World::new(&scenario, seed);
            let mut cut = (0, state(&world.scheduler));
            // Long enough for an iteration after the hundred solutions that MAP-Elites starts with.
            for step in 0..400 {
                world.step();
                if step == 120 {
                    cut = (world.journal.len(), state(&world.scheduler));
                }
            }
            prop_assert!(world.scheduler.evaluations() > 0, "{}", scenario.name);
            let end = state(&world.scheduler);
            let mut repeated = scenario.config.build().unwrap();
            world.journal.iter().for_each(|call| repeated.replay(call).unwrap());
            prop_assert!(state(&repeated) == end, "{}: from the start", scenario.name);
            let mut resumed = Scheduler::from_checkpoint(&cut.1).unwrap();
            world.journal[cut.0..].iter().for_each(|call| resumed.replay(call).unwrap());
            prop_assert!(state(&resumed) == end, "{}: from a checkpoint", scenario.name);
            prop_assert!(resumed.n_calls() <= world.journal.len() as u64, "calls that change nothing do not count");
        }
    }
}

#[cfg(feature = "rayon")]
#[test]
fn the_number_of_threads_changes_nothing() {
    for scenario in worlds() {
        let ends: Vec<Vec<u8>> = [1, 2, 4]
            .into_iter()
            .map(|n_threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
                let mut world = World::new(&scenario, 5);
                if n_threads > 1 {
                    world.scheduler.set_threads(Threads::Pool);
                }
                pool.install(|| {
                    for _ in 0..150 {
                        // Loading would forget about the threads.
                        match world.rng.below(4) {
                            0 => world.ask(5),
                            _ => world.tell(),
                        }
                    }
                });
                state(&world.scheduler)
            })
            .collect();
        assert!(ends[0] == ends[1] && ends[0] == ends[2], "{}", scenario.name);
    }
}

#[test]
fn the_closed_loop_finishes_what_tickets_began_in_every_order() {
    for scenario in worlds() {
        if !scenario.config.archive.extra_columns.is_empty() {
            // A problem in this process has no extra columns to give.
            continue;
        }
        let mut world = World::new(&scenario, 9);
        for _ in 0..30 {
            world.step();
        }
        let (before, n_open) = (world.scheduler.iterations(), world.scheduler.outstanding().len());
        world.scheduler.run(scenario.problem.as_ref(), 5).unwrap();
        assert!(world.scheduler.iterations() >= before + 5, "{}", scenario.name);
        let still_open = world.scheduler.outstanding().len();
        assert!(still_open <= n_open, "{}: {still_open} of {n_open} are out", scenario.name);
    }
}

fn cma_mae(order: Order) -> SchedulerConfig {
    let mut config = scenarios().into_iter().find(|scenario| scenario.name == "cma_mae").unwrap().config;
    config.order = order;
    config
}

fn answer(scheduler: &mut Scheduler, ticket: &Ticket, objective: f64) -> Told {
    scheduler.tell_ticket(ticket.id, &Answer::new(objective, &ticket.solution[..2])).unwrap()
}

#[test]
fn an_emitter_goes_on_at_its_last_row_and_late_rows_only_enter_the_archive() {
    let mut scheduler = cma_mae(Order::Completion { over_issue: 1.5 }).build().unwrap();
    // Three emitters of 8 rows draw 12 each; all of them can be had, and no more.
    let tickets = scheduler.ask_tickets(100);
    assert_eq!(tickets.len(), 36);
    assert!(scheduler.ask_tickets(1).is_empty(), "everything is out");
    let own: Vec<&Ticket> = tickets.iter().filter(|ticket| ticket.emitter == Some(1)).collect();
    assert_eq!(own.len(), 12);
    for ticket in &own[..8] {
        assert_eq!(answer(&mut scheduler, ticket, 50.0 + ticket.row as f64).effect, Effect::Counted);
    }
    let next = scheduler.ask_tickets(100);
    assert_eq!(next.len(), 12, "the emitter that learnt has rows again");
    assert!(next.iter().all(|ticket| ticket.emitter == Some(1) && ticket.generation == 1));
    let told = answer(&mut scheduler, own[9], 99.0);
    assert_eq!(told.effect, Effect::Stale);
    assert!(told.status.is_some_and(Status::is_accepted), "a late row is still an elite: {told:?}");
    assert_eq!(scheduler.stale_rows().collect::<Vec<_>>(), [0, 1, 0]);
    assert_eq!(scheduler.evaluations(), 9);
    assert_eq!(scheduler.result().best().unwrap().objective, 99.0);
}

#[test]
fn a_generation_without_one_value_restarts_its_emitter() {
    for order in orders() {
        let mut scheduler = cma_mae(order).build().unwrap();
        for ticket in scheduler.ask_tickets(1000) {
            scheduler.fail(ticket.id, "no licence").unwrap();
        }
        assert_eq!(scheduler.restarts().no_values, 3, "{order:?}");
        assert_eq!(scheduler.failures().by_cause().collect::<Vec<_>>()[0].0, "no licence");
        assert!(scheduler.archive().is_empty());
        assert!(!scheduler.ask_tickets(1).is_empty(), "the search goes on");
    }
}

#[test]
fn emitters_that_vary_elites_never_wait_in_completion_order() {
    let mut config = scenarios().into_iter().find(|scenario| scenario.name == "map_elites_line").unwrap().config;
    config.order = Order::COMPLETION;
    let mut scheduler = config.build().unwrap();
    let tickets = scheduler.ask_tickets(500);
    assert_eq!(tickets.len(), 500);
    assert!(tickets[..100].iter().all(|ticket| ticket.emitter.is_none()), "the initial population comes first");
    for ticket in &tickets {
        answer(&mut scheduler, ticket, 1.0);
    }
    assert_eq!(scheduler.evaluations(), 400);
    assert_eq!(scheduler.iterations(), 400 / 24);
}

#[test]
fn a_result_from_somebody_thought_lost_is_welcome() {
    for order in orders() {
        let mut scheduler = cma_mae(order).build().unwrap();
        let ticket = scheduler.ask_tickets(1).remove(0);
        scheduler.lost(ticket.id).unwrap();
        assert!(scheduler.outstanding().is_empty());
        assert_ne!(answer(&mut scheduler, &ticket, 3.0).effect, Effect::Repeated);
        assert!(scheduler.ask_tickets(1000).iter().all(|other| other.id != ticket.id), "it is not issued again");
    }
}

#[test]
fn wrong_answers_are_named_and_change_nothing() {
    for order in orders() {
        let mut scheduler = cma_mae(order).build().unwrap();
        let id = scheduler.ask_tickets(2)[1].id;
        let before = state(&scheduler);
        let jacobian = [0.0; 15];
        let wrong: [(Answer<'_>, &str); 5] = [
            (Answer::new(1.0, &[0.0]), "expected 2 values in measures (measures), found 1"),
            (Answer::new(f64::NAN, &[0.0; 2]), "expected finite values in objective of ticket 1, found NaN"),
            (Answer::new(1.0, &[0.0, f64::INFINITY]), "expected finite values in measures of ticket 1, found inf"),
            (
                Answer { jacobian: Some(&jacobian), ..Answer::new(1.0, &[0.0; 2]) },
                "expected no Jacobian for ticket 1, found one",
            ),
            (
                Answer { extras: &[ColumnData::F64(&[1.0])], ..Answer::new(1.0, &[0.0; 2]) },
                "expected 0 values in extras (extra columns), found 1",
            ),
        ];
        for (answer, message) in wrong {
            assert_eq!(scheduler.tell_ticket(id, &answer).unwrap_err().to_string(), message, "{order:?}");
        }
        let unissued = TicketId::new(2);
        assert_eq!(scheduler.fail(unissued, ""), Err(CallError::UnknownTicket { id: unissued }), "{order:?}");
        assert!(state(&scheduler) == before, "{order:?}");
    }
}

#[test]
fn whole_iterations_and_tickets_are_not_mixed_up() {
    let mut scheduler = cma_mae(Order::COMPLETION).build().unwrap();
    let error = scheduler.ask().unwrap_err();
    assert_eq!(error.to_string(), "expected a call to ask_tickets or tell_ticket, found ask");
    let mut scheduler = cma_mae(Order::Rows).build().unwrap();
    let ticket = scheduler.ask_tickets(1).remove(0);
    assert_eq!(scheduler.next_call(), NextCall::Tell, "the whole iteration may still be told at once");
    assert_eq!(answer(&mut scheduler, &ticket, 1.0).effect, Effect::Waits);
    assert_eq!(scheduler.next_call(), NextCall::Tickets);
    assert!(scheduler.tell(&[0.0; 24], &[0.0; 48]).is_err(), "one of the rows has its result already");
    // A whole iteration that was asked for may be told row by row.
    let mut scheduler = cma_mae(Order::Rows).build().unwrap();
    scheduler.ask().unwrap();
    let tickets = scheduler.outstanding();
    assert_eq!(tickets.len(), 24);
    let effects: Vec<Effect> = tickets.iter().map(|ticket| answer(&mut scheduler, ticket, 1.0).effect).collect();
    assert_eq!((effects[22], effects[23]), (Effect::Waits, Effect::Completed));
    assert_eq!(scheduler.iterations(), 1);
}
