//! The flags of settings, made from the table of settings.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use luminary_run::config::Override;
use luminary_run::config::settings::{self, Entry};

/// Settings given by flags of their own. A flag is what the table says it is: its name, its words and what it takes.
#[derive(Default)]
pub(crate) struct SettingFlags {
    given: Vec<Override>,
    names_domain: bool,
}

impl SettingFlags {
    /// The flags as settings, in the order of the table.
    pub(crate) fn overrides(&self) -> Vec<Override> {
        self.given.clone()
    }

    /// Whether a built-in problem is named.
    pub(crate) fn names_domain(&self) -> bool {
        self.names_domain
    }
}

/// The settings that have a flag, with it.
fn flags() -> impl Iterator<Item = (&'static str, &'static Entry)> {
    settings::all().filter_map(|entry| entry.flag.map(|flag| (flag, entry)))
}

/// The words of a flag: those of its setting, as a line of its own.
fn help(entry: &Entry) -> String {
    let meaning = entry.meaning.strip_prefix("the ").unwrap_or(entry.meaning);
    let mut letters = meaning.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{} ({})", letters.as_str(), entry.path)
}

impl Args for SettingFlags {
    fn augment_args(command: Command) -> Command {
        flags().fold(command, |command, (flag, entry)| {
            // Values are texts here: the reader of configurations says what is wrong with them.
            let argument = Arg::new(flag).long(flag).value_name("VALUE").help(help(entry));
            command.arg(argument.allow_negative_numbers(true))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SettingFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for (flag, entry) in flags() {
            if let Some(value) = matches.get_one::<String>(flag) {
                self.names_domain |= entry.path == "problem.domain";
                self.given.push(Override::new(format!("--{flag}"), entry.path, value));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_is_a_setting_and_takes_its_value_as_it_is() {
        let command = SettingFlags::augment_args(Command::new("test"));
        command.clone().debug_assert();
        let given = ["test", "--min-f", "-3", "--domain", "sphere", "--learning-rate", "0.01 at 100x100"];
        let flags = SettingFlags::from_arg_matches(&command.get_matches_from(given)).unwrap();
        assert!(flags.names_domain());
        let expected = [
            Override::new("--domain", "problem.domain", "sphere"),
            Override::new("--learning-rate", "archive.learning_rate", "0.01 at 100x100"),
            Override::new("--min-f", "archive.min_f", "-3"),
        ];
        assert_eq!(flags.overrides(), expected);
        assert_eq!(flags_with_paths().len(), 14);
    }

    fn flags_with_paths() -> Vec<(&'static str, &'static str)> {
        flags().map(|(flag, entry)| (flag, entry.path)).collect()
    }

    #[test]
    fn the_words_are_those_of_the_table() {
        let of = |path: &str| flags().find(|(_, entry)| entry.path == path).map(|(_, entry)| help(entry)).unwrap();
        assert_eq!(of("run.seed"), "Seed of every random stream (run.seed)");
        assert_eq!(of("run.iterations"), "Iterations in all (run.iterations)");
    }
}
