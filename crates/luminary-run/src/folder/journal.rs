//! The journal: every call about tickets, appended when it is made. With the newest checkpoint it gives the state of a
//! run bit by bit, so that a kill costs nothing that was told.

use std::io;
use std::path::Path;

use luminary::scheduler::{Call, Scheduler};
use serde::{Deserialize, Serialize};

use crate::disk::{Disk, DiskFile};
use crate::error::RunError;

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    /// Calls made before and with this one.
    n_calls: u64,
    #[serde(flatten)]
    call: Call,
}

/// The journal of a run folder, open at its end.
#[derive(Debug)]
pub struct Journal {
    file: DiskFile,
    line: Vec<u8>,
    /// Whether all calls of the scheduler are in the file. Once one is missing, no other may follow.
    is_whole: bool,
}

impl Journal {
    /// Opens the journal of a scheduler that was restored from a checkpoint, makes the calls that came after it, and cuts
    /// off a last line that a kill left unfinished.
    ///
    /// # Errors
    /// A file that cannot be read, and calls that do not belong to this scheduler.
    pub fn open(path: &Path, scheduler: &mut Scheduler) -> Result<Self, RunError> {
        Self::open_on(&Disk::default(), path, scheduler)
    }

    /// [`open`](Self::open) on a disk.
    pub(crate) fn open_on(disk: &Disk, path: &Path, scheduler: &mut Scheduler) -> Result<Self, RunError> {
        let end = replay(disk, path, scheduler, &mut |_, _, _| ())?;
        let file = disk.open_log(path, end).map_err(RunError::io("open", path))?;
        Ok(Self { file, line: Vec::new(), is_whole: true })
    }

    /// Appends a call that a scheduler has made; `n_calls` is its count after it.
    ///
    /// # Errors
    /// When the system refuses. The scheduler is ahead of the journal then, and nothing more is appended.
    pub fn append(&mut self, n_calls: u64, call: Call) -> io::Result<()> {
        self.check_whole()?;
        self.line.clear();
        serde_json::to_writer(&mut self.line, &Entry { n_calls, call })?;
        self.line.push(b'\n');
        let appended = self.file.append_line(&self.line);
        self.is_whole = appended.is_ok();
        appended
    }

    /// Returns once everything appended is on disk.
    ///
    /// # Errors
    /// When the system refuses, or a call is missing.
    pub fn sync(&self) -> io::Result<()> {
        self.check_whole()?;
        self.file.sync()
    }

    fn check_whole(&self) -> io::Result<()> {
        match self.is_whole {
            true => Ok(()),
            false => Err(io::Error::other("expected every call in the journal, found one that could not be written")),
        }
    }
}

