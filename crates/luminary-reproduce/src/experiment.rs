//! The paper's experiments as lists of cells: what is run, on what, with which settings.

use std::fmt;

use luminary::archive::{LearningRate, convert_learning_rate};
use luminary::emitter::EmitterConfig;
use luminary::preset::Preset;
use luminary::scheduler::SchedulerConfig;
use luminary::strategy::{StrategyConfig, Variant};
use luminary_domains::{Domain, DomainError};

use crate::frontier;
use crate::trial::FIRST_SEED;

/// An experiment of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Experiment {
    /// The main tables: 8 algorithms on 4 domains.
    Main,
    /// CMA-MAE with archive learning rates from 0 to 1.
    Alpha,
    /// CMA-MAE with initial thresholds from -80 to 80.
    MinF,
    /// The derivative-free algorithms at 25 resolutions from 50x50 to 500x500.
    Resolution,
    /// The derivative-free algorithms with 1000 components at 300x300.
    N1000,
    /// The derivative-free algorithms with 1000 components at 10 resolutions from 50x50 to 500x500.
    N1000Resolution,
    /// Our algorithms beside CMA-MAE with parts of the paper's evaluations.
    Frontier,
    /// The same with 10 components.
    FrontierN10,
    /// The same with 1000 components at 300x300.
    FrontierN1000,
}

/// One setting of an experiment; its trials differ in the seed alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The domain.
    pub domain: Domain,
    /// The algorithm.
    pub algorithm: Preset,
    /// Components of a solution.
    pub n: usize,
    /// Archive cells along each of the two measures.
    pub resolution: usize,
    /// Learning rate of the archive at this resolution; only algorithms with thresholds that anneal read it.
    pub alpha: f64,
    /// Initial threshold of the archive; likewise.
    pub min_f: f64,
    /// Which CMA-ES equations.
    pub variant: Variant,
    /// The strategy of emitters that sample solutions, if it is not the algorithm's usual one.
    pub strategy: Option<StrategyConfig>,
    /// Iterations of a trial.
    pub iterations: u64,
}

/// A cell with a seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The setting.
    pub cell: Cell,
    /// Seed of every random stream; the trials of a cell have 1, 2, 3 and so on.
    pub seed: u64,
}

/// The eight algorithms of the main tables, in their order.
const MAIN_ALGORITHMS: [Preset; 8] = [
    Preset::MapElites,
    Preset::MapElitesLine,
    Preset::CmaMe,
    Preset::CmaMeStar,
    Preset::CmaMeImpOpt,
    Preset::CmaMae,
    Preset::CmaMega,
    Preset::CmaMaega,
];

/// The algorithms of the studies of resolution and dimension.
const DERIVATIVE_FREE: [Preset; 4] = [Preset::MapElites, Preset::MapElitesLine, Preset::CmaMe, Preset::CmaMae];

const ALPHAS: [f64; 5] = [0.0, 0.001, 0.01, 0.1, 1.0];
const MIN_FS: [f64; 5] = [-80.0, -40.0, 0.0, 40.0, 80.0];

/// Alpha is stated for this resolution and converted to others (paper, section "Robustness").
const ALPHA_RESOLUTION: usize = 100;

impl Experiment {
    /// All experiments, in the order in which they are worth running.
    pub const ALL: [Self; 6] =
        [Self::Main, Self::Alpha, Self::MinF, Self::Resolution, Self::N1000, Self::N1000Resolution];

    /// The experiments beyond the paper.
    pub const FRONTIER: [Self; 3] = [Self::Frontier, Self::FrontierN10, Self::FrontierN1000];

    /// Whether it is one beyond the paper. They are run with the standard equations.
    pub fn is_frontier(self) -> bool {
        Self::FRONTIER.contains(&self)
    }

