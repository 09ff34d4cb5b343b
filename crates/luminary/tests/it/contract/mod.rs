//! What every archive, emitter, strategy and ranker promises: each kind runs through the same suite.

mod archives;
mod emitters;
mod definitions;
mod rankers;
mod strategies;
