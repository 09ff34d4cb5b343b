//! init, export, completions: everything that writes something new.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::CommandFactory;
use luminary_run::config::template;
use luminary_run::export::{self, Format, Which};
use luminary_run::folder::Manifest;

use super::Outcome;
use crate::args::{ArchiveArg, Arguments, ExportArgs, FormatArg, InitArgs};
use crate::failure::Failure;

pub(crate) fn init(args: &InitArgs) -> Outcome {
    let path = args.file.display();
    let fail = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => Failure::input(format!("expected a new file, found {path}; it stays as it is")),
        _ => Failure::input(format!("cannot write {path}: {error}")),
    };
    let mut file = File::create_new(&args.file).map_err(fail)?;
    file.write_all(template().as_bytes()).map_err(fail)?;
    writeln!(io::stdout(), "wrote {path}; next: luminary check {path}, luminary run {path}")?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn export(args: &ExportArgs) -> Outcome {
    let format = match args.format {
        FormatArg::Parquet => Format::Parquet,
        FormatArg::Csv => Format::Csv,
        FormatArg::Npy => Format::Npy,
    };
    let (which, name) = match args.archive {
        ArchiveArg::Result => (Which::Result, "result"),
        ArchiveArg::Search => (Which::Search, "archive"),
    };
    let goal = Manifest::read(&args.dir)?.config.goal();
    let scheduler = export::load(&args.dir)?;
    let archive = which.of(&scheduler);
    if !archive.keeps_elites() {
        return Err(Failure::input(
            "expected an archive that keeps elites, found one that does not; export the result archive",
        ));
    }
    if args.stdout {
        let mut out = BufWriter::new(io::stdout());
        export::write(archive, goal, format, &mut out)?;
        out.flush()?;
    } else {
        let in_folder = || args.dir.join(format!("{name}.{}", format.extension()));
        let path = args.output.clone().unwrap_or_else(in_folder);
        export::write_file(archive, goal, format, &path)?;
        writeln!(io::stdout(), "{}", path.display())?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn completions(shell: clap_complete::Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "luminary", &mut script);
    io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
