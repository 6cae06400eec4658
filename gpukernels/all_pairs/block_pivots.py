"""Blocks of a matrix kept on a disk after each pivot, so that a killed call goes on from the last.

Beside the result, whose rows come when all pivots are done: a file of all blocks after a pivot, and
a sidecar that says which one that is. The next file is whole before the sidecar names it, and only
then is the last one deleted. So there is room for two of them, or none is begun.

Every block comes to this process for that, so it is only done for a call that keeps its result.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels.beyond import digest_of
from gpukernels.beyond.resuming import Sidecar, checked_place
from gpukernels.checks import is_whole

FORMAT = "gpukernels blocks after a pivot 1"


class Pivots:
    """What stands beside a result until it is whole.

    Parameters
    ----------
    into : path
        Where the result is to be.
    dtype : dtype
        Of the matrix.
    spans : sequence of pair of int
        The first row of each row of blocks, and the end; columns are the same.
    made_from : mapping
        What a call has to have in common with that which it goes on with.

    Attributes
    ----------
    closed : int
        Over how many pivots the blocks are closed that are there; 0 if none are.
    """

    def __init__(
        self,
        into: str | os.PathLike,
        dtype: Any,
        spans: Sequence[tuple[int, int]],
        made_from: Mapping[str, Any],
    ):
        result = checked_place("into", into, ".npy", ".zarr")
        self._base = result.with_name(result.name + ".pivots")
        self._dtype, self._spans, self._made_from = np.dtype(dtype), spans, dict(made_from)
        self._sidecar = Sidecar("into", self._base, FORMAT, self._files())
        self.closed, self._digests = 0, list[str]()

    def begin(self) -> None:
        """Find out what is there.

        Raises
        ------
        InvalidArgument
            If that is of another call or damaged, or the disk has no room for what will be there.
        """
        state = self._sidecar.read(_sound)
        if state is not None:
            files = [*self._files(), self._sidecar.file]
            self._sidecar.check_same(state["made_from"], self._made_from, files)
            self.closed, self._digests = state["closed"], state["digests"]
        size = self._spans[-1][1] ** 2 * self._dtype.itemsize if self._spans else 0
        files = 1 if self.closed else 2
        if (free := shutil.disk_usage(self._base.parent).free) < files * size:
            self._sidecar.refuse(f"on a disk with {files * size:,} bytes free, not {free:,}")
        if state is None:
            self._tell()

    def read(self) -> list[list[NDArray]]:
        """Return all blocks; InvalidArgument unless they are as they were written."""
        file, n = self._file(self.closed), self._spans[-1][1]
        if not file.exists():
            self._sidecar.refuse_changed(file)
        there = self._sidecar.mapped(file, self._dtype, (n, n), True)
        rows = [np.array(there[slice(*span)]) for span in self._spans]
        if [digest_of(row) for row in rows] != self._digests:
            self._sidecar.refuse_changed(file)
        return [[row[:, slice(*span)] for span in self._spans] for row in rows]

    def write(self, closed: int, block: Callable[[int, int], NDArray]) -> None:
        """Keep all blocks, ``block(i, j)`` each, as they are after so many pivots."""
        n, before = self._spans[-1][1], self._file(self.closed)
        there = self._sidecar.mapped(self._file(closed), self._dtype, (n, n), False)
        digests = []
        for i, rows in enumerate(self._spans):
            for j, columns in enumerate(self._spans):
                there[slice(*rows), slice(*columns)] = block(i, j)
            digests.append(digest_of(there[slice(*rows)]))
        there.flush()
        self.closed, self._digests = closed, digests
        self._tell()
        before.unlink(missing_ok=True)

    def remove(self) -> None:
        """Delete all of it: the result is whole."""
        if self._sidecar.file.exists():
            for file in (*self._files(), self._sidecar.file):
                with suppress(FileNotFoundError):
                    file.unlink()

    def _file(self, closed: int) -> Path:
        return self._base.with_name(f"{self._base.name}.{closed}")

    def _files(self) -> list[Path]:
        found = self._base.parent.glob(f"{self._base.name}.*")
        return sorted(file for file in found if file.suffix[1:].isdecimal())

    def _tell(self) -> None:
        said = {"made_from": self._made_from, "closed": self.closed, "digests": self._digests}
        self._sidecar.write(said)


def _sound(state: dict[str, Any]) -> bool:
    closed, digests = state["closed"], state["digests"]
    return (
        is_whole(closed)
        and closed >= 0
        and isinstance(digests, list)
        and all(isinstance(digest, str) for digest in digests)
    )
