"""The loop over tickets that all engines share: ask, hand out, tell; what died or is late is tried again."""

from __future__ import annotations

import collections
import functools
import math
import time
import uuid
from dataclasses import dataclass

import numpy as np

from luminary._native import NativePatience, NoValuesError
from luminary._tickets import Ticket
from luminary.engines._load import Load
from luminary.engines._protocol import Died, Done, EngineError, Late, Task, WorkerDied
from luminary.engines._rows_per_task import RowsPerTask
from luminary.engines._work import Raised, ShapeError

#: Seconds between looks at the clock while nothing comes.
_TICK = 0.25

#: Seconds of a task that is long beside the time it takes to send one.
_LONG = 1.0

#: Seconds of work that wait for each worker.
_AHEAD = 0.3

#: Tasks that wait for each worker at most.
_MAX_WAITING = 8

#: Tasks that may be lost on their way, one after the other.
_MAX_LOST = 100


@dataclass
class Entry:
    """A ticket on its way."""

    ticket: Ticket
    #: How often it was handed out.
    attempts: int = 0
    #: Workers that died of its tasks.
    deaths: int = 0
    #: Calls that raised or were late.
    faults: int = 0


@dataclass
class Failure:
    """Why a ticket has no value."""

    kind: str
    cause: str
    lines: list
    exception: BaseException


