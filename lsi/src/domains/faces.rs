//! Faces: a standardised w for all layers, networks that look at faces as objective and measures.
//!
//! Not of the paper, but in its spirit and without CLIP: faces that smile, or that resemble a given one, over age and
//! gender.

use std::sync::Arc;

use burn_tensor::Tensor;
use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

use crate::networks::faces::{AgeGender, Expression, ExpressionNet, FaceNets, Identity};
use crate::networks::{Generator, Noise, Resample, Window};
use crate::place::{Place, to_vec};
use crate::tape::Var;

use super::stages::{self, Stages};
use super::{Image, LatentStatistics, LsiError, NoiseChoice};

/// Everything about the domain that is not a network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FacesConfig {
    /// What makes a face good.
    pub objective: FaceObjective,
    /// Bounds of the age in years.
    pub age_bounds: (f64, f64),
    /// Bounds of the gender score: the logit of being male minus that of being female.
    pub gender_bounds: (f64, f64),
    /// What the objective loses for each square unit beyond the distance from the mean face that is free.
    pub penalty: f64,
    /// Where the penalty begins: this share of the mean distance over samples. Beyond it faces fall apart.
    pub penalty_from: f64,
    /// The generator's noise.
    pub noise: NoiseChoice,
    /// Samples of w from which its mean and deviation are computed.
    pub n_samples: usize,
    /// Samples of which the best is the start.
    pub n_starts: usize,
    /// How far from the mean the samples for the start are: 1 is as far as they are, 0 is the mean.
    pub truncation: f64,
    /// Solutions that go through the generator together: more is faster on a GPU and takes more memory.
    pub batch_size: usize,
    /// Seed of what is drawn.
    pub seed: u64,
}

/// What makes a face good.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaceObjective {
    /// Smiling: 100 times the probability of a happy expression, of logits divided by 10. (The network is so sure of itself
    /// that without the division nearly every smile would get 100.)
    #[default]
    Smile,
    /// Being the face with this identity vector: 100 times one minus the distance. Faces of one person are above about 40.
    Resemble(Vec<f64>),
}

impl Default for FacesConfig {
    fn default() -> Self {
        Self {
            objective: FaceObjective::Smile,
            age_bounds: (0.0, 80.0),
            gender_bounds: (-8.0, 8.0),
            penalty: 1.0,
            penalty_from: 0.7,
            noise: NoiseChoice::default(),
            n_samples: 10_000,
            n_starts: 16,
            truncation: 0.7,
            batch_size: 1,
            seed: 0,
        }
    }
}

impl FacesConfig {
    fn check(&self, resolution: usize) -> Result<(), LsiError> {
        LsiError::check_bounds(2, &self.measure_bounds())?;
        LsiError::check_count("batch size", 1, self.batch_size)?;
        LsiError::check_count("starts", 1, self.n_starts)?;
        LsiError::check_count("pixels", 2, resolution)?;
        LsiError::check_finite("penalty", self.penalty)?;
        LsiError::check_finite("penalty from", self.penalty_from)?;
        LsiError::check_finite("truncation", self.truncation)
    }

    fn measure_bounds(&self) -> Vec<(f64, f64)> {
        vec![self.age_bounds, self.gender_bounds]
    }
}

/// The domain: a solution is a standardised w that all layers share.
pub struct Faces {
    config: FacesConfig,
    generator: Arc<dyn Generator>,
    nets: Arc<FaceNets>,
    statistics: LatentStatistics,
    /// From images to faces of the sizes that the networks were trained on.
    for_age_gender: Resample,
    for_expression: Resample,
    for_identity: Resample,
    /// The identity to resemble.
    target: Option<Tensor<2>>,
    /// From the logits of both genders to one score.
    gender: Tensor<2>,
}

impl Faces {
    /// Maps samples for the statistics of w.
    ///
    /// # Errors
    ///
    /// Settings that make no sense.
    pub fn new(generator: Arc<dyn Generator>, nets: Arc<FaceNets>, config: FacesConfig) -> Result<Self, LsiError> {
        let (resolution, place) = (generator.resolution(), nets.place().clone());
        config.check(resolution)?;
        let statistics = LatentStatistics::sample(&*generator, config.n_samples, config.seed)?;
        let target = match &config.objective {
            FaceObjective::Smile => None,
            FaceObjective::Resemble(vector) => {
                let expected = nets.identity.n_outputs();
                if vector.len() != expected {
                    return Err(LsiError::Identity { expected, found: vector.len() });
                }
                Some(place.tensor(vector.clone(), [1, vector.len()]).neg())
            }
        };
        let resample = |size| face_of(resolution, size, &place);
        Ok(Self {
            statistics,
            for_age_gender: resample(AgeGender::IMAGE_SIZE),
            for_expression: resample(ExpressionNet::IMAGE_SIZE),
            for_identity: resample(Identity::IMAGE_SIZE),
            target,
            gender: place.tensor(vec![0.0, 1.0, -1.0], [1, 3]),
            config,
            generator,
            nets,
        })
    }

