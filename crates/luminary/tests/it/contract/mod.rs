//! What every archive, emitter, strategy and ranker promises: each kind runs through the same suite.

mod archive_cases;
mod archive_models;
mod archives;
mod cell_archives;
mod custom_archives;
mod tessellations;
mod emitters;
mod generations;
mod initial_solutions;
mod definitions;
mod discount;
mod columns;
mod rankers;
mod strategies;
