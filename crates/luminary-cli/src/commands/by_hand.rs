//! create, ask, tell: runs that somebody drives by hand.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use luminary::scheduler::{Effect, Ticket};
use luminary_run::by_hand::{ByHand, ByHandError, Message};
use serde_json::json;

use super::run::folder_for;
use super::{Outcome, read_settings};
use crate::args::{AskArgs, CreateArgs, TellArgs};
use crate::display::Speech;
use crate::failure::{FAILED, Failure, quoted};
use crate::numbers::grouped;

/// Lines that could not be taken and are shown; further ones are counted.
const MAX_SHOWN: usize = 20;

pub(crate) fn create(args: &CreateArgs) -> Outcome {
    let settings = read_settings(&args.config)?;
    settings.tell(Speech::Usual);
    let named = args.out.clone().or_else(|| settings.out.map(PathBuf::from));
    let out = named.unwrap_or_else(|| folder_for(&settings.config));
    ByHand::create(&out, &settings.config)?;
    let folder = quoted(&out);
    writeln!(io::stdout(), "made {folder}; next: luminary ask {folder} -n 8 --json, luminary tell {folder} < results")?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn ask(args: &AskArgs) -> Outcome {
    let mut run = ByHand::open(&args.dir)?;
    let tickets = if args.outstanding {
        run.scheduler().outstanding()
    } else {
        run.ask(usize::try_from(args.n).unwrap_or(usize::MAX))?
    };
    let n_out = run.scheduler().outstanding().len();
    let is_finished = run.is_finished();
    // Nobody may see a ticket that a power failure could make the run forget.
    run.close()?;
    let mut out = io::stdout().lock();
    for ticket in &tickets {
        match args.json {
            true => writeln!(out, "{}", serde_json::to_string(ticket).map_err(io::Error::from)?)?,
            false => writeln!(out, "{}", readable(ticket))?,
        }
    }
    if tickets.is_empty() && !args.outstanding {
        match is_finished {
            true => eprintln!("the run is finished: there is nothing more to evaluate"),
            false => eprintln!("no row to give before one of the {n_out} that are out is told"),
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn readable(ticket: &Ticket) -> String {
    let solution = ticket.solution.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
    format!("{}\t{solution}", ticket.id)
}

pub(crate) fn tell(args: &TellArgs) -> Outcome {
    let input: Box<dyn BufRead> = match &args.input {
        None => Box::new(io::stdin().lock()),
        Some(path) => {
            let fail = |error| Failure::input(format!("cannot read {}: {error}", path.display()));
            Box::new(BufReader::new(File::open(path).map_err(fail)?))
        }
    };
    let mut run = ByHand::open(&args.dir)?;
    let mut tally = Tally::default();
    let taken = take_all(&mut run, input, args, &mut tally);
    let standing = format!(
        "{} of {} iterations, {} out",
        grouped(run.scheduler().iterations()),
        grouped(run.config().run.iterations),
        run.scheduler().outstanding().len()
    );
    // What was taken stays taken, also when a later line could not be read.
    let closed = run.close();
    taken?;
    closed?;
    if !args.json {
        writeln!(io::stdout(), "{}; {standing}", tally.words())?;
    }
    Ok(ExitCode::from(if tally.n_refused == 0 { crate::failure::SUCCESS } else { FAILED }))
}

fn take_all(run: &mut ByHand, input: Box<dyn BufRead>, args: &TellArgs, tally: &mut Tally) -> Result<(), Failure> {
    for (number, line) in input.lines().enumerate() {
        let line = line.map_err(|error| Failure::input(format!("line {}: {error}", number + 1)))?;
        if line.trim().is_empty() {
            continue;
        }
        let taken = Message::read(&line).map_err(ByHandError::from).and_then(|message| run.take(&message));
        let effect = match taken {
            Ok(effect) => {
                tally.count(effect);
                effect_name(effect)
            }
            Err(ByHandError::Run(error)) => return Err(error.into()),
            Err(error) => {
                tally.n_refused += 1;
                match tally.n_refused {
                    n if n <= MAX_SHOWN => eprintln!("line {}: {error}", number + 1),
                    n if n == MAX_SHOWN + 1 => eprintln!("further lines that cannot be taken are only counted"),
                    _ => {}
                }
                "refused"
            }
        };
        if args.json {
            writeln!(io::stdout(), "{}", json!({ "line": number + 1, "effect": effect }))?;
        }
    }
    Ok(())
}

fn effect_name(effect: Effect) -> &'static str {
    match effect {
        Effect::Waits => "waits",
        Effect::Completed => "completed",
        Effect::Counted => "counted",
        Effect::Stale => "stale",
        Effect::Repeated => "repeated",
    }
}

/// What became of the lines.
#[derive(Default)]
struct Tally {
    n_taken: usize,
    n_repeated: usize,
    n_stale: usize,
    n_refused: usize,
}

impl Tally {
    fn count(&mut self, effect: Effect) {
        match effect {
            Effect::Repeated => self.n_repeated += 1,
            Effect::Stale => self.n_stale += 1,
            Effect::Waits | Effect::Completed | Effect::Counted => self.n_taken += 1,
        }
    }

    fn words(&self) -> String {
        let mut words = format!("took {}", self.n_taken + self.n_stale);
        for (count, what) in [(self.n_stale, "late"), (self.n_repeated, "known already"), (self.n_refused, "refused")] {
            if count > 0 {
                words += &format!(", {count} {what}");
            }
        }
        words
    }
}
