//! How well workers are used, for several numbers of them.
//!
//! When tickets are handed out depends on durations alone, never on values, so a problem of two components tells the same
//! as one of a hundred.

use luminary::preset::Preset;
use luminary::scheduler::SchedulerConfig;
use luminary_domains::Domain;

use super::duration::Durations;
use super::simulator::{Setting, simulate};
use super::study::{CONTENDERS, Contender, SIGMA, StudyError};
use super::summary::summarise;
use super::trace::Trace;

/// Rows of an emitter's generation.
const LAMBDA: usize = 36;

/// Iterations' worth of evaluations: long enough that start and end do not show.
const N_ITERATIONS: usize = 500;

/// Workers, and what they work on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crew {
    pub(super) n_workers: usize,
    pub(super) n_emitters: usize,
    durations: Durations,
    pub(super) durations_name: &'static str,
}

/// How well a crew is used in one order: means over seeds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Utilisation {
    pub(super) crew: Crew,
    pub(super) contender: Contender,
    pub(super) idle_share: f64,
    pub(super) stale_share: f64,
    /// Evaluations in the same time, relative to rows order.
    pub(super) speed_up: f64,
}

/// Crews from few workers to many, each in every order.
pub(super) fn measure(n_seeds: u64) -> Result<Vec<Utilisation>, StudyError> {
    let wide = |n_workers, n_emitters| Crew {
        n_workers,
        n_emitters,
        durations: Durations { sigma: SIGMA },
        durations_name: "sigma 1.5",
    };
    let narrow = Crew {
        durations: Durations::with_coefficient_of_variation(1.0),
        durations_name: "coefficient of variation 1",
        ..wide(256, 15)
    };
    let mut rows = Vec::new();
    for crew in [wide(8, 5), wide(64, 15), wide(256, 15), narrow] {
        let mut rows_order_time = None;
        for contender in CONTENDERS {
            let traces = (1..=n_seeds).map(|seed| run(&crew, contender, seed)).collect::<Result<Vec<_>, _>>()?;
            let mean = |value: fn(&Trace) -> f64| summarise(traces.iter().map(value)).mean;
            let time = mean(|trace| trace.end().time);
            rows.push(Utilisation {
                crew,
                contender,
                idle_share: mean(|trace| trace.idle_share),
                stale_share: mean(|trace| trace.stale_share),
                speed_up: *rows_order_time.get_or_insert(time) / time,
            });
        }
    }
    Ok(rows)
}

fn run(crew: &Crew, contender: Contender, seed: u64) -> Result<Trace, StudyError> {
    let problem = Domain::LpSphere.build(2)?;
    let mut preset = Preset::CmaMae.for_problem(&problem.spec());
    preset.resolution = vec![10; 2];
    preset.n_emitters = crew.n_emitters;
    preset.batch_size = LAMBDA;
    preset.seed = seed;
    let config = SchedulerConfig { order: contender.order, ..preset.config() };
    let n_rows = crew.n_emitters * LAMBDA;
    let setting = Setting {
        n_workers: crew.n_workers,
        durations: crew.durations,
        n_evaluations: (N_ITERATIONS * n_rows) as u64,
        record_every: n_rows as u64,
    };
    Ok(simulate(&mut config.build()?, problem.as_ref(), &setting)?)
}
