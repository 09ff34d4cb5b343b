"""An archive without cells: what is novel enough comes in."""

from __future__ import annotations

import numpy as np

from luminary._native import NativeArchive
from luminary._validate import as_native
from luminary.archives._nearest_archive import NearestArchive
from luminary.archives._settings import parse_dtypes


class ProximityArchive(NearestArchive):
    """An archive that takes solutions whose measures are far from those it has (novelty search).

    The novelty of a solution is the mean distance of its measures to its nearest neighbours in the archive before the
    call; while the archive is empty, the threshold itself.

    Args:
        solution_dim: Components of a solution: an int, a tuple, or ``()`` for scalars.
        measure_dim: Number of measures.
        k_neighbors: Number of neighbours, if there are as many.
        novelty_threshold: Novelty that a solution needs.
        local_competition: Whether solutions compete with their neighbours: each row's ``local_competition`` counts the
            neighbours it beats, and a solution that is not novel enough replaces its nearest neighbour if it is better.
        initial_capacity: Room at the start; it doubles when needed.
        qd_score_offset: Subtracted from every objective in the QD score.
        threshold_decay_rate: Factor for the threshold when nothing was novel for a while; None for no decay.
        threshold_decay_itrs: How many calls of ``add`` in a row that takes.
        threshold_decay_min: Lowest threshold.
        seed: Seed of :meth:`sample_elites`.
        solution_dtype: Dtype of solutions.
        objective_dtype: Dtype of objectives.
        measures_dtype: Dtype of measures.
        dtype: Common dtype of the three, instead of them; float64 by default.
        extra_fields: More fields to keep with each elite: from name to ``(shape, dtype)``.
        kdtree_kwargs: Accepted without effect.
        ckdtree_kwargs: No longer supported.

    Raises:
        ValueError: Settings out of range.

    Example:
        >>> archive = ProximityArchive(solution_dim=1, measure_dim=1, k_neighbors=1, novelty_threshold=0.5)
        >>> archive.add([[0]], None, [[0.0]])["status"].tolist()
        [2]
        >>> archive.add([[0], [0]], None, [[0.1], [0.9]])["status"].tolist()
        [0, 2]
    """

    _acts_natively = True
    _can_be_full = False

    def __init__(
        self,
        *,
        solution_dim,
        measure_dim,
        k_neighbors,
        novelty_threshold,
        local_competition=False,
        initial_capacity=128,
        qd_score_offset=0.0,
        threshold_decay_rate=None,
        threshold_decay_itrs=1,
        threshold_decay_min=0.0,
        seed=None,
        solution_dtype=None,
        objective_dtype=None,
        measures_dtype=None,
        dtype=None,
        extra_fields=None,
        kdtree_kwargs=None,
        ckdtree_kwargs=None,
    ):
        if ckdtree_kwargs is not None:
            raise ValueError("`ckdtree_kwargs` is deprecated in pyribs 0.9.0. Please use `kdtree_kwargs` instead.")
        if initial_capacity < 1:
            raise ValueError("initial_capacity must be at least 1.")
        if k_neighbors < 1:
            raise ValueError(f"k_neighbors must be at least 1, but it is {k_neighbors}.")
        if threshold_decay_rate is not None and not 0.0 <= threshold_decay_rate <= 1.0:
            raise ValueError("If passed in, threshold_decay_rate must be a float in the range [0.0, 1.0].")
        if threshold_decay_itrs is None and threshold_decay_rate is None:
            threshold_decay_itrs = 1
        if threshold_decay_itrs is None or threshold_decay_itrs < 1:
            raise ValueError("threshold_decay_itrs must be either None or a positive integer.")
        super().__init__(
            solution_dim=solution_dim,
            measure_dim=measure_dim,
            qd_score_offset=qd_score_offset,
            seed=seed,
            dtypes=parse_dtypes(dtype, solution_dtype, objective_dtype, measures_dtype),
            extra_fields=extra_fields,
        )
        self._k_neighbors, self._local_competition = int(k_neighbors), local_competition
        self._capacity = int(initial_capacity)
        self._decay = None
        if threshold_decay_rate is not None:
            self._decay = float(threshold_decay_rate), int(threshold_decay_itrs), float(threshold_decay_min)
        self._start(
            NativeArchive.proximity(
                self._shared_settings(),
                int(measure_dim),
                self._k_neighbors,
                float(self._dtypes["measures"].type(novelty_threshold)),
                "local" if local_competition else "none",
                self._decay,
            )
        )

    @property
    def _reported(self):
        return ("value", "novelty", "local_competition") if self._local_competition else ("novelty",)

    def _default_objective(self, n_rows):
        if self._local_competition:
            raise ValueError("If local competition is turned on, objective must be passed in to add() and add_single().")
        return super()._default_objective(n_rows)

    def _is_native_throughout(self):
        # A threshold that decays is rounded to the precision of the measures after each batch.
        is_exact = self._decay is None or self._dtypes["measures"] == np.float64
        return super()._is_native_throughout() and is_exact

    @property
    def capacity(self):
        """Room for elites at the moment."""
        while len(self) > self._capacity:
            self._capacity *= 2
        return self._capacity

    @property
    def cells(self):
        """Number of elites: each is its own cell."""
        return len(self)

    @property
    def k_neighbors(self):
        """Number of neighbours that novelty looks at."""
        return self._k_neighbors

    @property
    def novelty_threshold(self):
        """Novelty that a solution needs."""
        return self._dtypes["measures"].type(self._native.novelty_threshold)

    @property
    def local_competition(self):
        """Whether solutions compete with their neighbours."""
        return self._local_competition

    def compute_novelty(self, measures, local_competition=None):
        """The novelty of measures against the archive as it is.

        Args:
            measures: One row for each solution.
            local_competition: Objectives of the solutions, to count the neighbours they beat.

        Returns:
            The novelty of each row; with objectives also the counts.
        """
        measures = self._batch_measures(measures)
        objectives = np.zeros(len(measures)) if local_competition is None else as_native(local_competition)
        with self._lock:
            dtype = self._novelty_dtype()
            novelty, n_beaten = self._native.novelty(as_native(measures), objectives)
        novelty = novelty.astype(dtype, copy=False)
        return novelty if local_competition is None else (novelty, n_beaten.astype(np.int32))

    def _novelty_dtype(self):
        """While there are no elites, novelty is the threshold; distances between whole numbers are no whole numbers."""
        dtype = self._dtypes["measures"]
        return dtype if self.empty else np.result_type(dtype, np.float16)

    def add(self, solution, objective, measures, **fields):
        """Offers a batch of solutions; those that are novel enough come in.

        Args:
            solution: Solutions, one in each row.
            objective: Their objectives; None for zeros, unless there is local competition.
            measures: Their measures, one row each.
            fields: Values of the extra fields.

        Returns:
            A dict with ``"status"`` (0 not added, 1 replaced a neighbour, 2 new) and ``"novelty"``; with local
            competition also ``"value"`` (improvement over the nearest neighbour, or the objective of a new elite) and
            ``"local_competition"``.

        Raises:
            ValueError: A wrong shape or a value that is not finite. The archive is unchanged.
        """
        return self._add_rows(*self._checked(solution, objective, measures, fields))

    def _add_rows(self, solution, objective, measures, extra):
        """Adds checked rows; returns what :meth:`add` does."""
        with self._lock:
            dtype, threshold = self._novelty_dtype(), self.novelty_threshold
            status, value, (novelty, *n_beaten) = self._add_checked(solution, objective, measures, extra)
            self._round_threshold(threshold)
        novelty = novelty.astype(dtype, copy=False)
        if not self._local_competition:
            return {"status": status, "novelty": novelty}
        return {
            "status": status,
            "value": value.astype(objective.dtype, copy=False),
            "novelty": novelty,
            "local_competition": n_beaten[0].astype(np.int32),
        }

    def _round_threshold(self, before):
        """If the engine has lowered the threshold, lowers it in the precision of the measures instead."""
        if self._native.novelty_threshold != before:
            rate, _, lowest = self._decay
            self._native.novelty_threshold = float(self._dtypes["measures"].type(max(before * rate, lowest)))

    def add_single(self, solution, objective, measures, **fields):
        """Offers one solution; see :meth:`add`. The entries of the answer are arrays of length one.

        Raises:
            ValueError: A wrong shape or a value that is not finite.
        """
        return self._add_rows(*self._checked_single(solution, objective, measures, fields))
