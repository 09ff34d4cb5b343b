//! Why there is no server.

use std::io;
use std::net::SocketAddr;

use thiserror::Error;

/// Why a server could not be started.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address is taken, or not one of this machine.
    #[error("cannot listen at {address}: {source}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// A token that is too easy to guess, or that does not fit into an address.
    #[error("expected a token of at least {expected} letters, digits, '-' or '_', found {found} of them")]
    Token {
        /// The least number of characters.
        expected: usize,
        /// The number of characters that may stand in a token.
        found: usize,
    },
    /// The system has no random numbers.
    #[error("the system gave no random numbers for a token")]
    NoRandomNumbers,
    /// The server's thread did not start.
    #[error("cannot start the server: {0}")]
    Thread(#[from] io::Error),
}
