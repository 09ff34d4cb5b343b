"""A run on an engine: its driver, what becomes of failures, and what progress shows."""

from __future__ import annotations

from dataclasses import dataclass

from luminary.engines._driver import Driver
from luminary.engines._protocol import Engine
from luminary.engines._rows_per_task import RowsPerTask
from luminary.engines._work import Job


class WorkerTraceback(Exception):
    """The traceback of an exception where it was raised; the cause of the exception here."""

    def __init__(self, lines):
        self.text = "\n".join(lines)
        super().__init__(self.text)

    def __str__(self):
        return f"\n{self.text}"


class Rejecting:
    """What becomes of exceptions where only counts are wanted."""

    on_error = "reject"

    def note(self, error):
        """The run folder has it."""


def rows_out(engine, rows_per_task, in_flight):
    """How many rows are out at the same time, as far as it is known before a run; rows of automatic tasks count as one."""
    n_tasks = engine.slots() if in_flight is None else in_flight
    return n_tasks * (1 if rows_per_task == "auto" else rows_per_task)


def over_issue_words(n_rows_out, over_issue):
    """Says that an over-issue was chosen, and why."""
    return (
        f"{n_rows_out} rows out at the same time are many for these emitters: they draw {over_issue:.4g} times the rows that they "
        "learn from (over_issue)"
    )


@dataclass
class OnEngine:
    """How the solutions of a run are evaluated elsewhere; the fields are arguments of :func:`luminary.run`."""

    engine: Engine
    job: Job
    rows_per_task: int | str
    in_flight: int | None
    time_limit: float | None
    retries: int | None
    give_up_after: int

    def __post_init__(self):
        # Said before anything begins.
        RowsPerTask(self.rows_per_task)

    def rows_out(self):
        """How many rows are out at the same time; see :func:`rows_out`."""
        return rows_out(self.engine, self.rows_per_task, self.in_flight)

    def run(self, search, evaluator, keeper, log, iterations, after_iteration, tick):
        """Goes on with a search until so many iterations are done."""
        engine = self.engine

        def on_failure(ticket, failure):
            keeper.record_failure(search, ticket, failure)
            if failure.exception is None:
                return
            if evaluator.on_error == "raise":
                raise failure.exception from (WorkerTraceback(failure.lines) if failure.lines else None)
            evaluator.note(failure.exception)

        def on_tick():
            log.tick()
            tick()

        try:
            if search.iterations >= iterations:
                return
            engine.start(self.job)
            keeper.keep_journal(search)
            driver = Driver(
                search,
                engine,
                rows_per_task=self.rows_per_task,
                in_flight=self.in_flight,
                time_limit=self.time_limit,
                retries=self.retries,
                has_values=keeper.has_values(search),
                give_up_after=self.give_up_after,
                on_failure=on_failure,
                on_done=keeper.note_task,
            )
            log.more = lambda: driver.load.words(driver.n_rows_out, search.failures)
            driver.run(iterations, after_iteration, on_tick)
        finally:
            engine.close()
