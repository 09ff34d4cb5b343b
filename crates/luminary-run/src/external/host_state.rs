//! What the workers of a host know of it together: whether it is there, and when it is tried again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::report::WorkerEvent;

/// The pause after the first loss; doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Sessions that are opened at the same time. By default sshd turns some away when more than ten have not logged in yet.
const MAX_CONNECTING: usize = 4;
/// How often work may be lost on a host without one answer in between. It may be the work that brings the host down, and
/// would do so for ever.
const MAX_FRUITLESS: usize = 10;

/// A host, shared by its workers. Copies are the same host.
#[derive(Clone)]
pub(super) struct HostState {
    pub(super) name: String,
    record: Arc<Mutex<Record>>,
}

struct Record {
    /// Sessions that are not over.
    n_open: usize,
    /// Those that have not reached the host yet.
    n_connecting: usize,
    /// Why there is no session any more, if there is none.
    lost: Option<WorkerEvent>,
    /// Why the host is not tried any more, if it is not.
    given_up: Option<WorkerEvent>,
    not_before: Option<Instant>,
    /// Losses without an answer in between; the pause grows with them.
    n_losses: u32,
    /// Those of them that happened in the middle of work.
    n_fruitless: usize,
}

/// How far a session got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The host has not been reached.
    Connecting,
    /// The host was reached.
    Connected,
}

/// What a session had in hand when it was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InHand {
    Work,
    Nothing,
}

/// What a lost session means for its host.
#[derive(Debug, PartialEq)]
pub(super) enum Loss {
    /// The host has others.
    OfSession,
    /// It was the last one.
    OfHost,
    /// The host was lost before.
    Again,
}

impl HostState {
    pub(super) fn new(name: &str) -> Self {
        let record = Record {
            n_open: 0,
            n_connecting: 0,
            lost: None,
            given_up: None,
            not_before: None,
            n_losses: 0,
            n_fruitless: 0,
        };
        Self { name: name.to_owned(), record: Arc::new(Mutex::new(record)) }
    }

    /// Whether a session may be opened now. A host that is lost is tried by one worker at a time.
    pub(super) fn may_start(&self, now: Instant) -> bool {
        let record = self.record();
        record.given_up.is_none() && !record.is_busy() && record.not_before.is_none_or(|time| now >= time)
    }

    /// When a session may be opened that must not be opened before `earliest`; nothing if others have to be through first.
    pub(super) fn next_try(&self, earliest: Instant) -> Option<Instant> {
        let record = self.record();
        (!record.is_busy()).then(|| record.not_before.map_or(earliest, |time| time.max(earliest)))
    }

    /// A session is being opened.
    pub(super) fn open(&self) {
        let mut record = self.record();
        record.n_open += 1;
        record.n_connecting += 1;
    }

    /// A session has reached the host.
    pub(super) fn reach(&self) {
        self.record().n_connecting -= 1;
    }

    /// A worker is ready there. Says whether the host was lost until now.
    pub(super) fn greet(&self) -> bool {
        self.record().lost.take().is_some()
    }

    /// A request was answered: whatever was lost before is forgotten.
    pub(super) fn answer(&self) {
        let mut record = self.record();
        record.n_losses = 0;
        record.n_fruitless = 0;
    }

    /// A session is over, by our own wish or by the program's fault.
    pub(super) fn close(&self, stage: Stage) {
        let mut record = self.record();
        record.n_open -= 1;
        if stage == Stage::Connecting {
            record.n_connecting -= 1;
        }
    }

    /// A closed session was lost. Sessions that are lost together count once.
    pub(super) fn lose(&self, event: &WorkerEvent, in_hand: InHand, now: Instant) -> Loss {
        let mut record = self.record();
        if record.not_before.is_none_or(|time| now >= time) {
            let pause = FIRST_PAUSE.saturating_mul(1 << record.n_losses.min(10)).min(LONGEST_PAUSE);
            record.not_before = Some(now + pause);
            record.n_losses += 1;
            if in_hand == InHand::Work {
                record.n_fruitless += 1;
            }
        }
        if record.n_fruitless >= MAX_FRUITLESS {
            record.given_up.get_or_insert_with(|| event.clone());
        }
        match (record.n_open, record.lost.is_some()) {
            (1.., _) => Loss::OfSession,
            (0, true) => Loss::Again,
            (0, false) => {
                record.lost = Some(event.clone());
                Loss::OfHost
            }
        }
    }

