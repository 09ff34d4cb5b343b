"""A whole run in one call: presets by name, parallel evaluation, progress, checkpoints and run folders."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from luminary._native import NativeRun
from luminary._native import presets as _native_presets
from luminary._seed import native_seed
from luminary._validate import as_native
from luminary.archives._archive_stats import ArchiveStats
from luminary.archives._grid_archive import GridArchive

_CHECKPOINT = "checkpoint.ckpt"


def presets() -> dict[str, str]:
    """Names of the algorithms that :func:`run` knows, with a line about each.

    Example:
        >>> "cma_mae" in presets()
        True
    """
    return {name: description for name, description, _ in _native_presets()}


class Run:
    """A run of a named algorithm: the engine's scheduler with its archives, to be asked and told.

    Args:
        algorithm: Name of a preset; see :func:`presets`.
        solution_dim: Components of a solution.
        ranges: Lower and upper bound of each measure.
        seed: Seed of everything random; the same seed gives the same run.
        settings: ``dims`` (intervals of each measure), ``sigma0``, ``x0``, ``n_emitters``, ``batch_size`` (solutions of
            each emitter), ``learning_rate``, ``threshold_min``, ``budget`` (evaluations to come, from which the learning
            rate is derived), ``variant`` ("standard" or "published"), ``line_sigma``, ``lr`` (of gradient algorithms).

    Example:
        >>> run = Run("cma_mae", solution_dim=5, ranges=[(-1, 1), (-1, 1)], dims=[20, 20], threshold_min=-10, seed=1)
        >>> for _ in range(5):
        ...     solutions = run.ask()
        ...     run.tell(-np.sum(np.square(solutions), axis=1), solutions[:, :2])
        >>> run.iterations, run.evaluations
        (5, 2700)
    """

    def __init__(self, algorithm="cma_mae", *, solution_dim, ranges, seed=0, **settings):
        ranges = [(float(lower), float(upper)) for lower, upper in ranges]
        settings = {name: _plain(value) for name, value in settings.items() if value is not None}
        settings["seed"] = int(seed) if isinstance(seed, (int, np.integer)) and seed >= 0 else native_seed(seed)
        self._native = NativeRun(algorithm, int(solution_dim), ranges, settings)

    @classmethod
    def load(cls, path):
        """Restores a run from a checkpoint file; it goes on bit by bit as the saved one would have."""
        run = cls.__new__(cls)
        run._native = NativeRun.from_checkpoint(Path(path).read_bytes())
        return run

    def save(self, path):
        """Writes a checkpoint, whole or not at all: to a temporary file first, which then takes the name."""
        path = Path(path)
        temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        try:
            with open(temporary, "wb") as file:
                file.write(self._native.to_checkpoint())
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)

    def ask(self):
        """Solutions to evaluate next, one in each row. Those not yet told are returned again."""
        return self._native.ask()

    def tell(self, objective, measures):
        """Takes the results of the solutions last asked for. Rows that are not finite are rejected and counted.

        Raises:
            RuntimeError: Another call is due.
            ValueError: A wrong shape.
        """
        self._native.tell(as_native(objective), as_native(measures))

    def ask_dqd(self):
        """Solutions whose gradients are wanted next."""
        return self._native.ask_dqd()

    def tell_dqd(self, objective, measures, jacobian):
        """Takes results and gradients of the solutions last asked for by :meth:`ask_dqd`."""
        self._native.tell_dqd(as_native(objective), as_native(measures), as_native(jacobian))

    @property
    def needs_gradients(self):
        """Whether the next iteration starts with :meth:`ask_dqd`."""
        return self._native.needs_gradients

    @property
    def iterations(self):
        """Iterations told."""
        return self._native.iterations

    @property
    def evaluations(self):
        """Evaluations told; an initial population does not count."""
        return self._native.evaluations

    @property
    def invalid(self):
        """Rows whose objective or measures were not finite."""
        return self._native.n_invalid

    @property
    def restarts(self):
        """Restarts of all emitters."""
        return self._native.restarts

    @property
    def stats(self):
        """Statistics of the result archive."""
        return ArchiveStats(*self._native.stats())

    @property
    def archive(self):
        """A copy of the archive the emitters search, a :class:`~luminary.archives.GridArchive`."""
        return self._as_archive(self._native.archive(), is_result=False)

    @property
    def result_archive(self):
        """A copy of the elitist archive of everything told: what a run is judged by."""
        return self._as_archive(self._native.result_archive(), is_result=True)

    def _as_archive(self, native, is_result):
        solution_dim, dims, ranges, learning_rate, threshold_min = self._native.shape()
        soft = {} if is_result or threshold_min == -np.inf else {
            "learning_rate": learning_rate,
            "threshold_min": threshold_min,
        }
        archive = GridArchive(solution_dim=solution_dim, dims=dims, ranges=ranges, **soft)
        archive._native = native
        return archive


@dataclass
class RunResult:
    """What :func:`run` returns."""

    #: The elitist archive of everything evaluated.
    archive: GridArchive
    #: The run itself, to look at or to go on with.
    run: Run
    #: Figures after each logged iteration: dicts with iteration, evaluations, seconds, qd_score, coverage, ...
    metrics: list
    #: Exceptions of failed evaluations, at most the first ten.
    failures: list

    @property
    def best(self):
        """The best elite as a dict."""
        return self.archive.best_elite


def run(
    evaluate,
    *,
    solution_dim=None,
    ranges=None,
    iterations=1000,
    algorithm="cma_mae",
    seed=0,
    vectorized=None,
    executor=None,
    gradients=None,
    on_error="reject",
    progress=False,
    callback=None,
    checkpoint=None,
    checkpoint_every=100,
    run_folder=None,
    metrics_every=10,
    **settings,
):
    """Runs a named algorithm on a function.

    Args:
        evaluate: Takes an array of solutions (one in each row) and returns objectives and measures; or, if not
            ``vectorized``, takes one solution and returns its objective and measures. Objectives are maximised.
        solution_dim: Components of a solution. Not needed when a checkpoint is resumed.
        ranges: Lower and upper bound of each measure.
        iterations: Iterations in all, those of a resumed checkpoint included.
        algorithm: Name of a preset; see :func:`presets`.
        seed: Seed of everything random.
        vectorized: Whether ``evaluate`` takes many solutions; True without and False with an executor by default.
        executor: Any ``concurrent.futures`` executor, to evaluate solutions in parallel.
        gradients: For algorithms with gradients: takes an array of solutions and returns objectives, measures and
            Jacobians (n, 1 + measures, solution_dim).
        on_error: "reject" turns an exception in ``evaluate`` into a row that is rejected and counted (without an executor
            and vectorized: all rows of the batch); "raise" lets it out.
        progress: Whether to show a line of progress on standard error.
        callback: Called with the :class:`Run` after each iteration; returning True ends the run.
        checkpoint: File to save to, and to resume from if it exists. Ctrl-C saves it too.
        checkpoint_every: Iterations between checkpoints.
        run_folder: Folder for manifest, metrics log, checkpoint, archives and summary.
        metrics_every: Iterations between lines of the metrics log.
        settings: More settings of the algorithm; see :class:`Run`.

    Returns:
        A :class:`RunResult`.

    Raises:
        ValueError: Unknown algorithm or settings, or results of the wrong shape.

    Example:
        >>> def evaluate(solutions):
        ...     return 10 - np.sum(np.square(solutions), axis=1), solutions[:, :2]
        >>> result = run(evaluate, solution_dim=5, ranges=[(-2, 2), (-2, 2)], iterations=20, dims=[20, 20], seed=1)
        >>> result.archive.stats.num_elites > 50
        True
    """
    if on_error not in ("reject", "raise"):
        raise ValueError(f"on_error must be 'reject' or 'raise', but it is {on_error!r}")
    folder = None if run_folder is None else Path(run_folder)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        checkpoint = folder / _CHECKPOINT if checkpoint is None else checkpoint
    search = _start(checkpoint, algorithm, solution_dim, ranges, seed, settings)
    if search.needs_gradients and gradients is None:
        raise ValueError(f"{algorithm} needs gradients: pass a function as `gradients`")
    evaluator = _Evaluator(evaluate, executor, vectorized, on_error)
    log = _Log(search, iterations, progress, folder, metrics_every)
    if folder is not None:
        named = {"algorithm": algorithm, "seed": str(seed), "iterations": iterations}
        _write_json(folder / "manifest.json", {**named, "settings": {name: repr(value) for name, value in settings.items()}})
    try:
        while search.iterations < iterations:
            before = search.iterations
            _iterate(search, evaluator, gradients)
            if search.iterations == before:
                continue
            log.note()
            if checkpoint is not None and search.iterations % checkpoint_every == 0:
                search.save(checkpoint)
            if callback is not None and callback(search):
                break
    finally:
        # Also on Ctrl-C and on exceptions: nothing that was told is lost.
        log.close()
        if checkpoint is not None:
            search.save(checkpoint)
    result = RunResult(search.result_archive, search, log.rows, evaluator.failures)
    if folder is not None:
        _write_archives(folder, search)
        _write_json(folder / "summary.json", {"status": "finished", **log.row()})
    return result


def minimize(evaluate, **options):
    """As :func:`run`, for objectives to be minimised: the archive holds their negatives.

    Example:
        >>> def evaluate(solutions):
        ...     return np.sum(np.square(solutions), axis=1), solutions[:, :1]
        >>> result = minimize(evaluate, solution_dim=3, ranges=[(-1, 1)], iterations=20, dims=[10], seed=1,
        ...                   threshold_min=-10)
        >>> -0.1 < float(result.best["objective"]) <= 0
        True
    """

    options = dict(options)
    gradients = options.pop("gradients", None)
    if gradients is not None:

        def negated_gradients(solutions):
            objective, measures, jacobian = gradients(solutions)
            jacobian = np.array(jacobian, dtype=np.float64)
            jacobian[:, 0] *= -1
            return np.negative(objective), measures, jacobian

        options["gradients"] = negated_gradients
    return run(_Negated(evaluate), **options)


def load(path):
    """Restores a :class:`Run` from a checkpoint file."""
    return Run.load(path)


class _Negated:
    """A function whose objective has the other sign; a class so that process pools can pickle it."""

    def __init__(self, evaluate):
        self.evaluate = evaluate

    def __call__(self, solutions):
        objective, measures = self.evaluate(solutions)
        return np.negative(objective), measures


def _plain(value):
    """NumPy values as what the native constructor takes."""
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _start(checkpoint, algorithm, solution_dim, ranges, seed, settings):
    if checkpoint is not None and Path(checkpoint).exists():
        return Run.load(checkpoint)
    if solution_dim is None or ranges is None:
        raise ValueError("solution_dim and ranges are needed unless a checkpoint is resumed")
    return Run(algorithm, solution_dim=solution_dim, ranges=ranges, seed=seed, **settings)


def _iterate(search, evaluator, gradients):
    """One iteration, or the initial population."""
    if search.needs_gradients:
        solutions = search.ask_dqd()
        search.tell_dqd(*_checked(len(solutions), *gradients(solutions)))
    solutions = search.ask()
    search.tell(*_checked(len(solutions), *evaluator(solutions)))


def _checked(n_rows, objective, measures, *jacobian):
    objective, measures = np.asarray(objective, dtype=np.float64), np.asarray(measures, dtype=np.float64)
    if objective.shape != (n_rows,):
        raise ValueError(f"expected {n_rows} objectives in a 1D array, found an array of shape {objective.shape}")
    if measures.ndim != 2 or len(measures) != n_rows:
        raise ValueError(f"expected {n_rows} rows of measures, found an array of shape {measures.shape}")
    return objective, measures, *(np.asarray(each, dtype=np.float64) for each in jacobian)


class _Evaluator:
    """Calls the user's function, in parallel if there is an executor, and survives its failures."""

    def __init__(self, evaluate, executor, vectorized, on_error):
        self.evaluate, self.executor, self.on_error = evaluate, executor, on_error
        self.vectorized = executor is None if vectorized is None else vectorized
        self.failures = []
        self.n_measures = None

    def __call__(self, solutions):
        if not self.vectorized:
            return self._collect([self._submit(solution) for solution in solutions])
        if self.executor is None:
            return self._batch(solutions)
        n_workers = getattr(self.executor, "_max_workers", None) or os.cpu_count() or 1
        parts = [part for part in np.array_split(solutions, n_workers) if len(part)]
        futures = [self.executor.submit(self.evaluate, part) for part in parts]
        done = [future.result() for future in futures]
        return np.concatenate([part[0] for part in done]), np.concatenate([part[1] for part in done])

    def _batch(self, solutions):
        try:
            objective, measures = self.evaluate(solutions)
            self.n_measures = np.asarray(measures).shape[-1]
            return objective, measures
        except Exception as error:
            if self.on_error == "raise" or self.n_measures is None:
                raise
            self._note(error)
            return np.full(len(solutions), np.nan), np.full((len(solutions), self.n_measures), np.nan)

    def _submit(self, solution):
        if self.executor is not None:
            return self.executor.submit(self.evaluate, solution).result
        return lambda: self.evaluate(solution)

    def _collect(self, calls):
        rows = []
        for call in calls:
            try:
                objective, measures = call()
                rows.append((float(objective), np.asarray(measures, dtype=np.float64).ravel()))
            except Exception as error:
                if self.on_error == "raise":
                    raise
                self._note(error)
                rows.append(None)
        found = next((row for row in rows if row is not None), None)
        if found is not None:
            self.n_measures = len(found[1])
        elif self.n_measures is None:
            raise RuntimeError("every evaluation of the first batch failed") from self.failures[0]
        missing = (np.nan, np.full(self.n_measures, np.nan))
        rows = [missing if row is None else row for row in rows]
        return np.array([row[0] for row in rows]), np.stack([row[1] for row in rows])

    def _note(self, error):
        if len(self.failures) < 10:
            self.failures.append(error)


