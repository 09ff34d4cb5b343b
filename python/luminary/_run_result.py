"""What a run in one call returns: its archive, its figures, and its elites one by one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from luminary._elite import drawn, evaluated_again, one_elite
from luminary._notebook import Shown

if TYPE_CHECKING:
    from luminary._evaluator import Evaluator
    from luminary._search import Run
    from luminary.archives._archive_base import ArchiveBase


@dataclass(repr=False)
class RunResult(Shown):
    """What :func:`luminary.run` returns."""

    #: The elitist archive of everything evaluated, with objectives as they were returned.
    archive: ArchiveBase
    #: The run itself, to look at or to go on with.
    run: Run
    #: Figures after each logged iteration: dicts with iteration, evaluations, seconds, qd_score, coverage, ...
    metrics: list
    #: Exceptions of failed evaluations, at most the first ten.
    failures: list
    _evaluator: Evaluator | None = field(default=None, repr=False)

    @property
    def best(self):
        """The best elite as a dict."""
        return self.archive.best_elite

    def _facts(self):
        failed = {"failed evaluations": f"{self.run.invalid:,}"} if self.run.invalid else {}
        return {**self.run._facts(), **failed}

    def _shown_archive(self):
        return self.archive

    def elite(self, *, cell=None, measures=None):
        """An elite as a dict: that of a cell, that at measures, or the best.

        Args:
            cell: Its cell: the index, or the interval along each measure.
            measures: Measures in its cell.

        Raises:
            ValueError: There is no such elite.
        """
        return one_elite(self.archive, cell, measures)

    def replay(self, *, cell=None, measures=None):
        """Evaluates an elite again with the function of the run; which one is chosen as in :meth:`elite`.

        A function that takes a ``seed`` is given the one that the elite had.

        Returns:
            A dict with ``objective``, ``measures``, ``repeats`` (whether both are as they were, to the bit) and ``seed``: that
            of the elite, or None where it is not known (in completion order, and where solutions were injected).

        Raises:
            RuntimeError: The evaluation failed.
            ValueError: There is no such elite.
        """
        elite = self.elite(cell=cell, measures=measures)
        return evaluated_again(self._evaluator, elite, self.run._native.seed_of_elite(int(elite["index"])))

    def render(self, path, draw, *, cell=None, measures=None):
        """Draws an elite into a file: a picture, an animation, a text; which one is chosen as in :meth:`elite`.

        Args:
            path: The file, which is whole afterwards, or as it was.
            draw: A function, called with the elite (a dict) and the path of a file to write; or a program and its arguments,
                as ``[render]`` has them in a configuration: see :func:`luminary.render`.
            cell: As in :meth:`elite`.
            measures: As in :meth:`elite`.

        Returns:
            The path.

        Raises:
            OSError: The file cannot be written.
            RuntimeError: Nothing was drawn.
            ValueError: There is no such elite.
        """
        return drawn(self.run, self.elite(cell=cell, measures=measures), path, draw)
