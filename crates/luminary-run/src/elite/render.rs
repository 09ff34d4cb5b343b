//! A program of the user draws an elite: a picture, an animation, a text.
//!
//! It reads the elite as one JSON object from standard input. Where its command says `{output}` it gets the path of the
//! file to write; without, what it prints is the file.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use thiserror::Error;

use super::EliteRecord;
use crate::config::RenderConfig;
use crate::folder::write_atomically;

/// Stands for the path of the file in a command.
const OUTPUT: &str = "{output}";
/// Lines of a program's errors that are shown.
const MAX_LINES: usize = 20;

/// The pause between two looks at whether a command has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// What a command may take, where nobody stands by to end it. What is left of it then is killed, with all that it started
/// in its process group.
#[derive(Clone, Copy, Debug)]
pub struct RenderLimits {
    /// How long it may take.
    pub time: Duration,
    /// Bytes that it may print.
    pub bytes: u64,
}

/// Why there is no picture. A file that was there before is as it was.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The program is not there or may not be executed.
    #[error("cannot run the render command `{program}`: {source}")]
    Program {
        /// The program.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// The program says that it failed.
    #[error("expected the render command to succeed, found {status}{}", indented(.stderr))]
    Failed {
        /// How it ended.
        status: ExitStatus,
        /// Its last errors.
        stderr: Vec<String>,
    },
    /// The program took longer than it may.
    #[error("expected the render command to end within {} s, found it still running", .0.as_secs_f64())]
    TooSlow(Duration),
    /// The program printed more than it may.
    #[error("expected the render command to print at most {0} bytes, found more")]
    TooMuch(u64),
    /// The program succeeded and wrote nothing.
    #[error("expected the render command to {what}, found none{}", indented(.stderr))]
    Nothing {
        /// What it should have done.
        what: &'static str,
        /// Its last errors.
        stderr: Vec<String>,
    },
    /// The file cannot be written.
    #[error("cannot write {}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Has an elite drawn into a file, which is complete or as it was.
///
/// # Errors
/// A program that does not start, fails, writes nothing or takes more than the limits, and a file that cannot be written.
pub fn render(
    config: &RenderConfig,
    elite: &EliteRecord,
    path: &Path,
    limits: Option<RenderLimits>,
) -> Result<(), RenderError> {
    let fail = |source| RenderError::Io { path: path.to_owned(), source };
    let absolute = std::path::absolute(path).map_err(fail)?;
    let (Some(parent), Some(name)) = (absolute.parent(), absolute.file_name()) else {
        return Err(fail(io::Error::other("expected the path of a file")));
    };
    // Drawing may take minutes.
    fs::metadata(parent).map_err(fail)?;
    if !config.command.iter().any(|part| part.contains(OUTPUT)) {
        let Output { stdout, stderr, .. } = run(config, elite, None, limits)?;
        if stdout.is_empty() {
            return Err(RenderError::Nothing { what: "print something", stderr: last_lines(&stderr) });
        }
        return write_atomically(path, |writer| writer.write_all(&stdout)).map_err(fail);
    }
    // In a folder beside the file, so that renaming is all that is left to do, and under its name, because programs look
    // at how it ends.
    let folder = tempfile::Builder::new().prefix(".luminary-").tempdir_in(parent).map_err(fail)?;
    let drawn = folder.path().join(name);
    let Output { stderr, .. } = run(config, elite, Some(&drawn), limits)?;
    if !drawn.exists() {
        return Err(RenderError::Nothing { what: "write {output}", stderr: last_lines(&stderr) });
    }
    fs::rename(&drawn, &absolute).map_err(fail)
}

/// Runs the command with the elite on its standard input.
fn run(
    config: &RenderConfig,
    elite: &EliteRecord,
    output: Option<&Path>,
    limits: Option<RenderLimits>,
) -> Result<Output, RenderError> {
    let words: Vec<OsString> = config.command.iter().map(|word| filled(word, output)).collect();
    let [program, arguments @ ..] = words.as_slice() else {
        let source = io::Error::other("expected a program, found an empty command");
        return Err(RenderError::Program { program: String::new(), source });
    };
    // A bare name is looked up in PATH; a relative path means a file in the folder.
    let is_path = program.to_string_lossy().contains('/');
    let program = if is_path { config.directory.join(program).into_os_string() } else { program.clone() };
    let fail = |source| RenderError::Program { program: program.to_string_lossy().into_owned(), source };
    let mut command = Command::new(&program);
    command.args(arguments).current_dir(&config.directory);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    if limits.is_some() {
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
    }
    let mut child = command.spawn().map_err(fail)?;
    let mut stdin = child.stdin.take().expect("the input is a pipe");
    let text = serde_json::to_vec(elite).expect("plain data is written to memory");
    // Another thread writes, because a program may print before it has read everything. One that does not read at all is
    // no fault: its exit code says whether it was content.
    let writer = std::thread::spawn(move || stdin.write_all(&text));
    let max_bytes = limits.map_or(u64::MAX, |limits| limits.bytes);
    let stdout = reader(child.stdout.take().expect("the output is a pipe"), max_bytes);
    let stderr = reader(child.stderr.take().expect("the errors are a pipe"), max_bytes);
    let status = wait(&mut child, limits).map_err(fail)?;
    let _ = writer.join();
    let [stdout, stderr] = [stdout, stderr].map(|reader| reader.join().unwrap_or_default());
    let Some(status) = status else {
        return Err(RenderError::TooSlow(limits.map_or(Duration::MAX, |limits| limits.time)));
    };
    if stdout.len() as u64 > max_bytes {
        return Err(RenderError::TooMuch(max_bytes));
    }
    let ended = Output { status, stdout, stderr };
    match ended.status.success() {
        true => Ok(ended),
        false => Err(RenderError::Failed { status: ended.status, stderr: last_lines(&ended.stderr) }),
    }
}

/// Reads a pipe to its end, or until one byte more has come than may.
fn reader(pipe: impl Read + Send + 'static, max_bytes: u64) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What could be read counts, whatever ended it.
        let _ = pipe.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes);
        bytes
    })
}

