"""Points that fill a cube evenly."""

from __future__ import annotations

from functools import lru_cache
from itertools import count, islice

import numpy as np

#: Binary digits of a coordinate, as many as a float64 between 0 and 1 keeps exactly.
_BITS = 52


class SobolSequence:
    """A randomised Sobol' sequence in the unit cube (Sobol', 1967).

    The primitive polynomials are those of the usual tables. The first direction numbers of each coordinate, which are
    free, are drawn at random, and so is a digital shift of all points. There is no end to the sequence in practice.

    Args:
        dim: Number of coordinates.
        seed: What :func:`numpy.random.default_rng` takes.

    Example:
        >>> points = SobolSequence(2, seed=1).draw(16)
        >>> sorted((16 * points[:, 0]).astype(int).tolist()) == list(range(16))
        True
    """

    def __init__(self, dim, seed=None):
        rng = np.random.default_rng(seed)
        rows = [_directions(polynomial, rng) for polynomial in _first_polynomials(dim)]
        self._directions = np.array(rows, dtype=np.uint64).reshape(dim, _BITS)
        self._shift = rng.integers(0, 2**_BITS, dim, dtype=np.uint64)
        self._n_drawn = 0

    def draw(self, n):
        """The next ``n`` points, one in each row, in [0, 1)."""
        index = np.arange(self._n_drawn, self._n_drawn + n, dtype=np.uint64)
        self._n_drawn += n
        points = np.repeat(self._shift[None], n, axis=0)
        for bit in range(self._n_drawn.bit_length()):
            is_set = (index >> np.uint64(bit) & np.uint64(1)).astype(bool)
            points[is_set] ^= self._directions[:, bit]
        return points / 2.0**_BITS


def _directions(polynomial, rng):
    """Direction numbers of one coordinate as integers of ``_BITS`` digits: random ones, then the recurrence."""
    degree = polynomial.bit_length() - 1
    if degree == 0:
        # The first coordinate is van der Corput's sequence.
        return [1 << (_BITS - place) for place in range(1, _BITS + 1)]
    # An odd number of `place` digits, moved behind the point.
    numbers = [(2 * int(rng.integers(2 ** (place - 1))) + 1) << (_BITS - place) for place in range(1, degree + 1)]
    while len(numbers) < _BITS:
        number = numbers[-degree] ^ (numbers[-degree] >> degree)
        for back in range(1, degree):
            if polynomial >> (degree - back) & 1:
                number ^= numbers[-back]
        numbers.append(number)
    return numbers


@lru_cache(maxsize=8)
def _first_polynomials(n):
    """The polynomial 1 and primitive polynomials over GF(2) by increasing degree; bit k is the coefficient of x^k."""
    candidates = ((degree, 2**degree + low) for degree in count(1) for low in range(1, 2**degree, 2))
    primitive = (polynomial for degree, polynomial in candidates if _is_primitive(polynomial, degree))
    return (1, *islice(primitive, n - 1)) if n else ()


def _is_primitive(polynomial, degree):
    """Whether the powers of x modulo the polynomial run through everything but zero before they repeat."""
    power = 1
    for exponent in range(1, 2**degree):
        power <<= 1
        if power >> degree:
            power ^= polynomial
        if power == 1:
            return exponent == 2**degree - 1
    return False
