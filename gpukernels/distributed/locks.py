"""A lock next to a result: one run at a time writes it, and a process's end releases the lock.

The lock is of the operating system and belongs to an open file, so it also keeps apart two threads
of one process. The file stays empty. Without `fcntl` and `msvcrt`, or on a file system without
locks, runs are not kept apart.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .disk import created, opened


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


fcntl, msvcrt = _module("fcntl"), _module("msvcrt")
#: Another run has the lock.
HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold the lock during the block, and delete its file afterwards.

    BlockingIOError if another run holds it; FileExistsError if the file is not empty, or something
    else has its name.
    """
    if not (fcntl or msvcrt):
        yield
        return
    while True:
        held = _opened(file)
        if _is(held, file):
            break
        held.close()  # another run deleted this file when it ended
    try:
        yield
    finally:
        with held, suppress(OSError):
            if os.name == "posix" and _is(held, file):
                file.unlink()  # before the lock is released: a run that gets it then starts again
        if os.name != "posix":
            with suppress(OSError):  # no open file can be deleted, and another run may have it open
                file.unlink()


def _opened(file: Path) -> io.FileIO:
    """Return the open file with its lock, which a run may have deleted in the meantime."""
    held = opened(file, "r+b")
    while held is None:
        try:
            held = created(file)
        except FileExistsError:
            held = opened(file, "r+b")
            if held is None and os.path.lexists(file):
                raise
    try:
        if os.fstat(held.fileno()).st_size:
            raise FileExistsError(errno.EEXIST, "this file is not empty", str(file))
        _lock(held)
    except OSError as error:
        if not isinstance(error, FileExistsError) and error.errno not in HELD:
            return held  # this file system has no locks
        held.close()
        raise
    return held


def _lock(held: io.FileIO) -> None:
    if fcntl:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        msvcrt.locking(held.fileno(), msvcrt.LK_NBLCK, 1)


def _is(held: io.FileIO, file: Path) -> bool:
    """Return whether an open file is still the one of that name."""
    try:
        return os.path.samestat(os.fstat(held.fileno()), os.stat(file, follow_symlinks=False))
    except FileNotFoundError:
        return False
