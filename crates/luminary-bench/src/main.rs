//! `luminary-bench`: full trials with figures and the share of time per stage.
#![allow(clippy::print_stdout, reason = "a program that reports on standard output")]

use std::time::Instant;

use luminary::preset::Preset;
use luminary::scheduler::{Observer, Stage};
use luminary::strategy::Variant;
use luminary_domains::Domain;

struct Clock {
    last: Instant,
    seconds: [f64; 5],
    iter: [f64; 5],
    all: [Vec<f64>; 5],
}

impl Observer for Clock {
    fn stage_done(&mut self, stage: Stage) {
        let now = Instant::now();
        let i = match stage {
            Stage::Sample => 0,
            Stage::Evaluate => 1,
            Stage::Add => 2,
            Stage::Rank => 3,
            Stage::Adapt => 4,
        };
        self.iter[i] += (now - self.last).as_secs_f64();
        self.last = now;
    }
    fn iteration_done(&mut self, _: &luminary::scheduler::Scheduler) -> std::ops::ControlFlow<()> {
        for i in 0..5 {
            self.seconds[i] += self.iter[i];
            self.all[i].push(self.iter[i]);
            self.iter[i] = 0.0;
        }
        self.last = Instant::now();
        std::ops::ControlFlow::Continue(())
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let preset: Preset = args[1].parse().unwrap();
    let domain: Domain = args[2].parse().unwrap();
    let variant = if args[3] == "published" { Variant::Published } else { Variant::Standard };
    let iterations: u64 = args[4].parse().unwrap();
    let seed: u64 = args[5].parse().unwrap();
    let problem = domain.build(100).unwrap();
    let settings = domain.paper_settings();
    let mut config = preset.for_problem(&problem.spec());
    config.variant = variant;
    config.seed = seed;
    config.sigma = match preset {
        Preset::MapElites => settings.map_elites_sigma,
        Preset::MapElitesLine => settings.line_sigma_1,
        Preset::CmaMega | Preset::CmaMaega => settings.sigma_g,
        _ => settings.cma_sigma0,
    };
    let mut scheduler = config.build().unwrap();
    let start = Instant::now();
    let mut clock = Clock { last: start, seconds: [0.0; 5], iter: [0.0; 5], all: Default::default() };
    scheduler.run_differentiable_observed(problem.as_ref(), iterations, &mut clock).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    for i in 0..5 {
        let v = &mut clock.all[i];
        v.sort_by(f64::total_cmp);
        let us = |q: f64| v[(q * (v.len() - 1) as f64) as usize] / 15.0 * 1e6;
        println!(
            "stage {i}: p1 {:.1} p25 {:.1} p50 {:.1} p80 {:.1} us per emitter",
            us(0.01),
            us(0.25),
            us(0.5),
            us(0.8)
        );
    }
    let stats = scheduler.result().stats();
    println!(
        "{preset} {domain:?} {variant:?} seed {seed}: qd {:.2} cov {:.2} best {:.2} | {seconds:.2} s, {:?} | restarts {:?}",
        stats.norm_qd_score,
        100.0 * stats.coverage,
        stats.obj_max.unwrap(),
        clock.seconds.map(|s| (s * 100.0).round() / 100.0),
        scheduler.restarts()
    );
}
