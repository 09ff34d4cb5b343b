"""Training and inference of a discount model."""

from __future__ import annotations

import numpy as np

from luminary._torch import require_torch, torch

#: What a range is mapped to by each kind of normalisation.
_TARGETS = {"zero_one": (0.0, 1.0), "negative_one_one": (-1.0, 1.0)}


class DiscountModelManager:
    """Teaches a PyTorch model the discount at measures, and asks it.

    Numbers are float32 on the way to the model and back.

    Args:
        model: A PyTorch module on ``device``: from a batch of measures to one value for each row.
        optimizer: A PyTorch optimiser of its parameters. Its state lasts from one training to the next.
        device: Where training and inference take place.
        train_epochs: Most passes over the data in one training.
        train_cutoff_loss: A training ends early after a pass whose loss is not above this.
        train_batch_size: Rows in each step of the optimiser.
        normalize_measures: "zero_one" or "negative_one_one" to map measures from their range to [0, 1] or [-1, 1].
        measures_low: Lower end of that range, for each measure or for all.
        measures_high: Its upper end.
        normalize_discount: The same for the values of the model.
        discount_low: Lower end of the range of discounts.
        discount_high: Its upper end.

    Raises:
        ImportError: PyTorch is missing.
        ValueError: An unknown normalisation, or one without its range.

    Example:
        >>> import torch
        >>> from luminary.discount_models import MLP
        >>> _ = torch.manual_seed(1)
        >>> model = MLP([(2, 16), (16, 1)], torch.nn.ReLU)
        >>> manager = DiscountModelManager(model, torch.optim.Adam(model.parameters(), lr=0.1), "cpu",
        ...                                train_epochs=100, train_cutoff_loss=1e-3, train_batch_size=8)
        >>> measures = np.random.default_rng(1).uniform(-1, 1, (20, 2))
        >>> losses = manager.training_loop(measures, np.full(20, 3.0))
        >>> losses[-1] < losses[0]
        True
        >>> bool(abs(manager.inference([[0.0, 0.0]])[0] - 3) < 0.5)
        True
    """

    def __init__(
        self,
        model,
        optimizer,
        device,
        *,
        train_epochs,
        train_cutoff_loss,
        train_batch_size,
        normalize_measures=None,
        measures_low=None,
        measures_high=None,
        normalize_discount=None,
        discount_low=None,
        discount_high=None,
    ):
        require_torch("DiscountModelManager")
        self.model, self.optimizer, self.device = model, optimizer, device
        self.train_epochs, self.train_cutoff_loss = train_epochs, train_cutoff_loss
        self.train_batch_size = train_batch_size
        self.normalize_measures, self.normalize_discount = normalize_measures, normalize_discount
        self.measures_low, self.measures_high = self._range("measures", normalize_measures, measures_low, measures_high)
        self.discount_low, self.discount_high = self._range("discount", normalize_discount, discount_low, discount_high)

    def inference(self, measures, batch_size=None):
        """The model's discount at each row of measures, with the model in evaluation mode.

        Args:
            measures: Array (n, measure_dim).
            batch_size: Most rows that the model gets at a time; all by default.

        Raises:
            ValueError: A batch size below 1, or a model that does not return one value for each row.
        """
        if batch_size is not None and batch_size < 1:
            raise ValueError(f"batch_size should be a positive integer, but it is {batch_size}")
        measures = self._normalized_measures(measures)
        was_training = self.model.training
        self.model.eval()
        try:
            with torch.no_grad():
                # An array without rows is one batch, too.
                batches = [self._predict(batch) for batch in measures.split(batch_size or max(1, len(measures)))]
        finally:
            self.model.train(was_training)
        return self._denormalized_discount(torch.cat(batches)).cpu().numpy()

    def training_loop(self, measures, targets):
        """Teaches the model targets at measures, by the mean squared error.

        Args:
            measures: Array (n, measure_dim).
            targets: Array (n,).

        Returns:
            The loss of each epoch: the mean over the rows, while the model changed from batch to batch.

        Raises:
            ValueError: Another number of targets than of measures, or a model that does not return one value for each row.
        """
        measures, targets = self._normalized_measures(measures), self._normalized_targets(targets)
        if targets.shape != measures.shape[:1]:
            raise ValueError(f"expected targets of shape ({len(measures)},), found {tuple(targets.shape)}")
        self.model.train()
        losses = []
        while len(measures) > 0 and len(losses) < self.train_epochs:
            losses.append(self._epoch(measures, targets))
            if losses[-1] <= self.train_cutoff_loss:
                break
        return losses

    def _epoch(self, measures, targets):
        """One pass over the rows in random order; returns the mean loss."""
        total = 0.0
        for rows in torch.randperm(len(measures)).to(measures.device).split(self.train_batch_size):
            self.optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(self._predict(measures[rows]), targets[rows])
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(rows)
        return total / len(measures)

    def _predict(self, measures):
        values = self.model(measures)
        if values.numel() != len(measures):
            raise ValueError(
                f"expected one value for each of {len(measures)} rows from the model, found shape {tuple(values.shape)}"
            )
        return values.reshape(-1)

    # Normalisation.

    def _range(self, name, kind, low, high):
        """Both ends of a range as tensors; None if there is none."""
        if kind is not None and kind not in _TARGETS:
            raise ValueError(f"Unknown normalization method {kind}.")
        if kind is not None and (low is None or high is None):
            raise ValueError(f"If normalize_{name} is not None, {name}_low and {name}_high must be passed in.")
        return (None if end is None else self._tensor(end) for end in (low, high))

    def _tensor(self, values):
        values = values if isinstance(values, torch.Tensor) else np.asarray(values)
        return torch.as_tensor(values, dtype=torch.float32, device=self.device)

    def _normalized_measures(self, measures):
        measures = torch.atleast_2d(self._tensor(measures))
        if self.normalize_measures is None:
            return measures
        return _rescaled(measures, self.measures_low, self.measures_high, *_TARGETS[self.normalize_measures])

    def _normalized_targets(self, targets):
        targets = self._tensor(targets)
        if self.normalize_discount is None:
            return targets
        return _rescaled(targets, self.discount_low, self.discount_high, *_TARGETS[self.normalize_discount])

    def _denormalized_discount(self, values):
        if self.normalize_discount is None:
            return values
        return _rescaled(values, *_TARGETS[self.normalize_discount], self.discount_low, self.discount_high)


def _rescaled(values, low, high, new_low, new_high):
    """Maps a range linearly to another one."""
    return (values - low) / (high - low) * (new_high - new_low) + new_low