/// How the program ended; nothing if it was killed because its time was over.
fn wait(child: &mut Child, limits: Option<RenderLimits>) -> io::Result<Option<ExitStatus>> {
    let Some(limits) = limits else { return child.wait().map(Some) };
    let start = Instant::now();
    while start.elapsed() < limits.time {
        if has_ended(child)? {
            // Whatever it left running holds the pipes open.
            kill_all(child);
            return child.wait().map(Some);
        }
        std::thread::sleep(PAUSE);
    }
    kill_all(child);
    child.wait()?;
    Ok(None)
}

/// Whether the program has ended. On Unix it is not reaped yet, so that its number still stands for its group.
#[cfg(unix)]
fn has_ended(child: &mut Child) -> io::Result<bool> {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
}

#[cfg(not(unix))]
fn has_ended(child: &mut Child) -> io::Result<bool> {
    Ok(child.try_wait()?.is_some())
}

/// Ends the program and, on Unix, its whole group. Fails only if nobody is left, which is fine.
fn kill_all(child: &mut Child) {
    #[cfg(unix)]
    let _ = rustix::process::kill_process_group(rustix::process::Pid::from_child(child), rustix::process::Signal::KILL);
    #[cfg(not(unix))]
    let _ = child.kill();
}

/// A word of the command with the path filled in.
fn filled(word: &str, output: Option<&Path>) -> OsString {
    let path = output.map_or(OsStr::new(""), Path::as_os_str);
    let mut pieces = word.split(OUTPUT);
    let mut text = OsString::from(pieces.next().unwrap_or_default());
    for piece in pieces {
        text.push(path);
        text.push(piece);
    }
    text
}

fn last_lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().collect();
    // Control characters could move the cursor or change colours of the terminal that shows them.
    let plain = |line: &&str| line.chars().filter(|c| !c.is_control() || *c == '\t').collect();
    lines[lines.len().saturating_sub(MAX_LINES)..].iter().map(plain).collect()
}

