"""Schedulers, archives and emitters as checkpoint files.

The file is the command line's: one magic number, one checksum, compressed, written whole or not at all. A scheduler
whose parts are all native is the engine's own snapshot in it, which Rust and the command line go on with, too. What
only this package knows (dtypes, shapes of solutions, generators for sampling) is attached to it.

Anything else is described field by field, as JSON followed by the bytes of arrays and native states; so is the
attachment, which names the native parts that the snapshot holds. Unlike a pickle such a file holds data only: reading
it runs no code of the file's author.
"""

from __future__ import annotations

import itertools
import json
import reprlib
from pathlib import Path

from luminary import _native
from luminary._run import Run
from luminary._saving_values import Reader, Writer
from luminary._validate import read_file
from luminary.schedulers._core import SchedulerCore

_MAGIC = b"LUMIPY01"
_HEADER_LEN = len(_MAGIC) + 8
_SNAPSHOT = b"LUMINARY"


def save(thing, path):
    """Saves a scheduler with its archives and emitters, or a :class:`Run`, whole or not at all.

    The file is a checkpoint as the command line writes it, so damage is detected; :func:`load` reads it. Rust and the
    command line go on with it if all parts of the scheduler are native: archives whose extra fields are floats or short
    integers, and emitters that the engine knows. Archives and emitters can be saved on their own, too.

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
        return
    snapshot = _snapshot(thing) if isinstance(thing, SchedulerCore) and thing._is_native else None
    if snapshot is None:
        _native.write_checkpoint(path, _described(thing))
    else:
        _native.write_checkpoint(path, snapshot, thing._scheduler.iterations)


def load(path):
    """Restores what :func:`save` or the command line saved; it goes on bit by bit as the saved one would have.

    Args:
        path: A checkpoint file, or a run folder.

    Returns:
        What was saved: a scheduler, archive or emitter; a :class:`Run` from a run folder or a file of Rust or the
        command line. A scheduler that these have taken further since it was saved is where they left it.

    Raises:
        OSError: The file does not read.
        ValueError: It is no checkpoint, or damaged, or of another version.
        MemoryError: There is not enough memory for what was saved.
    """
    path = Path(path)
    if path.is_dir():
        return Run.load(path)
    state = _native.read_checkpoint(read_file(path))
    if not state.startswith(_SNAPSHOT):
        return _built(*_parsed(state), parts=None)
    attachment = _native.read_attachment(state)
    return Run._of(_native.NativeRun.from_snapshot(state)) if attachment is None else _reopened(state, attachment)


def _described(thing, parts=None, **more):
    """An object as bytes; parts of it that are saved elsewhere are only named."""
    writer = Writer(parts)
    root = writer.describe(thing, type(thing).__name__)
    content = {"version": _native.__version__, "root": root, "lengths": [len(blob) for blob in writer.blobs], **more}
    text = json.dumps(content, separators=(",", ":")).encode()
    return b"".join((_MAGIC, len(text).to_bytes(8, "little"), text, *writer.blobs))


def _parsed(state):
    """The content of a description, and the bytes that belong to it."""
    if not state.startswith(_MAGIC):
        raise ValueError(f"expected a checkpoint of luminary, found a state that starts with {state[:8]!r}")
    text_end = _HEADER_LEN + int.from_bytes(state[len(_MAGIC) : _HEADER_LEN], "little")
    try:
        content = json.loads(state[_HEADER_LEN:text_end])
        version, lengths, _ = content["version"], content["lengths"], content["root"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"expected a description of what was saved, found one that does not read: {error}") from None
    if version != _native.__version__:
        raise ValueError(f"expected a checkpoint of luminary {_native.__version__}, found one of luminary {version}")
    if type(lengths) is not list or not all(type(length) is int and length >= 0 for length in lengths):
        raise ValueError(f"expected the lengths of what was saved, found {reprlib.repr(lengths)}")
    ends = list(itertools.accumulate(lengths, initial=text_end))
    if ends[-1] != len(state):
        raise ValueError(f"expected a state of {ends[-1]} bytes, found {len(state)}")
    return content, [state[start:end] for start, end in itertools.pairwise(ends)]


def _built(content, blobs, parts):
    """The object that was described."""
    try:
        return Reader(blobs, parts).build(content["root"])
    except (ValueError, MemoryError):
        raise
    except Exception as error:
        # Whatever a description that nobody saved leads to.
        raise ValueError(f"expected a state that luminary saved, found one that does not fit together: {error}") from None


def _named_parts(native, archive, result, emitters):
    """The native parts of a scheduler by the names that descriptions use; there may be no result archive."""
    parts = {"scheduler": native, "archive": archive, "result": result}
    parts.update({f"emitter {i}": emitter for i, emitter in enumerate(emitters)})
    return {name: part for name, part in parts.items() if part is not None}


def _snapshot(scheduler):
    """The engine's snapshot of a scheduler of native parts; None if the engine could not go on with it."""
    scheduler._reconnect()
    native = scheduler._scheduler
    emitters = [emitter._native for emitter in scheduler._parts]
    parts = _named_parts(native, *scheduler._current_archives(), emitters)
    counts = [[emitter.iterations, emitter.has_gradients] for emitter in emitters]
    more = {"threads": native.threads, "position": native.position(), "emitters": counts}
    return native.to_snapshot(_described(scheduler, parts, **more))


def _reopened(state, attachment):
    """The scheduler of a snapshot to which this package has attached something."""
    try:
        content, blobs = _parsed(attachment)
    except ValueError as error:
        raise ValueError(f"{error}; luminary.Run.load opens it without what belongs to this package") from None
    try:
        threads, position, counts = content["threads"], tuple(content["position"]), content["emitters"]
        native, archive, result, emitters = _native.NativeScheduler.from_snapshot(state, threads)
        evaluations, *_ = native.position()
        for emitter, (iterations, has_gradients) in zip(emitters, counts, strict=True):
            # Whoever went on with it has told gradients first.
            emitter.restore_counts(iterations, has_gradients or evaluations > position[0])
    except (LookupError, TypeError, OverflowError) as error:
        raise ValueError(f"expected an attachment that luminary saved, found one that does not fit: {error}") from None
    scheduler = _built(content, blobs, _named_parts(native, archive, result, emitters))
    if native.position() != position:
        scheduler._catch_up()
    return scheduler
