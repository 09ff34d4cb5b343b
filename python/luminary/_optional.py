"""Packages that are not needed until something is asked of them."""

from __future__ import annotations

from contextlib import contextmanager


@contextmanager
def needed_by(what, *packages):
    """Imports of optional packages belong inside; if one fails, the error says who needs what, and how to install it.

    Example:
        >>> with needed_by("this example", "numpy"):
        ...     import numpy
        >>> with needed_by("this example", "no_such_package"):
        ...     import no_such_package
        Traceback (most recent call last):
        ...
        ImportError: this example needs no_such_package, which is not installed: pip install no_such_package
    """
    try:
        yield
    except ImportError as error:
        are = "is" if len(packages) == 1 else "are"
        raise ImportError(
            f"{what} needs {' and '.join(packages)}, which {are} not installed: pip install {' '.join(packages)}"
        ) from error
