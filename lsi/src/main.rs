//! `luminary-lsi`, which `luminary lsi` hands over to: latent space illumination from the command line.

mod args;
mod commands;

use std::process::ExitCode;

use clap::Parser;
use luminary_cli::Failure;

use args::Arguments;

fn main() -> ExitCode {
    luminary_lsi::keep_freed_memory();
    commands::lsi(&Arguments::parse()).unwrap_or_else(Failure::report)
}
