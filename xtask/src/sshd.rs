//! The ssh server that the tests of workers on hosts log in to, over loopback.

use std::path::Path;
use std::process::Command;

use crate::debian;

/// Where the server is; it is seldom in the search path.
const PLACES: [&str; 3] = ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/sbin/sshd"];

/// Makes sure that a server and a client are there, installing Debian's packages where that is possible.
pub(crate) fn ensure() -> Result<(), String> {
    if is_there() {
        return Ok(());
    }
    // The server brings the client along.
    match debian::install("openssh-server") {
        Ok(()) if is_there() => Ok(()),
        outcome => Err(format!(
            "expected ssh and sshd for the tests of workers on hosts, found no sshd in {PLACES:?} or no ssh; install \
             OpenSSH and run again{}",
            outcome.err().map(|error| format!(" ({error})")).unwrap_or_default()
        )),
    }
}

fn is_there() -> bool {
    let has_client = Command::new("ssh").arg("-V").output().is_ok_and(|output| output.status.success());
    has_client && PLACES.iter().any(|place| Path::new(place).exists())
}
