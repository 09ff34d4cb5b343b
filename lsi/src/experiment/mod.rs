//! Experiments: networks and a domain, run by the ordinary driver into an ordinary run folder.
//!
//! Beside what every run has, the folder holds `lsi.json` (this module's [`Experiment`], from which the problem is built
//! again when the run is resumed) and at the end `collage.png`.

mod collage;
mod compare;
mod error;
mod fetch;
mod models;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use luminary::preset::Preset;
use luminary::problem::{DifferentiableProblem, Problem, ProblemSpec};
use luminary_run::RunError;
use luminary_run::config::{Labels, Override, ProblemConfig, RunConfig};
use luminary_run::driver::{ResumeOptions, Run, Watch};
use luminary_run::evaluate::Evaluator;
use luminary_run::export;
use luminary_run::folder::write_atomically;
use luminary_run::stop::StopFlag;
use luminary_run::summary::Summary;
use serde::{Deserialize, Serialize};

use crate::domains::{
    Cutouts, FaceObjective, Faces, FacesConfig, Image, ImageProblem, LsiDomain, LsiStyleGan, LsiStyleGan2,
    LsiStyleGan2Config, LsiStyleGanConfig, PromptPair, identity_of,
};
use crate::networks::faces::FaceNets;
use crate::place::{DeviceChoice, Place, Precision};

pub use collage::{Collage, Tile};
pub use compare::{Comparison, Row};
pub use error::ExperimentError;
pub use fetch::fetch_faces;
pub use models::{FACE_GENERATOR, FACE_NETS, Models};

use models::Loaded;

/// Name of the file that describes the experiment of a run folder.
pub const EXPERIMENT: &str = "lsi.json";
/// Name of the picture of images over measure space.
pub const COLLAGE: &str = "collage.png";

/// What is illuminated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Where the networks run.
    #[serde(default)]
    pub device: DeviceChoice,
    /// The networks.
    #[serde(default)]
    pub models: Models,
    /// What is asked of images.
    pub domain: DomainConfig,
}

/// One of the domains with its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DomainConfig {
    /// LSI (StyleGAN).
    #[serde(rename = "stylegan")]
    StyleGan(LsiStyleGanConfig),
    /// LSI (StyleGAN2).
    #[serde(rename = "stylegan2")]
    StyleGan2(LsiStyleGan2Config),
    /// Faces.
    Faces(FacesConfig),
}

impl Experiment {
    /// The small models on LSI (StyleGAN2): eights, from thin to bold and from slanted left to slanted right.
    ///
    /// What differs from the paper follows from the models: the prompts, bounds at two standard deviations of the strokes of
    /// real digits, each of which the small image-text model was taught to count a quarter, 8 cutouts, and a penalty that
    /// begins where the samples that are considered for the start lie.
    pub fn digits() -> Self {
        let config = LsiStyleGan2Config {
            objective: "a photo of an eight".into(),
            measures: vec![
                PromptPair::new("a thin eight", "a bold eight"),
                PromptPair::new("a slanted left eight", "a slanted right eight"),
            ],
            measure_bounds: vec![(-0.5, 0.5); 2],
            penalty_from: 0.7,
            cutouts: Cutouts { count: 8, ..Cutouts::default() },
            ..LsiStyleGan2Config::default()
        };
        Self { device: DeviceChoice::Cpu, models: Models::Digits, domain: DomainConfig::StyleGan2(config) }
    }

    /// The small models on LSI (StyleGAN): one w for all layers, similarities to single prompts.
    pub fn digits_stylegan() -> Self {
        let config = LsiStyleGanConfig {
            objective: "a photo of an eight".into(),
            measures: vec!["a bold eight".into(), "a slanted right eight".into()],
            measure_bounds: vec![(1.0, 4.0); 2],
            // The small model's logit scale, which makes the loss one over the cosine, as the official one's 100 does.
            loss_numerator: 16.557,
            ..LsiStyleGanConfig::default()
        };
        Self { device: DeviceChoice::Cpu, models: Models::Digits, domain: DomainConfig::StyleGan(config) }
    }

    /// Faces that smile, over age and gender, with the networks that [`fetch_faces`] put into `folder`.
    pub fn faces(folder: &Path) -> Self {
        let domain = DomainConfig::Faces(FacesConfig::default());
        Self { device: DeviceChoice::Cpu, models: Models::Faces { folder: folder.into() }, domain }
    }

