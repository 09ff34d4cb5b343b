//! `luminary-lsi`, which `luminary lsi` hands over to: latent space illumination from the command line.

mod args;
mod commands;

use std::process::ExitCode;

use clap::Parser;
use luminary_cli::Failure;

use args::Arguments;

/// Networks make and drop large tensors all the time.
#[global_allocator]
static ALLOCATOR: luminary_lsi::Recycler = luminary_lsi::Recycler::new();

fn main() -> ExitCode {
    commands::lsi(&Arguments::parse()).unwrap_or_else(Failure::report)
}
