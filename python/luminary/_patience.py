"""When a run ends because its function gives no values: that is the function's fault, not its solutions'."""

from __future__ import annotations


class NoValuesError(RuntimeError):
    """Evaluations bring no values any more. What was told before is saved, and the message says how to go on."""


class Patience:
    """Counts what has no value in a row.

    Args:
        give_up_after: How much of it ends a run; None for never.
    """

    def __init__(self, give_up_after):
        self.give_up_after = give_up_after
        self._n_in_a_row = 0
        self._first = None

    def note_value(self):
        """There was a value."""
        self._n_in_a_row = 0
        self._first = None

    def note_failure(self, cause):
        """There was none.

        Raises:
            NoValuesError: It was one too many.
        """
        self._n_in_a_row += 1
        self._first = self._first or cause
        if self.give_up_after is not None and self._n_in_a_row >= self.give_up_after:
            raise NoValuesError(
                f"{self._n_in_a_row} evaluations in a row have no value (give_up_after); the first: {self._first}"
            )
