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

The sidecar is a small JSON, replaced as a whole. It says what the matrix was made from, too, and is
there before the matrix is.
"""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
        self._place, (self._panels, self._sidecar) = place, beside(place)
        self._made_from = dict(made_from)
        self.done, self.half = -1, False
        if state is None:
            if (free := shutil.disk_usage(place.parent).free) < matrix + room:
                allowed = f"a file on a disk with {matrix + room:,} bytes free, not {free:,}"
                raise InvalidArgument("file", str(place), allowed)
            self._tell()
        else:
            _check_same(place, state["made_from"], self._made_from)
            self.done, self.half = state["done"], state["half"]
        self.panels = _mapped(self._panels, dtype, panels, self.half, place)
        self.matrix = _mapped(place, dtype, (n, n), self.done >= 0, place)

    def reached(self, done: int, half: bool) -> None:
        """Say so in the sidecar, when all that has been written is on the disk."""
        (self.panels if half else self.matrix).flush()
        self.done, self.half = done, half
        self._tell()

    def _tell(self) -> None:
        new = self._sidecar.with_name(self._sidecar.name + ".new")
        said = {"format": FORMAT, "made_from": self._made_from, "done": self.done}
        with open(new, "w", encoding="utf-8") as file:
            json.dump(said | {"half": self.half}, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self._sidecar)
        _sync_folder(self._sidecar.parent)

    def finished(self) -> NDArray:
        """Return the matrix, when all of it is on the disk and what lay beside it is gone."""
        self.matrix.flush()
        self.panels = np.empty(0)
        self._panels.unlink()
        self._sidecar.unlink()
        return self.matrix

    def remove(self) -> None:
        """Delete all files: nothing can come of them."""
        self.matrix = self.panels = np.empty(0)
        for file in (self._place, self._panels, self._sidecar):
            file.unlink(missing_ok=True)


def beside(place: Path) -> tuple[Path, Path]:
    """Return where the panels and the sidecar of a matrix are."""
    return place.with_name(place.name + ".panels"), place.with_name(place.name + ".json")


def joined_beside(place: Path) -> Path:
    """Return where another such matrix is for a while: which pairs are joined at all."""
    return place.with_name(place.name + ".joined.npy")


def checked_file(file: object) -> Path:
    """Return where the matrix is to be; InvalidArgument unless it can be there."""
    if not isinstance(file, str | os.PathLike) or not isinstance(os.fspath(file), str):
        raise InvalidArgument("file", file, "a path that ends in .npy, or None")
    place = Path(file)
    if place.suffix != ".npy":
        raise InvalidArgument("file", str(file), "a path that ends in .npy, or None")
    if not place.parent.is_dir():
        raise InvalidArgument("file", str(file), "a file in a folder that is there")
    return place


def state_of(place: Path) -> dict[str, Any] | None:
    """Return what the sidecar says; None if nothing is there.

    Raises
    ------
    InvalidArgument
        If there is a file that no run has left.
    """
    panels, sidecar = beside(place)
    if not sidecar.exists():
        for other in (place, panels, joined_beside(place)):
            if other.exists():
                allowed = f"a new file, or what a run has left with {sidecar.name} beside it"
                said = allowed if other == place else f"{allowed}; {other.name} is in the way"
                raise InvalidArgument("file", str(place), said)
        return None
    try:
        state = json.loads(sidecar.read_text(encoding="utf-8"))
        sound = (
            state["format"] == FORMAT
            and isinstance(state["made_from"], dict)
            and type(state["done"]) is int
            and type(state["half"]) is bool
        )
    except (OSError, ValueError, KeyError, TypeError):
        sound = False
    if not sound:
        allowed = f"a path without a {sidecar.name} beside it that no such run has written"
        raise InvalidArgument("file", str(place), allowed)
    return state


def _check_same(place: Path, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> None:
    for name, value in ours.items():
        if theirs.get(name) != value:
            panels, sidecar = beside(place)
            allowed = (
                f"the same {name}{' (which memory decides)' if name == 'block' else ''} as the run "
                f"that left it, {theirs.get(name)!r} and not {value!r}; "
                f"or delete {place.name}, {panels.name} and {sidecar.name}"
            )
            raise InvalidArgument("file", str(place), allowed)


def _mapped(
    file: Path, dtype: np.dtype, shape: tuple[int, ...], there: bool, place: Path
) -> np.memmap:
    """Return a file as an array; one that is not there yet is made."""
    if not there:
        return np.lib.format.open_memmap(file, "w+", dtype, shape)
    with suppress(OSError, ValueError):
        found = np.lib.format.open_memmap(file, "r+")
        if (found.dtype, found.shape) == (dtype, shape):
            return found
    allowed = f"all files of the run that left it: {file.name} is gone, or has been changed"
    raise InvalidArgument("file", str(place), allowed)


def _sync_folder(folder: Path) -> None:
    """Have the new name of a file on the disk, where a folder can be opened for that."""
    if os.name == "posix":
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
