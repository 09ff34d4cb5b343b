//! Why a program that is there cannot be run: what the system says of it is easily misunderstood.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use rustix::fs::Access;
use rustix::io::Errno;

use super::report::cut;

/// Looks for a program that is not run yet, where the system will: at its path, or in the folders of PATH.
///
/// # Errors
/// What the system will say.
pub(super) fn find(program: &Path, command: &Command) -> io::Result<()> {
    if program.as_os_str().as_bytes().contains(&b'/') {
        return may_be_run(program);
    }
    let given = command.get_envs().find(|(name, _)| *name == "PATH").map(|(_, value)| value.map(OsStr::to_owned));
    let Some(path) = given.unwrap_or_else(|| std::env::var_os("PATH")) else { return Ok(()) };
    let mut denied = None;
    for folder in std::env::split_paths(&path) {
        match may_be_run(&folder.join(program)) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => denied = denied.or(Some(error)),
            Err(_) => {}
        }
    }
    Err(denied.unwrap_or_else(|| Errno::NOENT.into()))
}

fn may_be_run(program: &Path) -> io::Result<()> {
    if fs::metadata(program)?.is_dir() {
        return Err(Errno::ACCESS.into());
    }
    rustix::fs::access(program, Access::EXEC_OK)?;
    Ok(())
}

/// Whether the system takes the file for no program at all.
pub(super) fn is_no_program(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::NOEXEC.raw_os_error())
}

/// What is wrong with the file, if it can be seen. Programs without a slash are looked for elsewhere, and have no file yet.
pub(super) fn why(program: &Path, error: &io::Error) -> Option<String> {
    if !program.to_string_lossy().contains('/') {
        return None;
    }
    let metadata = fs::metadata(program).ok()?;
    if metadata.is_dir() {
        return Some("it is a folder".into());
    }
    if is_no_program(error) {
        return Some("a script needs a first line such as #!/usr/bin/env python3".into());
    }
    if error.kind() == io::ErrorKind::NotFound {
        let interpreter = interpreter(program)?;
        return Some(format!("the file is there, but not {interpreter:?}, by which its first line wants to be run"));
    }
    let may_be_run = metadata.permissions().mode() & 0o111 != 0;
    (!may_be_run).then(|| format!("it is not executable: chmod +x {}", cut(&program.to_string_lossy())))
}

/// What a script names in its first line.
fn interpreter(program: &Path) -> Option<String> {
    const MAX_LINE: u64 = 256;
    let mut line = Vec::new();
    BufReader::new(File::open(program).ok()?.take(MAX_LINE)).read_until(b'\n', &mut line).ok()?;
    let text = String::from_utf8_lossy(line.strip_prefix(b"#!")?).trim_end_matches('\n').trim_start().to_owned();
    // Without white space, of which a line end of another system is part of the name.
    Some(text.split([' ', '\t']).next()?.to_owned())
}
