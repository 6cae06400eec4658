"""A matrix that is changed step by step: in memory, or in files, so that a killed run can go on.

With whole numbers, a step that was interrupted could be done twice in one file. Floats would be
rounded otherwise: to close a closed block again adds in another order. So each step reads the
matrix in one file and writes the next matrix to another file. These two take turns:

1. The step writes all blocks of the next matrix, and takes the digest of each.
2. When this matrix is on the disk, the sidecar names it and its digests.

If a run is killed, the matrix that the sidecar names has not been changed since. The next run
checks its digests, then repeats the unfinished step from the same bits.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels.checks import is_whole
from gpukernels.cores.slabs import copy
from gpukernels.distributed import digest_of
from gpukernels.distributed.disk import MatrixFile
from gpukernels.distributed.resuming import Sidecar
from gpukernels.errors import InvalidArgument


def files_of(sidecar: Sidecar) -> list[Path]:
    """Return the two files of a matrix."""
    return [sidecar.place, sidecar.place.with_name(sidecar.place.name + ".other")]


class InMemory:
    """A matrix in memory; steps change it in place, or write another where it is kept `apart`.

    A step reads the matrix `now` and writes the matrix `next`. `spans` are the rows, and columns,
    of its blocks; `done` steps are done.
    """

    def __init__(self, dtype: np.dtype, spans: Sequence[slice], *, apart: bool = False):
        n = spans[-1].stop if spans else 0
        self.done, self._spans = 0, spans
        try:
            self.now = self.next = np.empty((n, n), dtype)
            if apart:
                self.next = np.empty_like(self.now)
        except MemoryError:
            size = (1 + apart) * n * n * np.dtype(dtype).itemsize / 2**30
            allowed = (
                f"less, as {size:,.3g} GiB are more than this machine gives; or name a file, by "
                "method='out_of_core'"
            )
            raise InvalidArgument("n", n, allowed) from None

    def fill(self, first: int, values: NDArray) -> None:
        """Write rows from `first` on of the matrix that the first step reads."""
        self.now[first : first + len(values)] = values

    def put(self, i: int, j: int, block: NDArray) -> None:
        """Write block `i`, `j` of the next matrix; `block` may have padding behind."""
        to = self.next[self._spans[i], self._spans[j]]
        copy(block[: to.shape[0], : to.shape[1]], to)

    def change(self, work: Callable[[NDArray], None]) -> None:
        """Let `work` change all elements of the next matrix, some at a time."""
        work(self.next)

    def reached(self, done: int) -> None:
        """Say that so many steps are done."""
        self.done, self.now, self.next = done, self.next, self.now

    def finished(self) -> NDArray:
        """Return the matrix after the last step."""
        return self.now

    def remove(self) -> None:
        """Forget all."""


class InFiles(InMemory):
    """A matrix in two files in turns, and a sidecar that says which is the last whole one.

    The matrix after the last of so many `steps` is at the sidecar's place, whose lock is held. A
    run that continues the files of another must have the same `made_from`. Once the files are
    open, a run has `begun`, and they are `new` if this run has made them.
    """

    def __init__(
        self,
        dtype: np.dtype,
        spans: Sequence[slice],
        sidecar: Sidecar,
        steps: int,
        made_from: Mapping[str, Any],
    ):
        self.done, self._spans, self._steps = 0, spans, steps
        n = spans[-1].stop if spans else 0
        self._files = [MatrixFile(path, dtype, (n, n)) for path in files_of(sidecar)]
        self.sidecar, self._made_from = sidecar, dict(made_from)
        self._digests: list[str] = []
        self.begun = self.new = False

    def begin(self, state: Mapping[str, Any] | None, more: int = 0) -> None:
        """Make the files, or continue those of a run whose sidecar contains `state`.

        Another new file will need `more` bytes on this disk. InvalidArgument if the files are of
        another run or damaged, or the disk has no room for both.
        """
        sidecar = self.sidecar
        sidecar.takes(state, self._made_from, self._files, {"block": "which memory decides"})
        if state is not None:
            self.done, self._digests = state.get("done"), state.get("digests")
            if not is_whole(self.done) or not 0 <= self.done <= self._steps:
                sidecar.refuse_changed(sidecar.file)
        if self.done == 0:
            sidecar.begin(self._state(), self._files, more)
            self._turn()
            self.begun, self.new = True, state is None
            return
        unfinished = self.done < self._steps
        for file in self._files:  # when all is done, the other may have been deleted
            needed = unfinished or file is self._file(self.done) or os.path.lexists(file.path)
            if needed and not file.open():
                sidecar.refuse_changed(file.path)
        self._turn()
        if [self._digest(i, self._read) for i in range(len(self._spans))] != self._digests:
            sidecar.refuse_changed(self._file(self.done).path)
        if unfinished:
            self._file(self.done + 1).take_room()
        self.begun = True

    def _file(self, done: int) -> MatrixFile:
        """Return the file of the matrix after so many steps."""
        return self._files[(self._steps - done) % 2]

    def _turn(self) -> None:
        """Let the next step read what the last one has written."""
        self.now = self._file(self.done).values
        self.next = self._file(self.done + 1).values if self.done < self._steps else self.now
        self._put: dict[tuple[int, int], str] = {}

    def fill(self, first: int, values: NDArray) -> None:
        """Write rows from `first` on of the matrix that the first step reads."""
        self._file(0).write(range(first, first + len(values)), values)

    def put(self, i: int, j: int, block: NDArray) -> None:
        """Write block `i`, `j` of the next matrix; `block` may have padding behind."""
        rows, columns = self._spans[i], self._spans[j]
        block = block[: rows.stop - rows.start, : columns.stop - columns.start]
        self._put[i, j] = digest_of(block)
        self._file(self.done + 1).write(range(rows.start, rows.stop), block, columns)

    def change(self, work: Callable[[NDArray], None]) -> None:
        """Let `work` change all elements of the next matrix, some at a time."""
        for i, rows in enumerate(self._spans):
            for j, columns in enumerate(self._spans):
                block = np.array(self.next[rows, columns])
                work(block)
                self.put(i, j, block)

    def reached(self, done: int) -> None:
        """Say so in the sidecar, when all that has been written is on the disk."""
        self._file(done).sync()
        self.done, put = done, self._put
        self._digests = [self._digest(i, lambda *at: put[at]) for i in range(len(self._spans))]
        self.sidecar.write(self._state())
        self._turn()

    def _read(self, i: int, j: int) -> str:
        return digest_of(self.now[self._spans[i], self._spans[j]])

    def _digest(self, i: int, of: Callable[[int, int], str]) -> str:
        """Return one digest for a row of blocks after so many steps."""
        row = f"{self.done} " + "".join(of(i, j) for j in range(len(self._spans)))
        return hashlib.blake2b(row.encode(), digest_size=16).hexdigest()

    def _state(self) -> dict[str, Any]:
        return {"made_from": self._made_from, "done": self.done, "digests": self._digests}

    def finished(self) -> NDArray:
        """Return the matrix after the last step, once the other files next to it are deleted."""
        self.now = self.next = np.empty((0, 0))
        self.sidecar.delete(self._files[1])
        self.sidecar.file.unlink()
        return np.lib.format.open_memmap(self.sidecar.place, "r+")

    def remove(self) -> None:
        """Delete all files, when they are of no use or not needed any more."""
        self.now = self.next = np.empty((0, 0))
        if self.begun:
            self.done, self._digests = 0, []
            with suppress(OSError):  # of a full disk
                self.sidecar.write(self._state())  # a run that is killed here leaves no damage
            self.sidecar.delete(*self._files)
            self.sidecar.file.unlink()
