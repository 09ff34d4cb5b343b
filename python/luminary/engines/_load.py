"""How busy an engine is: evaluations per second, and the share of time that its workers wait."""

from __future__ import annotations

import time


class Load:
    """Counts what workers do.

    Args:
        clock: Says the seconds; another one for tests.

    Example:
        >>> times = iter([0.0, 1.0, 2.0])
        >>> load = Load(clock=lambda: next(times))
        >>> load.note_time(4)
        >>> load.note_task(10, 3.0)
        >>> load.note_time(4)
        >>> load.n_rows, load.idle_share, load.rows_per_second
        (10, 0.625, 5.0)
    """

    def __init__(self, clock=time.monotonic):
        self._clock = clock
        self._before = clock()
        #: Workers when they were last counted.
        self.n_slots = 0
        #: Rows evaluated.
        self.n_rows = 0
        self._seconds = 0.0
        self._busy = 0.0
        self._offered = 0.0

    def note_time(self, n_slots):
        """There were so many workers until now."""
        now = self._clock()
        elapsed = now - self._before
        self._before = now
        self._seconds += elapsed
        self._offered += elapsed * n_slots
        self.n_slots = n_slots

    def note_task(self, n_rows, seconds):
        """A worker was busy with so many rows for so many seconds."""
        self.n_rows += n_rows
        self._busy += seconds

    @property
    def idle_share(self):
        """The share of the workers' time in which they had nothing to do."""
        return 0.0 if self._offered == 0 else max(0.0, 1.0 - self._busy / self._offered)

    @property
    def rows_per_second(self):
        """Rows evaluated per second, by all workers."""
        return 0.0 if self._seconds == 0 else self.n_rows / self._seconds

    def words(self, n_rows_out, failures):
        """A line about it, with the rows that are out and the failures by cause."""
        per_worker = self.rows_per_second / max(1, self.n_slots)
        words = (
            f"{self.n_slots} workers, {n_rows_out} rows out, idle {100 * self.idle_share:.0f} %, "
            f"{self.rows_per_second:,.4g}/s ({per_worker:,.3g} each)"
        )
        failed = ", ".join(f"{cause} {count:,}" for cause, count in failures.items())
        return f"{words}, failed: {failed}" if failed else words
