//! One function for each command.

mod by_hand;
mod check;
mod elite;
mod look;
mod lsi;
mod merge;
mod plot;
mod reproduce;
mod run;
mod scaffold;
mod serve;
mod sweep;
mod write;

pub(crate) use by_hand::{ask, create, tell};
pub(crate) use check::check;
pub(crate) use elite::{elite, replay};
pub(crate) use look::{list, show};
pub(crate) use lsi::lsi;
pub(crate) use merge::merge;
pub use plot::draw_at_end;
pub(crate) use plot::{plot, read_range, read_size, report};
pub(crate) use reproduce::reproduce;
pub(crate) use run::{causes, demo, resume, run};
pub use run::{one_line, unused_folder};
pub(crate) use serve::serve;
pub(crate) use sweep::{sweep, trial};
pub(crate) use write::{completions, export, init};

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use luminary_domains::Domain;
use luminary_run::config::{ChosenOverIssue, Idle, Override, RunConfig, Source};
use luminary_run::folder::MANIFEST;

use crate::args::ConfigArgs;
use crate::display::Speech;
use crate::failure::{Failure, quoted};

/// How a command ends.
pub type Outcome = Result<ExitCode, Failure>;

/// What a configuration file and flags come to.
pub(crate) struct Settings {
    pub(crate) config: RunConfig,
    /// The run folder that the file names.
    pub(crate) out: Option<String>,
    /// What was given and changes nothing.
    pub(crate) notes: Vec<Idle>,
    /// What suits the workers of its program, if nobody says what it is to be.
    pub(crate) over_issue: Option<ChosenOverIssue>,
}

impl Settings {
    /// Tells of settings that change nothing.
    pub(crate) fn tell(&self, speech: Speech) {
        if !speech.is_quiet() {
            self.notes.iter().for_each(|note| eprintln!("note: {note}"));
        }
    }
}

/// The configuration that is read if none is named and no flag says what is evaluated.
const DEFAULT_CONFIG: &str = "luminary.toml";

/// Reads the file, if one is named or found here, and the flags.
pub(crate) fn read_settings(args: &ConfigArgs) -> Result<Settings, Failure> {
    let found = || (!args.name_a_problem()).then(|| PathBuf::from(DEFAULT_CONFIG)).filter(|path| path.exists());
    let path = args.config.clone().or_else(found);
    read_source(path.as_deref(), args, |source, overrides| {
        let config = RunConfig::read(source, overrides)?;
        let notes = config.without_effect(source, overrides)?;
        let over_issue = config.choose_over_issue(source, overrides)?;
        Ok(Settings { config, out: RunConfig::read_out(source, overrides)?, notes, over_issue })
    })
}

/// Calls `read` with the text of the file, if one is named, and the flags.
pub(crate) fn with_source<T>(
    args: &ConfigArgs,
    read: impl FnOnce(Option<Source<'_>>, &[Override]) -> Result<T, Failure>,
) -> Result<T, Failure> {
    read_source(args.config.as_deref(), args, read)
}

fn read_source<T>(
    path: Option<&Path>,
    args: &ConfigArgs,
    read: impl FnOnce(Option<Source<'_>>, &[Override]) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let overrides = args.overrides().map_err(Failure::input)?;
    match path {
        None => read(None, &overrides),
        Some(path) => {
            let text = read_text(path)?;
            read(Some(Source::new(&path.display().to_string(), &text)), &overrides)
        }
    }
}

/// What may have been meant by a configuration that does not read.
fn instead_of(path: &Path) -> String {
    let name = path.display();
    if path.join(MANIFEST).exists() {
        return format!("\n  help: it is the folder of a run, which goes on with: luminary resume {}", quoted(path));
    }
    match Domain::ALL.iter().any(|domain| path == Path::new(domain.name())) {
        true => format!("\n  help: {name} is a domain: --domain {name}"),
        false => String::new(),
    }
}

/// Reads a configuration file; its bytes may be anything.
fn read_text(path: &Path) -> Result<String, Failure> {
    let fail = |error| Failure::input(format!("cannot read {}: {error}{}", path.display(), instead_of(path)));
    let bytes = std::fs::read(path).map_err(fail)?;
    String::from_utf8(bytes).map_err(|error| {
        let line =
            error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|&&byte| byte == b'\n').count() + 1;
        Failure::input(format!("{}:{line}: expected UTF-8 text, found other bytes", path.display()))
    })
}
