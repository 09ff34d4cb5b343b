//! The `[render]` section: a program that draws an elite.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::ProblemConfig;
use super::error::Fault;
use super::setting::Section;

/// A program that draws an elite: see [`render`](crate::elite::render).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RenderConfig {
    /// The program and its arguments; `{output}` stands for the file to write.
    pub command: Vec<String>,
    /// The folder it runs in.
    pub directory: PathBuf,
}

impl RenderConfig {
    /// A command that runs where the evaluator of the problem does, or else in the current folder.
    pub fn new(command: Vec<String>, problem: &ProblemConfig) -> Self {
        let of_evaluator = match problem {
            #[cfg(unix)]
            ProblemConfig::External { evaluator, .. } => evaluator.directory.clone(),
            _ => None,
        };
        let current = || std::env::current_dir().unwrap_or_else(|_| ".".into());
        Self { command, directory: of_evaluator.unwrap_or_else(current) }
    }
}

/// Reads the section.
pub(super) fn read(mut section: Section, problem: &ProblemConfig) -> Result<RenderConfig, Fault> {
    let setting = section.require("command")?;
    let expected = setting.expected();
    let words = setting.list(&expected)?;
    let words: Vec<String> = words.iter().map(|word| word.string().map(str::to_owned)).collect::<Result<_, _>>()?;
    if words.first().is_none_or(String::is_empty) {
        return Err(setting.fault(&expected));
    }
    section.finish()?;
    Ok(RenderConfig::new(words, problem))
}
