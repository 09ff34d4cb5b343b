//! `luminary`: run, watch, resume, look. All the work is in the libraries; this program reads the command line, draws
//! and prints. It is a library only so that programs with commands of their own, such as `luminary-lsi`, show progress,
//! stop, fail and name their folders in the same way.

mod args;
mod args_elite;
mod args_figures;
mod args_reproduce;
mod args_settings;
mod args_serve;
mod commands;
mod display;
mod failure;
mod figures;
mod misplaced;
mod numbers;
mod signals;

use std::process::ExitCode;

use args::{Command, DemoArgs};

pub use args::split_setting;
pub use commands::{Outcome, draw_at_end, one_line, unused_folder};
pub use display::{Speech, choose as choose_display};
pub use failure::{Failure, INTERRUPTED, quoted};
pub use numbers::{elapsed, grouped, maybe_score, score};
pub use signals::{stop_flag, stop_flag_of_trials};

/// Does what the command line says, and reports how it ended.
pub fn main() -> ExitCode {
    let command = misplaced::read_arguments().command.unwrap_or(Command::Demo(DemoArgs::default()));
    let outcome = match command {
        Command::Demo(args) => commands::demo(&args),
        Command::Run(args) => commands::run(&args),
        Command::Resume(args) => commands::resume(&args),
        Command::Create(args) => commands::create(&args),
        Command::Ask(args) => commands::ask(&args),
        Command::Tell(args) => commands::tell(&args),
        Command::Trial(args) => commands::trial(&args),
        Command::Sweep(args) => commands::sweep(&args),
        Command::Show(args) => commands::show(&args),
        Command::Serve(args) => commands::serve(&args),
        Command::Plot(args) => commands::plot(&args),
        Command::Report(args) => commands::report(&args),
        Command::Reproduce(args) => commands::reproduce(&args),
        Command::Lsi { args } => commands::lsi(&args),
        Command::Export(args) => commands::export(&args),
        Command::Elite(args) => commands::elite(&args),
        Command::Replay(args) => commands::replay(&args),
        Command::Merge(args) => commands::merge(&args),
        Command::Init(args) => commands::init(&args),
        Command::Check(args) => commands::check(&args),
        Command::List(args) => commands::list(&args),
        Command::Completions { shell } => commands::completions(shell),
    };
    outcome.unwrap_or_else(|failure| failure.report())
}
