"""A density estimate that is trained: a continuous normalising flow, by PyTorch and Zuko."""

from __future__ import annotations

import numpy as np

from luminary._optional import needed_by


class NormalisingFlow:
    """The density of points, learned by maximum likelihood in a few steps at a time.

    Args:
        dim: Components of a point.
        settings: Settings of ``zuko.flows.continuous.CNF``; None for two hidden layers of 64.
        learning_rate: That of Adam.
        train_steps: Steps in each training.
        batch_size: Points in each step.
        min_points: The first training waits for so many points.
        device: Where the flow lives.
        rng: Draws the initial flow and the batches.

    Raises:
        ImportError: PyTorch or Zuko is missing.
        ValueError: ``settings`` has "features", which is ``dim``, or there are no points in a batch.
    """

    def __init__(self, dim, settings, learning_rate, train_steps, batch_size, min_points, device, rng):
        with needed_by("DensityArchive with density_method='cnf'", "torch", "zuko"):
            import torch
            from zuko.flows.continuous import CNF
        settings = {"hidden_features": (64, 64)} if settings is None else dict(settings)
        if "features" in settings:
            raise ValueError("cnf_kwargs must not have `features`, which is set to measure_dim")
        if batch_size < 1:
            raise ValueError(f"cnf_batch_size must be at least 1, but it is {batch_size}")
        self._train_steps, self._batch_size, self._min_points = train_steps, batch_size, min_points
        self._device, self._rng, self._trained = device, rng, False
        # The flow starts from a seed of its own, and PyTorch's generator is afterwards as it was before.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(rng.integers(2**63)))
            self._flow = CNF(features=int(dim), **settings).to(device)
        self._optimiser = torch.optim.Adam(self._flow.parameters(), lr=learning_rate)

    def log_density(self, points):
        """The logarithm of the density at each point; zeros before the first training."""
        import torch

        if not self._trained:
            return np.zeros(len(points), dtype=points.dtype)
        with torch.no_grad():
            return self._flow().log_prob(self._tensor(points)).cpu().numpy().astype(points.dtype)

    def train(self, points):
        """Some steps towards the density of these points, if there are enough."""
        if len(points) < self._min_points:
            return
        for _ in range(self._train_steps):
            rows = self._rng.choice(len(points), size=min(self._batch_size, len(points)), replace=False)
            loss = -self._flow().log_prob(self._tensor(points[rows])).mean()
            self._optimiser.zero_grad()
            loss.backward()
            self._optimiser.step()
        self._trained = True

    def _tensor(self, points):
        import torch

        return torch.tensor(points, dtype=torch.float32, device=self._device)
