//! What is done to a process.

use std::fmt;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use super::Chance;
use super::progress::Progress;
use super::tally::{Tally, phase_of};
use crate::support::{Lab, signal};

/// A kill, or signals that ask to stop.
#[derive(Clone, Copy, Debug)]
pub(super) enum Blow {
    Kill,
    Signal { name: &'static str, times: usize },
}

impl Blow {
    fn any(chance: &mut Chance) -> Self {
        let name = ["TERM", "INT"][chance.below(2)];
        match chance.below(5) {
            0 | 1 => Self::Kill,
            n => Self::Signal { name, times: n - 1 },
        }
    }
}

impl fmt::Display for Blow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kill => write!(f, "SIGKILL"),
            Self::Signal { name, times } => write!(f, "SIG{name} x{times}"),
        }
    }
}

/// A process that works on a run folder.
///
/// What it says goes to a file: the programs that it has started may outlive it by a moment, and whoever waited for the
/// end of a pipe would wait for them.
pub(super) struct Process {
    child: Child,
    folder: PathBuf,
    words: PathBuf,
}

impl Process {
    /// Starts a command that works on a folder of the lab.
    pub(super) fn start(lab: &Lab, out: &str, mut command: Command) -> Self {
        let words = lab.path(&format!("{out}.stderr"));
        let file = File::create(&words).unwrap();
        let child = command.stdout(Stdio::null()).stderr(file).spawn().unwrap();
        Self { child, folder: lab.path(out), words }
    }

    /// Waits for a process that nobody disturbs.
    pub(super) fn succeed(mut self, kind: &str) {
        let status = self.child.wait().unwrap();
        assert!(status.success(), "a {kind} run: {status}: {}", self.said());
    }

    /// Waits until the process has written down that it is getting on with its run, or has ended.
    pub(super) fn wait_for_progress(&mut self) {
        let mut before = Progress::of(&self.folder);
        while self.is_running() {
            let now = Progress::of(&self.folder);
            if now.is_beyond(before) {
                return;
            }
            before = now;
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits for a while, strikes, and waits for the process to end.
    pub(super) fn disturb(mut self, kind: &'static str, longest: Duration, chance: &mut Chance, tally: &mut Tally) {
        std::thread::sleep(longest.mul_f64(chance.share()));
        let blow = Blow::any(chance);
        let phase = phase_of(&self.folder);
        let was_running = self.is_running();
        match blow {
            Blow::Kill => self.child.kill().unwrap(),
            Blow::Signal { name, times } => {
                for _ in 0..times {
                    let pause = longest.mul_f64(0.1 * chance.share());
                    // One that has ended cannot be signalled any more.
                    if self.is_running() {
                        signal(&self.child, name);
                        std::thread::sleep(pause);
                    }
                }
            }
        }
        let status = self.child.wait().unwrap();
        let said = self.said();
        assert!(!said.contains("panicked") && !said.contains("PanicException"), "a {kind} run, {blow}: {said}");
        assert!(is_orderly(status, &said), "a {kind} run, {blow}: {status}: {said}");
        if was_running {
            tally.note_blow(kind, blow, phase);
        }
    }

    fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    fn said(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.words).unwrap()).into_owned()
    }
}

/// Ended by itself, stopped in an orderly way, or killed. A Python that is interrupted while it starts has nothing to save,
/// and NumPy, if it is being imported then, calls it an `ImportError`.
fn is_orderly(status: ExitStatus, said: &str) -> bool {
    match status.code() {
        Some(0 | 130) | None => true,
        Some(_) => said.contains("KeyboardInterrupt") || said.contains("Importing the numpy C-extensions failed"),
    }
}
