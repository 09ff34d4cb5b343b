"""Values of an archive that are computed when they are first asked for and kept until the archive changes."""

from __future__ import annotations

from operator import attrgetter


class KeptValue:
    """An attribute whose value ``read`` computes. It is kept among the archive's own attributes, which Python finds first.

    The archive counts its changes in ``_n_changes``, and removes the value from its attributes after each.
    """

    def __init__(self, read):
        self._read = read

    def __set_name__(self, owner, name):
        self._name = name

    def __get__(self, archive, owner=None):
        if archive is None:
            return self
        n_changes = archive._n_changes
        value = self._read(archive)
        vars(archive)[self._name] = value
        if archive._n_changes != n_changes:
            # Another thread changed the archive after the value was read, and may have removed what was kept before this
            # value was.
            vars(archive).pop(self._name, None)
        return value


def read_only(name, doc):
    """A property that shows the attribute of this name; such a getter takes less time than a function of Python."""
    return property(attrgetter(name), doc=doc)
