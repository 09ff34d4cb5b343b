//! The command that starts a worker on a host.
//!
//! A launcher such as ssh takes one more argument, a line for a shell of the host. That line runs a few words of POSIX
//! shell around the program, so that nothing has to be installed there:
//!
//! - Standard input is passed on to the program. When it ends, because the worker is not wanted any more, because somebody
//!   was killed or because the connection broke, the program has a second to end before its process group is killed.
//! - A sign of life is written to standard error every second, whatever the program does.
//! - When the program ends, its exit code is written to standard error and whatever it has left behind is killed. A
//!   session that ends without one was lost.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::Command;

use super::config::ExternalConfig;
use super::process::{self, fill};

/// How a host is reached unless `launcher` says otherwise: without questions, giving up on hosts that do not answer.
const SSH: [&str; 9] =
    ["ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=10", "{host}"];

/// What surrounds the program on its host, given its folder and its command. One line without single quotes, so that
/// login shells of any kind pass it on as it is. The bytes are those of `signs.rs`.
const AROUND: &str = concat!(
    r#"d=$1; shift; printf "\026\n" >&2; while sleep 1; do printf "\026\n" >&2; done & "#,
    r#"{ cat; exec >&-; sleep 1; kill -s KILL 0; } | "#,
    r#"{ cd "$d" && "$@"; printf "\027%s\n" "$?" >&2; kill -s KILL 0; }"#,
);

/// The command for a worker on a host.
pub(super) fn command(config: &ExternalConfig, host: &str, worker: usize, directory: &Path) -> Command {
    let number = worker.to_string();
    let places = [("{host}", Path::new(host)), ("{worker}", Path::new(&number))];
    let ssh = || SSH.map(String::from).to_vec();
    let template = config.launcher.clone().unwrap_or_else(ssh);
    let mut words = template.iter().map(|word| fill(word, &places));
    let mut command = Command::new(words.next().expect("a launcher has a program"));
    command.args(words).arg(line(config, worker, directory));
    command
}

/// The line that a shell of the host runs: each word is quoted, because ssh hands all of them to that shell as one text.
fn line(config: &ExternalConfig, worker: usize, directory: &Path) -> OsString {
    let program = process::command(config, worker, directory, &[]);
    let mut line = b"exec sh -c".to_vec();
    let mut add = |word: &OsStr| {
        line.push(b' ');
        line.extend(quoted(word.as_bytes()));
    };
    add(OsStr::new(AROUND));
    add(OsStr::new("sh"));
    add(directory.as_os_str());
    add(OsStr::new("env"));
    for (name, value) in program.get_envs() {
        let mut assignment = name.to_owned();
        assignment.push("=");
        assignment.push(value.unwrap_or_default());
        add(&assignment);
    }
    add(program.get_program());
    program.get_args().for_each(add);
    OsString::from_vec(line)
}

/// A word as shells take it: between single quotes nothing has a meaning but the quote itself.
fn quoted(word: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for &byte in word {
        match byte {
            b'\'' => quoted.extend(br"'\''"),
            byte => quoted.push(byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_default_launcher_is_ssh_and_gets_one_line() {
        let config = ExternalConfig { command: vec!["./sim".into(), "it's".into()], ..Default::default() };
        let command = command(&config, "node1", 3, Path::new("/my sims"));
        let words: Vec<_> = command.get_args().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(command.get_program(), "ssh");
        assert_eq!(words[words.len() - 2], "node1");
        let line = words.last().unwrap();
        assert!(line.starts_with("exec sh -c 'd=$1; shift;"), "{line}");
        let end = r"'sh' '/my sims' 'env' 'LUMINARY_WORKER=3' '/my sims/./sim' 'it'\''s'";
        assert!(line.ends_with(end), "{line}");
        assert!(!AROUND.contains(['\'', '\n', '!']), "some login shells trip over these");
    }

    #[test]
    fn host_and_worker_are_filled_in() {
        let launcher = ["srun", "--nodelist={host}", "--job-name=w{worker}", "sh", "-c"].map(String::from);
        let config =
            ExternalConfig { command: vec!["x".into()], launcher: Some(launcher.to_vec()), ..Default::default() };
        let command = command(&config, "node7", 12, Path::new("/"));
        let words: Vec<_> = command.get_args().take(4).collect();
        assert_eq!(words, ["--nodelist=node7", "--job-name=w12", "sh", "-c"]);
    }

    proptest! {
        #[test]
        fn a_shell_takes_quoted_words_as_they_were(word in prop::collection::vec(1_u8.., 0..40)) {
            let mut line = b"printf %s ".to_vec();
            line.extend(quoted(&word));
            let output = Command::new("sh").arg("-c").arg(OsStr::from_bytes(&line)).output().unwrap();
            prop_assert_eq!(output.stdout, word);
        }
    }
}
