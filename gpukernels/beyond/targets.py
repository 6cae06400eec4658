"""Where rows are kept: a ``.npy`` or a ``.zarr``, to which a killed run's rest can be added.

This process writes: workers on other machines need not see its disk. Beside the result lies a
sidecar with a digest of each tile that stands in it, so a call that goes on knows what is there,
and that it is as it was written.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels.checks import is_whole

from .clients import needed
from .resuming import Sidecar, checked_place

FORMAT = "gpukernels tiles of rows 1"


class Target:
    """A matrix on a disk.

    Parameters
    ----------
    place : Path
        Where.
    sidecar : Sidecar
        Beside it.
    shape, dtype
        Of the matrix.
    rows : sequence of ndarray
        The rows of each tile.
    made_from : mapping
        What a run has to have in common with that which it goes on with.
    state : mapping or None
        What the sidecar says.

    Attributes
    ----------
    done : dict
        Digests by the tiles that are there.
    """

    def __init__(
        self,
        place: Path,
        sidecar: Sidecar,
        shape: tuple[int, int],
        dtype: np.dtype,
        rows: Sequence[NDArray],
        made_from: Mapping[str, Any],
        state: Mapping[str, Any] | None,
    ):
        self._place, self._sidecar, self._rows = place, sidecar, rows
        self._made_from = dict(made_from)
        self.done: dict[int, str] = {}
        if state is not None:
            why = {"rows": "which batch, memory and the number of workers decide"}
            sidecar.check_same(state["made_from"], self._made_from, [place, sidecar.file], why)
            self.done = {int(i): digest for i, digest in state["done"].items()}
        size, there = int(np.prod(shape)) * dtype.itemsize, bool(self.done)
        if not there and (free := shutil.disk_usage(place.parent).free) < size:
            sidecar.refuse(f"on a disk with {size:,} bytes free, not {free:,}")
        if not there:
            self._tell()
        zarr = place.suffix == ".zarr"
        self._open = self._zarr if zarr else self._npy
        self.matrix = self._open(shape, dtype, there)
        for i, digest in self.done.items():
            if i >= len(rows) or digest_of(self._read(rows[i])) != digest:
                sidecar.refuse_changed(place)

    def write(self, i: int, values: NDArray) -> None:
        """Write tile `i`, then say so."""
        rows = self._rows[i]
        if (np.diff(rows) == 1).all():
            self.matrix[rows[0] : rows[-1] + 1] = values
        elif self._place.suffix == ".zarr":
            self.matrix.oindex[rows] = values
        else:
            self.matrix[rows] = values
        if isinstance(self.matrix, np.memmap):
            self.matrix.flush()
        self.done[i] = digest_of(values)
        self._tell()

    def finished(self) -> Any:
        """Return the matrix as it stands on the disk."""
        if self._place.suffix == ".zarr":
            return needed("dask.array").from_zarr(str(self._place))
        return np.load(self._place, mmap_mode="r")

    def _read(self, rows: NDArray) -> NDArray:
        if (np.diff(rows) == 1).all():
            return np.asarray(self.matrix[rows[0] : rows[-1] + 1])
        return np.asarray(getattr(self.matrix, "oindex", self.matrix)[rows])

    def _npy(self, shape: tuple[int, int], dtype: np.dtype, there: bool) -> Any:
        return self._sidecar.mapped(self._place, dtype, shape, there)

    def _zarr(self, shape: tuple[int, int], dtype: np.dtype, there: bool) -> Any:
        zarr = needed("zarr")
        if not there:
            chunks = max((rows.size for rows in self._rows), default=1), max(1, shape[1])
            return zarr.open_array(
                str(self._place), mode="w", shape=shape, dtype=dtype, chunks=chunks
            )
        try:
            found = zarr.open_array(str(self._place), mode="r+")
        except Exception:  # zarr has many for a folder that is no array of its own
            found = None
        if found is None or (found.dtype, found.shape) != (dtype, shape):
            self._sidecar.refuse_changed(self._place)
        return found

    def _tell(self) -> None:
        done = {str(i): digest for i, digest in sorted(self.done.items())}
        self._sidecar.write({"made_from": self._made_from, "done": done})


def target_for(
    into: str | PathLike,
    shape: tuple[int, int],
    dtype: Any,
    made_from: Mapping[str, Any],
    tiles: Callable[[int | None], list[Any]],
) -> tuple[Target, list[Any]]:
    """Return where rows are kept, and the tiles of which it is made.

    Parameters
    ----------
    into : path
        Ends in ``.npy`` or ``.zarr``.
    made_from : mapping
        What the result is made from.
    tiles : callable
        Given the rows of a tile of the run that left what is there, or None, returns the tiles.

    Raises
    ------
    InvalidArgument
        Unless it can be made there, or what lies there is an undamaged part of the same result.
    MissingTool
        If zarr is not installed.
    """
    place = checked_place("into", into, ".npy", ".zarr")
    if place.suffix == ".zarr":
        needed("zarr"), needed("dask.array")
    sidecar = Sidecar("into", place, FORMAT)
    state = sidecar.read(_sound)
    before: Any = None if state is None else state["made_from"].get("rows")
    cut = tiles(before if is_whole(before) and before > 0 else None)
    rows = [tile.rows for tile in cut]
    most = max((part.size for part in rows), default=0)
    made_from = {"shape": list(shape), **made_from, "rows": most}
    return Target(place, sidecar, shape, np.dtype(dtype), rows, made_from, state), cut


def _sound(state: dict[str, Any]) -> bool:
    done = state["done"]
    return isinstance(done, dict) and all(
        i.isdecimal() and isinstance(digest, str) for i, digest in done.items()
    )


def digest_of(*arrays: NDArray | None) -> str:
    """Return what tells arrays apart from others, in few letters."""
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(b"none" if array is None else f"{array.dtype} {array.shape}".encode())
        if array is not None:
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
