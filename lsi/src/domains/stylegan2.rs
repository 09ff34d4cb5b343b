//! LSI (StyleGAN2): a standardised w for each layer, angles to prompts averaged over cutouts, pairs of prompts as measures.
//!
//! Paper, appendix "On Improving the Quality of Latent Space Illumination", "Improving Quality of Generated Images".

use std::sync::Arc;

use burn_tensor::Tensor;
use luminary_math::WideRng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::networks::clip::Clip;
use crate::networks::{Generator, Noise, Resample};
use crate::place::{Place, to_vec};
use crate::tape::Var;

use super::draw::solution_seed;
use super::spherical::angles;
use super::stages::{self, Stages};
use super::{Cutouts, Draw, Image, LatentStatistics, LsiError, NoiseChoice};

/// Everything about the domain that is not a network. The default is the paper's experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LsiStyleGan2Config {
    /// What images should show.
    pub objective: String,
    /// What each measure compares images with.
    pub measures: Vec<PromptPair>,
    /// Bounds of each measure.
    pub measure_bounds: Vec<(f64, f64)>,
    /// The objective of a loss of zero.
    pub objective_offset: f64,
    /// What the objective loses for each unit of loss.
    pub objective_scale: f64,
    /// Weight of the penalty on latents that are far from the mean.
    pub penalty: f64,
    /// Where the penalty begins: this share of the mean distance over samples.
    pub penalty_from: f64,
    /// How images are cut.
    pub cutouts: Cutouts,
    /// How often cutouts are drawn.
    pub cutouts_drawn: Draw,
    /// The generator's noise.
    pub noise: NoiseChoice,
    /// Samples of w from which its mean and deviation are computed.
    pub n_samples: usize,
    /// Samples of which the best is the start.
    pub n_starts: usize,
    /// How far from the mean the samples for the start are: 1 is as far as they are, 0 is the mean.
    pub truncation: f64,
    /// Solutions that go through the generator together: more is faster on a GPU and takes more memory. One if cutouts are
    /// drawn for each solution.
    pub batch_size: usize,
    /// Seed of what is drawn.
    pub seed: u64,
}

/// A measure between two prompts: the angle to the first minus the angle to the second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptPair {
    /// Low values are near it.
    pub first: String,
    /// High values are near it.
    pub second: String,
}

impl PromptPair {
    /// A pair.
    pub fn new(first: impl Into<String>, second: impl Into<String>) -> Self {
        Self { first: first.into(), second: second.into() }
    }
}

impl Default for LsiStyleGan2Config {
    fn default() -> Self {
        let person = |what: &str| format!("A photo of Tom Cruise {what}.");
        Self {
            objective: "A photo of the face of Tom Cruise.".into(),
            measures: vec![
                PromptPair::new(person("as a small child"), person("as an elderly person")),
                PromptPair::new(person("with short hair"), person("with long hair")),
            ],
            measure_bounds: vec![(-0.3, 0.3); 2],
            objective_offset: 100.0,
            objective_scale: 50.0,
            penalty: 0.1,
            penalty_from: 0.15,
            cutouts: Cutouts::default(),
            cutouts_drawn: Draw::Once,
            noise: NoiseChoice::default(),
            n_samples: 10_000,
            n_starts: 512,
            truncation: 0.7,
            batch_size: 1,
            seed: 0,
        }
    }
}

impl LsiStyleGan2Config {
    fn check(&self, resolution: usize, clip_size: usize) -> Result<(), LsiError> {
        LsiError::check_bounds(self.measures.len(), &self.measure_bounds)?;
        LsiError::check_count("batch size", 1, self.batch_size)?;
        LsiError::check_count("starts", 1, self.n_starts)?;
        LsiError::check_finite("objective offset", self.objective_offset)?;
        LsiError::check_finite("objective scale", self.objective_scale)?;
        LsiError::check_finite("penalty", self.penalty)?;
        LsiError::check_finite("penalty from", self.penalty_from)?;
        LsiError::check_finite("truncation", self.truncation)?;
        self.cutouts.check(resolution, clip_size)
    }
}

