//! What is served, where, and to whom.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use crate::token::Token;

/// The port that is tried first.
const DEFAULT_PORT: u16 = 8742;

/// Whether whoever looks may also act.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Control {
    /// Nobody can change anything.
    #[default]
    Refused,
    /// Runs can be stopped and resumed, and elites drawn by the command of their own configuration. A token is needed
    /// then, on this machine too: other users of the machine can reach its loopback addresses.
    Allowed {
        /// The `luminary` program, which resumes runs.
        program: PathBuf,
    },
}

/// What is served, where, and to whom.
#[derive(Clone, Debug)]
pub struct Options {
    /// Run folders, sweeps, and folders that hold them; they need not exist yet.
    pub folders: Vec<PathBuf>,
    /// The address to listen at.
    pub host: IpAddr,
    /// The port. Without one, the usual port or, if that is taken, any free one.
    pub port: Option<u16>,
    /// Names under which the machine is reached besides its addresses, if the address is not a loopback one.
    pub names: Vec<String>,
    /// What requests must prove to know. Without one, a random one is made if the address or the control needs it.
    pub token: Option<Token>,
    /// Whether runs can be stopped and resumed.
    pub control: Control,
}

impl Options {
    /// Serves folders to this machine alone, to look at.
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self {
            folders,
            host: Ipv4Addr::LOCALHOST.into(),
            port: None,
            names: Vec::new(),
            token: None,
            control: Control::Refused,
        }
    }

    /// Whether requests must bring a token.
    pub(crate) fn needs_token(&self) -> bool {
        !self.host.is_loopback() || self.control != Control::Refused
    }

    /// The addresses to try, in this order.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        let ports = self.port.map_or(vec![DEFAULT_PORT, 0], |port| vec![port]);
        ports.into_iter().map(|port| SocketAddr::new(self.host, port)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_can_reach_it_from_elsewhere_or_act_needs_a_token() {
        let local = Options::new(Vec::new());
        assert!(!local.needs_token());
        for host in ["0.0.0.0", "::", "10.0.0.7", "fe80::1"] {
            assert!(Options { host: host.parse().unwrap(), ..local.clone() }.needs_token(), "{host}");
        }
        let control = Control::Allowed { program: "luminary".into() };
        assert!(Options { control, ..local.clone() }.needs_token());
        assert!(!Options { host: "::1".parse().unwrap(), ..local }.needs_token());
    }
}
