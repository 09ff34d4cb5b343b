"""What became of a solution that was offered to an archive."""

from enum import IntEnum


class AddStatus(IntEnum):
    """Names for the status numbers that ``add`` returns. They are ordered: a new cell beats an improved one.

    Example:
        >>> AddStatus(2)
        <AddStatus.NEW: 2>
        >>> AddStatus.NEW > AddStatus.IMPROVE_EXISTING > AddStatus.NOT_ADDED
        True
        >>> bool(AddStatus.NOT_ADDED)
        False
    """

    #: The solution was not added.
    NOT_ADDED = 0
    #: The solution took over an occupied cell.
    IMPROVE_EXISTING = 1
    #: The solution took an empty cell.
    NEW = 2
