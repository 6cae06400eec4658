"""A matrix in memory, or in a file that tells how far it is, so that a killed run can go on.

To do a pivot block again that is half done would be right for whole numbers, whose distances are
unique. Floats would be rounded otherwise: a block that has been closed, closed again, adds in
another order. So what a step reads and what it writes are kept apart:

1. The pivot block and its rows and columns are made from a matrix that nobody has changed since the
   last step. They are written to *panels*, a file beside it.
2. When these are on the disk, the sidecar says so.
3. Only then is the matrix changed, from the panels. This may be done twice, wherever the first time
   ended: min(min(d, x), x) is min(d, x), bit by bit, and x comes from the panels.
4. When the matrix is on the disk, the sidecar says that the step is done.

What the sidecar is, `gpukernels.beyond.resuming` says.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels.beyond.resuming import Sidecar, checked_place
from gpukernels.errors import InvalidArgument

FORMAT = "gpukernels.apsp out_of_core 1"


class InMemory:
    """Matrix and panels in memory.

    Attributes
    ----------
    matrix : ndarray, shape (n, n)
        The distances.
    panels : ndarray, shape (2, blocks, elements of a block)
        Blocks of the pivot's rows, and of its columns; of a matrix of one block, that alone.
    done : int
        Pivot blocks that are done; -1 if the matrix is not even filled.
    half : bool
        Whether the panels of the next one are there.
    """

    def __init__(self, n: int, dtype: np.dtype, panels: tuple[int, ...]):
        try:
            self.matrix = np.empty((n, n), dtype)
            self.panels = np.empty(panels, dtype)
        except MemoryError:
            allowed = (
                f"less, as {4 * n * n / 2**30:,.3g} GiB are more than this machine gives; or name "
                "a file"
            )
            raise InvalidArgument("n", n, allowed) from None
        self.done, self.half = -1, False

    def reached(self, done: int, half: bool) -> None:
        """Say that so many pivot blocks are done, and whether the next one's panels are there."""
        self.done, self.half = done, half

    def finished(self) -> NDArray:
        """Return the matrix."""
        return self.matrix

    def remove(self) -> None:
        """Forget all."""


class InFile(InMemory):
    """Matrix and panels in files, and a sidecar that tells how far they are.

    Parameters
    ----------
    place : Path
        Of the matrix, as `checked_file` returns it.
    made_from : mapping
        What else a run has to have in common with that which it goes on with.
    state : mapping or None
        What the sidecar says, as `state_of` returns it.
    """

    def __init__(
        self,
        place: Path,
        n: int,
        dtype: np.dtype,
        panels: tuple[int, ...],
        made_from: Mapping[str, Any],
        state: Mapping[str, Any] | None,
    ):
        matrix, room = n * n * 4, math.prod(panels) * 4
        self._place, (self._panels, _) = place, beside(place)
        self._sidecar = _sidecar(place)
        self._made_from = dict(made_from)
        self.done, self.half = -1, False
        if state is None:
            if (free := shutil.disk_usage(place.parent).free) < matrix + room:
                allowed = f"a file on a disk with {matrix + room:,} bytes free, not {free:,}"
                raise InvalidArgument("file", str(place), allowed)
            self._tell()
        else:
            files, why = [place, *beside(place)], {"block": "which memory decides"}
            self._sidecar.check_same(state["made_from"], self._made_from, files, why)
            self.done, self.half = state["done"], state["half"]
        self.panels = self._sidecar.mapped(self._panels, dtype, panels, self.half)
        self.matrix = self._sidecar.mapped(place, dtype, (n, n), self.done >= 0)

    def reached(self, done: int, half: bool) -> None:
        """Say so in the sidecar, when all that has been written is on the disk."""
        (self.panels if half else self.matrix).flush()
        self.done, self.half = done, half
        self._tell()

    def _tell(self) -> None:
        said = {"made_from": self._made_from, "done": self.done, "half": self.half}
        self._sidecar.write(said)

    def finished(self) -> NDArray:
        """Return the matrix, when all of it is on the disk and what lay beside it is gone."""
        self.matrix.flush()
        self.panels = np.empty(0)
        self._panels.unlink()
        self._sidecar.file.unlink()
        return self.matrix

    def remove(self) -> None:
        """Delete all files: nothing can come of them."""
        self.matrix = self.panels = np.empty(0)
        for file in (self._place, self._panels, self._sidecar.file):
            file.unlink(missing_ok=True)


def beside(place: Path) -> tuple[Path, Path]:
    """Return where the panels and the sidecar of a matrix are."""
    return place.with_name(place.name + ".panels"), place.with_name(place.name + ".json")


def joined_beside(place: Path) -> Path:
    """Return where another such matrix is for a while: which pairs are joined at all."""
    return place.with_name(place.name + ".joined.npy")


def checked_file(file: object) -> Path:
    """Return where the matrix is to be; InvalidArgument unless it can be there."""
    return checked_place("file", file, ".npy")


def state_of(place: Path) -> dict[str, Any] | None:
    """Return what the sidecar says; None if nothing is there.

    Raises
    ------
    InvalidArgument
        If there is a file that no run has left.
    """
    return _sidecar(place).read(
        lambda state: type(state["done"]) is int and type(state["half"]) is bool
    )


def _sidecar(place: Path) -> Sidecar:
    return Sidecar("file", place, FORMAT, [beside(place)[0], joined_beside(place)])
