"""Bayesian optimisation for archives: BOP-Elites."""

from __future__ import annotations

import operator

import numpy as np

from luminary._validate import check_batch_shape, check_finite
from luminary.archives import GridArchive
from luminary.emitters._bayesian import GaussianProcess, JointImprovement, SobolSequence, pattern_search
from luminary.emitters._common import check_told
from luminary.emitters._emitter_base import EmitterBase


class BayesianOptimizationEmitter(EmitterBase):
    """Models objective and measures and asks for the most promising solutions: BOP-Elites (Kent et al., 2024).

    For functions that are so expensive that only some hundred solutions can be evaluated. Gaussian processes learn the
    functions; a solution promises its expected joint improvement of elites (EJIE), which a pattern search maximises.
    Use it in a :class:`~luminary.schedulers.BayesianOptimizationScheduler`, which refines the archive by the schedule.

    Args:
        archive: The archive that solutions come from and go to, a :class:`~luminary.archives.GridArchive`.
        bounds: For each component ``(lower, upper)``. Needed, unless both of the following are given.
        lower_bounds: Lower bounds as an array, instead of ``bounds``.
        upper_bounds: Upper bounds as an array, instead of ``bounds``.
        search_nrestarts: How many of the best samples a pattern search starts from.
        entropy_ejie: Whether solutions whose cell is uncertain are preferred (Kent et al., 2023, Section 4.1).
        upscale_schedule: Resolutions that the archive is to have in turn, from its own to the last. The next one is due
            when no new cell was found for a while (see :attr:`upscale_trigger_threshold`). None keeps the archive.
        min_obj: The lowest objective, which an empty cell counts as.
        num_initial_samples: How many samples of a Sobol' sequence are the first solutions.
        initial_solutions: The first solutions themselves, instead of ``num_initial_samples``.
        batch_size: Solutions of an :meth:`ask`, except the first one. 1 needs the fewest evaluations.
        seed: Seed of the Sobol' sequence.

    Raises:
        NotImplementedError: Another kind of archive, or a schedule for one with a learning rate other than 1.
        ValueError: Wrong shapes, bounds that are missing, infinite or empty, a schedule that does not start at the
            archive's resolution or decreases, both or neither of ``num_initial_samples`` and ``initial_solutions``, or
            numbers below 1.

    Example:
        >>> from luminary.archives import GridArchive
        >>> from luminary.schedulers import BayesianOptimizationScheduler
        >>> archive = GridArchive(solution_dim=2, dims=[4, 4], ranges=[(0, 1), (0, 1)])
        >>> emitter = BayesianOptimizationEmitter(archive, bounds=[(0, 1), (0, 1)], num_initial_samples=8, seed=1)
        >>> scheduler = BayesianOptimizationScheduler(archive, [emitter])
        >>> for iteration in range(5):
        ...     solutions = scheduler.ask()
        ...     scheduler.tell(1 - np.sum(np.square(solutions - 0.5), axis=1), solutions)
        >>> emitter.num_evals
        12
    """

    def __init__(
        self,
        archive,
        *,
        bounds=None,
        lower_bounds=None,
        upper_bounds=None,
        search_nrestarts=5,
        entropy_ejie=False,
        upscale_schedule=None,
        min_obj=0,
        num_initial_samples=None,
        initial_solutions=None,
        batch_size=1,
        seed=None,
    ):
        if bounds is None and lower_bounds is None and upper_bounds is None:
            raise ValueError(
                "Bounds must be specified for BayesianOptimizationEmitter, either with the bounds parameter or with "
                "lower_bounds and upper_bounds."
            )
        super().__init__(
            archive,
            solution_dim=archive.solution_dim,
            bounds=bounds,
            lower_bounds=lower_bounds,
            upper_bounds=upper_bounds,
        )
        self._check_space(upscale_schedule)
        self._sobol = SobolSequence(self._solution_dim, seed)
        self._initial_solutions = self._parse_start(num_initial_samples, initial_solutions)
        self._upscale_schedule = self._parse_schedule(upscale_schedule)
        self._search_nrestarts = _at_least_one(search_nrestarts, "search_nrestarts")
        self._batch_size = _at_least_one(batch_size, "batch_size")
        self._entropy_ejie, self._min_obj = bool(entropy_ejie), min_obj
        self._told = {
            "solution": np.empty((0, self._solution_dim), dtype=self.dtype),
            "objective": np.empty(0),
            "measures": np.empty((0, self.measure_dim)),
        }
        # How often the model was too sure of the cells, and how often it left too few.
        self._misspec = self._overspec = 0
        self._n_elites_before = len(archive)
        self._n_without_new_cell = 0

    # Settings.

    def _check_space(self, upscale_schedule):
        """Checks that there is a box to search, and an archive that can be refined."""
        check_finite(self._lower_bounds, "lower_bounds")
        check_finite(self._upper_bounds, "upper_bounds")
        if not isinstance(self._archive, GridArchive):
            raise NotImplementedError(
                f"archive type {type(self._archive).__name__} not implemented for BayesianOptimizationEmitter. "
                "Expected GridArchive."
            )
        if not isinstance(self._solution_dim, (int, np.integer)):
            raise ValueError(f"Expected solution_dim to be an integer, but it is {self._solution_dim}")
        if (self._lower_bounds >= self._upper_bounds).any():
            raise ValueError(
                f"Expected lower_bounds below upper_bounds, but they are {self._lower_bounds} and {self._upper_bounds}"
            )
        if upscale_schedule is not None and not np.isclose(self._archive.learning_rate, 1):
            raise NotImplementedError(
                "Archive upscaling is currently incompatible with archive learning rate: with the upscale schedule "
                f"{upscale_schedule} it must be 1, but it is {self._archive.learning_rate}."
            )

    def _parse_start(self, num_initial_samples, initial_solutions):
        """The first solutions, from exactly one of the two settings."""
        if num_initial_samples is None and initial_solutions is None:
            raise ValueError("Either num_initial_samples or initial_solutions must be provided.")
        if num_initial_samples is not None and initial_solutions is not None:
            raise ValueError("num_initial_samples and initial_solutions cannot both be provided.")
        if initial_solutions is None:
            return self._clipped(self._samples(_at_least_one(num_initial_samples, "num_initial_samples")))
        solutions = np.array(initial_solutions, dtype=self.dtype)
        check_batch_shape(solutions, "initial_solutions", self._solution_dim, "archive.solution_dim")
        check_finite(solutions, "initial_solutions")
        _at_least_one(len(solutions), "The number of initial_solutions")
        return solutions

    def _parse_schedule(self, schedule):
        """The schedule as an array whose rows start at the archive's resolution and never decrease."""
        if schedule is None:
            return None
        schedule, dims = np.array(schedule), self._archive.dims
        if schedule.ndim != 2:
            raise ValueError("upscale_schedule must have 2 dimensions.")
        if schedule.shape[1] != self.measure_dim or len(schedule) == 0:
            raise ValueError(
                f"Expected upscale_schedule of shape (any,{self.measure_dim}), actually got {schedule.shape}."
            )
        if (np.diff(schedule, axis=0) < 0).any():
            raise ValueError("The resolutions corresponding to each measure must be non-decreasing along axis 0.")
        if (schedule[0] != dims).any():
            raise ValueError(
                f"Expected the first resolution within upscale_schedule to be {dims} (the resolution of this emitter's "
                f"archive), actually got {schedule[0]}."
            )
        return schedule

    @property
    def archive(self):
        """The archive that solutions come from and go to; it may be replaced by another one."""
        return self._archive

    @archive.setter
    def archive(self, new_archive):
        self._archive = new_archive

    @property
    def batch_size(self):
        """Solutions of an :meth:`ask`, except the first one."""
        return self._batch_size

    @property
    def dtype(self):
        """Dtype of solutions."""
        return self._archive.dtypes["solution"]

    @property
    def measure_dim(self):
        """Number of measures."""
        return self._archive.measure_dim

    @property
    def min_obj(self):
        """The lowest objective, which an empty cell counts as."""
        return self._min_obj

    @property
    def initial_solutions(self):
        """The solutions of the first :meth:`ask`."""
        return self._initial_solutions

    @property
    def upscale_schedule(self):
        """Resolutions that the archive is to have in turn; None if it keeps its own."""
        return self._upscale_schedule

    @property
    def num_sobol_samples(self):
        """Samples of an :meth:`ask` among which the starts of the searches are chosen."""
        samples_per_square = 10 if self._solution_dim < 2 else 1
        return np.clip(samples_per_square * self._solution_dim**2 * self.measure_dim, 10000, 100000)

    # State.

    @property
    def num_evals(self):
        """Solutions that were told."""
        return len(self._told["solution"])

    @property
    def cell_prob_cutoff(self):
        """A cell that is less probable than this is not counted on (Kent et al., 2024, Section IV-D).

        It grows with the evaluations. A model that was misspecified raises it, one that left no promising solution
        lowers it. Rounded, so that differences in the last digits of a probability do not decide.
        """
        exponent = (10 * self._solution_dim / (max(self._trust(), 0) + 1e-6)) ** 0.5
        return np.float64(round(0.5 * min(2 / self._archive.cells, 1.0) ** exponent, 4))

    def _trust(self):
        """How far the model is trusted to know the cells of solutions: evaluations, corrected by its faults."""
        return self._misspec - 2 * self._overspec + self.num_evals

    @property
    def upscale_trigger_threshold(self):
        """An archive is refined when more solutions than this in a row have found no new cell."""
        return np.floor(np.sqrt(self._archive.cells))

    def post_upscale_updates(self):
        """Counts anew how long no new cell was found; the scheduler calls it after it has refined the archive."""
        self._n_without_new_cell = 0

    # Ask and tell.

    def ask(self):
        """The initial solutions as long as none were told, and later the most promising ones, best first."""
        if self.num_evals == 0:
            return self._clipped(self._initial_solutions)
        targets = np.column_stack((self._told["objective"], self._told["measures"]))
        process = GaussianProcess(self._told["solution"], targets)
        solutions = self._promising(process)
        improvements, probabilities = self._improvement(process).by_cell(solutions)
        order = np.argsort(improvements.sum(axis=1))[::-1][: self._batch_size]
        self._misspec += _n_misspecified(improvements[order], probabilities[order])
        return self._clipped(solutions[order])

    def _promising(self, process):
        """At least a batch of solutions from pattern searches that promise an improvement."""
        solutions = np.empty((0, self._solution_dim))
        while len(solutions) < self._batch_size:
            total = self._improvement(process).total
            samples = self._samples(int(self.num_sobol_samples))
            starts = samples[np.argsort(total(samples))[-self._search_nrestarts :]]
            found, values = pattern_search(total, starts, self._lower_bounds, self._upper_bounds)
            if not (values > 0).any():
                if self._trust() <= 0:
                    # Nothing is promising even without a cutoff: samples teach the model more than waiting.
                    return np.concatenate((solutions, samples[: self._batch_size]))
                self._overspec += 1
            solutions = np.concatenate((solutions, found[values > 0]))
        return solutions

    def _improvement(self, process):
        return JointImprovement(process, self._archive, self._min_obj, self.cell_prob_cutoff, self._entropy_ejie)

    def _samples(self, n):
        """The next samples of the Sobol' sequence, within the bounds."""
        lower, upper = self._lower_bounds.astype(np.float64), self._upper_bounds.astype(np.float64)
        return lower + self._sobol.draw(n) * (upper - lower)

    def tell(self, solution, objective, measures, add_info, **fields):
        """Takes the results of the solutions last asked for, and says whether the archive should be refined.

        Args:
            solution: The solutions.
            objective: Their objectives.
            measures: Their measures.
            add_info: What the archive's ``add`` returned for them.
            fields: Further data of each solution.

        Returns:
            The next resolution of the schedule if it is due, otherwise None. The scheduler changes the archive.

        Raises:
            ValueError: A wrong shape or a value that is not finite.
        """
        if objective is None:
            raise ValueError("objective cannot be None")
        data, _ = check_told(self._archive, solution, objective, measures, add_info, fields)
        self._told = {name: np.concatenate((told, data[name])) for name, told in self._told.items()}
        if len(self._archive) == self._n_elites_before:
            self._n_without_new_cell += self._batch_size
        else:
            self._n_elites_before, self._n_without_new_cell = len(self._archive), 0
        if self._upscale_schedule is None or self._n_without_new_cell <= self.upscale_trigger_threshold:
            return None
        finer = self._upscale_schedule[(self._upscale_schedule > self._archive.dims).all(axis=1)]
        return finer[0] if len(finer) else None


def _n_misspecified(improvements, probabilities):
    """How many solutions owe most of their promise to their most probable cell although even that is improbable."""
    rows, likeliest = np.arange(len(probabilities)), np.argmax(probabilities, axis=1)
    shares = improvements[rows, likeliest] > 0.5 * improvements.sum(axis=1)
    return int(np.count_nonzero(shares & (probabilities[rows, likeliest] < 0.5)))


def _at_least_one(number, name):
    """A setting as an int; TypeError if it is none, ValueError below 1."""
    number = operator.index(number)
    if number < 1:
        raise ValueError(f"{name} must be at least 1, but it is {number}")
    return number
