//! What whoever looks may also do, if it is allowed: stop a run, resume it, have an elite drawn.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use luminary_run::config::ProblemConfig;
use luminary_run::disk::open_unlinked;
use luminary_run::elite::{Choice, RenderLimits, render};
use luminary_run::export::Which;
use luminary_run::folder::live::request_stop;
use luminary_run::folder::{FolderLock, Manifest, State};
use thiserror::Error;
use tokio::sync::OwnedMutexGuard;

use crate::saved::{SavedRun, SavedRuns};

/// Pictures that are kept.
const N_KEPT: usize = 8;
/// Bytes of a picture, at most.
const MAX_PICTURE: u64 = 32 << 20;
/// How long drawing one may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why something was not done.
#[derive(Debug, Error)]
pub(crate) enum ControlError {
    #[error("expected a run that is running, found one that is not")]
    NotRunning,
    #[error("expected a run that was stopped or failed, found one that is running or finished")]
    NotResumable,
    #[error("expected a run that the command line evaluates, found one that only its own program can go on with")]
    NotOurs,
    #[error("expected a command in the section [render] of the run's configuration, found none")]
    NoCommand,
    #[error("{0}")]
    Other(String),
}

impl From<io::Error> for ControlError {
    fn from(error: io::Error) -> Self {
        Self::Other(error.to_string())
    }
}

/// Asks a run to stop after its iteration, with everything saved.
///
/// # Errors
/// A run that nobody works on, or a folder that cannot be written.
pub(crate) fn stop(folder: &Path) -> Result<(), ControlError> {
    match FolderLock::is_held(folder) {
        true => Ok(request_stop(folder)?),
        false => Err(ControlError::NotRunning),
    }
}

/// Resumes a run in a process of its own, which goes on when the server ends.
///
/// # Errors
/// A run that is running or finished, or a program that does not start.
pub(crate) fn resume(program: &Path, folder: &Path) -> Result<(), ControlError> {
    let manifest = Manifest::read(folder).map_err(|error| ControlError::Other(error.to_string()))?;
    if let ProblemConfig::Custom { .. } = manifest.config.problem {
        return Err(ControlError::NotOurs);
    }
    match State::read(folder) {
        Ok(State::Created | State::Interrupted | State::Failed { .. }) => {}
        Ok(State::Running | State::Finished) => return Err(ControlError::NotResumable),
        Err(error) => return Err(ControlError::Other(error.to_string())),
    }
    let mut command = Command::new(program);
    command.arg("resume").arg("--quiet").arg("--").arg(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Ctrl-C in the server's terminal is not meant for the run.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    // Somebody has to hear that it ended; why it did is in the folder.
    std::thread::spawn(move || child.wait());
    Ok(())
}

/// What a picture is of: the folder of a run, its checkpoint, and the cell of the elite.
type Subject = (PathBuf, String, usize);

/// Pictures of elites, drawn once.
#[derive(Debug, Default)]
pub(crate) struct Pictures {
    /// The newest last.
    kept: Mutex<Vec<(Subject, Bytes)>>,
    /// One command runs at a time, and whoever waits for it takes no thread from those who only look.
    turns: Arc<tokio::sync::Mutex<()>>,
}

/// The right to draw a picture, until it is dropped.
pub(crate) struct Turn(#[expect(dead_code, reason = "it is held, not read")] OwnedMutexGuard<()>);

impl Pictures {
    /// Waits until nobody else draws.
    pub(crate) async fn turn(&self) -> Turn {
        Turn(Arc::clone(&self.turns).lock_owned().await)
    }

    /// Has the elite of a cell of the result archive drawn by the command of the run's own configuration.
    ///
    /// # Errors
    /// A run without such a command, a cell without an elite, and a command that fails, takes too long or writes too much.
    pub(crate) fn draw(
        &self,
        _turn: Turn,
        saved_runs: &SavedRuns,
        folder: &Path,
        cell: usize,
    ) -> Result<Bytes, ControlError> {
        let saved = saved_runs.load(folder).map_err(|error| ControlError::Other(error.to_string()))?;
        let subject = (folder.to_owned(), saved.tag.clone(), cell);
        if let Some((_, picture)) = self.kept().iter().find(|(of, _)| *of == subject) {
            return Ok(picture.clone());
        }
        let picture = draw(&saved, cell)?;
        let mut kept = self.kept();
        if kept.len() >= N_KEPT {
            kept.remove(0);
        }
        kept.push((subject, picture.clone()));
        Ok(picture)
    }

    fn kept(&self) -> MutexGuard<'_, Vec<(Subject, Bytes)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn draw(saved: &Arc<SavedRun>, cell: usize) -> Result<Bytes, ControlError> {
    let config = saved.config.render.as_ref().ok_or(ControlError::NoCommand)?;
    let elite = saved.elite(Which::Result, &Choice::Cell(vec![cell]));
    let elite = elite.map_err(|error| ControlError::Other(error.to_string()))?;
    let folder = tempfile::tempdir()?;
    // Programs look at how a name ends; one that writes another format is recognised by its bytes.
    let path = folder.path().join("elite.png");
    let limits = RenderLimits { time: PATIENCE, bytes: MAX_PICTURE };
    render(config, &elite, &path, Some(limits)).map_err(|error| ControlError::Other(error.to_string()))?;
    // A command may leave anything under the name of its file: a pipe that nobody writes to, or a link.
    let mut bytes = Vec::new();
    open_unlinked(&path)?.take(MAX_PICTURE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_PICTURE {
        let message = format!("expected a picture of at most {MAX_PICTURE} bytes, found more");
        return Err(ControlError::Other(message));
    }
    Ok(bytes.into())
}
