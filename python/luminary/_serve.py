"""The live view: a page over run folders, served on this machine."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from luminary._native import NativeServer


class Server:
    """A live view that answers until it is closed, or no longer referred to; see :func:`serve`."""

    def __init__(self, native):
        self._native = native

    @property
    def url(self):
        """The address for a browser on this machine."""
        return self._native.url

    def close(self):
        """Ends it; open pages say so. Closing it again changes nothing."""
        self._native.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        ended = "" if self._native.is_open else ", closed"
        return f"Server({self.url}{ended})"


def serve(*folders, port=None):
    """Starts the live view: a page over run folders, whoever made them, running or finished.

    It runs beside the program, listens at 127.0.0.1 only, and changes nothing. The command line's ``luminary serve`` can
    also be reached from elsewhere, and stop and resume runs.

    Args:
        folders: Run folders, sweeps, and folders that hold them; "runs" by default. They need not exist yet.
        port: The port; by default 8742 or, if that is taken, any that is free.

    Returns:
        A :class:`Server`, which is also a context manager.

    Raises:
        OSError: The port is taken.

    Example:
        >>> with serve("runs", port=0) as server:
        ...     server.url.startswith("http://127.0.0.1:")
        True
    """
    return Server(NativeServer([Path(folder) for folder in folders or ["runs"]], port))


def serve_beside(folder):
    """The live view of a run that is about to begin; its address is printed."""
    server = serve(folder)
    print(f"live view of {folder} at {server.url}", file=sys.stderr, flush=True)
    return server


def unused_folder(algorithm):
    """A folder under runs/ for a run that is served and was given none."""
    name = algorithm or "cma_mae"
    numbered = (Path("runs") / f"{name}-{number}" for number in itertools.count(2))
    return next(folder for folder in itertools.chain([Path("runs") / name], numbered) if not folder.exists())