fn indented(lines: &[String]) -> String {
    match lines {
        [] => String::new(),
        lines => format!("; its last output:\n    {}", lines.join("\n    ")),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn elite() -> EliteRecord {
        EliteRecord {
            objective: 2.5,
            measures: vec![0.5],
            solution: vec![1.0, 2.0],
            extras: vec![("energy".into(), vec![7.0]), ("path".into(), vec![1.0, f64::NAN])],
            cell: 3,
            intervals: None,
            threshold: None,
            visits: Some(4),
            number: Some(11),
            ticket: Some(11),
            seed: Some(12),
        }
    }

    fn drawn(script: &str, path: &Path) -> Result<String, String> {
        let command = ["sh", "-c", script, "sh", OUTPUT];
        let n_words = if script.contains("$1") { 5 } else { 3 };
        let command = command[..n_words].iter().map(ToString::to_string).collect();
        let config = RenderConfig { command, directory: std::env::temp_dir() };
        render(&config, &elite(), path, None).map_err(|error| error.to_string())?;
        Ok(fs::read_to_string(path).unwrap())
    }

    #[test]
    fn a_program_prints_the_file_or_writes_it_where_it_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("elite.txt");
        let expected = "{\"objective\":2.5,\"measures\":[0.5],\"solution\":[1.0,2.0],\"extras\":{\"energy\":7.0,\
                        \"path\":[1.0,null]},\"cell\":3,\"intervals\":null,\"threshold\":null,\"visits\":4,\
                        \"ticket\":11,\"seed\":12}";
        assert_eq!(drawn("cat", &path).unwrap(), expected);
        assert_eq!(drawn("echo drawing; cat > \"$1\"", &path).unwrap(), expected);
        assert_eq!(drawn("echo \"${1##*.}\" > \"$1\"", &path).unwrap(), "txt\n");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn a_failed_picture_names_its_cause_and_leaves_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("elite.txt");
        fs::write(&path, "old").unwrap();
        for (script, expected) in [
            ("printf 'no \\033[31mscreen\\n' >&2; exit 3", "exit status: 3; its last output:\n    no [31mscreen"),
            ("true", "expected the render command to print something, found none"),
            ("true $1", "expected the render command to write {output}, found none"),
            ("echo half > \"$1\"; kill -9 $$", "signal: 9"),
        ] {
            let message = drawn(script, &path).unwrap_err();
            assert!(message.contains(expected), "{message}");
            assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        }
        let config = RenderConfig { command: vec!["no-such-program".into()], directory: ".".into() };
        let message = render(&config, &elite(), &path, None).unwrap_err().to_string();
        assert!(message.contains("cannot run the render command `no-such-program`"), "{message}");
    }

    #[test]
    fn a_command_within_limits_draws_and_one_beyond_them_is_ended_with_all_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("elite.txt");
        let limited = |script: &str, time| {
            let command = ["sh", "-c", script].map(ToString::to_string).to_vec();
            let config = RenderConfig { command, directory: folder.path().to_owned() };
            let limits = RenderLimits { time, bytes: 1000 };
            render(&config, &elite(), &path, Some(limits)).map_err(|error| error.to_string())
        };
        let soon = Duration::from_millis(300);
        let long = Duration::from_secs(60);
        // A child that holds the pipes open does not hold up the picture.
        assert_eq!(limited("sleep 1000 & echo done", long), Ok(()));
        assert_eq!(fs::read_to_string(&path).unwrap(), "done\n");
        let message = limited("sleep 1000 & echo $! > child; sleep 1000", soon).unwrap_err();
        assert_eq!(message, "expected the render command to end within 0.3 s, found it still running");
        let child = fs::read_to_string(folder.path().join("child")).unwrap();
        // Whoever adopts it may not have reaped it yet.
        let stat = fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
        assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
        let message = limited("yes", long).unwrap_err();
        assert_eq!(message, "expected the render command to print at most 1000 bytes, found more");
        assert_eq!(fs::read_to_string(&path).unwrap(), "done\n", "the old picture is as it was");
    }
}
