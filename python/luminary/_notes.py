"""Tells whoever called the package of what they should know."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

#: Where the package is.
_HERE = str(Path(__file__).parent)


def warn(message, category=UserWarning):
    """Warns of something, with the line outside this package that led to it."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
