//! Discount model search beside CMA-MAE where there are many measures.
//!
//! The paper's sphere and Rastrigin function are projected on as many measures as wanted: each is the sum of a block of
//! components, clipped. With many measures most solutions of an iteration fall into few cells, and all of a cell share its
//! threshold. A model of the thresholds tells them apart.
//!
//! ```sh
//! # objective, measures, cells, iterations, seed, and which of the searches; all if none is named
//! cargo run --release -p luminary --example many_measures -- rastrigin 10 10000 1000 1 dms dms_df
//! ```

#![allow(clippy::print_stdout, reason = "it is a program")]

use std::error::Error;
use std::f64::consts::PI;

use luminary::archive::{ArchiveKind, CellsConfig, CentroidSource, CvtConfig};
use luminary::preset::{Preset, PresetConfig};
use luminary::problem::{Problem, ProblemSpec};
use luminary::scheduler::SchedulerConfig;
use luminary::strategy::Variant;

/// Components are meant to stay within plus or minus this.
const BOX_LIMIT: f64 = 5.12;
/// Where the objective is best, in every component.
const SHIFT: f64 = 0.4 * BOX_LIMIT;
/// Components of a solution.
const N_COMPONENTS: usize = 100;
/// The searches that are compared.
const SEARCHES: [&str; 4] = ["cma_mae", "dms", "dms_published", "dms_df"];

/// What a component that is so far from the optimum adds to the sum that is mapped to 100 (nothing) to 0 (the most).
type Term = fn(f64) -> f64;

struct Projection {
    term: Term,
    n_measures: usize,
}

impl Problem for Projection {
    fn spec(&self) -> ProblemSpec {
        let limit = BOX_LIMIT * (N_COMPONENTS / self.n_measures) as f64;
        ProblemSpec { solution_dim: N_COMPONENTS, measure_bounds: vec![(-limit, limit); self.n_measures] }
    }

    fn evaluate(&self, solution: &[f64], measures: &mut [f64]) -> f64 {
        let clipped = |x: f64| if x.abs() <= BOX_LIMIT { x } else { BOX_LIMIT / x };
        for (measure, block) in measures.iter_mut().zip(solution.chunks_exact(N_COMPONENTS / self.n_measures)) {
            *measure = block.iter().map(|&x| clipped(x)).sum();
        }
        let sum: f64 = solution.iter().map(|x| (self.term)(x - SHIFT)).sum();
        let worst = N_COMPONENTS as f64 * (self.term)(-BOX_LIMIT - SHIFT);
        100.0 * (1.0 - sum / worst)
    }
}

fn sphere(x: f64) -> f64 {
    x * x
}

fn rastrigin(x: f64) -> f64 {
    x * x + 10.0 * (1.0 - (2.0 * PI * x).cos())
}

/// One of [`SEARCHES`], with elites in so many cells.
fn search(name: &str, spec: &ProblemSpec, n_cells: usize, seed: u64) -> Result<SchedulerConfig, Box<dyn Error>> {
    let variant = if name == "dms_published" { Variant::Published } else { Variant::Standard };
    let of = |preset: Preset| PresetConfig { variant, seed, ..preset.for_problem(spec) }.config();
    let mut config = match name {
        "cma_mae" => of(Preset::CmaMae),
        "dms" | "dms_published" => of(Preset::Dms),
        // Thresholds of a model, and emitters that estimate their gradients.
        "dms_df" => SchedulerConfig { emitters: of(Preset::CmaMaegaDf).emitters, ..of(Preset::Dms) },
        found => return Err(format!("expected a search among {SEARCHES:?}, found {found:?}").into()),
    };
    let centroids =
        CvtConfig { centroids: CentroidSource::Sobol, ..CvtConfig::new(n_cells, spec.measure_bounds.clone()) };
    // Of discount model search the cells are those of the result archive, which its emitters do not see.
    config.result.as_mut().unwrap_or(&mut config.archive).kind = ArchiveKind::Cells(CellsConfig::Cvt(centroids));
    Ok(config)
}

/// What is compared, on what.
pub(crate) fn compare(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let number = |i: usize, default: u64| arguments.get(i).map_or(Ok(default), |text| text.parse());
    let term: Term = match arguments.first().map(String::as_str) {
        None | Some("sphere") => sphere,
        Some("rastrigin") => rastrigin,
        Some(found) => return Err(format!("expected sphere or rastrigin, found {found:?}").into()),
    };
    let problem = Projection { term, n_measures: usize::try_from(number(1, 10)?)? };
    let n_cells = usize::try_from(number(2, 200)?)?;
    let n_iterations = number(3, 5)?;
    let seed = number(4, 1)?;
    let named: Vec<&str> = arguments.iter().skip(5).map(String::as_str).collect();
    for name in if named.is_empty() { SEARCHES.to_vec() } else { named } {
        let mut scheduler = search(name, &problem.spec(), n_cells, seed)?.build()?;
        // Where gradients are estimated some iterations have more rows than others; they count for several.
        scheduler.run(&problem, 1)?;
        while scheduler.iterations() < n_iterations {
            scheduler.run(&problem, 1)?;
        }
        let stats = scheduler.result().stats();
        println!(
            "{name}, {} evaluations: QD score {:.2}, coverage {:.2} %",
            scheduler.evaluations(),
            stats.norm_qd_score,
            100.0 * stats.coverage
        );
        assert!(stats.n_elites > 0);
    }
    Ok(())
}

/// The tests run [`compare`] themselves.
#[allow(dead_code, reason = "the tests of the engine have this file as a module")]
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    compare(&std::env::args().skip(1).collect::<Vec<_>>())
}
