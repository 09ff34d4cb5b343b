//! A child process in a process group of its own, with pipes that never block.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use super::config::ExternalConfig;
use super::error::ExternalError;
use super::lines::Tail;
use super::report::Fault;
use super::signs::Signs;
use super::unfit;

/// How often a process is looked at when its pipes are silent: a process may end while its children keep them open.
pub(super) const LIVENESS_INTERVAL: Duration = Duration::from_millis(20);

/// Bytes taken from one pipe in one go, so that a chatty process cannot keep the others waiting.
const MAX_READ: usize = 1 << 20;

/// A running child process. Dropping it kills the whole group.
pub(super) struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    pub(super) tail: Tail,
    /// What is known of the program, if it runs on a host.
    pub(super) signs: Option<Signs>,
    reaped: Option<ExitStatus>,
}

/// What a pipe gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stream {
    /// Nothing more for now.
    Open,
    /// Nothing more ever.
    Closed,
}

/// Whether the system will never run the program, however often it is asked.
fn is_mistake(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) || unfit::is_no_program(error)
}

impl Process {
    /// Starts a command. The outer error ends the run, because the program is not there; the inner one may pass.
    pub(super) fn spawn(command: &mut Command) -> Result<Result<Self, Fault>, ExternalError> {
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        match command.spawn().and_then(Self::adopt) {
            Ok(process) => Ok(Ok(process)),
            Err(source) if is_mistake(&source) => {
                let program = command.get_program().to_string_lossy().into_owned();
                let hint = unfit::why(Path::new(command.get_program()), &source);
                Err(ExternalError::Program { program, hint, source })
            }
            Err(error) => Ok(Err(Fault::NotStarted(error.to_string()))),
        }
    }

    /// Whether the program of a command can be run, as far as can be seen without running it.
    ///
    /// # Errors
    /// That of [`spawn`](Self::spawn).
    pub(super) fn look_for(command: &Command) -> Result<(), ExternalError> {
        let program = Path::new(command.get_program());
        let Err(source) = unfit::find(program, command) else { return Ok(()) };
        let hint = unfit::why(program, &source);
        Err(ExternalError::Program { program: program.to_string_lossy().into_owned(), hint, source })
    }

    fn adopt(mut child: Child) -> io::Result<Self> {
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let process = Self { child, stdin, stdout, stderr, tail: Tail::new(), signs: None, reaped: None };
        for fd in process.fds() {
            let flags = rustix::fs::fcntl_getfl(fd)?;
            rustix::fs::fcntl_setfl(fd, flags | OFlags::NONBLOCK)?;
        }
        Ok(process)
    }

