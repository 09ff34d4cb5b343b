"""How many rows a task has: as many as take about a tenth of a second, or as many as the caller says."""

from __future__ import annotations

#: Seconds that a task should take: long beside what it costs to send one, short beside the patience of whoever waits.
_SECONDS = 0.1

#: Rows of a task at most.
_MOST = 10_000

#: Weight of the newest task in the mean duration of a row.
_NEWEST = 0.3


class RowsPerTask:
    """Follows the duration of rows.

    Args:
        setting: "auto", or a number that stays as it is.

    Example:
        >>> rows = RowsPerTask("auto")
        >>> for _ in range(8):
        ...     rows.note(rows.size, 0.001 * rows.size)
        >>> rows.size
        100
    """

    def __init__(self, setting):
        is_number = isinstance(setting, int) and not isinstance(setting, bool) and setting >= 1
        if setting != "auto" and not is_number:
            raise ValueError(f'rows_per_task: expected "auto" or an integer >= 1, found {setting!r}')
        self._is_fixed = is_number
        self.size = setting if is_number else 1
        #: Mean seconds of a row; None before the first.
        self.row_seconds = None

    @property
    def task_seconds(self):
        """Seconds that a task takes; None if nobody knows yet."""
        return None if self.row_seconds is None else self.row_seconds * self.size

    def note(self, n_rows, seconds):
        """A task of so many rows has taken so many seconds."""
        row_seconds = max(seconds, 1e-9) / n_rows
        mean = self.row_seconds
        self.row_seconds = row_seconds if mean is None else mean + _NEWEST * (row_seconds - mean)
        if not self._is_fixed:
            fitting = round(_SECONDS / self.row_seconds)
            # Doubling keeps a few quick rows at the start from making one enormous task.
            self.size = max(1, min(fitting, 2 * self.size, _MOST))
