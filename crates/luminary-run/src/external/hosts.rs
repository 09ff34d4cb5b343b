//! The machines that workers run on, as a user writes them.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::config::settings::MAX_WORKERS;

/// What a host is written like.
pub(crate) const HOST_WORDS: &str = "a name such as \"node1\", with a number of workers such as \"node2*8\"";

/// A machine and how many workers it has: `node1`, `node2*8`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Host {
    /// What the launcher knows it by.
    pub name: String,
    /// Workers that run there at the same time.
    pub workers: usize,
}

/// A text that is no host.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {HOST_WORDS}, found {0:?}")]
pub struct NotAHost(String);

impl FromStr for Host {
    type Err = NotAHost;

    fn from_str(text: &str) -> Result<Self, NotAHost> {
        let wrong = || NotAHost(text.to_owned());
        let (name, workers) = match text.split_once('*') {
            None => (text, 1),
            Some((name, number)) => (name, number.parse().map_err(|_| wrong())?),
        };
        // A name that begins with a dash would be an option of the launcher.
        let is_name = !name.is_empty() && !name.starts_with('-') && name.chars().all(|c| c.is_ascii_graphic());
        if is_name && (1..=MAX_WORKERS).contains(&workers) {
            Ok(Self { name: name.to_owned(), workers })
        } else {
            Err(wrong())
        }
    }
}

impl TryFrom<String> for Host {
    type Error = NotAHost;

    fn try_from(text: String) -> Result<Self, NotAHost> {
        text.parse()
    }
}

impl From<Host> for String {
    fn from(host: Host) -> Self {
        host.to_string()
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.workers {
            1 => f.write_str(&self.name),
            workers => write!(f, "{}*{workers}", self.name),
        }
    }
}

/// Where the workers of a program run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Crew {
    /// So many on this machine.
    Here(usize),
    /// On these.
    On(Vec<Host>),
}

/// Hosts in one text, with commas between them.
///
/// # Errors
/// The first that is none.
pub fn read_hosts(text: &str) -> Result<Vec<Host>, NotAHost> {
    text.split(',').map(|host| host.trim().parse()).collect()
}

/// Workers of all hosts together.
pub(crate) fn n_workers(hosts: &[Host]) -> usize {
    hosts.iter().fold(0, |sum, host| sum.saturating_add(host.workers))
}

/// Which of the hosts has the worker with this number: those of the first come first.
pub(super) fn host_of(hosts: &[Host], worker: usize) -> Option<usize> {
    let mut n_before = 0;
    hosts.iter().position(|host| {
        n_before += host.workers;
        worker < n_before
    })
}

/// A name that is there twice.
pub(super) fn repeated(hosts: &[Host]) -> Option<&str> {
    let mut seen = BTreeSet::new();
    hosts.iter().map(|host| host.name.as_str()).find(|name| !seen.insert(*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_and_written_alike() {
        for text in ["node1", "node2*8", "me@10.0.0.1", "me@node.example.org*64", "[::1]"] {
            assert_eq!(text.parse::<Host>().unwrap().to_string(), text);
        }
        assert_eq!("node*1".parse::<Host>().unwrap(), Host { name: "node".into(), workers: 1 });
    }

    #[test]
    fn texts_that_are_no_hosts_are_refused() {
        for text in [
            "",
            "*4",
            "node*",
            "node*0",
            "node*-1",
            "node*1025",
            "node*many",
            "-oProxyCommand=x",
            "two words",
            "a\nb",
            "ä",
        ] {
            assert!(text.parse::<Host>().unwrap_err().to_string().contains(&format!("{text:?}")), "{text:?}");
            assert!(read_hosts(&format!("a,{text}")).is_err());
        }
    }

    #[test]
    fn workers_are_counted_host_by_host() {
        let hosts = read_hosts("a,b*3, c").unwrap();
        let owners: Vec<_> = (0..6).map(|worker| host_of(&hosts, worker)).collect();
        assert_eq!(owners, [Some(0), Some(1), Some(1), Some(1), Some(2), None]);
        assert_eq!(n_workers(&hosts), 5);
        assert_eq!(repeated(&hosts), None);
        assert_eq!(repeated(&[hosts.clone(), hosts].concat()), Some("a"));
    }
}
