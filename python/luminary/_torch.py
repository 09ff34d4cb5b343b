"""PyTorch, if it is installed: an optional package, imported only by what needs it."""

from __future__ import annotations

from luminary._optional import needed_by

try:
    import torch
except ImportError:  # pragma: no cover - depends on the environment
    torch = None

#: The base class of models; without PyTorch, no model can be made.
Module = object if torch is None else torch.nn.Module


def require_torch(what):
    """Raises ImportError unless PyTorch is installed."""
    with needed_by(what, "torch"):
        import torch  # noqa: F401
