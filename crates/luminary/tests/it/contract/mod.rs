//! What every archive, emitter, strategy and ranker promises: each kind runs through the same suite.

mod archives;
mod emitters;
mod generations;
mod initial_solutions;
mod definitions;
mod columns;
mod rankers;
mod strategies;
