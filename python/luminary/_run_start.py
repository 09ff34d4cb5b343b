"""How a run begins or is resumed: from arguments, a checkpoint file or a run folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from luminary._keeping import File, Folder
from luminary._native import NativeFolder
from luminary._search import Run, native_run

#: Iterations where neither these nor evaluations are given.
_ITERATIONS = 1000

#: Settings that do not say which run it is: how long it goes on, how it is kept, and what a stored run cannot say itself.
_NOT_OF_THE_RUN = ("goal", "threads", "evaluations", "budget", "checkpoint_seconds", "checkpoint_iterations")


class Plan:
    """How long a run is to be, and when it is saved."""

    def __init__(self, iterations, checkpoint_every, settings):
        wanted = next((settings[name] for name in ("evaluations", "budget") if settings.get(name) is not None), None)
        # A budget beside iterations is what the learning rate is derived from, for a run that will be made longer.
        is_rate_only = iterations is not None and settings.get("budget") is not None
        self.iterations = _ITERATIONS if iterations is None and wanted is None else iterations
        self.budget = {"iterations": None if is_rate_only else self.iterations}
        iterations_between = checkpoint_every or settings.get("checkpoint_iterations")
        self.checkpoint_every = 100 if iterations_between is None else iterations_between
        seconds = settings.get("checkpoint_seconds")
        self.checkpoint_seconds = 60.0 if seconds is None else seconds

    def iterations_of(self, search):
        """Iterations of a run that was built as planned."""
        return search._native.planned_iterations if self.iterations is None else self.iterations


@dataclass
class Start:
    """How to begin a run that is not resumed."""

    named: dict
    settings: dict
    gradients: object
    #: Says how many rows will be out at the same time; None without an engine.
    rows_out: Callable[[], int] | None = None
    #: The over-issue that was chosen because nobody has given one, after the number of rows that it was chosen for.
    chosen: tuple[int, float] | None = None

    def __call__(self):
        search = Run(**self.named, **self.settings)
        check_gradients(search, self.gradients)
        is_to_choose = search.over_issue is not None and self.settings.get("over_issue") is None
        if self.rows_out is None or not is_to_choose:
            return search
        n_rows = self.rows_out()
        over_issue = search._native.over_issue_for(n_rows)
        if over_issue is None:
            return search
        self.chosen = (n_rows, over_issue)
        return Run(**self.named, **{**self.settings, "over_issue": over_issue})

    @property
    def goal(self):
        """What is better, as the call says."""
        return self.settings.get("goal") or "maximise"

    def to_compare(self, seed, over_issue):
        """The engine's run that the arguments describe, before it begins; None if they leave all to the stored one.

        Args:
            seed: That of the stored run, for arguments without one.
            over_issue: The same; it may have been chosen for a number of workers that are no longer there.
        """
        given = {name: value for name, value in self.settings.items() if value is not None}
        if self.named["solution_dim"] is None and self.named["ranges"] is None:
            describes = [name for name in given if name not in _NOT_OF_THE_RUN]
            if describes or self.named["algorithm"] is not None or self.named["seed"] not in (0, None):
                raise ValueError(
                    "a stored run goes on with its own settings: give solution_dim and ranges as well, so that they can be "
                    "compared, or no settings at all"
                )
            return None
        named = {**self.named, "seed": seed if self.named["seed"] is None else self.named["seed"]}
        if given.get("order") == "completion" and over_issue is not None:
            given.setdefault("over_issue", over_issue)
        return native_run(**named, **given)


def check_gradients(search, gradients):
    if search.needs_gradients and gradients is None:
        raise ValueError("the algorithm needs gradients: pass a function as `gradients`")


def with_file(path, start, plan):
    """A run, resumed from a checkpoint file if there is one, what keeps it, and its iterations."""
    if path is None or not Path(path).exists():
        search = start()
        return search, File(path), plan.iterations_of(search)
    iterations = plan.iterations_of(start()) if plan.iterations is None else plan.iterations
    search = Run.load(path, goal=start.goal)
    asked = start.to_compare(search._native.seed, search.over_issue)
    differences = search._native.differences(asked) if asked is not None else []
    if differences:
        lines = "".join(f"\n  {line}" for line in differences)
        raise ValueError(f"{path} belongs to another run than the one asked for, and cannot go on as it:{lines}")
    return search, File(path), iterations


def in_folder(path, start, plan, metrics_every):
    """A run, resumed from a run folder if it holds one, what keeps it, and its iterations."""
    if (path / "manifest.json").exists():
        iterations = plan.iterations_of(start()) if plan.iterations is None else plan.iterations
        asked = start.to_compare(NativeFolder.seed_of(path), NativeFolder.over_issue_of(path))
        native, restored, seconds = NativeFolder.open(path, iterations, asked)
        return Run._of(restored, restored.goal), Folder(native, path, seconds), iterations
    search = start()
    iterations = plan.iterations_of(search)
    native = NativeFolder.create(path, search._native, iterations, metrics_every, plan.checkpoint_every)
    return search, Folder(native, path), iterations
