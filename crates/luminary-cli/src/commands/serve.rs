//! serve: the live view, by itself or beside a run.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use luminary_serve::{Control, Options, Running, ServeError, Server, Token};

use super::Outcome;
use crate::args_serve::ServeArgs;
use crate::failure::{FAILED, Failure};
use crate::signals;

/// Where a token of one's own is looked for: command lines can be read by every user of a machine.
const TOKEN: &str = "LUMINARY_TOKEN";
/// The pause between two looks at whether to stop.
const PAUSE: Duration = Duration::from_millis(100);

impl From<ServeError> for Failure {
    fn from(error: ServeError) -> Self {
        match error {
            ServeError::Token { .. } => Self::input(error.to_string()),
            error => Self::Message(error.to_string(), FAILED),
        }
    }
}

pub(crate) fn serve(args: &ServeArgs) -> Outcome {
    let stop = signals::stop_flag_of_server()?;
    let control = match args.control {
        true => Control::Allowed { program: std::env::current_exe()? },
        false => Control::Refused,
    };
    let token = match std::env::var(TOKEN) {
        Ok(text) => Some(Token::new(&text)?),
        Err(_) => None,
    };
    let options = Options {
        host: args.host,
        port: args.port,
        names: args.name.clone(),
        token,
        control,
        ..Options::new(args.dirs.clone())
    };
    for absent in args.dirs.iter().filter(|dir| !dir.exists()) {
        eprintln!("note: {} is not there; runs in it are shown once it is", absent.display());
    }
    let server = Server::bind(options)?;
    // Whoever started it as a program reads the address from here.
    writeln!(io::stdout(), "live view at {}", server.url())?;
    io::stdout().flush()?;
    let running = server.spawn()?;
    while !stop.is_requested() {
        std::thread::sleep(PAUSE);
    }
    drop(running);
    Ok(ExitCode::SUCCESS)
}

/// Starts the live view of a run that is about to begin, until what is returned is dropped.
pub(super) fn beside(folder: &Path) -> Result<Running, Failure> {
    let server = Server::bind(Options::new(vec![folder.to_owned()]))?;
    eprintln!("live view at {}", server.url());
    Ok(server.spawn()?)
}