class Driver:
    """Runs a search on an engine.

    Args:
        search: The :class:`~luminary.Run`.
        engine: The :class:`~luminary.engines.Engine`.
        rows_per_task: "auto" or a number.
        in_flight: Tasks that are out at the same time; None for what suits the engine.
        time_limit: Seconds for each row; None for as long as it takes.
        retries: How often a ticket is tried again; None for twice if its worker died, and not otherwise.
        has_values: Whether there was a value before.
        give_up_after: Evaluations in a row without a value that end the run.
        on_failure: Called with the ticket and its :class:`Failure` when it happens.
        on_done: Called with the rows of a task, the seconds that it took and how many workers there are; None for nobody.
    """

    def __init__(
        self, search, engine, *, rows_per_task, in_flight, time_limit, retries, has_values, give_up_after, on_failure, on_done=None
    ):
        self.search = search
        self.engine = engine
        self.rows = RowsPerTask(rows_per_task)
        self.in_flight = in_flight
        self.time_limit = time_limit
        self.max_deaths = 2 if retries is None else retries
        self.max_faults = 0 if retries is None else retries
        self.on_failure = on_failure
        self.on_done = on_done
        self._patience = NativePatience(give_up_after)
        self.load = Load()
        self._id = uuid.uuid4().hex[:8]
        self._n_measures = search._native.measure_dim
        self._tasks = {}
        #: Tickets that were out when the run was saved, and those just asked for.
        self._waiting = collections.deque(Entry(ticket) for ticket in search.outstanding())
        #: Tickets that are tried again, alone: only then it is known whose fault it is.
        self._again = collections.deque()
        # Until a value comes, failures are kept back, each with how the search is told of it: they may be the function's fault.
        self._kept_back = None if has_values else []
        self._lost_in_a_row = 0

    def run(self, iterations, after_iteration, tick):
        """Goes on until so many iterations are done, or ``after_iteration`` returns a true value.

        Args:
            iterations: Iterations in all.
            after_iteration: Called without arguments after each.
            tick: Called without arguments a few times a second.

        Raises:
            EngineError: The machinery is gone.
            NoValuesError: Too many evaluations in a row have no value.
        """
        while self.search.iterations < iterations:
            self._hand_out()
            if not self._tasks:
                self._give_up()
            outcomes = self.engine.wait(_TICK)
            self.load.note_time(self.engine.slots())
            for outcome in outcomes:
                if self._take(outcome, iterations, after_iteration):
                    return
            tick()

    @property
    def n_rows_out(self):
        """Rows that workers have."""
        return sum(len(task.entries) for task in self._tasks.values())

    def _hand_out(self):
        free = self._capacity() - len(self._tasks)
        while free > 0 and self._again:
            self._submit([self._again.popleft()])
            free -= 1
        if free <= 0:
            return
        wanted = free * self.rows.size - len(self._waiting)
        if wanted > 0:
            self._waiting.extend(Entry(ticket) for ticket in self.search.ask_tickets(wanted))
        # What is left of an iteration is spread over all workers.
        share = min(self.rows.size, math.ceil(len(self._waiting) / free))
        while free > 0 and self._waiting:
            self._submit(self._next_of_a_kind(share))
            free -= 1

    def _capacity(self):
        """Tasks that may be out: as many as can be evaluated, and some that wait if they are short."""
        if self.in_flight is not None:
            return self.in_flight
        slots = self.engine.slots()
        # A cluster that grows with its work begins to when there is some.
        return max(1, slots * (1 + self._n_waiting()))

    def _n_waiting(self):
        """Tasks for each worker that wait, so that it need not wait for this loop."""
        seconds = self.rows.task_seconds
        # Time limits count from when a task is handed over, so it must not have to wait.
        if seconds is None or seconds > _LONG or self.time_limit is not None:
            return 0
        return min(_MAX_WAITING, math.ceil(_AHEAD / seconds))

    def _next_of_a_kind(self, n):
        entries = [self._waiting.popleft()]
        kind = entries[0].ticket.kind
        while self._waiting and len(entries) < n and self._waiting[0].ticket.kind == kind:
            entries.append(self._waiting.popleft())
        return entries

    def _submit(self, entries):
        for entry in entries:
            entry.attempts += 1
        first = entries[0]
        task = Task(
            key=f"luminary-{self._id}-{first.ticket.id}-{first.attempts}",
            kind=first.ticket.kind,
            solutions=np.stack([entry.ticket.solution for entry in entries]),
            seeds=np.array([entry.ticket.seed for entry in entries], dtype=np.uint64),
            seconds=None if self.time_limit is None else self._seconds_for(len(entries)),
            entries=entries,
        )
        self._tasks[task.key] = task
        self.engine.submit(task)

    def _seconds_for(self, n_rows):
        """How long a task may take: one row up to its limit, and the others ten times as long as rows usually do.

        Several rows that are late together are only tried again, each alone, so this may be tight.
        """
        usual = self.time_limit if self.rows.row_seconds is None else 10 * self.rows.row_seconds
        return self.time_limit + (n_rows - 1) * min(self.time_limit, usual)

    def _take(self, outcome, iterations, after_iteration):
        """Tells the search what became of a task; says whether the run is to end."""
        task = self._tasks.pop(outcome.key)
        before = self.search.iterations
        if isinstance(outcome, Done):
            self._lost_in_a_row = 0
            self.rows.note(len(task.entries), outcome.seconds)
            self.load.note_task(len(task.entries), outcome.seconds)
            if self.on_done is not None:
                self.on_done(len(task.entries), outcome.seconds, self.load.n_slots)
            rows = zip(task.entries, outcome.answers)
        else:
            self._note_loss(outcome)
            rows = [(entry, None) for entry in task.entries]
        for entry, answer in rows:
            if answer is None:
                told = self._without_answer(entry, outcome, is_alone=len(task.entries) == 1)
            elif isinstance(answer, Raised):
                told = self._raised(entry, answer)
            else:
                told = self._value(entry, answer)
            # Most results wait for others of their iteration.
            has_moved = told is not None and told.effect != "waits"
            if has_moved and self.search.iterations > before:
                before = self.search.iterations
                # In completion order a task may bring more rows than the budget has left; they wait for who goes on.
                if after_iteration() or before >= iterations:
                    return True
        return False

    def _value(self, entry, value):
        ticket = entry.ticket
        # Copies, because arrays that were sent may lie anywhere in memory.
        measures = np.array(value.measures)
        jacobian = np.array(value.jacobian) if ticket.kind == "gradient" else None
        extras = None if value.extras is None else np.array(value.extras)
        if measures.shape != (self._n_measures,):
            error = ShapeError(f"expected {self._n_measures} measures, found {measures.size}")
            return self._raised(entry, Raised.of(error))

        def tell():
            return self.search._tell_ticket(ticket.id, value.objective, measures, jacobian, extras)

        if not all(map(math.isfinite, [value.objective, *measures.tolist()])):
            cause = f"not finite: objective {value.objective}, measures {measures.tolist()}"
            return self._settle(entry, Failure("not finite", cause, [], None), tell)
        self._patience.note_value()
        kept_back, self._kept_back = self._kept_back, None
        for _, tell_of_failure in kept_back or []:
            tell_of_failure()
        return tell()

    def _raised(self, entry, raised):
        entry.faults += 1
        if entry.faults <= self.max_faults:
            self._again.append(entry)
            return None
        exception = raised.exception or RuntimeError(raised.cause)
        return self._settle(entry, Failure(raised.kind, raised.cause, raised.lines, exception))

    def _without_answer(self, entry, outcome, is_alone):
        if isinstance(outcome, Late):
            entry.faults += is_alone
            if is_alone and entry.faults > self.max_faults:
                error = TimeoutError(f"it took longer than {self.time_limit:g} s")
                return self._settle(entry, Failure("TimeoutError", str(error), [], error))
        else:
            entry.deaths += outcome.deaths
            # A worker that had other rows as well proves nothing about this one.
            if is_alone and outcome.deaths > 0 and entry.deaths > self.max_deaths:
                error = WorkerDied(outcome.cause)
                return self._settle(entry, Failure("WorkerDied", outcome.cause, [], error))
        self._again.append(entry)
        return None

    def _note_loss(self, outcome):
        is_lost = isinstance(outcome, Died) and outcome.deaths == 0
        self._lost_in_a_row = self._lost_in_a_row + 1 if is_lost else 0
        if self._lost_in_a_row > _MAX_LOST:
            raise EngineError(f"the {self.engine.name} loses one task after the other: {outcome.cause}")

    def _settle(self, entry, failure, tell=None):
        """Tells the search of a failure, once it is certain that not all fail; returns what became of it.

        Args:
            entry: Whose failure it is.
            failure: Why there is no value.
            tell: How the search is told, if it is to hear more than the kind of failure.
        """
        self.on_failure(entry.ticket, failure)
        tell = tell or functools.partial(self.search.fail, entry.ticket.id, failure.kind)
        told = None
        if self._kept_back is None:
            told = tell()
        else:
            self._kept_back.append((failure, tell))
        try:
            self._patience.note_failure(failure.cause)
        except NoValuesError as error:
            self._end_without_values(error)
        return told

    def _give_up(self):
        """Nothing is out and nothing can be handed out."""
        if not self._kept_back:
            raise RuntimeError("expected tickets to hand out, found none although the run is not done")
        failure, _ = self._kept_back[0]
        self._end_without_values(NativePatience.first_batch(len(self._kept_back), failure.cause))

    def _end_without_values(self, error):
        """Ends the run; if there was no value at all, the first failure is the exception's cause."""
        first = self._kept_back[0][0].exception if self._kept_back else None
        # A function of the wrong shape is a mistake in the program, which no other solution mends.
        if isinstance(first, ShapeError):
            raise first
        raise error from first
