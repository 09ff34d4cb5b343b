//! LSI (StyleGAN): one w for all layers, similarity to prompts as objective and measures.
//!
//! Paper, appendix "Domain Details", Latent Space Illumination.

use std::sync::Arc;

use burn_tensor::Tensor;
use serde::{Deserialize, Serialize};

use crate::networks::clip::Clip;
use crate::networks::{Generator, Noise, Resample};
use crate::place::Place;
use crate::tape::Var;

use super::stages::{self, Stages};
use super::{Image, LsiError, NoiseChoice};

/// Everything about the domain that is not a network. The default is the paper's main experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LsiStyleGanConfig {
    /// What images should show.
    pub objective: String,
    /// What each measure compares images with.
    pub measures: Vec<String>,
    /// Bounds of each measure.
    pub measure_bounds: Vec<(f64, f64)>,
    /// The loss of an image and a prompt is this divided by CLIP's logit: 100 makes it one over the cosine for models with
    /// the official logit scale.
    pub loss_numerator: f64,
    /// The loss that is worth 100.
    pub best_loss: f64,
    /// The loss that is worth 0.
    pub worst_loss: f64,
    /// The generator's noise.
    pub noise: NoiseChoice,
    /// Solutions that go through the networks together: more is faster on a GPU and takes more memory.
    pub batch_size: usize,
    /// Seed of what is drawn.
    pub seed: u64,
}

impl Default for LsiStyleGanConfig {
    fn default() -> Self {
        Self {
            objective: "A photo of Beyonce.".into(),
            measures: vec!["A woman with long blonde hair.".into(), "A small child.".into()],
            measure_bounds: vec![(0.0, 6.0); 2],
            loss_numerator: 100.0,
            best_loss: 0.0,
            worst_loss: 10.0,
            noise: NoiseChoice::default(),
            batch_size: 1,
            seed: 0,
        }
    }
}

impl LsiStyleGanConfig {
    /// The paper's second run.
    pub fn jennifer_lopez() -> Self {
        Self { objective: "A photo of Jennifer Lopez.".into(), ..Self::default() }
    }

    /// The paper's third run.
    pub fn elon_musk() -> Self {
        Self {
            objective: "A photo of Elon Musk".into(),
            measures: vec!["A man with blue eyes.".into(), "A person with red hair.".into()],
            ..Self::default()
        }
    }
}

/// The domain: a solution is one w, and the image it makes is compared with prompts.
pub struct LsiStyleGan {
    config: LsiStyleGanConfig,
    generator: Arc<dyn Generator>,
    clip: Arc<Clip>,
    resize: Resample,
    /// The vectors of the objective's and the measures' prompts.
    targets: Tensor<2>,
    /// What losses are multiplied by and what is added: the objective's transformation, and nothing for measures.
    scale: Tensor<2>,
    offset: Tensor<2>,
}

impl LsiStyleGan {
    /// Encodes the prompts.
    ///
    /// # Errors
    ///
    /// Prompts that the model cannot encode, and settings that make no sense.
    pub fn new(generator: Arc<dyn Generator>, clip: Arc<Clip>, config: LsiStyleGanConfig) -> Result<Self, LsiError> {
        LsiError::check_bounds(config.measures.len(), &config.measure_bounds)?;
        LsiError::check_count("batch size", 1, config.batch_size)?;
        LsiError::check_finite("loss numerator", config.loss_numerator)?;
        let range = config.best_loss - config.worst_loss;
        if !range.is_finite() || range == 0.0 {
            let expected = "a finite number other than `best loss`";
            return Err(LsiError::Number { what: "worst loss", expected, found: config.worst_loss });
        }
        let prompts = [&config.objective].into_iter().chain(&config.measures);
        let targets = Tensor::stack(prompts.map(|text| clip.embed_text(text)).collect::<Result<_, _>>()?, 0);

        let n_outputs = 1 + config.measures.len();
        let row = |objective: f64, measure: f64| {
            let mut values = vec![measure; n_outputs];
            values[0] = objective;
            clip.place().tensor(values, [1, n_outputs])
        };
        // f' = 100 (f - f_max) / (f_min - f_max) (paper, Appendix B, "Transformations of the Objective Function").
        let (scale, offset) = (row(100.0 / range, 1.0), row(-100.0 * config.worst_loss / range, 0.0));
        let resize = Resample::bilinear(generator.resolution(), clip.image_size(), clip.place());
        Ok(Self { config, generator, clip, resize, targets, scale, offset })
    }

    /// The images of solutions, which are stored row by row.
    pub fn render(&self, solutions: &[f64]) -> Vec<Image> {
        stages::render(self, solutions)
    }
}

impl Stages for LsiStyleGan {
    type Drawn = Noise;

    fn draw(&self, solutions: &[&[f64]]) -> Noise {
        self.config.noise.draw(&*self.generator, self.config.seed, solutions)
    }

    fn images(&self, solutions: Var<2>, noise: &Noise) -> Var<4> {
        let [n, dim] = solutions.dims();
        let latents = solutions.reshape([n, 1, dim]).expand([n, self.generator.n_layers(), dim]);
        self.generator.synthesise(latents, noise)
    }

    fn n_passes(&self) -> usize {
        1
    }

    fn score(&self, images: Var<4>, _pass: usize, _noise: &Noise) -> Var<2> {
        // The image goes to CLIP as it is, with neither its range nor its colours adapted, as in the experiments that the
        // paper compares with.
        let vectors = self.clip.embed_images(self.resize.forward(images));
        let logits = vectors.linear(&self.targets, None).mul_scalar(self.clip.logit_scale());
        logits.recip().mul_scalar(self.config.loss_numerator) * &self.scale + &self.offset
    }

    fn n_outputs(&self) -> usize {
        1 + self.config.measures.len()
    }

    fn solution_dim(&self) -> usize {
        self.generator.latent_dim()
    }

    fn batch_size(&self) -> usize {
        self.config.batch_size
    }

    fn measure_bounds(&self) -> Vec<(f64, f64)> {
        self.config.measure_bounds.clone()
    }

    fn place(&self) -> &Place {
        self.generator.place()
    }
}

stages::impl_problem!(LsiStyleGan);
