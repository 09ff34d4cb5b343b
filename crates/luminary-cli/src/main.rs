//! The `luminary` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    luminary_cli::main()
}
