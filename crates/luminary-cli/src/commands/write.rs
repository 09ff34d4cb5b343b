//! init, export, completions: everything that writes something new.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;
use luminary_run::export::{self, Format, Which, tensorboard};
use luminary_run::folder::Manifest;

use super::{Outcome, scaffold};
use crate::args::{ArchiveArg, Arguments, ExportArgs, FormatArg, InitArgs};
use crate::failure::Failure;
use crate::failure::quoted;

pub(crate) fn init(args: &InitArgs) -> Outcome {
    let files = scaffold::files(&args.file, args.evaluator);
    // Looked at first, so that a file that is there already leaves none of the others behind.
    for file in &files {
        if file.path.exists() {
            let path = file.path.display();
            return Err(Failure::input(format!("expected a new file, found {path}; it stays as it is")));
        }
    }
    for file in &files {
        let fail = |error: io::Error| Failure::input(format!("cannot write {}: {error}", file.path.display()));
        File::create_new(&file.path).and_then(|mut new| new.write_all(file.text.as_bytes())).map_err(fail)?;
    }
    let names: Vec<_> = files.iter().map(|file| file.path.display().to_string()).collect();
    let path = quoted(&args.file);
    // Programs are found in the current folder.
    let folder = args.file.parent().filter(|folder| args.evaluator.is_some() && *folder != Path::new(""));
    let next = match (folder, args.file.file_name()) {
        (Some(folder), Some(name)) => {
            let name = quoted(Path::new(name));
            format!("cd {}, luminary check {name}, luminary run {name}", quoted(folder))
        }
        _ => format!("luminary check {path}, luminary run {path}"),
    };
    writeln!(io::stdout(), "wrote {}; next: {next}", names.join(" and "))?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn export(args: &ExportArgs) -> Outcome {
    let format = match args.format {
        FormatArg::Parquet => Format::Parquet,
        FormatArg::Csv => Format::Csv,
        FormatArg::Npy => Format::Npy,
        FormatArg::Tensorboard => return export_events(args),
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

/// The curves of a run as an event file in a folder, which is what TensorBoard is pointed at.
fn export_events(args: &ExportArgs) -> Outcome {
    if args.stdout {
        return Err(Failure::input("expected a format that is one file, found tensorboard, which is a folder"));
    }
    let folder = args.output.clone().unwrap_or_else(|| args.dir.join("tensorboard"));
    let path = tensorboard::write_metrics(&args.dir, &folder)?;
    writeln!(io::stdout(), "{}", path.display())?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn completions(shell: clap_complete::Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "luminary", &mut script);
    io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
