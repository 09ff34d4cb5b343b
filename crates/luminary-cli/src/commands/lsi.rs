//! lsi: latent space illumination, which is a program of its own, because its networks take minutes to build.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Outcome;
use crate::failure::{FAILED, Failure};

/// The program that has the networks.
const PROGRAM: &str = "luminary-lsi";
/// What it writes into the folders of its runs.
const EXPERIMENT: &str = "lsi.json";

/// Whether only that program can go on with the run of this folder.
pub(super) fn is_experiment(folder: &Path) -> bool {
    folder.join(EXPERIMENT).exists()
}

/// Hands `luminary lsi ...` over.
pub(crate) fn lsi(args: &[OsString]) -> Outcome {
    hand_over(args.iter().cloned())
}

/// Hands `luminary resume ...` over, with all its flags.
pub(super) fn resume() -> Outcome {
    hand_over(std::env::args_os().skip(1))
}

fn hand_over(args: impl Iterator<Item = OsString>) -> Outcome {
    let mut command = Command::new(program());
    command.args(args);
    become_program(command).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::input(format!(
            "expected the program {PROGRAM} beside luminary or on the path, found none; in the source of luminary, `cargo \
             install --path lsi` builds it"
        )),
        _ => Failure::Message(format!("cannot start {PROGRAM}: {error}"), FAILED),
    })
}

/// Beside this program if it is there, otherwise wherever the path leads.
fn program() -> PathBuf {
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    let beside = std::env::current_exe().map(|own| own.with_file_name(&name)).ok();
    beside.filter(|path| path.exists()).unwrap_or_else(|| name.into())
}

/// On Unix this process becomes the other, so that signals reach it as they would have reached us.
#[cfg(unix)]
fn become_program(mut command: Command) -> std::io::Result<std::process::ExitCode> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

#[cfg(not(unix))]
fn become_program(mut command: Command) -> std::io::Result<std::process::ExitCode> {
    let code = command.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(std::process::ExitCode::from(code.unwrap_or(FAILED)))
}
