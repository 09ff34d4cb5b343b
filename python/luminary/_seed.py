"""Random streams from whatever NumPy accepts as a seed."""

from __future__ import annotations

import numpy as np


def native_seed(seed) -> int:
    """A 64-bit seed for the native engine from an int, None, SeedSequence, BitGenerator or Generator."""
    if isinstance(seed, (np.random.Generator, np.random.BitGenerator)):
        return int(np.random.default_rng(seed).integers(0, 2**64, dtype=np.uint64))
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    return int(sequence.generate_state(1, np.uint64)[0])