    /// The best of the configured number of samples, truncated towards the mean.
    pub fn find_start(&self) -> Vec<f64> {
        let mut rng = WideRng::from_path(self.config.seed, "start");
        let (dim, n_starts) = (self.generator.latent_dim(), self.config.n_starts);
        let truncation = self.config.truncation;
        let solutions = self.statistics.standardised_samples(&*self.generator, n_starts, truncation, &mut rng);
        let (mut objectives, mut measures) = (vec![0.0; n_starts], vec![0.0; 2 * n_starts]);
        stages::evaluate(self, &solutions, &mut objectives, &mut measures);
        let best = (0..n_starts).max_by(|&a, &b| objectives[a].total_cmp(&objectives[b])).expect("there is a sample");
        solutions[best * dim..(best + 1) * dim].to_vec()
    }

    /// The images of solutions, which are stored row by row.
    pub fn render(&self, solutions: &[f64]) -> Vec<Image> {
        stages::render(self, solutions)
    }

    /// How w is distributed.
    pub fn statistics(&self) -> &LatentStatistics {
        &self.statistics
    }
}

/// The identity vector of the face on an image that shows it as the generators do.
pub fn identity_of(image: &Image, nets: &FaceNets) -> Vec<f64> {
    let place = nets.place();
    let faces = face_of(image.size, Identity::IMAGE_SIZE, place).forward(Var::constant(image.to_generator(place)));
    to_vec(nets.identity.forward(faces).into_value())
}

/// The part of an image that a face fills when eyes and mouth are where generators of faces put them, in another size.
fn face_of(resolution: usize, size: usize, place: &Place) -> Resample {
    let part = |share: f64| (share * resolution as f64).round() as usize;
    Resample::average(Window { top: part(0.24), left: part(0.17), size: part(0.66) }, resolution, size, place)
}

/// What the logits of expressions are divided by.
const TEMPERATURE: f64 = 10.0;

impl Stages for Faces {
    type Drawn = Noise;

    fn draw(&self, solutions: &[&[f64]]) -> Noise {
        self.config.noise.draw(&*self.generator, self.config.seed, solutions)
    }

    fn images(&self, solutions: Var<2>, noise: &Noise) -> Var<4> {
        let [n, dim] = solutions.dims();
        let fit = |values: &Tensor<1>| values.clone().reshape([1, dim]);
        let w = solutions * &fit(&self.statistics.deviation) + &fit(&self.statistics.mean);
        self.generator.synthesise(w.reshape([n, 1, dim]).expand([n, self.generator.n_layers(), dim]), noise)
    }

    fn n_passes(&self) -> usize {
        1
    }

    fn score(&self, images: Var<4>, _pass: usize, _noise: &Noise) -> Var<2> {
        let objective = match &self.target {
            None => {
                let happy = Expression::Happy as usize;
                let logits = self.nets.expression.forward(self.for_expression.forward(images.clone()));
                logits.mul_scalar(1.0 / TEMPERATURE).softmax().narrow(1, happy..happy + 1).mul_scalar(100.0)
            }
            Some(target) => {
                let difference = self.nets.identity.forward(self.for_identity.forward(images.clone())) + target;
                // The smallest positive number keeps the root's derivative finite at the face itself.
                let distance = difference.square().sum_dims(&[1]).add_scalar(f64::from(f32::MIN_POSITIVE)).sqrt();
                distance.mul_scalar(-100.0).add_scalar(100.0)
            }
        };
        let age_gender = self.nets.age_gender.forward(self.for_age_gender.forward(images));
        let gender = age_gender.clone().linear(&self.gender, None);
        objective.cat(age_gender.narrow(1, 0..1), 1).cat(gender, 1)
    }

    fn direct(&self, solutions: Var<2>) -> Option<Var<2>> {
        let n = solutions.dims()[0];
        let free = self.config.penalty_from * self.statistics.typical_norm;
        let penalty = stages::excess_norm(solutions, free).square().mul_scalar(-self.config.penalty);
        Some(penalty.cat(Var::constant(self.place().tensor(vec![0.0; n * 2], [n, 2])), 1))
    }

    fn n_outputs(&self) -> usize {
        3
    }

    fn solution_dim(&self) -> usize {
        self.generator.latent_dim()
    }

    fn batch_size(&self) -> usize {
        self.config.batch_size
    }

    fn measure_bounds(&self) -> Vec<(f64, f64)> {
        self.config.measure_bounds()
    }

    fn place(&self) -> &Place {
        self.generator.place()
    }
}

stages::impl_problem!(Faces);
