"""Optimisers that turn a gradient into a step uphill."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from luminary._validate import new_array


class GradientOptBase(ABC):
    """Base class of gradient optimisers, which go uphill.

    Args:
        theta0: Where to start.
        lr: Learning rate.
    """

    def __init__(self, theta0, lr):
        pass

    @property
    @abstractmethod
    def theta(self):
        """The current point."""

    @abstractmethod
    def reset(self, theta0):
        """Starts anew at a point."""

    @abstractmethod
    def step(self, gradient):
        """Moves along a gradient."""


class GradientAscentOpt(GradientOptBase):
    """Plain gradient ascent.

    Args:
        theta0: Where to start.
        lr: Learning rate.

    Example:
        >>> opt = GradientAscentOpt([0.0, 0.0], lr=0.5)
        >>> opt.step([1.0, 2.0])
        >>> opt.theta.tolist()
        [0.5, 1.0]
    """

    def __init__(self, theta0, lr):
        super().__init__(theta0, lr)
        self._lr = lr
        self.reset(theta0)

    @property
    def theta(self):
        """The current point."""
        return self._theta

    def reset(self, theta0):
        """Starts anew at a point."""
        self._theta = _floats(theta0)

    def step(self, gradient):
        """Moves along a gradient."""
        self._theta = _moved(self._theta, self._lr * np.asarray(gradient))


class AdamOpt(GradientOptBase):
    """Adam (Kingma and Ba, 2015), ascending.

    Args:
        theta0: Where to start.
        lr: Learning rate.
        beta1: Decay of the first moment.
        beta2: Decay of the second moment.
        epsilon: Added to the root of the second moment.
        l2_coeff: Weight of L2 regularisation, which pulls the point towards the origin.

    Example:
        >>> opt = AdamOpt([0.0], lr=0.1)
        >>> opt.step([123.0])
        >>> round(float(opt.theta[0]), 6)
        0.1
    """

    def __init__(self, theta0, lr=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, l2_coeff=0.0):
        super().__init__(theta0, lr)
        self._lr, self._beta1, self._beta2 = lr, beta1, beta2
        self._epsilon, self._l2_coeff = epsilon, l2_coeff
        self.reset(theta0)

    @property
    def theta(self):
        """The current point."""
        return self._theta

    def reset(self, theta0):
        """Starts anew at a point."""
        self._theta = _floats(theta0)
        self._first = np.zeros_like(self._theta)
        self._second = np.zeros_like(self._theta)
        self._n_steps = 0

    def step(self, gradient):
        """Moves along a gradient."""
        gradient = np.asarray(gradient) - self._l2_coeff * self._theta
        self._n_steps += 1
        self._first = self._beta1 * self._first + (1 - self._beta1) * gradient
        self._second = self._beta2 * self._second + (1 - self._beta2) * np.square(gradient)
        # Both bias corrections in the step length (paper, Section 2, last paragraph).
        corrections = np.sqrt(1 - self._beta2**self._n_steps) / (1 - self._beta1**self._n_steps)
        direction = self._first / (np.sqrt(self._second) + self._epsilon)
        self._theta = _moved(self._theta, self._lr * corrections * direction)


def _moved(theta, step):
    """The next point, in the dtype of the last."""
    return (theta + step).astype(theta.dtype, copy=False)


def _floats(values):
    array = new_array(values)
    return array if array.dtype.kind == "f" else array.astype(np.float64)
