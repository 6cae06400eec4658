"""Files that hold a result: how they are opened, and how their room on the disk is taken.

A result is written by calls and read through memory maps. If a disk is full, a write to a map ends
the process by a signal (SIGBUS); a call that writes raises an OSError, and the run can go on later.
"""

from __future__ import annotations

import errno
import io
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: How files are opened where the system knows these flags: links are not followed, a pipe does not
#: wait for a writer, and Windows does not translate line ends.
_FLAGS = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
#: A disk is full, a quota is used up, or a file is larger than the system allows.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
#: The file system or the system has no such call.
UNKNOWN = (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS)
ZEROS = bytes(1 << 20)


def opened(file: Path, mode: str = "rb") -> io.FileIO | None:
    """Open a regular file, unbuffered; return None if there is none, or something else."""
    if file.is_symlink() or not file.is_file():
        return None
    handle = _open(file, mode)
    if stat.S_ISREG(os.fstat(handle.fileno()).st_mode):
        return handle
    handle.close()
    return None


def new_file(file: Path, beginning: bytes) -> io.FileIO:
    """Make a new file that starts with `beginning`, and open it to be written and read.

    FileExistsError if there is a file that a killed run cannot have begun; see `check_own`.
    """
    remove(file, beginning)
    new = created(file)
    try:
        write_all(new, beginning)
    except BaseException:
        new.close()
        file.unlink()
        raise
    return new


def created(file: Path) -> io.FileIO:
    """Create an empty file, which is not there yet, and open it to be written and read."""
    return _open(file, "x+b")


def check_own(file: Path, beginning: bytes) -> bool:
    """Return whether there is a file that starts as ours do, or ends before that.

    FileExistsError if there is something else.
    """
    if not os.path.lexists(file):
        return False
    handle = opened(file)
    if handle is None:
        raise FileExistsError(errno.EEXIST, "this is no regular file", str(file))
    with handle:
        begins = handle.read(len(beginning)) or b""
    if not beginning.startswith(begins):
        raise FileExistsError(errno.EEXIST, "another program has written this file", str(file))
    return True


def remove(file: Path, beginning: bytes) -> None:
    """Delete a file, if it is there; a FileExistsError as `check_own`."""
    if check_own(file, beginning):
        file.unlink()


def _open(file: Path, mode: str) -> Any:
    return open(file, mode, 0, opener=lambda path, flags: os.open(path, flags | _FLAGS, 0o666))


def write_all(file: io.FileIO, values: bytes | NDArray[np.uint8]) -> None:
    """Write all bytes, where one call may write a part of them."""
    rest = memoryview(values)
    while rest:
        rest = rest[file.write(rest) :]


@contextmanager
def needing(file: Path, size: int) -> Iterator[None]:
    """Let errors of a full disk say how many bytes were to be written, and how many are free."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        free = shutil.disk_usage(file.parent).free
        missing = f", {size - free:,} too few" if free < size else ""
        message = (
            f"{error.strerror}: {size:,} bytes are needed and {free:,} are free{missing}; when "
            "there is room, the same call goes on"
        )
        raise OSError(error.errno, message, str(file)) from error


def take_room(file: io.FileIO, size: int) -> None:
    """Take room for `size` bytes, so that no later write to them finds the disk full.

    An existing file keeps its bytes, and its holes get room. Where the system cannot do that (macOS
    and Windows, for example), zeros are written behind the end of the file.
    """
    try:
        os.posix_fallocate(file.fileno(), 0, size)
    except (AttributeError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in UNKNOWN:
            raise
    for at in range(file.seek(0, os.SEEK_END), size, len(ZEROS)):
        write_all(file, ZEROS[: size - at])


class MatrixFile:
    """A matrix in a ``.npy`` of `size` bytes."""

    def __init__(self, path: Path, dtype: np.dtype, shape: tuple[int, int]):
        header = io.BytesIO()
        about = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False}
        np.lib.format.write_array_header_1_0(header, about | {"shape": shape})
        self.path, self.dtype, self._shape = path, dtype, shape
        self._header = header.getvalue()
        self.size = len(self._header) + shape[0] * shape[1] * dtype.itemsize
        self._file: io.FileIO | None = None

    def make(self) -> None:
        """Make the file, with room on the disk for all of it; a FileExistsError as `made`."""
        with needing(self.path, self.size):
            self._file = new_file(self.path, self._header)
            take_room(self._file, self.size)

    def open(self) -> bool:
        """Open the file; return whether it has this dtype, shape and size."""
        self._file = opened(self.path, "r+b")
        return (
            self._file is not None
            and self._file.read(len(self._header)) == self._header
            and os.fstat(self._file.fileno()).st_size == self.size
        )

    def take_room(self) -> None:
        """Take room again: a file that was copied may have holes in place of zeros."""
        assert self._file is not None
        allocated = getattr(os.fstat(self._file.fileno()), "st_blocks", 0) * 512
        with needing(self.path, max(self.size - allocated, 0)):
            take_room(self._file, self.size)

    @property
    def values(self) -> NDArray:
        """The matrix as it stands in the file, which cannot be written through it."""
        return np.memmap(self._file, self.dtype, "r", len(self._header), self._shape)  # type: ignore[call-overload]

    def read(self, rows: NDArray) -> NDArray:
        """Return some rows."""
        return np.asarray(self.values[rows])

    def write(self, rows: Any, values: NDArray, columns: slice = slice(None)) -> None:
        """Write rows with ascending numbers, or some columns of them."""
        assert self._file is not None
        wide, item = self._shape[1], self.dtype.itemsize
        first = columns.indices(wide)[0]
        together = values.shape[1] == wide and len(rows) == 1 + rows[-1] - rows[0]
        with needing(self.path, values.nbytes):
            for at, part in [(rows[0], values)] if together else zip(rows, values, strict=True):
                self._file.seek(len(self._header) + (int(at) * wide + first) * item)
                flat = np.ascontiguousarray(part, self.dtype).reshape(-1)
                write_all(self._file, flat.view(np.uint8))

    def sync(self) -> None:
        """Return when all that was written is on the disk."""
        assert self._file is not None
        with needing(self.path, self.size):
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def remove(self) -> None:
        """Delete the file; a FileExistsError as `remove`."""
        self.close()
        remove(self.path, self._header)
