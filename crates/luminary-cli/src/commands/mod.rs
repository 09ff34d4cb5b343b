//! One function for each command.

mod look;
mod run;
mod write;

pub(crate) use look::{check, list, show};
pub(crate) use run::{demo, resume, run};
pub(crate) use write::{completions, export, init};

use std::path::Path;
use std::process::ExitCode;

use luminary_run::config::{Override, RunConfig, Source};

use crate::args::ConfigArgs;
use crate::failure::Failure;

/// How a command ends.
pub(crate) type Outcome = Result<ExitCode, Failure>;

/// What a configuration file and flags come to.
pub(crate) struct Settings {
    pub(crate) config: RunConfig,
    /// The run folder that the file names.
    pub(crate) out: Option<String>,
}

/// Reads the file, if one is named, and the flags.
pub(crate) fn read_settings(args: &ConfigArgs) -> Result<Settings, Failure> {
    let overrides = args.overrides().map_err(Failure::input)?;
    match &args.config {
        None => read_source(None, &overrides),
        Some(path) => {
            let text = read_text(path)?;
            read_source(Some(Source::new(&path.display().to_string(), &text)), &overrides)
        }
    }
}

fn read_source(source: Option<Source<'_>>, overrides: &[Override]) -> Result<Settings, Failure> {
    let config = RunConfig::read(source, overrides)?;
    Ok(Settings { config, out: RunConfig::read_out(source, overrides)? })
}

/// Reads a configuration file; its bytes may be anything.
pub(crate) fn read_text(path: &Path) -> Result<String, Failure> {
    let bytes =
        std::fs::read(path).map_err(|error| Failure::input(format!("cannot read {}: {error}", path.display())))?;
    String::from_utf8(bytes).map_err(|error| {
        let line =
            error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|&&byte| byte == b'\n').count() + 1;
        Failure::input(format!("{}:{line}: expected UTF-8 text, found other bytes", path.display()))
    })
}
