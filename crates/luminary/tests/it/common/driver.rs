//! Runs a scheduler call by call, as a caller who evaluates outside would.

use luminary::archive::{ColumnData, ExtraColumn};
use luminary::problem::DifferentiableProblem;
use luminary::scheduler::{Scheduler, Values};

/// What the last call was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Last {
    #[default]
    Tell,
    AskGradients,
    TellGradients,
    Ask,
}

/// Makes the next call that is due, one at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Driver {
    last: Last,
}

impl Driver {
    /// The next call; returns its name.
    pub(crate) fn step(&mut self, scheduler: &mut Scheduler, problem: &dyn DifferentiableProblem) -> &'static str {
        match self.last {
            Last::Tell if scheduler.needs_gradients() => {
                scheduler.ask_gradients().unwrap();
                self.last = Last::AskGradients;
                "ask_gradients"
            }
            Last::Tell | Last::TellGradients => {
                scheduler.ask().unwrap();
                self.last = Last::Ask;
                "ask"
            }
            Last::AskGradients => {
                let rows = Rows::evaluate(scheduler, problem);
                let extras: Vec<ColumnData<'_>> = rows.extras.iter().map(|values| ColumnData::F64(values)).collect();
                let values = Values::new(&rows.objectives, &rows.measures).with_jacobians(&rows.jacobians);
                scheduler.tell_values(&values.with_extras(&extras)).unwrap();
                self.last = Last::TellGradients;
                "tell_gradients"
            }
            Last::Ask => {
                let rows = Rows::evaluate(scheduler, problem);
                let extras: Vec<ColumnData<'_>> = rows.extras.iter().map(|values| ColumnData::F64(values)).collect();
                let values = Values::new(&rows.objectives, &rows.measures).with_extras(&extras);
                scheduler.tell_values(&values).unwrap();
                self.last = Last::Tell;
                "tell"
            }
        }
    }
}

/// Runs by single calls for `n_iterations` iterations.
pub(crate) fn run(scheduler: &mut Scheduler, problem: &dyn DifferentiableProblem, n_iterations: u64) {
    let mut driver = Driver::default();
    let end = scheduler.iterations() + n_iterations;
    while scheduler.iterations() < end {
        driver.step(scheduler, problem);
    }
}

/// Every solution asked for in `n_iterations` iterations, as bits.
pub(crate) fn trajectory(
    scheduler: &mut Scheduler,
    problem: &dyn DifferentiableProblem,
    n_iterations: u64,
) -> Vec<Vec<u64>> {
    let mut driver = Driver::default();
    let mut asked = Vec::new();
    while scheduler.iterations() < n_iterations {
        if driver.step(scheduler, problem).starts_with("ask") {
            asked.push(scheduler.asked_solutions().iter().map(|x| x.to_bits()).collect());
        }
    }
    asked
}

/// What the problem says of the rows last asked for.
struct Rows {
    objectives: Vec<f64>,
    measures: Vec<f64>,
    jacobians: Vec<f64>,
    extras: Vec<Vec<f64>>,
}

impl Rows {
    fn evaluate(scheduler: &Scheduler, problem: &dyn DifferentiableProblem) -> Self {
        let spec = problem.spec();
        let (n, k) = (spec.solution_dim, spec.measure_dim());
        let (mut objectives, mut measures, mut jacobians) = (Vec::new(), Vec::new(), Vec::new());
        let (mut row_measures, mut jacobian) = (vec![0.0; k], vec![0.0; (1 + k) * n]);
        for solution in scheduler.asked_solutions().chunks_exact(n) {
            objectives.push(problem.evaluate_with_jacobian(solution, &mut row_measures, &mut jacobian));
            measures.extend_from_slice(&row_measures);
            jacobians.extend_from_slice(&jacobian);
        }
        let columns = &scheduler.config().archive.extra_columns;
        let extras = columns.iter().map(|column| extra_values(column, scheduler.asked_solutions(), n)).collect();
        Self { objectives, measures, jacobians, extras }
    }
}

/// Extra values that tell which solution they belong to: multiples of its first component.
fn extra_values(column: &ExtraColumn, solutions: &[f64], solution_dim: usize) -> Vec<f64> {
    let of_row = |solution: &[f64]| (0..column.width).map(|i| solution[0] * (i + 1) as f64).collect::<Vec<_>>();
    solutions.chunks_exact(solution_dim).flat_map(of_row).collect()
}
