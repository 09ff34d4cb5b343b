//! The server over real sockets, on real run folders.

mod support;
mod answers;
mod control;
mod hostile;
mod live;
mod past;
mod requests;
mod safety;
