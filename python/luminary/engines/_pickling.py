"""Functions on their way to other processes."""

from __future__ import annotations

import pickle


def pickled(job):
    """A job as bytes that ``pickle`` loads; with cloudpickle, if it is installed, also functions without a name.

    Raises:
        ValueError: It cannot be pickled.
    """
    try:
        import cloudpickle as pickler
    except ImportError:
        pickler = pickle
    try:
        return pickler.dumps(job)
    except Exception as error:
        advice = "" if pickler is not pickle else "; `pip install cloudpickle` lets lambdas and local functions be sent, too"
        raise ValueError(f"expected functions that can be sent to other processes, found {error}{advice}") from error