    /// The last session's end, if there is no session.
    pub(super) fn why_lost(&self) -> Option<WorkerEvent> {
        self.record().lost.clone()
    }

    /// Whether there is no session.
    pub(super) fn is_lost(&self) -> bool {
        self.record().lost.is_some()
    }

    /// Why the host is not tried any more, if it is not.
    pub(super) fn why_given_up(&self) -> Option<WorkerEvent> {
        self.record().given_up.clone()
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Record {
    /// Whether as many sessions are being opened as may be.
    fn is_busy(&self) -> bool {
        let n_allowed = if self.lost.is_some() { 1 } else { MAX_CONNECTING };
        self.n_connecting >= n_allowed
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::Fault;
    use super::*;

    fn event() -> WorkerEvent {
        let fault = Fault::SessionLost("exited with code 255".into());
        let (rows, stderr) = (Vec::new(), Vec::new());
        WorkerEvent { worker: 0, host: Some("node1".into()), fault, rows, stderr, work_dir: None }
    }

    #[test]
    fn a_host_is_lost_with_its_last_session_and_tried_after_growing_pauses() {
        let host = HostState::new("node1");
        let start = Instant::now();
        for _ in 0..3 {
            assert!(host.may_start(start));
            host.open();
            host.reach();
        }
        assert!(!host.greet(), "it was never lost");
        let losses = [(); 3].map(|()| {
            host.close(Stage::Connected);
            host.lose(&event(), InHand::Work, start)
        });
        assert_eq!(losses, [Loss::OfSession, Loss::OfSession, Loss::OfHost]);
        let mut now = start;
        for seconds in [1, 2, 4, 8, 16, 30, 30] {
            let again = now + Duration::from_secs(seconds);
            assert_eq!(host.next_try(start), Some(again), "three sessions lost together are one loss");
            assert!(!host.may_start(again - Duration::from_millis(1)) && host.may_start(again));
            host.open();
            assert!(
                host.next_try(start).is_none() && !host.may_start(again),
                "one worker at a time tries a host that is lost"
            );
            host.close(Stage::Connecting);
            assert_eq!(host.lose(&event(), InHand::Nothing, again), Loss::Again);
            now = again;
        }
        host.open();
        host.reach();
        assert!(host.greet() && !host.is_lost());
        host.answer();
        host.close(Stage::Connected);
        now += LONGEST_PAUSE;
        assert_eq!(host.lose(&event(), InHand::Work, now), Loss::OfHost);
        assert_eq!(host.next_try(start), Some(now + FIRST_PAUSE), "an answer makes up for what was lost before");
    }

    #[test]
    fn sessions_are_opened_a_few_at_a_time() {
        let host = HostState::new("node1");
        let now = Instant::now();
        for _ in 0..MAX_CONNECTING {
            assert!(host.may_start(now));
            host.open();
        }
        assert!(!host.may_start(now));
        host.reach();
        assert!(host.may_start(now));
    }

    #[test]
    fn a_host_that_only_ever_loses_its_work_is_given_up() {
        let host = HostState::new("node1");
        let mut now = Instant::now();
        for n_lost in 0..MAX_FRUITLESS {
            assert!(host.may_start(now) && host.why_given_up().is_none(), "after {n_lost}");
            host.open();
            host.reach();
            host.greet();
            host.close(Stage::Connected);
            host.lose(&event(), InHand::Work, now);
            now += LONGEST_PAUSE;
        }
        assert!(!host.may_start(now) && host.why_given_up().is_some());
    }
}