    /// The name on the command line and in file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Alpha => "alpha",
            Self::MinF => "min-f",
            Self::Resolution => "resolution",
            Self::N1000 => "n1000",
            Self::N1000Resolution => "n1000-resolution",
            Self::Frontier => "frontier",
            Self::FrontierN10 => "frontier-n10",
            Self::FrontierN1000 => "frontier-n1000",
        }
    }

    /// Trials of each cell if nobody says otherwise: the paper's 20 for its tables, one for each point of a resolution
    /// curve, and two with 1000 components, where a trial of CMA-MAE takes minutes instead of seconds.
    pub fn default_trials(self) -> u64 {
        match self {
            Self::Main | Self::Alpha | Self::MinF => 20,
            Self::Resolution | Self::N1000Resolution => 1,
            Self::N1000 => 2,
            Self::Frontier | Self::FrontierN10 => 10,
            Self::FrontierN1000 => 3,
        }
    }

    /// The seed of a cell's first trial. Algorithms of our own were made with small seeds and are judged by others.
    pub fn first_seed(self) -> u64 {
        if self.is_frontier() { 101 } else { FIRST_SEED }
    }

    /// The cells in the order of the paper's tables: algorithm or setting first, then domain. Without a number of
    /// iterations, the paper's.
    pub fn cells(self, variant: Variant, iterations: Option<u64>) -> Vec<Cell> {
        let base = |algorithm, domain| Cell::of_paper(algorithm, domain, variant, iterations);
        match self {
            Self::Main => each(MAIN_ALGORITHMS, base),
            Self::Alpha => each(ALPHAS, |alpha, domain| Cell { alpha, ..base(Preset::CmaMae, domain) }),
            Self::MinF => each(MIN_FS, |min_f, domain| Cell { min_f, ..base(Preset::CmaMae, domain) }),
            Self::N1000 => each(DERIVATIVE_FREE, |algorithm, domain| base(algorithm, domain).sized(1000, 300)),
            Self::Resolution => at_resolutions(25, 100, &base),
            Self::N1000Resolution => at_resolutions(10, 1000, &base),
            Self::Frontier => frontier::cells(100, 100, iterations),
            Self::FrontierN10 => frontier::cells(10, 100, iterations),
            Self::FrontierN1000 => frontier::cells(1000, 300, iterations),
        }
    }
}

impl fmt::Display for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A cell for each value and domain.
fn each<T: Copy, const N: usize>(values: [T; N], cell: impl Fn(T, Domain) -> Cell) -> Vec<Cell> {
    values.iter().flat_map(|&value| Domain::ALL.map(|domain| cell(value, domain))).collect()
}

/// Cells at resolutions spread evenly from 50 to 500.
fn at_resolutions(n_resolutions: usize, n: usize, base: &dyn Fn(Preset, Domain) -> Cell) -> Vec<Cell> {
    const ENDS: (f64, f64) = (50.0, 500.0);
    let step = (ENDS.1 - ENDS.0) / (n_resolutions - 1) as f64;
    let resolution = |i: usize| (ENDS.0 + step * i as f64).round() as usize;
    let curve = |cell: Cell| (0..n_resolutions).map(move |i| cell.clone().sized(n, resolution(i)));
    each(DERIVATIVE_FREE, base).into_iter().flat_map(curve).collect()
}

impl Cell {
    /// The paper's main settings.
    pub(crate) fn of_paper(algorithm: Preset, domain: Domain, variant: Variant, iterations: Option<u64>) -> Self {
        let settings = domain.paper_settings();
        Self {
            domain,
            algorithm,
            n: settings.n_components,
            resolution: settings.resolution[0],
            alpha: settings.alpha,
            min_f: settings.min_f,
            variant,
            strategy: None,
            iterations: iterations.unwrap_or(settings.n_iterations as u64),
        }
    }

    /// The cell with another dimension and resolution, alpha converted from 100x100.
    pub(crate) fn sized(mut self, n: usize, resolution: usize) -> Self {
        self.alpha = convert_learning_rate(self.alpha, ALPHA_RESOLUTION * ALPHA_RESOLUTION, resolution * resolution);
        (self.n, self.resolution) = (n, resolution);
        self
    }

    /// Whether the algorithm has thresholds that anneal, so that alpha and min_f matter.
    pub fn has_soft_archive(&self) -> bool {
        self.algorithm.has_thresholds()
    }

    /// Evaluations of a trial. Where gradients are estimated it ends with the iteration in which the last of them is made.
    pub fn evaluations(&self) -> u64 {
        let settings = self.domain.paper_settings();
        self.iterations * (settings.n_emitters * settings.batch_size) as u64
    }

