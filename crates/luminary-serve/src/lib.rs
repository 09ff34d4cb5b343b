//! The live view: a page over run folders, running or finished, served on this machine.
//!
//! ```text
//! options -> server (connections) -> guard (who may ask) -> routes -> library (folders), picture (archives), control
//! ```
//!
//! The modules are listed in that order. Folders are read through `luminary-run`, and written in two cases only: a run
//! that somebody watches gets a marker, which makes its process report its archive twice a second, and what
//! [`Control::Allowed`] allows. A request names a run by an id that the server has given out, never by a path.
//!
//! ```no_run
//! use luminary_serve::{Options, Server};
//!
//! let server = Server::bind(Options::new(vec!["runs".into()]))?;
//! println!("open {}", server.url());
//! let running = server.spawn()?;
//! // ... until `running` is dropped.
//! # drop(running);
//! # Ok::<(), luminary_serve::ServeError>(())
//! ```

mod options;
mod server;
mod patient;
mod token;
mod guard;
mod routes;
mod room;
mod assets;
mod answer;
mod library;
mod line;
mod run;
mod saved;
mod owners;
mod shape;
mod picture;
mod recent;
mod live;
mod past;
mod pulse;
mod control;
mod error;

pub use error::ServeError;
pub use options::{Control, Options};
pub use server::{Running, Server};
pub use token::Token;
