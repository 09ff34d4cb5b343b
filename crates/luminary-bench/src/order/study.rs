//! The trials: every domain, every order, every seed, judged by the same number of evaluations.

use luminary::preset::Preset;
use luminary::scheduler::Order;
use luminary::strategy::Variant;
use luminary_domains::Domain;
use rayon::prelude::*;

use super::duration::Durations;
use super::simulator::{Setting, simulate};
use super::trace::Trace;
use crate::paper::paper_config;

/// Standard deviation of the logarithm of a duration in the main comparison.
pub(super) const SIGMA: f64 = 1.5;

/// An order under its name in tables and figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Contender {
    pub(super) name: &'static str,
    pub(super) order: Order,
}

/// What is compared. The first is what the others are compared with.
pub(super) const CONTENDERS: [Contender; 3] = [
    Contender { name: "rows", order: Order::Rows },
    Contender { name: "completion", order: Order::COMPLETION },
    Contender { name: "completion, over-issue 1.25", order: Order::Completion { over_issue: 1.25 } },
];

/// The size of the study.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    /// Iterations' worth of evaluations in each trial.
    pub(super) n_iterations: u64,
    /// Seeds, from 1.
    pub(super) n_seeds: u64,
    pub(super) n_workers: usize,
}

/// All trials.
#[derive(Clone, Debug)]
pub(super) struct Study {
    pub(super) n_evaluations: u64,
    pub(super) trials: Vec<Trial>,
}

/// One run.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) domain: Domain,
    pub(super) contender: Contender,
    pub(super) seed: u64,
    pub(super) trace: Trace,
}

impl Study {
    /// Runs all trials on the threads of the caller's pool, and says on standard error how far it is.
    pub(super) fn run(size: &Size) -> Result<Self, StudyError> {
        let mut plan = Vec::new();
        for seed in 1..=size.n_seeds {
            for domain in Domain::ALL {
                plan.extend(CONTENDERS.map(|contender| (domain, contender, seed)));
            }
        }
        let n_trials = plan.len();
        let run = |(i, (domain, contender, seed)): (usize, (Domain, Contender, u64))| {
            let trial = run_trial(domain, contender, seed, size)?;
            let end = trial.trace.end();
            let name = contender.name;
            eprintln!("{} of {n_trials}: {domain} {name} seed {seed}: QD score {:.2}", i + 1, end.qd_score);
            Ok(trial)
        };
        let trials = plan.into_par_iter().enumerate().map(run).collect::<Result<Vec<_>, StudyError>>()?;
        Ok(Self { n_evaluations: n_evaluations(size), trials })
    }

    /// The trials of one curve, in the order of their seeds.
    pub(super) fn traces(&self, domain: Domain, contender: Contender) -> impl Iterator<Item = &Trace> {
        let is_wanted = move |trial: &&Trial| trial.domain == domain && trial.contender == contender;
        self.trials.iter().filter(is_wanted).map(|trial| &trial.trace)
    }

    /// The time at which the first trial of a domain ends: until then all can be compared.
    pub(super) fn common_time(&self, domain: Domain) -> f64 {
        self.end_times(domain).fold(f64::INFINITY, f64::min)
    }

    /// The time at which the last trial of a domain ends.
    pub(super) fn longest_time(&self, domain: Domain) -> f64 {
        self.end_times(domain).fold(0.0, f64::max)
    }

    fn end_times(&self, domain: Domain) -> impl Iterator<Item = f64> {
        self.trials.iter().filter(move |trial| trial.domain == domain).map(|trial| trial.trace.end().time)
    }
}

/// Why a trial could not be run.
pub(super) type StudyError = Box<dyn std::error::Error + Send + Sync>;

fn n_evaluations(size: &Size) -> u64 {
    size.n_iterations * rows_per_iteration(Domain::LpSphere)
}

/// The same on all domains.
fn rows_per_iteration(domain: Domain) -> u64 {
    let settings = domain.paper_settings();
    (settings.n_emitters * settings.batch_size) as u64
}

fn run_trial(domain: Domain, contender: Contender, seed: u64, size: &Size) -> Result<Trial, StudyError> {
    let settings = domain.paper_settings();
    let problem = domain.build(settings.n_components)?;
    let resolution = settings.resolution[0];
    let mut config = paper_config(Preset::CmaMae, domain, settings.n_components, resolution, Variant::Standard, seed)?;
    config.order = contender.order;
    let setting = Setting {
        n_workers: size.n_workers,
        durations: Durations { sigma: SIGMA },
        n_evaluations: n_evaluations(size),
        record_every: rows_per_iteration(domain),
    };
    let trace = simulate(&mut config.build()?, problem.as_ref(), &setting)?;
    Ok(Trial { domain, contender, seed, trace })
}