    /// [`faces`](Self::faces) that resemble the one on an image.
    ///
    /// # Errors
    ///
    /// Networks that cannot be loaded, or an image that cannot be read.
    pub fn faces_like(folder: &Path, image: &Path) -> Result<Self, ExperimentError> {
        let nets = FaceNets::load(&folder.join(FACE_NETS), &Place::cpu(Precision::Single))?;
        let image = Image::read_png(image)
            .map_err(|message| ExperimentError::Unreadable { path: image.into(), message: message.to_string() })?;
        let objective = FaceObjective::Resemble(identity_of(&image, &nets));
        let mut experiment = Self::faces(folder);
        experiment.domain = DomainConfig::Faces(FacesConfig { objective, ..FacesConfig::default() });
        Ok(experiment)
    }

    /// Reads an experiment from a JSON file such as the `lsi.json` of a run folder. What a domain's settings leave out is
    /// the paper's.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or that holds something else.
    pub fn read(path: &Path) -> Result<Self, ExperimentError> {
        let text = std::fs::read_to_string(path).map_err(RunError::io("read", path))?;
        serde_json::from_str(&text)
            .map_err(|error| ExperimentError::Unreadable { path: path.into(), message: error.to_string() })
    }

    /// Loads the networks and builds the problem.
    ///
    /// # Errors
    ///
    /// A device that is not there, or weights or settings that cannot be used.
    pub fn build(&self) -> Result<Study, ExperimentError> {
        let place = Place::new(self.device.find()?, Precision::Single);
        let problem: Arc<dyn ImageProblem> = match (&self.domain, self.models.load(&place)?) {
            (DomainConfig::StyleGan(config), Loaded::Prompts(generator, clip)) => {
                Arc::new(LsiStyleGan::new(generator, clip, config.clone())?)
            }
            (DomainConfig::StyleGan2(config), Loaded::Prompts(generator, clip)) => {
                Arc::new(LsiStyleGan2::new(generator, clip, config.clone())?)
            }
            (DomainConfig::Faces(config), Loaded::Faces(generator, nets)) => {
                Arc::new(Faces::new(generator, nets, config.clone())?)
            }
            (DomainConfig::Faces(_), Loaded::Prompts(..)) => {
                return Err(ExperimentError::OtherModels { domain: "faces", models: self.models.name() });
            }
            (_, Loaded::Faces(..)) => {
                return Err(ExperimentError::OtherModels { domain: "prompts", models: self.models.name() });
            }
        };
        Ok(Study { experiment: self.clone(), problem, start: OnceLock::new() })
    }

    /// Which of the domains it is.
    pub fn domain(&self) -> LsiDomain {
        match self.domain {
            DomainConfig::StyleGan(_) => LsiDomain::StyleGan,
            DomainConfig::StyleGan2(_) => LsiDomain::StyleGan2,
            DomainConfig::Faces(_) => LsiDomain::Faces,
        }
    }

    /// What objective and measures are called in figures.
    fn labels(&self) -> Labels {
        match &self.domain {
            DomainConfig::StyleGan(config) => Labels {
                objective: config.objective.clone(),
                measures: config.measures.clone(),
                components: Vec::new(),
            },
            DomainConfig::StyleGan2(config) => Labels {
                objective: config.objective.clone(),
                measures: config.measures.iter().map(|pair| format!("{} – {}", pair.first, pair.second)).collect(),
                components: Vec::new(),
            },
            DomainConfig::Faces(config) => Labels {
                objective: match config.objective {
                    FaceObjective::Smile => "smile".into(),
                    FaceObjective::Resemble(_) => "resemblance".into(),
                },
                measures: vec!["age".into(), "female – male".into()],
                components: Vec::new(),
            },
        }
    }
}

/// An experiment with its networks loaded.
pub struct Study {
    experiment: Experiment,
    problem: Arc<dyn ImageProblem>,
    /// Found when it is first needed: hundreds of evaluations.
    start: OnceLock<Vec<f64>>,
}

impl Study {
    /// The problem.
    pub fn problem(&self) -> &dyn ImageProblem {
        &*self.problem
    }

