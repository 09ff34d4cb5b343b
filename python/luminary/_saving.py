"""Schedulers, archives and emitters as checkpoint files.

The file is the command line's: one magic number, one checksum, compressed, written whole or not at all. What is inside
differs, because a scheduler of this package is more than the engine's snapshot can say: it may have any result archive,
other dtypes, shapes of solutions, generators for sampling, and rows that were asked for. So its objects are described
field by field, as JSON followed by the bytes of arrays and native states. Unlike a pickle such a file holds data only:
reading it runs no code of the file's author.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from luminary import _native
from luminary._run import Run
from luminary._saving_values import Reader, Writer

_MAGIC = b"LUMIPY01"
_HEADER_LEN = len(_MAGIC) + 8
_SNAPSHOT = b"LUMINARY"


def save(thing, path):
    """Saves a scheduler with its archives and emitters, or a :class:`Run`, whole or not at all.

    The file is a checkpoint as the command line writes it, so damage is detected; :func:`load` reads it. Archives and
    emitters can be saved on their own, too.

    Args:
        thing: A :class:`Run`, or a scheduler, archive or emitter of this package. Classes of your own and fields of
            Python objects cannot be saved like this: use :mod:`pickle`.
        path: The file; what was there is replaced.

    Raises:
        OSError: The file cannot be written.
        TypeError: A part that cannot be saved; the message names it.

    Example:
        >>> import os, tempfile
        >>> from luminary.archives import GridArchive
        >>> from luminary.emitters import GaussianEmitter
        >>> from luminary.schedulers import Scheduler
        >>> archive = GridArchive(solution_dim=2, dims=[10, 10], ranges=[(-1, 1), (-1, 1)])
        >>> scheduler = Scheduler(archive, [GaussianEmitter(archive, sigma=0.3, x0=[0, 0], seed=1)])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "scheduler.ckpt")
        ...     save(scheduler, path)
        ...     restored = load(path)
        >>> bool((restored.ask() == scheduler.ask()).all())
        True
    """
    if isinstance(thing, Run):
        thing.save(path)
    else:
        _native.write_checkpoint(path, _described(thing))


def load(path):
    """Restores what :func:`save` or the command line saved; it goes on bit by bit as the saved one would have.

    Args:
        path: A checkpoint file, or a run folder.

    Returns:
        What was saved: a scheduler, archive or emitter; a :class:`Run` from a run folder or a file of the command line.

    Raises:
        OSError: The file does not read.
        ValueError: It is no checkpoint, or damaged, or of another version.
    """
    path = Path(path)
    if path.is_dir():
        return Run.load(path)
    state = _native.read_checkpoint(path.read_bytes())
    return Run._of(_native.NativeRun.from_snapshot(state)) if state.startswith(_SNAPSHOT) else _restored(state)


def _described(thing):
    writer = Writer()
    root = writer.describe(thing, type(thing).__name__)
    content = {"version": _native.__version__, "root": root, "lengths": [len(blob) for blob in writer.blobs]}
    text = json.dumps(content, separators=(",", ":")).encode()
    return b"".join((_MAGIC, len(text).to_bytes(8, "little"), text, *writer.blobs))


def _restored(state):
    if not state.startswith(_MAGIC):
        raise ValueError(f"expected a checkpoint of luminary, found a state that starts with {state[:8]!r}")
    text_end = _HEADER_LEN + int.from_bytes(state[len(_MAGIC) : _HEADER_LEN], "little")
    try:
        content = json.loads(state[_HEADER_LEN:text_end])
        version, lengths, root = content["version"], content["lengths"], content["root"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"expected a description of what was saved, found one that does not read: {error}") from None
    if version != _native.__version__:
        raise ValueError(f"expected a checkpoint of luminary {_native.__version__}, found one of luminary {version}")
    ends = text_end + np.cumsum([0, *lengths], dtype=np.int64)
    if ends[-1] != len(state):
        raise ValueError(f"expected a state of {ends[-1]} bytes, found {len(state)}")
    try:
        return Reader([state[start:end] for start, end in zip(ends[:-1], ends[1:])]).build(root)
    except (LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"expected a state that luminary saved, found one that does not fit together: {error}") from None
