"""Files of ``luminary.save`` that nobody wrote, guided by coverage: each loads or is a ``ValueError``.

Needs the package and atheris (``pip install atheris``)::

    python fuzz/python_saves.py -max_total_time=600

Changes are made to the description and to the bytes behind it; the checksums are made right again, as somebody could who
changes a file on purpose. Coverage is that of the Python half; the native half is fuzzed as `engine` and `checkpoint`.
"""

import contextlib
import json
import os
import sys
import tempfile

import atheris

with atheris.instrument_imports(include=["luminary"]):
    import luminary
    from luminary import _native, _saving
    from luminary.archives import GridArchive
    from luminary.emitters import EvolutionStrategyEmitter, GaussianEmitter
    from luminary.schedulers import Scheduler


def saved():
    """States of things that can be saved, as Python describes them."""
    archive = GridArchive(solution_dim=2, dims=[3, 3], ranges=[(-1, 1)] * 2, seed=1, extra_fields={"name": ((), "U8")})
    plain = GridArchive(solution_dim=2, dims=[3, 3], ranges=[(-1, 1)] * 2, seed=1)
    emitters = [
        EvolutionStrategyEmitter(plain, x0=[0, 0], sigma0=0.3, batch_size=4, seed=1),
        GaussianEmitter(plain, sigma=0.2, x0=[0, 0], batch_size=3, seed=2),
    ]
    return [_saving._described(thing) for thing in (archive, Scheduler(plain, emitters))]


STATES = saved()
WRONG = [None, True, -1, 10**6, 2**70, 1e308, "", "native", [], {}, ["same", 0], ["array", "<f8", [2**40], 0], ["objects", [3], []]]
FOLDER = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
PATH = os.path.join(FOLDER, "a.ckpt")


def places(value, path=()):
    """Every place in a description."""
    yield path
    for key, each in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(each, (*path, key))


def replaced(value, path, new):
    """A description with another value at a place."""
    if not path:
        return new
    changed = dict(value) if isinstance(value, dict) else list(value)
    changed[path[0]] = replaced(value[path[0]], path[1:], new)
    return changed


def changed(state, data):
    """A state with changes that the input asks for."""
    text_end = 16 + int.from_bytes(state[8:16], "little")
    description = json.loads(state[16:text_end])
    rest = bytearray(state[text_end:])
    for _ in range(data.ConsumeIntInRange(1, 4)):
        choice = data.ConsumeIntInRange(0, 4)
        if choice < 3:
            spots = list(places(description))
            spot = spots[data.ConsumeIntInRange(0, len(spots) - 1)]
            new = WRONG[data.ConsumeIntInRange(0, len(WRONG) - 1)] if choice else data.ConsumeUnicodeNoSurrogates(12)
            description = replaced(description, spot, new)
        elif rest:
            at = data.ConsumeIntInRange(0, len(rest) - 1)
            rest[at] = data.ConsumeIntInRange(0, 255)
    text = json.dumps(description).encode()
    return state[:8] + len(text).to_bytes(8, "little") + text + bytes(rest)


def read_one(input_bytes):
    """Loads one changed file."""
    data = atheris.FuzzedDataProvider(input_bytes)
    state = STATES[data.ConsumeIntInRange(0, len(STATES) - 1)]
    _native.write_checkpoint(PATH, changed(state, data))
    with contextlib.suppress(ValueError):
        luminary.load(PATH)


if __name__ == "__main__":
    # An input is a list of decisions: short ones decide nothing.
    atheris.Setup([*sys.argv, "-len_control=0", "-max_len=200"], read_one)
    atheris.Fuzz()
