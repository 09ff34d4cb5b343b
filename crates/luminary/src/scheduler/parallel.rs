//! Work split over emitters or rows. Every piece writes only its own part, so the result does not depend on how many
//! threads there are; the threads are those of the rayon pool the caller runs in.

use std::ops::Range;
#[cfg(feature = "rayon")]
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use super::protocol::EmitterHandle;
use crate::emitter::Emitter;

/// Whether to use threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Threads {
    /// Everything on the calling thread.
    #[default]
    One,
    /// The rayon pool the call is made in (the global one, or that of `ThreadPool::install`).
    #[cfg(feature = "rayon")]
    Pool,
}

impl Threads {
    /// Runs both, at the same time if allowed.
    pub(crate) fn join<A: Send, B: Send>(self, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
        match self {
            Self::One => (a(), b()),
            #[cfg(feature = "rayon")]
            Self::Pool => rayon::join(a, b),
        }
    }

    fn n_threads(self) -> usize {
        match self {
            Self::One => 1,
            #[cfg(feature = "rayon")]
            Self::Pool => rayon::current_num_threads(),
        }
    }
}

/// Does `work` while the other threads of the pool keep looking for pieces of it. Left alone they fall asleep between
/// the stages of an iteration, and waking one takes longer than many a stage does.
pub(super) fn with_threads_awake<R>(threads: Threads, work: impl FnOnce() -> R) -> R {
    match threads {
        Threads::One => work(),
        #[cfg(feature = "rayon")]
        Threads::Pool => {
            let (caller, done) = (rayon::current_thread_index(), AtomicBool::new(false));
            rayon::in_place_scope(|scope| {
                for _ in 1..rayon::current_num_threads() {
                    scope.spawn(|_| look_for_work(caller, &done));
                }
                let _end = SetOnDrop(&done);
                work()
            })
        }
    }
}

/// Takes pieces of work from the pool until `done`, or until there have been none for about a millisecond. The thread
/// that does the work itself must not wait for its own end, should it come upon this job.
#[cfg(feature = "rayon")]
fn look_for_work(caller: Option<usize>, done: &AtomicBool) {
    const PATIENCE: u32 = 20_000;
    if rayon::current_thread_index() == caller {
        return;
    }
    let mut n_idle = 0;
    while n_idle < PATIENCE && !done.load(Ordering::Acquire) {
        match rayon::yield_now() {
            Some(rayon::Yield::Executed) => n_idle = 0,
            _ => n_idle += 1,
        }
        std::hint::spin_loop();
    }
}

/// Says that work has ended, also when it panics.
#[cfg(feature = "rayon")]
struct SetOnDrop<'a>(&'a AtomicBool);

#[cfg(feature = "rayon")]
impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Numbers that are copied and scaled in less time than it takes to hand half of them to another thread.
const FEW_NUMBERS: usize = 8192;

/// Where to do work that hardly does more than to read and write this many numbers.
pub(super) fn threads_for_light_work(threads: Threads, n_numbers: usize) -> Threads {
    if n_numbers <= FEW_NUMBERS { Threads::One } else { threads }
}

/// Calls `work` for each emitter that has rows, with its rows of the buffer, which holds `width` numbers a row.
/// `rows[i]` are the rows of emitter `i`, in order and without gaps.
pub(super) fn for_each_emitter<E: EmitterHandle>(
    threads: Threads,
    emitters: &mut [E],
    rows: &[Range<usize>],
    buffer: &mut [f64],
    width: usize,
    work: &(impl Fn(&mut dyn Emitter, Range<usize>, &mut [f64]) + Sync),
) {
    match emitters {
        [] => {}
        [emitter] => {
            if !rows[0].is_empty() {
                work(&mut **emitter, rows[0].clone(), buffer);
            }
        }
        _ => {
            let middle = emitters.len() / 2;
            let (left, right) = emitters.split_at_mut(middle);
            let (left_rows, right_rows) = rows.split_at(middle);
            let (left_buffer, right_buffer) = buffer.split_at_mut((right_rows[0].start - left_rows[0].start) * width);
            threads.join(
                || for_each_emitter(threads, left, left_rows, left_buffer, width, work),
                || for_each_emitter(threads, right, right_rows, right_buffer, width, work),
            );
        }
    }
}

/// Rows to evaluate, row by row in each buffer; `jacobians` may be empty.
pub(crate) struct RowsMut<'a> {
    pub(crate) solutions: &'a [f64],
    pub(crate) objectives: &'a mut [f64],
    pub(crate) measures: &'a mut [f64],
    pub(crate) jacobians: &'a mut [f64],
}

impl<'a> RowsMut<'a> {
    fn split_at(self, middle: usize) -> (Self, Self) {
        let n_rows = self.objectives.len();
        let (solutions, other_solutions) = self.solutions.split_at(self.solutions.len() / n_rows * middle);
        let (measures, other_measures) = self.measures.split_at_mut(self.measures.len() / n_rows * middle);
        let (jacobians, other_jacobians) = self.jacobians.split_at_mut(self.jacobians.len() / n_rows * middle);
        let (objectives, other_objectives) = self.objectives.split_at_mut(middle);
        (
            Self { solutions, objectives, measures, jacobians },
            Self {
                solutions: other_solutions,
                objectives: other_objectives,
                measures: other_measures,
                jacobians: other_jacobians,
            },
        )
    }
}

/// Calls `work` on the rows, cut into about as many pieces as there are threads.
pub(crate) fn split_rows(threads: Threads, rows: RowsMut<'_>, work: &(impl Fn(RowsMut<'_>) + Sync)) {
    let grain = rows.objectives.len().div_ceil(threads.n_threads()).max(1);
    split_piece(threads, rows, grain, work);
}

fn split_piece(threads: Threads, rows: RowsMut<'_>, grain: usize, work: &(impl Fn(RowsMut<'_>) + Sync)) {
    let n_rows = rows.objectives.len();
    if n_rows <= grain {
        return work(rows);
    }
    let (left, right) = rows.split_at(n_rows / 2);
    threads.join(|| split_piece(threads, left, grain, work), || split_piece(threads, right, grain, work));
}
