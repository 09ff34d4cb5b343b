"""An archive that remembers where solutions were, not the solutions."""

from __future__ import annotations

import numpy as np

from luminary._declared import Declared
from luminary._native import NativeArchive
from luminary._optional import needed_by
from luminary._seed import native_seed
from luminary._validate import as_native, check_batch_shape, check_finite
from luminary.archives._archive_base import ArchiveBase
from luminary.archives._normalising_flow import NormalisingFlow
from luminary.archives._settings import parse_dtypes


class DensityArchive(Declared, ArchiveBase):
    """Estimates how densely solutions lie in measure space (density descent search; Lee et al., 2024).

    A buffer holds a uniform sample of all measures ever added, by reservoir sampling (Li, 1994). There are no elites, so
    give the scheduler a ``result_archive``, and the emitters that archive to restart from.

    Args:
        measure_dim: Number of measures.
        buffer_size: Size of the buffer.
        density_method: "kde" for a kernel density estimate, "kde_sklearn" for the logarithm of scikit-learn's, which
            must be installed for it, "cnf" for the logarithm of the density by a continuous normalising flow, which needs
            PyTorch and Zuko and is trained a little in every :meth:`add`.
        bandwidth: Width of the kernel.
        sklearn_kwargs: More settings of scikit-learn's ``KernelDensity``.
        cnf_kwargs: Settings of Zuko's ``CNF``; ``{"hidden_features": (64, 64)}`` by default.
        cnf_lr: Learning rate of Adam, which trains the flow.
        cnf_train_steps: Steps of Adam in every :meth:`add`.
        cnf_batch_size: Points of the buffer in each step.
        cnf_min_buffer_size: Before the buffer has so many points, the flow is not trained and densities are zero.
        cnf_device: PyTorch's name for where the flow lives.
        seed: Seed of the reservoir sampling, and of the flow.
        measures_dtype: Dtype of measures.
        dtype: The same, instead of it; float64 by default.

    Raises:
        ImportError: A package that the method needs is missing.
        ValueError: An unknown method, a buffer or a batch without room, or "features" in ``cnf_kwargs``.

    Example:
        >>> archive = DensityArchive(measure_dim=1, bandwidth=1.0, seed=1)
        >>> archive.add(None, None, [[0.0], [0.5]])["density"].tolist()
        [0.0, 0.0]
        >>> near, far = archive.compute_density([[0.2], [9.0]])
        >>> bool(near > far)
        True
    """

    # Schedulers call it, because some of its estimates are Python's.
    _acts_natively = False
    _reported = ("density",)

    def __init__(
        self,
        *,
        measure_dim,
        buffer_size=10000,
        density_method="kde",
        bandwidth=None,
        sklearn_kwargs=None,
        cnf_kwargs=None,
        cnf_lr=1e-3,
        cnf_train_steps=5,
        cnf_batch_size=32,
        cnf_min_buffer_size=128,
        cnf_device="cpu",
        seed=None,
        measures_dtype=None,
        dtype=None,
    ):
        super().__init__(solution_dim=0, objective_dim=(), measure_dim=measure_dim)
        if density_method not in ("kde", "kde_sklearn", "cnf"):
            raise ValueError(f"Unknown density_method '{density_method}'")
        if buffer_size < 1:
            raise ValueError(f"buffer_size must be at least 1, but it is {buffer_size}")
        *_, measures_dtype = parse_dtypes(dtype, None, None, measures_dtype)
        self._method, self._bandwidth, self._sklearn_kwargs = density_method, bandwidth, dict(sklearn_kwargs or {})
        self._dtype = measures_dtype
        # The engine's kernel needs a width, also where another estimate takes its place.
        width = bandwidth if density_method == "kde" and bandwidth is not None else 1.0
        self._native = NativeArchive.density(int(measure_dim), int(buffer_size), float(width), native_seed(seed))
        self._estimator, self._flow = None, None
        if density_method == "kde_sklearn":
            with needed_by("DensityArchive with density_method='kde_sklearn'", "scikit-learn"):
                from sklearn.neighbors import KernelDensity
            self._estimator = KernelDensity(bandwidth=bandwidth, **self._sklearn_kwargs)
        elif density_method == "cnf":
            training = cnf_lr, cnf_train_steps, cnf_batch_size, cnf_min_buffer_size
            self._flow = NormalisingFlow(measure_dim, cnf_kwargs, *training, cnf_device, np.random.default_rng(seed))

    @property
    def empty(self):
        """Always False, because there are no elites to wait for."""
        return False

    @property
    def buffer(self):
        """Read-only array (n, measure_dim) of the measures that densities are computed from."""
        buffer = self._native.buffer().reshape(-1, self._measure_dim).astype(self._dtype, copy=False)
        buffer.flags.writeable = False
        return buffer

    def compute_density(self, measures):
        """The density at each row of measures; zero while the buffer is empty.

        With "kde" this is the mean of ``exp(-d^2 / (2 h^2)) / (h sqrt(2 pi))`` over the distances ``d`` to the points of
        the buffer, for the bandwidth ``h``; with the other methods a log density.

        Raises:
            ValueError: A wrong shape, a value that is not finite, or no bandwidth.
        """
        measures = self._checked_measures(measures)
        buffer = self.buffer
        if len(buffer) == 0 or len(measures) == 0:
            return np.zeros(len(measures), dtype=self._dtype)
        if self._flow is not None:
            return self._flow.log_density(measures)
        if self._estimator is not None:
            return self._estimator.fit(buffer).score_samples(measures).astype(self._dtype)
        if self._bandwidth is None:
            raise ValueError("bandwidth must be a number for densities by kernels, but it is None")
        return self._native.density_at(as_native(measures)).astype(self._dtype, copy=False)

    def _checked_measures(self, measures):
        measures = np.asarray(measures, dtype=self._dtype)
        check_batch_shape(measures, "measures", self._measure_dim, "measure_dim")
        check_finite(measures, "measures")
        return measures

    def _check_add(self, solution, objective, measures, **fields):
        """Raises what :meth:`add` would raise for a batch, and changes nothing."""
        self._checked_measures(measures)

    def add(self, solution, objective, measures, **fields):
        """Takes measures into account.

        Args:
            solution: Not used.
            objective: Not used.
            measures: Measures, one row each.
            fields: Not used.

        Returns:
            A dict with ``"status"``, always 2, and ``"density"``, as it was before the call.

        Raises:
            ValueError: A wrong shape or a value that is not finite.
        """
        measures = self._checked_measures(measures)
        n_rows = len(measures)
        by_kernels = self._method == "kde" and self._bandwidth is not None
        density = None if by_kernels else self.compute_density(measures)
        status, _, (kernels,) = self._native.add(np.zeros((n_rows, 1)), np.zeros(n_rows), as_native(measures), [])
        if self._flow is not None:
            self._flow.train(self.buffer)
        return {"status": status, "density": kernels.astype(self._dtype, copy=False) if by_kernels else density}

    def __setstate__(self, state):
        vars(self).update(state)
        self._after_loading()

    def _after_loading(self):
        """Says why what an earlier build saved cannot be read."""
        if "_native" not in vars(self):
            raise ValueError(
                f"expected {type(self).__name__} as this build of luminary saves it, found one of an earlier build that "
                "kept its buffer in Python: load it with that build, and add its buffer to a new archive"
            )
