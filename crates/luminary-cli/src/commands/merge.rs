//! merge: the elites of several runs in one archive.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use luminary_run::config::{RunConfig, Source};
use luminary_run::folder::Manifest;
use luminary_run::start::merge as merge_into;

use super::{Outcome, read_text};
use crate::args_elite::MergeArgs;
use crate::failure::Failure;
use crate::failure::quoted;
use crate::numbers::{grouped, maybe_score, score};

pub(crate) fn merge(args: &MergeArgs) -> Outcome {
    let config = match &args.config {
        Some(path) => {
            let text = read_text(path)?;
            RunConfig::read(Some(Source::new(&path.display().to_string(), &text)), &[])?
        }
        None => config_of_first_run(&args.sources)?,
    };
    let summary = merge_into(&args.sources, config, &args.out)?;
    let out = quoted(&args.out);
    writeln!(
        io::stdout(),
        "{} elites in {out}: QD score {}, coverage {:.2} %, best {}; go on from there with: luminary resume {out}",
        grouped(summary.elites as u64),
        score(summary.qd_score),
        summary.coverage_percent,
        maybe_score(summary.best),
    )?;
    Ok(ExitCode::SUCCESS)
}

/// The configuration of the first source that is a run.
fn config_of_first_run(sources: &[PathBuf]) -> Result<RunConfig, Failure> {
    let first = sources.iter().find(|source| source.is_dir()).ok_or_else(|| {
        Failure::input(
            "expected a run folder among the sources, or --config, to say what the archive is; found neither",
        )
    })?;
    Ok(Manifest::read(first)?.config)
}
