"""The line of progress: drawn over again and again in a terminal, and written now and then to anything else."""

from __future__ import annotations

import sys
import time

#: Seconds between two drawings after iterations, and in the middle of one.
_AFTER_ITERATIONS, _IN_BETWEEN = 0.1, 1.0
#: Seconds between two lines of a log, which has one for every tenth of the run as well.
_OF_A_LOG = 60.0


class ProgressLine:
    """Where progress is shown: standard error.

    Args:
        iterations: Iterations in all.
        before: Those that were done before.
    """

    def __init__(self, iterations, before):
        self._iterations = max(1, iterations)
        self._is_terminal = sys.stderr.isatty()
        self._tenth = self._tenth_of(before)
        self._shown = time.monotonic()
        self._is_open = False

    def is_due(self, done):
        """Whether to show a line after so many iterations."""
        if done >= self._iterations:
            return True
        if self._is_terminal:
            return self._has_waited(_AFTER_ITERATIONS)
        return self._tenth_of(done) > self._tenth or self._has_waited(_OF_A_LOG)

    def is_due_in_between(self):
        """Whether to show a line in the middle of an iteration."""
        return self._has_waited(_IN_BETWEEN if self._is_terminal else _OF_A_LOG)

    def show(self, done, words):
        """Shows how many iterations are done, and more."""
        self._shown = time.monotonic()
        self._tenth = self._tenth_of(done)
        bar = "#" * int(30 * min(1.0, done / self._iterations))
        line = f"[{bar:<30}] {done}/{self._iterations}  {words}"
        # What is left of a longer line is cleared.
        print(f"\r{line}\033[K" if self._is_terminal else line, end="" if self._is_terminal else "\n", file=sys.stderr, flush=True)
        self._is_open = self._is_terminal

    def say(self, words):
        """Says something that is not progress."""
        self.close()
        print(words, file=sys.stderr)

    def close(self):
        """Ends a line that is drawn."""
        if self._is_open:
            print(file=sys.stderr)
        self._is_open = False

    def _has_waited(self, seconds):
        return time.monotonic() - self._shown >= seconds

    def _tenth_of(self, done):
        return 10 * done // self._iterations
