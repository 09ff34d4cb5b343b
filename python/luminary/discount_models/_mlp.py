"""A small neural network whose parameters are one vector."""

from __future__ import annotations

import numpy as np

from luminary._torch import Module, require_torch, torch


class MLP(Module):
    """A multi-layer perceptron in PyTorch: linear layers with an activation between them, and none after the last.

    Args:
        layer_specs: For each layer ``(inputs, outputs)`` or ``(inputs, outputs, bias)``, where ``bias`` says whether it
            has one (it does by default).
        activation: What makes an activation, such as ``torch.nn.ReLU``.

    Raises:
        ImportError: PyTorch is missing.
        ValueError: A layer that is not described by two or three values.

    Example:
        >>> import torch
        >>> model = MLP([(2, 8), (8, 1)], torch.nn.Tanh)
        >>> model.num_params()
        33
        >>> model.deserialize(np.zeros(33, dtype=np.float32))(torch.ones(5, 2)).shape
        torch.Size([5, 1])
    """

    def __init__(self, layer_specs, activation):
        require_torch("MLP")
        super().__init__()
        layers = []
        for spec in layer_specs:
            if not 2 <= len(spec) <= 3:
                raise ValueError(f"expected (inputs, outputs) or (inputs, outputs, bias) for each layer, found {spec}")
            layers += [activation()] if layers else []
            layers += [torch.nn.Linear(spec[0], spec[1], bias=len(spec) < 3 or spec[2])]
        self.model = torch.nn.Sequential(*layers)

    def forward(self, x):
        """The outputs for inputs with one row each."""
        return self.model(x)

    def num_params(self):
        """Number of parameters."""
        return sum(parameter.numel() for parameter in self.parameters())

    def serialize(self):
        """All parameters as one vector, as a copy."""
        return _joined(self.parameters())

    def deserialize(self, array):
        """Takes all parameters from a vector, and its dtype; returns the model itself.

        Raises:
            ValueError: Not a vector with one entry for each parameter; the model is as before.
        """
        array = np.asarray(array)
        if array.shape != (self.num_params(),):
            raise ValueError(f"expected a vector of {self.num_params()} parameters, found shape {array.shape}")
        start = 0
        for parameter in self.parameters():
            values = array[start : start + parameter.numel()].copy().reshape(parameter.shape)
            parameter.data = torch.from_numpy(values).to(parameter.device)
            start += parameter.numel()
        return self

    def gradient(self):
        """The gradient of all parameters as one vector, in the order of :meth:`serialize`.

        Raises:
            RuntimeError: Some parameter has none; ``backward()`` on a loss computes them.
        """
        if any(parameter.grad is None for parameter in self.parameters()):
            raise RuntimeError("The model has no gradient yet: call backward() on a loss that depends on all its layers.")
        return _joined(parameter.grad for parameter in self.parameters())


def _joined(tensors):
    return np.concatenate([tensor.detach().cpu().numpy().ravel() for tensor in tensors])
