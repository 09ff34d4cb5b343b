"""Where evaluations run: processes of this machine, executors, Dask and Ray, all behind one small protocol.

:func:`luminary.run` makes an engine of whatever it is given as ``engine``; see docs/clusters.md. Whoever has machinery of
another kind writes a subclass of :class:`Engine` and passes an instance.
"""

from __future__ import annotations

import sys

from luminary.engines._protocol import Died, Done, Engine, EngineError, Late, Task, WorkerDied
from luminary.engines._work import Raised, SetupError, Value

__all__ = ["Engine", "EngineError", "WorkerDied", "SetupError", "Task", "Done", "Died", "Late", "Value", "Raised", "engine_of"]


def engine_of(thing):
    """The engine that something stands for.

    Args:
        thing: A number of processes, a ``concurrent.futures`` executor, a Dask client, "ray" or the module ray, or an
            :class:`Engine`.

    Raises:
        ImportError: A package is missing.
        ValueError: It stands for none.
    """
    if isinstance(thing, Engine):
        return thing
    if isinstance(thing, int) or type(thing).__module__ == "numpy":
        from luminary.engines._pool import LocalPool

        return LocalPool(thing)
    if thing == "ray" or (thing is not None and thing is sys.modules.get("ray")):
        from luminary.engines._ray import RayEngine

        return RayEngine()
    client = _dask_client(thing)
    if client is not None:
        from luminary.engines._dask import DaskEngine

        return DaskEngine(client)
    if callable(getattr(thing, "submit", None)):
        from luminary.engines._futures import ExecutorEngine

        return ExecutorEngine(thing)
    raise ValueError(f'engine: expected a number of processes, an executor, a Dask client or "ray", found {thing!r}')


def _dask_client(thing):
    """The client in what may be one, or may be the executor of one."""
    if not type(thing).__module__.startswith("distributed."):
        return None
    return getattr(thing, "_client", thing) if type(thing).__name__ == "ClientExecutor" else thing
