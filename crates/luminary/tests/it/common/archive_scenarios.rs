//! A scenario for each kind of archive beside grid and centroids.

use luminary::archive::{
    ArchiveConfig, ArchiveKind, CategoricalConfig, CellsConfig, Competition, DensityConfig, DiscountConfig, DnsConfig,
    PerceptronConfig, ProximityConfig, SlidingBoundariesConfig, ThresholdDecay,
};
use luminary::problem::{DifferentiableProblem, Problem, ProblemSpec};
use luminary::strategy::StrategyConfig;

use super::problems::Bowl;
use super::scenarios::{Scenario, config, emitters};

pub(super) fn archive_scenarios() -> Vec<Scenario> {
    let names = ["low", "middle", "high"].map(String::from).to_vec();
    let bounds = vec![(-2.0, 2.0); 2];
    let proximity = ProximityConfig {
        measure_bounds: bounds.clone(),
        n_neighbours: 3,
        novelty_threshold: 0.2,
        competition: Competition::Local,
        decay: Some(ThresholdDecay { rate: 0.9, n_batches: 2, minimum: 0.05 }),
    };
    let sliding = SlidingBoundariesConfig {
        remap_frequency: 20,
        buffer_capacity: 50,
        ..SlidingBoundariesConfig::new(vec![6, 6], bounds.clone())
    };
    let density = DensityConfig { measure_bounds: bounds.clone(), buffer_size: 40, bandwidth: 0.3, seed: 1 };
    let discount = DiscountConfig { n_empty: 20, ..DiscountConfig::new(bounds.clone()) };
    let kinds = [
        ArchiveKind::Cells(CellsConfig::Categorical(CategoricalConfig { categories: vec![names.clone(), names] })),
        ArchiveKind::Cells(CellsConfig::SlidingBoundaries(sliding)),
        ArchiveKind::Proximity(proximity),
        ArchiveKind::Dns(DnsConfig { measure_bounds: bounds, capacity: 30, n_neighbours: 3 }),
        ArchiveKind::Density(density),
        ArchiveKind::Discount { discount, perceptron: PerceptronConfig::default() },
    ];
    kinds.into_iter().map(scenario).collect()
}

fn scenario(kind: ArchiveKind) -> Scenario {
    let bowl = Bowl { solution_dim: 4, measure_dim: 2 };
    let needs_result = matches!(kind, ArchiveKind::Density(_) | ArchiveKind::Discount { .. });
    let is_categorical = matches!(kind, ArchiveKind::Cells(CellsConfig::Categorical(_)));
    let problem: Box<dyn DifferentiableProblem> =
        if is_categorical { Box::new(Categories(bowl)) } else { Box::new(bowl) };
    let kinds = emitters(4, &StrategyConfig::default(), None).into_iter().map(|(_, emitter)| emitter).collect();
    let mut config = config(problem.as_ref(), kinds);
    config.result = needs_result.then(|| ArchiveConfig::grid(4, vec![12; 2], vec![(-2.0, 2.0); 2]));
    let name = format!("archive {}", kind.name());
    config.archive = ArchiveConfig::new(4, kind);
    Scenario { name, config, problem }
}

/// A bowl whose measures are one of three categories each.
struct Categories(Bowl);

fn category(measure: f64) -> f64 {
    (measure + 1.5).floor().clamp(0.0, 2.0)
}

impl Problem for Categories {
    fn spec(&self) -> ProblemSpec {
        self.0.spec()
    }

    fn evaluate(&self, solution: &[f64], measures: &mut [f64]) -> f64 {
        let objective = self.0.evaluate(solution, measures);
        measures.iter_mut().for_each(|measure| *measure = category(*measure));
        objective
    }

    fn differentiable(&self) -> Option<&dyn DifferentiableProblem> {
        Some(self)
    }
}

impl DifferentiableProblem for Categories {
    /// With the gradients of the measures before they became categories.
    fn evaluate_with_jacobian(&self, solution: &[f64], measures: &mut [f64], jacobian: &mut [f64]) -> f64 {
        let objective = self.0.evaluate_with_jacobian(solution, measures, jacobian);
        measures.iter_mut().for_each(|measure| *measure = category(*measure));
        objective
    }
}
