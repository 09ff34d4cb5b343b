//! How the program ends when something went wrong.

use std::io;
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
pub(crate) const INTERRUPTED: u8 = 130;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The library refused.
    Run(RunError),
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
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::Message(message.into(), WRONG_INPUT)
    }

    /// Prints the failure and returns the exit code.
    pub(crate) fn report(self) -> ExitCode {
        let (message, code) = match self {
            // Whoever reads our output has seen enough.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::from(SUCCESS),
            Self::Output(error) => (format!("cannot write the output: {error}"), FAILED),
            Self::Message(message, code) => (message, code),
            Self::Run(error) => {
                let is_input = matches!(
                    error,
                    RunError::ConfigFile(_)
                        | RunError::Config(_)
                        | RunError::Domain(_)
                        | RunError::Memory { .. }
                        | RunError::NoEvaluator { .. }
                        | RunError::TooManyThreads { .. }
                        | RunError::Start { .. }
                        | RunError::Exists { .. }
                        | RunError::NotEmpty { .. }
                        | RunError::NotARun { .. }
                        | RunError::IsSweep { .. }
                        | RunError::OtherSweep { .. }
                );
                (error.to_string(), if is_input { WRONG_INPUT } else { FAILED })
            }
        };
        eprintln!("error: {message}");
        ExitCode::from(code)
    }
}