class _Log:
    """Figures of a run: kept, written to the run folder and shown."""

    def __init__(self, search, iterations, progress, folder, every):
        self.search, self.iterations, self.progress, self.every = search, iterations, progress, every
        self.rows = []
        self.start = self.shown = time.monotonic()
        self.file = None if folder is None else open(folder / "metrics.jsonl", "a", encoding="utf-8")

    def row(self):
        stats = self.search.stats
        return {
            "iteration": self.search.iterations,
            "evaluations": self.search.evaluations,
            "seconds": time.monotonic() - self.start,
            "qd_score": stats.norm_qd_score,
            "qd_score_sum": stats.qd_score,
            "coverage": stats.coverage,
            "elites": stats.num_elites,
            "best": stats.obj_max,
            "mean": stats.obj_mean,
            "restarts": self.search.restarts,
            "invalid": self.search.invalid,
        }

    def note(self):
        is_last = self.search.iterations >= self.iterations
        if self.search.iterations % self.every == 0 or is_last:
            self.rows.append(self.row())
            if self.file is not None:
                self.file.write(json.dumps(self.rows[-1]) + "\n")
                self.file.flush()
        if self.progress and (time.monotonic() - self.shown > 0.1 or is_last):
            self.shown = time.monotonic()
            self._show()

    def _show(self):
        stats, done = self.search.stats, self.search.iterations
        share = min(1.0, done / max(1, self.iterations))
        bar = "#" * int(30 * share)
        best = "-" if stats.obj_max is None else f"{stats.obj_max:.6g}"
        line = (
            f"\r[{bar:<30}] {done}/{self.iterations}  QD score {stats.norm_qd_score:.4g}  "
            f"coverage {100 * stats.coverage:.1f} %  best {best} "
        )
        print(line, end="", file=sys.stderr, flush=True)

    def close(self):
        if self.progress:
            print(file=sys.stderr)
        if self.file is not None:
            self.file.close()


def _write_json(path, content):
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _write_archives(folder, search):
    """Both archives as CSV, which needs nothing but NumPy."""
    for name, archive in (("archive", search.archive), ("result", search.result_archive)):
        data = archive.data(["index", "objective", "threshold", "measures", "solution"])
        header, columns = [], []
        for field, values in data.items():
            values = values.reshape(len(values), -1)
            header += [field] if data[field].ndim == 1 else [f"{field}_{i}" for i in range(values.shape[1])]
            columns.append(values)
        np.savetxt(folder / f"{name}.csv", np.hstack(columns), delimiter=",", header=",".join(header), comments="")
