"""The figures of a run: kept, written to its folder and shown."""

from __future__ import annotations

import sys
import time
import warnings


class Log:
    """Figures of a run: kept, written to the run folder and shown."""

    def __init__(self, search, iterations, progress, keeper, every, loggers=()):
        self.search, self.iterations, self.progress, self.every = search, iterations, progress, every
        self.keeper = keeper
        self.loggers = loggers
        #: Loggers that have raised, of which was told.
        self._warned = set()
        self.rows = []
        self.before = search.iterations
        self.start = self.shown = time.monotonic()
        #: Says more than the figures do, such as how busy an engine is.
        self.more = lambda: ""

    @property
    def seconds(self):
        """Time spent on the run, of all processes."""
        return self.keeper.seconds_before + time.monotonic() - self.start

    def row(self, seconds):
        """The figures now."""
        stats = self.search.stats
        failures = self.search.failures
        row = {
            "iteration": self.search.iterations,
            "evaluations": self.search.evaluations,
            "seconds": seconds,
            "qd_score": stats.norm_qd_score,
            "qd_score_sum": stats.qd_score,
            "coverage": stats.coverage,
            "elites": stats.num_elites,
            "best": stats.obj_max,
            "mean": stats.obj_mean,
            "restarts": self.search.restarts,
            "invalid": self.search.invalid,
        }
        return {**row, "failures": failures} if failures else row

    def say(self, words):
        """Says something that is not a figure, where progress is shown."""
        if self.progress:
            print(words, file=sys.stderr)

    def note(self):
        """An iteration has ended."""
        done = self.search.iterations
        is_last = done >= self.iterations
        if self._is_due(done):
            seconds = self.seconds
            row = self.row(seconds)
            self.rows.append(row)
            self.keeper.append(self.search, seconds)
            for logger in self.loggers:
                self._log(logger, row)
        # An interrupt may come before this: see `catch_up`.
        self.before = done
        if self.progress and (time.monotonic() - self.shown > 0.1 or is_last):
            self._show()

    def _is_due(self, done):
        # Where gradients are estimated, an iteration may count for several.
        return done // self.every > self.before // self.every or done >= self.iterations

    def catch_up(self):
        """The run ends: the line of its last iteration is written, if an interrupt came before it was."""
        done = self.search.iterations
        if done > self.before and self._is_due(done) and not self.keeper.is_logged(done):
            self.keeper.append(self.search, self.seconds)

    def _log(self, logger, row):
        """Calls a logger. One that raises does not end the run: evaluations are worth more than a server that is away."""
        try:
            logger(row)
        except Exception as error:
            if id(logger) not in self._warned:
                self._warned.add(id(logger))
                warnings.warn(_logger_words(logger, error), RuntimeWarning, stacklevel=2)

    def tick(self):
        """Some time has passed, perhaps in the middle of an iteration."""
        if self.progress and time.monotonic() - self.shown > 1.0:
            self._show()

    def _show(self):
        self.shown = time.monotonic()
        stats, done = self.search.stats, self.search.iterations
        share = min(1.0, done / max(1, self.iterations))
        bar = "#" * int(30 * share)
        best = "-" if stats.obj_max is None else f"{stats.obj_max:.6g}"
        line = (
            f"\r[{bar:<30}] {done}/{self.iterations}  QD score {stats.norm_qd_score:.4g}  "
            f"coverage {100 * stats.coverage:.1f} %  best {best}  {self.more()} "
        )
        print(line, end="", file=sys.stderr, flush=True)

    def close(self):
        """Ends the line of progress."""
        if self.progress:
            print(file=sys.stderr)


def close_all(loggers):
    """Ends what loggers have begun; functions have nothing to end."""
    for logger in loggers:
        try:
            if hasattr(logger, "close"):
                logger.close()
        except Exception as error:
            warnings.warn(_logger_words(logger, error), RuntimeWarning, stacklevel=2)


def _logger_words(logger, error):
    name = getattr(logger, "__name__", type(logger).__name__)
    return f"the logger {name} raised {type(error).__name__}: {error}; the run goes on without what it was told"