    /// Adds the pipes to wait for; stdin only if there is something to write.
    pub(super) fn watch<'a>(&'a self, wants_to_write: bool, fds: &mut Vec<PollFd<'a>>) {
        if let Some(stdin) = self.stdin.as_ref().filter(|_| wants_to_write) {
            fds.push(PollFd::new(stdin, PollFlags::OUT));
        }
        fds.extend(self.stdout.iter().map(|stdout| PollFd::new(stdout, PollFlags::IN)));
        fds.extend(self.stderr.iter().map(|stderr| PollFd::new(stderr, PollFlags::IN)));
    }

    /// Writes as much as the pipe takes and gives the number of bytes; 0 if the process does not read any more.
    pub(super) fn write(&mut self, bytes: &[u8]) -> usize {
        let Some(stdin) = &mut self.stdin else { return 0 };
        let mut written = 0;
        while written < bytes.len() {
            match stdin.write(&bytes[written..]) {
                Ok(count) if count > 0 => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                _ => {
                    // The process has closed its input. Whether that is a fault shows at its output.
                    self.stdin = None;
                    break;
                }
            }
        }
        written
    }

    /// Reads what is there from stdout, piece by piece, until `take` has had enough.
    pub(super) fn read_stdout<E>(&mut self, mut take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<Stream, E> {
        let Some(stdout) = &mut self.stdout else { return Ok(Stream::Closed) };
        let stream = read_pipe(stdout, &mut take)?;
        if stream == Stream::Closed {
            self.stdout = None;
        }
        Ok(stream)
    }

    /// Reads what is there from stderr into the tail.
    pub(super) fn drain_stderr(&mut self) {
        let Some(stderr) = &mut self.stderr else { return };
        let tail = &mut self.tail;
        let signs = &mut self.signs;
        let Ok(stream) = read_pipe(stderr, &mut |bytes| {
            match signs {
                None => tail.extend(bytes),
                Some(signs) => tail.extend(&signs.filter(bytes, Instant::now())),
            }
            Ok::<(), std::convert::Infallible>(())
        });
        if stream == Stream::Closed {
            self.stderr = None;
        }
    }

    /// Reads what is there from stdout into the tail as well.
    pub(super) fn drain_output(&mut self) {
        self.drain_stderr();
        let mut tail = std::mem::replace(&mut self.tail, Tail::new());
        let Ok(_) = self.read_stdout(|bytes| {
            tail.extend(bytes);
            Ok::<(), std::convert::Infallible>(())
        });
        self.tail = tail;
    }

    /// Whether both output pipes are closed, so that only the end of the process is left to wait for.
    pub(super) fn is_silent(&self) -> bool {
        self.stdout.is_none() && self.stderr.is_none()
    }

    /// Whether the process has ended. It is not reaped yet, so that its number still stands for its group.
    pub(super) fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.reaped.is_some() || !matches!(rustix::process::waitid(WaitId::Pid(self.pid()), options), Ok(None))
    }

    /// Waits until the process has ended, but not longer than `patience`.
    pub(super) fn await_end(&self, patience: Duration) -> bool {
        let start = Instant::now();
        while !self.has_ended() {
            if start.elapsed() >= patience {
                return false;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        true
    }

    /// Tells the process that there is no more work.
    pub(super) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Kills whatever is left of the group, reaps the process and gives how it ended.
    pub(super) fn kill(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.reaped {
            return Ok(status);
        }
        // Fails only if nobody is left, which is fine.
        let _ = rustix::process::kill_process_group(self.pid(), Signal::KILL);
        let status = self.child.wait()?;
        self.reaped = Some(status);
        Ok(status)
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let stdin = self.stdin.iter().map(AsFd::as_fd);
        stdin.chain(self.stdout.iter().map(AsFd::as_fd)).chain(self.stderr.iter().map(AsFd::as_fd))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

/// The command with the program found in the configured folder, the environment set and `{directory}` filled in, as
/// well as the given further placeholders.
pub(super) fn command(config: &ExternalConfig, worker: usize, directory: &Path, places: &[(&str, &Path)]) -> Command {
    let mut all = vec![("{directory}", directory)];
    all.extend_from_slice(places);
    let program = fill(&config.command[0], &all);
    // A bare name is looked up in PATH; a relative path means a file in the folder, wherever the process will run.
    let mut command = match program.as_bytes().contains(&b'/') {
        true => Command::new(directory.join(program)),
        false => Command::new(program),
    };
    command.args(config.command[1..].iter().map(|argument| fill(argument, &all)));
    command.envs(&config.env).env("LUMINARY_WORKER", worker.to_string());
    command
}

/// A text with paths in place of their names; paths need not be Unicode.
pub(super) fn fill(text: &str, places: &[(&str, &Path)]) -> OsString {
    let mut filled = Vec::new();
    let mut rest = text;
    let next = |rest: &str| places.iter().filter_map(|(name, path)| Some((rest.find(name)?, *name, *path))).min();
    while let Some((start, name, path)) = next(rest) {
        filled.extend_from_slice(&rest.as_bytes()[..start]);
        filled.extend_from_slice(path.as_os_str().as_bytes());
        rest = &rest[start + name.len()..];
    }
    filled.extend_from_slice(rest.as_bytes());
    OsString::from_vec(filled)
}

fn read_pipe<E>(pipe: &mut impl Read, take: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<Stream, E> {
    let mut buffer = [0; 1 << 14];
    let mut total = 0;
    while total < MAX_READ {
        match pipe.read(&mut buffer) {
            Ok(0) => return Ok(Stream::Closed),
            Ok(count) => {
                total += count;
                take(&buffer[..count])?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Stream::Open),
            Err(_) => return Ok(Stream::Closed),
        }
    }
    Ok(Stream::Open)
}
