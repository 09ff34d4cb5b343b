//! Flags that a command does not have, although there is a setting of the name: what to write instead.

use clap::Parser;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use luminary_run::config::settings;

use crate::args::Arguments;

/// Commands that take settings.
const WITH_SETTINGS: [&str; 5] = ["run", "check", "create", "trial", "sweep"];

/// The command line of this process. Ends the process if it is wrong, or if help was asked for.
pub(crate) fn read_arguments() -> Arguments {
    Arguments::try_parse().unwrap_or_else(|error| {
        let command = std::env::args().nth(1).unwrap_or_default();
        with_advice(error, &command).exit()
    })
}

/// The same error, with what to write instead of the flag. By itself clap proposes to pass the flag on as a value.
fn with_advice(mut error: clap::Error, command: &str) -> clap::Error {
    let flag = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(flag))) => flag.clone(),
        _ => return error,
    };
    if let Some(advice) = advice(&flag, command) {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(advice)]));
        error.remove(ContextKind::SuggestedArg);
    }
    error
}

/// What to write instead of a flag that names a setting.
fn advice(flag: &str, command: &str) -> Option<String> {
    let key = flag.strip_prefix("--")?.replace('-', "_");
    let is_meant = |path: &str| path.rsplit('.').next() == Some(&key) && path.matches('.').count() == 1;
    let path = settings::all().map(|entry| entry.path).find(|path| is_meant(path))?;
    if WITH_SETTINGS.contains(&command) {
        return Some(format!("it is a setting without a flag of its own: --set {path}=VALUE"));
    }
    (command == "resume").then(|| format!("a run goes on as it was begun: with another {path} it would be another run"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(words: &str) -> String {
        let error = Arguments::try_parse_from(words.split(' ')).err().expect("the command line is wrong");
        with_advice(error, words.split(' ').nth(1).unwrap()).to_string()
    }

    #[test]
    fn flags_that_are_settings_are_told_how_to_be_given() {
        let told_of_workers = told("luminary run --domain arm --workers 4");
        assert!(told_of_workers.contains("--set evaluator.workers=VALUE"), "{told_of_workers}");
        assert!(!told_of_workers.contains("-- --workers"), "{told_of_workers}");
        let told_of_limits = told("luminary check --time-limit 4");
        assert!(told_of_limits.contains("--set evaluator.time_limit=VALUE"), "{told_of_limits}");
        let told_of_seed = told("luminary resume runs/a --seed 4");
        assert!(told_of_seed.contains("with another run.seed it would be another run"), "{told_of_seed}");
    }

    #[test]
    fn other_flags_are_left_to_clap() {
        let told_of_typo = told("luminary run --domain arm --iteration 4");
        assert!(told_of_typo.contains("'--iterations'"), "{told_of_typo}");
        let told_of_json = told("luminary show runs/a --jsn");
        assert!(told_of_json.contains("'--json'"), "{told_of_json}");
    }
}
