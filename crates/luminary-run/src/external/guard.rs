//! A temporary folder that goes with this process, however that ends.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// Waits for a word. If none comes before the pipe closes, its owner is gone, and the folder is removed; once more after
/// what may still be running there has had a moment to end.
const SCRIPT: &str = r#"trap '' HUP INT TERM; read -r word || { rm -rf -- "$1"; sleep 1; rm -rf -- "$1"; }"#;

/// A temporary folder. A killed process removes nothing, so a shell beside it does.
pub(super) struct GuardedFolder {
    folder: TempDir,
    /// Absent where there is no shell: then a kill leaves the folder behind.
    guard: Option<Child>,
}

impl GuardedFolder {
    pub(super) fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("luminary-").tempdir()?;
        let mut shell = Command::new("sh");
        // In a process group of its own, because Ctrl-C goes to a whole one.
        shell.args(["-c", SCRIPT, "sh"]).arg(folder.path()).current_dir("/").process_group(0);
        let guard = shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Ok(Self { folder, guard: guard.ok() })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for GuardedFolder {
    fn drop(&mut self) {
        let Some(guard) = &mut self.guard else { return };
        if let Some(mut pipe) = guard.stdin.take() {
            // If it is not there any more, nobody needs to be told.
            pipe.write_all(b"done\n").ok();
        }
        guard.wait().ok();
    }
}
