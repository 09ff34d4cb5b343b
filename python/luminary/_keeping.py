"""Where a run is kept while it goes on: in a run folder, a checkpoint file, or nowhere."""

from __future__ import annotations

import contextlib
import json
import os

from luminary._native import NoValuesError
from luminary.engines._protocol import EngineError


#: Bytes at the end of a log that hold its last line.
_TAIL = 1 << 20


@contextlib.contextmanager
def kept(search, keeper, log, failures=(), advice=""):
    """Keeps a run however the work on it ends: nothing that was told is lost, also on Ctrl-C and on exceptions.

    Args:
        search: The run.
        keeper: Where it is kept.
        log: Its figures.
        failures: Exceptions of its evaluations, as far as they are known at the end.
        advice: What to look at where nothing had a value.

    Raises:
        EngineError: As the work did, with how to go on.
        NoValuesError: As the work did, with how to go on.
    """
    cause = None
    ended = None
    try:
        yield
    except Exception as error:
        cause = f"{type(error).__name__}: {error}"
        ended = error
        if not isinstance(error, (EngineError, NoValuesError)):
            raise
    finally:
        log.close()
        try:
            log.catch_up()
        finally:
            keeper.finish(search, log.seconds, cause)
    if ended is not None:
        mended = "a new engine" if isinstance(ended, EngineError) else "a function that gives values"
        first = ended.__cause__ or next(iter(failures), ended)
        advice = advice if isinstance(ended, NoValuesError) else ""
        raise type(ended)(f"{ended}; {advice}{keeper.how_to_go_on(search, mended)}") from first


class File:
    """Keeps a run in a checkpoint file, or nowhere."""

    native = None
    seconds_before = 0.0

    def __init__(self, path):
        self.path = path

    def append(self, search, seconds):
        """There is no log."""

    def is_logged(self, iteration):
        """There is no log, and so no line that it lacks."""
        return True

    def look(self, search, seconds):
        """Nobody can watch it, nor ask it to stop."""
        return False

    def keep_journal(self, search):
        """There is no journal."""

    def record_failure(self, search, ticket, failure):
        """There is no log of failures."""

    def has_values(self, search):
        """Whether there was a value before; if tickets are out, nobody knows of those that were told."""
        return search.evaluations > 0 or bool(search.outstanding())

    def note_task(self, n_rows, seconds, n_workers):
        """Nobody is told how long evaluations take."""

    def save(self, search, seconds):
        if self.path is not None:
            search.save(self.path)

    def finish(self, search, seconds, cause):
        self.save(search, seconds)

    def how_to_go_on(self, search, mended):
        """What somebody does once what was at fault is mended."""
        told = f"{search.evaluations:,} evaluations were told"
        if self.path is None:
            return f"{told}, and nothing is saved because neither run_folder nor checkpoint was given"
        return f"{told} and are saved in {self.path}: call luminary.run again with the same checkpoint and {mended}"


class Folder:
    """Keeps a run in a run folder."""

    def __init__(self, native, path, seconds_before=0.0):
        self.native, self.path, self.seconds_before = native, path, seconds_before

    def append(self, search, seconds):
        self.native.append(search._native, seconds)

    def is_logged(self, iteration):
        """Whether the log has the line of an iteration."""
        try:
            with open(self.path / "metrics.jsonl", "rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
                lines = file.read().splitlines()
            return bool(lines) and json.loads(lines[-1])["iteration"] >= iteration
        except (OSError, ValueError):
            # Whatever is wrong with the file, a second line would not mend it.
            return True

    def look(self, search, seconds):
        """Shows the run to whoever watches it, if it is time to; says whether somebody has asked it to stop."""
        return self.native.look(search._native, seconds)

    def keep_journal(self, search):
        """Writes every call about tickets down from now on, so that a kill costs only what was still out."""
        self.native.keep_journal(search._native)

    def record_failure(self, search, ticket, failure):
        """Writes down why a ticket has no value."""
        self.native.record_failure(
            search._native, ticket.id, ticket.seed, ticket.solution, failure.kind, failure.cause, failure.lines
        )

    def has_values(self, search):
        """Whether there was a value before."""
        return search.evaluations > 0 or self.native.has_values()

    def note_task(self, n_rows, seconds, n_workers):
        """Counts rows that took so many seconds together, for those who look at the run."""
        self.native.note_task(n_rows, seconds, n_workers)

    def save(self, search, seconds):
        self.native.checkpoint(search._native, seconds)

    def finish(self, search, seconds, cause):
        self.native.finish(search._native, seconds, cause)

    def how_to_go_on(self, search, mended):
        """What somebody does once what was at fault is mended."""
        return (
            f"{search.evaluations:,} evaluations and what was told since are saved in {self.path}: call luminary.run again "
            f"with the same run_folder and {mended}"
        )


class ProgramFolder(Folder):
    """Keeps a run of a program, with which others than Python can go on as well."""

    def how_to_go_on(self, search, mended):
        return (
            f"{search.evaluations:,} evaluations and what was told since are saved: continue with `luminary resume {self.path}`, "
            f"or on an engine with `python -m luminary resume {self.path} --engine ...`"
        )


class Saving:
    """Saves a run after so many iterations, if that is wanted, and after so many seconds."""

    def __init__(self, search, keeper, log, iterations, checkpoint_every, checkpoint_seconds):
        self.search, self.keeper, self.log, self.iterations = search, keeper, log, iterations
        self.checkpoint_every, self.checkpoint_seconds = checkpoint_every, checkpoint_seconds
        self.saved = log.seconds
        self.before = search.iterations

    def after_iteration(self):
        """An iteration has ended."""
        # Where gradients are estimated, an iteration may count for several.
        every = self.checkpoint_every
        is_due = every is not None and self.search.iterations // every > self.before // every
        self.before = self.search.iterations
        self._save_if(is_due or self._is_time())

    def tick(self):
        """Some time has passed, perhaps in the middle of an iteration."""
        self._save_if(self._is_time())

    def _is_time(self):
        return self.log.seconds - self.saved >= self.checkpoint_seconds

    def _save_if(self, is_due):
        if is_due and self.search.iterations < self.iterations:
            self.saved = self.log.seconds
            self.keeper.save(self.search, self.log.seconds)