/// The domain: a solution is a standardised w for each layer.
pub struct LsiStyleGan2 {
    config: LsiStyleGan2Config,
    generator: Arc<dyn Generator>,
    clip: Arc<Clip>,
    statistics: LatentStatistics,
    /// The vectors of the objective's prompt and of the measures' pairs.
    targets: Tensor<2>,
    /// From the angles to the prompts of all pairs to measures.
    differences: Tensor<2>,
    /// The cutouts of all solutions, if they are the same.
    cutouts: Arc<Vec<Resample>>,
}

impl LsiStyleGan2 {
    /// Encodes the prompts, maps samples for the statistics of w and draws cutouts.
    ///
    /// # Errors
    ///
    /// Prompts that the model cannot encode, and settings that make no sense.
    pub fn new(generator: Arc<dyn Generator>, clip: Arc<Clip>, config: LsiStyleGan2Config) -> Result<Self, LsiError> {
        config.check(generator.resolution(), clip.image_size())?;
        let pairs = config.measures.iter().flat_map(|pair| [&pair.first, &pair.second]);
        let prompts = [&config.objective].into_iter().chain(pairs);
        let targets = Tensor::stack(prompts.map(|text| clip.embed_text(text)).collect::<Result<_, _>>()?, 0);
        let statistics = LatentStatistics::sample(&*generator, config.n_samples, config.seed)?;

        let n_measures = config.measures.len();
        let mut differences = vec![0.0; n_measures * 2 * n_measures];
        for (measure, row) in differences.chunks_exact_mut(2 * n_measures.max(1)).enumerate() {
            row[2 * measure] = 1.0;
            row[2 * measure + 1] = -1.0;
        }
        let differences = clip.place().tensor(differences, [n_measures, 2 * n_measures]);
        let mut domain =
            Self { config, generator, clip, statistics, targets, differences, cutouts: Arc::new(Vec::new()) };
        domain.cutouts = Arc::new(domain.draw_cutouts(domain.config.seed));
        Ok(domain)
    }

    /// The best of the configured number of samples, truncated towards the mean: where the paper's searches start.
    ///
    /// The best has the lowest loss to the objective's prompt without the penalty, which would prefer whatever is nearest to
    /// the mean.
    pub fn find_start(&self) -> Vec<f64> {
        let mut rng = WideRng::from_path(self.config.seed, "start");
        let dim = self.generator.latent_dim();
        let LsiStyleGan2Config { n_starts, truncation, .. } = self.config;
        let samples = self.statistics.standardised_samples(&*self.generator, n_starts, truncation, &mut rng);
        let solution = |q: &[f64]| q.repeat(self.generator.n_layers());
        let losses: Vec<f64> = samples.par_chunks(dim).map(|q| self.prompt_loss(&solution(q))).collect();
        let best = (0..losses.len()).min_by(|&a, &b| losses[a].total_cmp(&losses[b])).expect("there is a sample");
        solution(&samples[best * dim..(best + 1) * dim])
    }

    /// The images of solutions, which are stored row by row.
    pub fn render(&self, solutions: &[f64]) -> Vec<Image> {
        stages::render(self, solutions)
    }

    /// How w is distributed.
    pub fn statistics(&self) -> &LatentStatistics {
        &self.statistics
    }

    /// The loss to the objective's prompt, without the penalty.
    fn prompt_loss(&self, solution: &[f64]) -> f64 {
        let drawn = self.draw(&[solution]);
        let input = Var::constant(self.place().tensor(solution.to_vec(), [1, solution.len()]));
        let images = self.images(input, &drawn);
        let scores = (0..self.n_passes()).map(|pass| to_vec(self.score(images.clone(), pass, &drawn).into_value())[0]);
        -scores.sum::<f64>() / self.config.objective_scale
    }

    /// The length of a solution from which on it is penalised. Samples have the same w in all layers.
    fn free_norm(&self) -> f64 {
        self.config.penalty_from * self.statistics.typical_norm * (self.generator.n_layers() as f64).sqrt()
    }

    fn draw_cutouts(&self, seed: u64) -> Vec<Resample> {
        let (resolution, clip_size) = (self.generator.resolution(), self.clip.image_size());
        let windows = self.config.cutouts.windows(seed, resolution, clip_size);
        Cutouts::resamplers(&windows, resolution, clip_size, self.clip.place())
    }
}

