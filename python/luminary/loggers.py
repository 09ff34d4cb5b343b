"""Where the figures of a run go while it goes on: Weights & Biases, MLflow, TensorBoard, or any function.

A logger is called with a row of figures, as :attr:`luminary.RunResult.metrics` has them: a dict with iteration, evaluations,
seconds, qd_score, coverage, best, and more. So any function of one argument is one, and those of this module can be called
in loops of your own. :func:`luminary.run` calls the loggers that it is given after every ``metrics_every`` iterations, and
their ``close`` when the run has ended, if they have it.

Example:
    >>> import numpy as np
    >>> import luminary
    >>> def evaluate(solutions):
    ...     return -np.sum(np.square(solutions), axis=1), solutions[:, :2]
    >>> rows = []
    >>> result = luminary.run(
    ...     evaluate, solution_dim=5, ranges=[(-1, 1)] * 2, iterations=20, min_f=-5, loggers=[rows.append]
    ... )
    >>> [row["iteration"] for row in rows]
    [10, 20]
"""

from __future__ import annotations

import numbers

from luminary._native import NativeEvents
from luminary._optional import needed_by

__all__ = ["TensorBoardLogger", "WandbLogger", "MlflowLogger"]


class TensorBoardLogger:
    """Writes figures to an event file for TensorBoard, which need not be installed.

    Args:
        folder: The folder; each logger begins a file of its own in it. ``tensorboard --logdir`` is pointed at it or at a
            folder above.

    Raises:
        OSError: The folder cannot be written.
    """

    def __init__(self, folder):
        self._native = NativeEvents(folder)

    def __call__(self, row):
        step, figures = _step_and_figures(row)
        self._native.scalars(step, list(figures.items()))

    def close(self):
        """Everything is written already."""


class WandbLogger:
    """Logs figures to a run of Weights & Biases.

    Args:
        run: A run that ``wandb.init`` has returned, which stays open; or None, to begin one that ends with the logger.
        options: Arguments of ``wandb.init``, such as ``project``, ``config`` or ``mode="offline"``.

    Raises:
        ImportError: The package wandb is not installed.
    """

    def __init__(self, run=None, **options):
        with needed_by("WandbLogger", "wandb"):
            import wandb
        if run is not None and options:
            raise ValueError(f"expected a run or options for a new one, found a run and {', '.join(options)}")
        self._is_own = run is None
        self.run = wandb.init(**options) if run is None else run

    def __call__(self, row):
        step, figures = _step_and_figures(row)
        self.run.log({"iteration": step, **figures}, step=step)

    def close(self):
        """Ends the run if the logger has begun it."""
        if self._is_own:
            self.run.finish()


class MlflowLogger:
    """Logs figures to a run of MLflow.

    Args:
        run_id: The id of a run, which stays as it is; or None, to begin one that ends with the logger.
        tracking_uri: Where runs are kept; where ``mlflow.set_tracking_uri`` says by default.
        experiment: Name of the experiment of a new run; "luminary" by default. It is made if it is not there.
        params: Parameters of a new run, such as the settings.

    Raises:
        ImportError: The package mlflow (or mlflow-skinny) is not installed.
    """

    def __init__(self, run_id=None, *, tracking_uri=None, experiment="luminary", params=None):
        with needed_by("MlflowLogger", "mlflow"):
            from mlflow import MlflowClient
        self._client = MlflowClient(tracking_uri)
        self._is_own = run_id is None
        if run_id is None:
            found = self._client.get_experiment_by_name(experiment)
            experiment_id = self._client.create_experiment(experiment) if found is None else found.experiment_id
            run_id = self._client.create_run(experiment_id).info.run_id
            for name, value in (params or {}).items():
                self._client.log_param(run_id, name, value)
        self.run_id = run_id

    def __call__(self, row):
        step, figures = _step_and_figures(row)
        for name, value in figures.items():
            self._client.log_metric(self.run_id, name, value, step=step)

    def close(self):
        """Ends the run if the logger has begun it."""
        if self._is_own:
            self._client.set_terminated(self.run_id)


def _step_and_figures(row):
    """The iteration of a row and its other numbers by name; failures by cause become one name each."""
    named = {name: value for name, value in row.items() if name not in ("iteration", "failures")}
    named.update({f"failures/{cause}": count for cause, count in row.get("failures", {}).items()})
    figures = {name: float(value) for name, value in named.items() if isinstance(value, numbers.Real)}
    return int(row["iteration"]), figures
