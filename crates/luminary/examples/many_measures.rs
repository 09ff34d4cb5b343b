//! Discount model search beside CMA-MAE where there are many measures.
//!
//! The paper's sphere is projected on as many measures as wanted: each is the sum of a block of components, clipped.
//! With many measures most solutions of an iteration fall into few cells, and all of a cell share its threshold. A
//! model of the thresholds tells them apart.
//!
//! ```sh
//! cargo run --release -p luminary --example many_measures -- 10 10000 1000    # measures, cells, iterations
//! ```

#![allow(clippy::print_stdout, reason = "it is a program")]

use std::error::Error;

use luminary::archive::{ArchiveKind, CellsConfig, CentroidSource, CvtConfig};
use luminary::preset::Preset;
use luminary::problem::{Problem, ProblemSpec};

/// Components are meant to stay within plus or minus this.
const BOX_LIMIT: f64 = 5.12;
/// Where the objective is best, in every component.
const SHIFT: f64 = 0.4 * BOX_LIMIT;

struct Sphere {
    n_components: usize,
    n_measures: usize,
}

impl Problem for Sphere {
    fn spec(&self) -> ProblemSpec {
        let limit = BOX_LIMIT * (self.n_components / self.n_measures) as f64;
        ProblemSpec { solution_dim: self.n_components, measure_bounds: vec![(-limit, limit); self.n_measures] }
    }

    fn evaluate(&self, solution: &[f64], measures: &mut [f64]) -> f64 {
        let clipped = |x: f64| if x.abs() <= BOX_LIMIT { x } else { BOX_LIMIT / x };
        for (measure, block) in measures.iter_mut().zip(solution.chunks_exact(self.n_components / self.n_measures)) {
            *measure = block.iter().map(|&x| clipped(x)).sum();
        }
        let sum: f64 = solution.iter().map(|x| (x - SHIFT).powi(2)).sum();
        let worst = self.n_components as f64 * (BOX_LIMIT + SHIFT).powi(2);
        100.0 * (1.0 - sum / worst)
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let argument = |i: usize| std::env::args().nth(i)?.parse().ok();
    let problem = Sphere { n_components: 100, n_measures: argument(1).unwrap_or(10) };
    let n_cells = argument(2).unwrap_or(200);
    let n_iterations = argument(3).unwrap_or(5);
    let spec = problem.spec();
    let centroids =
        CvtConfig { centroids: CentroidSource::Sobol, ..CvtConfig::new(n_cells, spec.measure_bounds.clone()) };
    let cells = ArchiveKind::Cells(CellsConfig::Cvt(centroids));
    for preset in [Preset::CmaMae, Preset::Dms] {
        let mut config = preset.for_problem(&spec).config();
        // Of discount model search the cells are those of the result archive, which its emitters do not see.
        config.result.as_mut().unwrap_or(&mut config.archive).kind = cells.clone();
        let mut scheduler = config.build()?;
        scheduler.run(&problem, n_iterations as u64)?;
        let stats = scheduler.result().stats();
        println!("{preset}: QD score {:.2}, coverage {:.2} %", stats.norm_qd_score, 100.0 * stats.coverage);
        assert!(stats.n_elites > 0);
    }
    Ok(())
}
