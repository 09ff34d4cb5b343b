//! How the program ends when something went wrong.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use luminary_reproduce::ReproduceError;
use luminary_run::RunError;
use luminary_run::config::ConfigFileError;

/// Everything is done.
pub(crate) const SUCCESS: u8 = 0;
/// Something failed while running.
pub(crate) const FAILED: u8 = 1;
/// The command line or the configuration is wrong; nothing was started.
pub(crate) const WRONG_INPUT: u8 = 2;
/// Stopped by a signal, with everything saved.
pub const INTERRUPTED: u8 = 130;

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The library refused.
    Run(RunError),
    /// A run that had begun could not go on; what it had done until then is in its folder.
    Stopped(RunError, PathBuf),
    /// Standard output cannot be written.
    Output(io::Error),
    /// Anything else, in words, with the exit code.
    Message(String, u8),
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

impl From<ReproduceError> for Failure {
    fn from(error: ReproduceError) -> Self {
        match error {
            ReproduceError::Files(error) => Self::Run(error),
            other => Self::Message(other.to_string(), FAILED),
        }
    }
}

impl From<ConfigFileError> for Failure {
    fn from(error: ConfigFileError) -> Self {
        Self::Run(error.into())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl Failure {
    /// Wrong input, in words.
    pub fn input(message: impl Into<String>) -> Self {
        Self::Message(message.into(), WRONG_INPUT)
    }

    /// Prints the failure and returns the exit code.
    pub fn report(self) -> ExitCode {
        let (message, code) = match self {
            // Whoever reads our output has seen enough.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::from(SUCCESS),
            Self::Output(error) => (format!("cannot write the output: {error}"), FAILED),
            Self::Message(message, code) => (message, code),
            Self::Stopped(error @ RunError::FolderGone { .. }, _) => (error.to_string(), FAILED),
            Self::Stopped(error, folder) => {
                (format!("{error}\ncontinue with: luminary resume {}", quoted(&folder)), FAILED)
            }
            Self::Run(error) => {
                let is_input = matches!(
                    error,
                    RunError::ConfigFile(_)
                        | RunError::Config(_)
                        | RunError::Domain(_)
                        | RunError::Memory { .. }
                        | RunError::NoEvaluator { .. }
                        | RunError::NoProgram { .. }
                        | RunError::TooManyThreads { .. }
                        | RunError::Start { .. }
                        | RunError::Exists { .. }
                        | RunError::NotEmpty { .. }
                        | RunError::NotARun { .. }
                        | RunError::IsSweep { .. }
                        | RunError::OtherSweep { .. }
                        | RunError::OtherRun { .. }
                        | RunError::Setting(_)
                );
                (error.to_string(), if is_input { WRONG_INPUT } else { FAILED })
            }
        };
        eprintln!("error: {message}");
        ExitCode::from(code)
    }
}

/// A path as a shell takes it.
pub fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=:,@".contains(c);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_for_the_shell_only_if_they_must_be() {
        assert_eq!(quoted(Path::new("runs/demo-2")), "runs/demo-2");
        assert_eq!(quoted(Path::new("my runs/it's")), r"'my runs/it'\''s'");
    }
}