/// What is drawn for the solutions of a call.
pub(super) struct Drawn {
    noise: Noise,
    cutouts: Arc<Vec<Resample>>,
}

impl Stages for LsiStyleGan2 {
    type Drawn = Drawn;

    fn draw(&self, solutions: &[&[f64]]) -> Drawn {
        let noise = self.config.noise.draw(&*self.generator, self.config.seed, solutions);
        let cutouts = match self.config.cutouts_drawn {
            Draw::Once => Arc::clone(&self.cutouts),
            Draw::EachSolution => Arc::new(self.draw_cutouts(solution_seed(self.config.seed, solutions[0]))),
        };
        Drawn { noise, cutouts }
    }

    fn images(&self, solutions: Var<2>, drawn: &Drawn) -> Var<4> {
        let (n_layers, dim) = (self.generator.n_layers(), self.generator.latent_dim());
        let q = solutions.clone().reshape([solutions.dims()[0], n_layers, dim]);
        let fit = |values: &Tensor<1>| values.clone().reshape([1, 1, dim]);
        let latents = q * &fit(&self.statistics.deviation) + &fit(&self.statistics.mean);
        self.generator.synthesise(latents, &drawn.noise)
    }

    fn n_passes(&self) -> usize {
        self.config.cutouts.count.div_ceil(self.config.cutouts.per_pass)
    }

    fn score(&self, images: Var<4>, pass: usize, drawn: &Drawn) -> Var<2> {
        let Cutouts { count, per_pass, .. } = self.config.cutouts;
        let images = images.add_scalar(1.0).mul_scalar(0.5);
        let n_images = images.dims()[0];
        let cutouts = drawn.cutouts.iter().skip(pass * per_pass).take(per_pass);
        let cut = cutouts.map(|cutout| cutout.forward(images.clone())).reduce(|all, next| all.cat(next, 0));
        let cut = cut.expect("a pass has at least one cutout");
        let n_cutouts = cut.dims()[0] / n_images;
        let angles = angles(self.clip.embed_images(self.clip.normalise(cut)), &self.targets);

        let n_targets = self.targets.dims()[0];
        let share = 1.0 / count as f64;
        let mean = |x: Var<2>| {
            let columns = x.dims()[1];
            let sums = x.reshape([n_cutouts, n_images, columns]).sum_dims(&[0]);
            sums.reshape([n_images, columns]).mul_scalar(share)
        };
        // The spherical loss 2 asin(|a - b| / 2)^2 is half the squared angle.
        let objective = mean(angles.clone().narrow(1, 0..1).square()).mul_scalar(-0.5 * self.config.objective_scale);
        if n_targets == 1 {
            return objective;
        }
        let measures = mean(angles.narrow(1, 1..n_targets)).linear(&self.differences, None);
        objective.cat(measures, 1)
    }

    fn direct(&self, solutions: Var<2>) -> Option<Var<2>> {
        let n = solutions.dims()[0];
        let excess = stages::excess_norm(solutions, self.free_norm());
        let penalty = excess.square().mul_scalar(-self.config.penalty * self.config.objective_scale);
        let objective = penalty.add_scalar(self.config.objective_offset);
        let n_measures = self.config.measures.len();
        if n_measures == 0 {
            return Some(objective);
        }
        Some(objective.cat(Var::constant(self.place().tensor(vec![0.0; n * n_measures], [n, n_measures])), 1))
    }

    fn n_outputs(&self) -> usize {
        1 + self.config.measures.len()
    }

    fn solution_dim(&self) -> usize {
        self.generator.n_layers() * self.generator.latent_dim()
    }

    fn batch_size(&self) -> usize {
        match self.config.cutouts_drawn {
            Draw::Once => self.config.batch_size,
            Draw::EachSolution => 1,
        }
    }

    fn measure_bounds(&self) -> Vec<(f64, f64)> {
        self.config.measure_bounds.clone()
    }

    fn place(&self) -> &Place {
        self.generator.place()
    }
}

stages::impl_problem!(LsiStyleGan2);