    /// The engine's configuration.
    ///
    /// # Errors
    /// Too few components for the domain.
    pub fn scheduler(&self, seed: u64) -> Result<SchedulerConfig, DomainError> {
        let settings = self.domain.paper_settings();
        let mut preset = self.algorithm.for_problem(&self.domain.build(self.n)?.spec());
        preset.resolution = vec![self.resolution; 2];
        preset.variant = self.variant;
        preset.seed = seed;
        preset.n_emitters = settings.n_emitters;
        preset.batch_size = settings.batch_size;
        preset.learning_rate = LearningRate::Fixed(self.alpha);
        preset.budget = Some(self.evaluations());
        preset.min_f = self.min_f;
        preset.line_sigma = settings.line_sigma_2;
        preset.sigma = match self.algorithm {
            Preset::MapElites => settings.map_elites_sigma,
            Preset::MapElitesLine => settings.line_sigma_1,
            Preset::CmaMega | Preset::CmaMaega => settings.sigma_g,
            // Nothing is tuned to a domain.
            Preset::CmaMaegaDf | Preset::Auto => preset.sigma,
            // The published numbers rest on the experiments' step size; with the textbook equations we follow the paper.
            _ if self.variant == Variant::Published => settings.cma_sigma0_in_experiments,
            _ => settings.cma_sigma0,
        };
        let mut config = preset.config();
        for group in &mut config.emitters {
            if let (EmitterConfig::Evolution(emitter), Some(strategy)) = (&mut group.emitter, &self.strategy) {
                emitter.strategy = strategy.clone();
            }
        }
        Ok(config)
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {} (n = {}, {r}x{r}", self.algorithm, self.domain, self.n, r = self.resolution)?;
        if self.has_soft_archive() {
            write!(f, ", alpha {}, min_f {}", rounded(self.alpha), self.min_f)?;
        }
        f.write_str(")")
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, trial {}", self.cell, self.seed)
    }
}

/// Converted learning rates have many digits.
fn rounded(alpha: f64) -> f64 {
    (alpha * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn experiments_have_the_papers_cells() {
        let n_cells = Experiment::ALL.map(|experiment| experiment.cells(Variant::Published, None).len());
        assert_eq!(n_cells, [8 * 4, 5 * 4, 5 * 4, 25 * 4 * 4, 4 * 4, 10 * 4 * 4]);
        for experiment in Experiment::ALL {
            let cells = experiment.cells(Variant::Published, None);
            assert!(cells.iter().all(|cell| cell.iterations == 10_000), "{experiment}");
            let is_new = |i: usize| !cells[..i].contains(&cells[i]);
            assert!((0..cells.len()).all(is_new), "{experiment} has a cell twice");
        }
    }

    #[test]
    fn resolutions_are_spread_evenly_and_alpha_is_converted() {
        let cells = Experiment::Resolution.cells(Variant::Published, None);
        let resolutions: Vec<_> = cells[..25].iter().map(|cell| cell.resolution).collect();
        assert_eq!(resolutions[..4], [50, 69, 88, 106]);
        assert_eq!(resolutions[24], 500);
        let cells = Experiment::N1000Resolution.cells(Variant::Published, None);
        let resolutions: Vec<_> = cells[..10].iter().map(|cell| cell.resolution).collect();
        assert_eq!(resolutions, [50, 100, 150, 200, 250, 300, 350, 400, 450, 500]);
        // The paper's example, section "Robustness": 0.01 at 100x100 is 0.0394 at 200x200.
        assert!((cells[3].alpha - 0.0394).abs() < 1e-4);
        assert!((cells[1].alpha - 0.01).abs() < 1e-15);
    }

    #[test]
    fn the_arm_has_the_step_size_of_the_experiments_or_of_the_paper() {
        let sigma0 = |variant, domain| {
            let cells = Experiment::Main.cells(variant, None);
            let of = |cell: &&Cell| cell.domain == domain && cell.algorithm == Preset::CmaMae;
            let config = cells.iter().find(of).unwrap().scheduler(1).unwrap();
            serde_json::to_value(config).unwrap()["emitters"][0]["emitter"]["evolution"]["sigma0"].as_f64().unwrap()
        };
        assert_eq!(sigma0(Variant::Published, Domain::LpSphere), 0.5);
        assert_eq!(sigma0(Variant::Published, Domain::Arm), 0.1);
        assert_eq!(sigma0(Variant::Standard, Domain::Arm), 0.2);
    }
}
