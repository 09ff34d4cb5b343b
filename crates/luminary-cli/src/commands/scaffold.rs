//! What `luminary init` writes: a configuration, and an evaluator that runs as it is.

use std::path::{Path, PathBuf};

use luminary_run::config::template;

use crate::args::EvaluatorArg;

const WITH_PROGRAM: &str = include_str!("../scaffold/luminary.toml");

/// A file to write.
pub(super) struct NewFile {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

/// The configuration with every setting, or one for a program, with the program beside it.
pub(super) fn files(config: &Path, evaluator: Option<EvaluatorArg>) -> Vec<NewFile> {
    let Some(evaluator) = evaluator else {
        return vec![NewFile { path: config.to_owned(), text: template() }];
    };
    let (name, program, settings) = match evaluator {
        EvaluatorArg::Python => {
            ("evaluator.py", include_str!("../scaffold/evaluator.py"), "command = [\"python3\", \"evaluator.py\"]")
        }
        EvaluatorArg::Shell => (
            "evaluator.sh",
            include_str!("../scaffold/evaluator.sh"),
            "protocol = \"files\"\ncommand = [\"sh\", \"{directory}/evaluator.sh\", \"{params}\", \"{result}\"]\n\
             files = { format = \"text\" }",
        ),
        EvaluatorArg::Files => (
            "evaluator.py",
            include_str!("../scaffold/files.py"),
            "protocol = \"files\"\ncommand = [\"python3\", \"{directory}/evaluator.py\", \"{params}\", \"{result}\"]",
        ),
    };
    vec![
        NewFile { path: config.to_owned(), text: WITH_PROGRAM.replace("{evaluator}", settings) },
        NewFile { path: config.with_file_name(name), text: program.to_owned() },
    ]
}