    /// The configuration of a run: the paper's settings of the algorithm on the domain (of the automatic preset only where
    /// thresholds start), the problem's start, and settings of the user's on top.
    ///
    /// # Errors
    ///
    /// The first setting that is wrong.
    pub fn config(&self, preset: Preset, overrides: &[Override]) -> Result<RunConfig, ExperimentError> {
        let paper = self.experiment.domain().settings(preset);
        let setting = |key: &str, value: String| Override::new("the paper's settings", key, value);
        let mut all =
            vec![setting("algorithm.preset", preset.name().into()), setting("archive.min_f", paper.min_f.to_string())];
        if preset == Preset::Auto {
            // It is not the paper's and picks the rest by itself.
            all.push(setting("algorithm.jacobians", "given".into()));
        } else {
            all.extend([
                setting("algorithm.emitters", "1".into()),
                setting("algorithm.sigma", paper.sigma.to_string()),
                setting("algorithm.line_sigma", paper.line_sigma.to_string()),
                setting("algorithm.gradient", "adam".into()),
                setting("algorithm.gradient_step", paper.eta.to_string()),
                setting("archive.learning_rate", paper.alpha.to_string()),
            ]);
        }
        all.extend_from_slice(overrides);
        let name = format!("lsi-{}", self.experiment.models.name());
        let mut config = RunConfig::custom(&name, &self.problem.spec(), &all).map_err(RunError::from)?;
        if let ProblemConfig::Custom { labels, .. } = &mut config.problem {
            *labels = self.experiment.labels();
        }
        let is_given = |key: &str| overrides.iter().any(|setting| setting.key == key);
        if !is_given("algorithm.x0") {
            config.algorithm.x0 = self.start.get_or_init(|| self.problem.start()).clone();
        }
        // Rules that configuration files have no words for; the MAP-Elites variants have no use for them.
        let ranks = !matches!(config.algorithm.preset, Preset::MapElites | Preset::MapElitesLine | Preset::Auto);
        if ranks && !is_given("algorithm.restart") {
            config.algorithm.restart = Some(paper.restart);
        }
        if ranks && !is_given("algorithm.selection") {
            config.algorithm.selection = Some(paper.selection);
        }
        Ok(config)
    }

    /// Makes a run folder.
    ///
    /// # Errors
    ///
    /// A configuration that the engine refuses, or a folder that cannot be used.
    pub fn create(&self, folder: &Path, config: RunConfig) -> Result<Run, ExperimentError> {
        let run = Run::create(folder, config)?;
        let path = folder.join(EXPERIMENT);
        let write = |file: &mut dyn std::io::Write| {
            serde_json::to_writer_pretty(&mut *file, &self.experiment)?;
            writeln!(file)
        };
        write_atomically(&path, |file| write(file)).map_err(RunError::io("write", &path))?;
        Ok(run)
    }

    /// Opens a run folder that [`create`](Self::create) has made, with its experiment.
    ///
    /// # Errors
    ///
    /// A folder without such a run or in use, or weights that are no longer there.
    pub fn resume(folder: &Path, options: ResumeOptions) -> Result<(Self, Run), ExperimentError> {
        let study = Experiment::read(&folder.join(EXPERIMENT))?.build()?;
        Ok((study, Run::resume(folder, options)?))
    }

    /// Runs to the end or until asked to stop, and draws the collage of a run that ended.
    ///
    /// # Errors
    ///
    /// When the folder cannot be written.
    pub fn execute(&self, run: Run, stop: &StopFlag, watch: &mut dyn Watch) -> Result<Summary, ExperimentError> {
        let folder = run.path().to_owned();
        let evaluator: Evaluator = Box::new(Box::new(Shared(Arc::clone(&self.problem))));
        let summary = run.execute_with(evaluator, stop, watch)?;
        let collage = self.collage(&folder, Collage::COLUMNS, Collage::ROWS)?;
        collage.write_png(&self.experiment.labels(), &folder.join(COLLAGE))?;
        Ok(summary)
    }

    /// The images of a run's result archive over measure space.
    ///
    /// # Errors
    ///
    /// A folder without a run, or without a valid checkpoint.
    pub fn collage(&self, folder: &Path, columns: usize, rows: usize) -> Result<Collage, ExperimentError> {
        let scheduler = export::load(folder)?;
        Ok(Collage::gather(scheduler.result(), self.problem(), columns, rows))
    }
}

/// Whether a folder holds a run of this module.
pub fn is_experiment(folder: &Path) -> bool {
    folder.join(EXPERIMENT).exists()
}

/// A problem that the driver and whoever draws images have in common.
struct Shared(Arc<dyn ImageProblem>);

impl Problem for Shared {
    fn spec(&self) -> ProblemSpec {
        self.0.spec()
    }

    fn evaluate(&self, solution: &[f64], measures: &mut [f64]) -> f64 {
        self.0.evaluate(solution, measures)
    }

    fn evaluate_batch(&self, solutions: &[f64], objectives: &mut [f64], measures: &mut [f64]) {
        self.0.evaluate_batch(solutions, objectives, measures);
    }

    fn differentiable(&self) -> Option<&dyn DifferentiableProblem> {
        Some(self)
    }
}

impl DifferentiableProblem for Shared {
    fn evaluate_with_jacobian(&self, solution: &[f64], measures: &mut [f64], jacobian: &mut [f64]) -> f64 {
        self.0.evaluate_with_jacobian(solution, measures, jacobian)
    }
}
