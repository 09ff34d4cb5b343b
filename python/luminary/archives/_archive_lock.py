"""The lock that makes calls of several steps one."""

from __future__ import annotations

import threading


class ArchiveLock(type(threading.RLock())):
    """Held by one thread at a time, which may take it again. Copies and pickles of it are new locks that nobody holds.

    A call that reads or changes an archive in several steps holds the lock from the first to the last, so that other
    threads see the archive before the call or after it, and never in between.
    """

    __slots__ = ()

    def __reduce__(self):
        return ArchiveLock, ()