/// Makes the calls of a journal that come after the scheduler's, if there is a journal, and returns where its last whole
/// line ends. Somebody may look at the scheduler after each call, which is given with the iterations before it.
///
/// # Errors
/// As [`Journal::open`].
pub(crate) fn replay(
    disk: &Disk,
    path: &Path,
    scheduler: &mut Scheduler,
    look: &mut dyn FnMut(&Scheduler, &Call, u64),
) -> Result<u64, RunError> {
    let bytes = match disk.read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(RunError::io("read", path)(error)),
    };
    let unreadable = |line: usize, message: String| RunError::Unreadable {
        path: path.to_owned(),
        message: format!("line {}: {message}", line + 1),
    };
    let mut end = 0;
    for (number, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let Some(text) = line.strip_suffix(b"\n") else { break };
        // A hole: the power went before this was on disk. Nobody was answered from there on, because answers wait until
        // everything before them is.
        if text.contains(&0) {
            break;
        }
        let entry: Entry = serde_json::from_slice(text).map_err(|error| unreadable(number, error.to_string()))?;
        end += line.len() as u64;
        if entry.n_calls <= scheduler.n_calls() {
            continue;
        }
        let iteration = scheduler.iterations();
        let expected = scheduler.n_calls() + 1;
        if entry.n_calls != expected {
            return Err(unreadable(number, format!("expected call {expected}, found {}", entry.n_calls)));
        }
        scheduler.replay(&entry.call).map_err(|error| unreadable(number, error.to_string()))?;
        if scheduler.n_calls() != expected {
            return Err(unreadable(number, "expected a call that changes the run, found one that does not".into()));
        }
        look(scheduler, &entry.call, iteration);
    }
    Ok(end)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use luminary::preset::Preset;
    use luminary::problem::ProblemSpec;
    use luminary::scheduler::{Answer, TicketId};

    use super::*;

    fn scheduler() -> Scheduler {
        let spec = ProblemSpec { solution_dim: 3, measure_bounds: vec![(-1.0, 1.0); 2] };
        Preset::CmaMae.for_problem(&spec).build().unwrap()
    }

    /// Asks, and tells one of the tickets.
    fn drive(scheduler: &mut Scheduler, journal: &mut Journal) {
        let n = 3;
        let tickets = scheduler.ask_tickets(n);
        journal.append(scheduler.n_calls(), Call::Ask { n }).unwrap();
        let id = tickets[1].id;
        let measures = vec![0.1, 1.0 / 3.0];
        scheduler.tell_ticket(id, &Answer::new(0.7, &measures)).unwrap();
        let call = Call::Tell { id, objective: 0.7, measures, jacobian: None, extras: Vec::new() };
        journal.append(scheduler.n_calls(), call).unwrap();
    }

    #[test]
    fn a_journal_cut_anywhere_gives_the_state_after_its_last_whole_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut original = scheduler();
        let mut journal = Journal::open(&path, &mut original).unwrap();
        for _ in 0..4 {
            let before = original.n_calls();
            drive(&mut original, &mut journal);
            assert_eq!(original.n_calls(), before + 2);
        }
        let bytes = fs::read(&path).unwrap();
        let mut copy = scheduler();
        let disk = Disk::default();
        replay(&disk, &path, &mut copy, &mut |_, _, _| ()).unwrap();
        assert!(copy.to_checkpoint().unwrap() == original.to_checkpoint().unwrap());
        for length in (0..bytes.len()).step_by(13) {
            fs::write(&path, &bytes[..length]).unwrap();
            let n_lines = bytes[..length].iter().filter(|&&byte| byte == b'\n').count();
            let mut restored = scheduler();
            let mut journal = Journal::open(&path, &mut restored).unwrap();
            assert_eq!(restored.n_calls(), n_lines as u64, "{length}");
            // What is appended now follows the last whole line.
            restored.ask_tickets(1);
            journal.append(restored.n_calls(), Call::Ask { n: 1 }).unwrap();
            let mut again = scheduler();
            replay(&disk, &path, &mut again, &mut |_, _, _| ()).unwrap();
            assert_eq!(again.n_calls(), n_lines as u64 + 1);
        }
    }

    #[test]
    fn numbers_of_every_kind_survive() {
        let odd = vec![1.0 / 3.0, 5e-324, -0.0, 3.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        let call = Call::Tell {
            id: TicketId::new(7),
            objective: f64::NAN,
            measures: odd.clone(),
            jacobian: Some(odd.clone()),
            extras: vec![odd.clone(), Vec::new()],
        };
        let text = serde_json::to_string(&Entry { n_calls: 1, call }).unwrap();
        let Call::Tell { objective, measures, jacobian, extras, .. } =
            serde_json::from_str::<Entry>(&text).unwrap().call
        else {
            panic!("another call: {text}")
        };
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert!(objective.is_nan());
        for values in [&measures, &jacobian.unwrap(), &extras[0]] {
            assert_eq!(bits(values), bits(&odd), "{text}");
        }
        assert!(extras[1].is_empty());
        let word = text.replace("-inf", "many");
        let error = serde_json::from_str::<Entry>(&word).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("expected a number, NaN, inf or -inf, found \"many\""), "{error}");
    }

    #[test]
    fn a_hole_ends_the_journal() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let first = "{\"n_calls\":1,\"call\":\"ask\",\"n\":3}\n";
        fs::write(&path, format!("{first}\0\0\0\0\0{{\"n_calls\":3,\"call\":\"ask\",\"n\":3}}\n")).unwrap();
        let mut scheduler = scheduler();
        Journal::open(&path, &mut scheduler).unwrap();
        assert_eq!(scheduler.n_calls(), 1);
        assert_eq!(fs::read_to_string(&path).unwrap(), first);
    }

    #[test]
    fn damage_in_the_middle_and_calls_of_another_run_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        for (text, expected) in [
            ("{\"n_calls\":1,\"call\":\"ask\",\"n\":3}\nrubbish\n", "line 2: expected value"),
            ("{\"n_calls\":2,\"call\":\"ask\",\"n\":3}\n", "line 1: expected call 1, found 2"),
            ("{\"n_calls\":1,\"call\":\"lost\",\"id\":7}\n", "line 1: expected a ticket that was issued, found 7"),
            ("{\"n_calls\":1,\"call\":\"ask\",\"n\":0}\n", "expected a call that changes the run"),
        ] {
            fs::write(&path, text).unwrap();
            let error = Journal::open(&path, &mut scheduler()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
