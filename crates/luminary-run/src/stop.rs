//! Asking a run to stop, from a signal handler or another thread.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A request to stop that any thread may make and every run looks at. Clones share the request.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    n_requests: AtomicU8,
    /// Set at [`StopLevel::Now`].
    interrupts: Mutex<Vec<Arc<AtomicBool>>>,
}

/// How soon a run should stop. It writes a checkpoint in each case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopLevel {
    /// Not at all.
    GoOn,
    /// After the iteration in progress; where rows are handed over one by one, once all that are out have come back.
    AfterIteration,
    /// At once: evaluations in progress are given up and done again by the resumed run.
    Now,
}

impl StopFlag {
    /// Asks once more: the first request is [`StopLevel::AfterIteration`], later ones are [`StopLevel::Now`].
    pub fn request(&self) -> StopLevel {
        let count = |n: u8| Some(n.saturating_add(1));
        let before = self.0.n_requests.fetch_update(Ordering::SeqCst, Ordering::SeqCst, count);
        let level = level_of(before.unwrap_or(u8::MAX).saturating_add(1));
        if level == StopLevel::Now {
            let interrupts = self.0.interrupts.lock().unwrap_or_else(PoisonError::into_inner);
            interrupts.iter().for_each(|interrupt| interrupt.store(true, Ordering::SeqCst));
        }
        level
    }

    /// Has this flag set once the level is [`StopLevel::Now`]: how evaluations in progress are interrupted.
    pub fn interrupt(&self, flag: Arc<AtomicBool>) {
        let mut interrupts = self.0.interrupts.lock().unwrap_or_else(PoisonError::into_inner);
        flag.store(self.level() == StopLevel::Now, Ordering::SeqCst);
        interrupts.push(flag);
    }

    /// How soon to stop.
    pub fn level(&self) -> StopLevel {
        level_of(self.0.n_requests.load(Ordering::SeqCst))
    }

    /// Whether anyone asked.
    pub fn is_requested(&self) -> bool {
        self.level() > StopLevel::GoOn
    }
}

fn level_of(n_requests: u8) -> StopLevel {
    match n_requests {
        0 => StopLevel::GoOn,
        1 => StopLevel::AfterIteration,
        _ => StopLevel::Now,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_grow_more_urgent_and_are_shared_by_clones() {
        let (flag, other) = (StopFlag::default(), StopFlag::default());
        let clone = flag.clone();
        assert_eq!(flag.level(), StopLevel::GoOn);
        assert_eq!(flag.request(), StopLevel::AfterIteration);
        assert_eq!(clone.level(), StopLevel::AfterIteration);
        for _ in 0..600 {
            assert_eq!(clone.request(), StopLevel::Now);
        }
        assert_eq!(flag.level(), StopLevel::Now);
        assert!(!other.is_requested());
    }

    #[test]
    fn evaluations_are_interrupted_by_the_second_request_only() {
        let (flag, early, late) = (StopFlag::default(), Arc::new(AtomicBool::new(false)), Arc::default());
        flag.interrupt(Arc::clone(&early));
        flag.request();
        assert!(!early.load(Ordering::SeqCst));
        flag.request();
        flag.interrupt(Arc::clone(&late));
        assert!(early.load(Ordering::SeqCst) && late.load(Ordering::SeqCst));
    }
}
