"""Where rows are kept: a ``.npy`` or a ``.zarr``, to which a killed run's rest can be added.

Only this process writes, so workers on other machines need not see its disk. Next to the result
is a sidecar with a digest of each tile that is stored. From it, a call that continues knows which
tiles are there, and that they have not changed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels.checks import is_whole, needed

from .disk import MatrixFile, needing
from .resuming import Sidecar, checked_place, digest_of

FORMAT = "gpukernels tiles of rows 2"


class ZarrMatrix:
    """A matrix in a ``.zarr``, a folder with a file for each chunk of rows.

    Chunks are compressed, so their size is not known before they are written. They are written by
    calls, and a full disk is an OSError. A chunk has `rows` rows; the rest is as in
    :class:`~gpukernels.distributed.disk.MatrixFile`.
    """

    def __init__(self, path: Path, dtype: np.dtype, shape: tuple[int, int], rows: int):
        self.path, self.size = path, shape[0] * shape[1] * dtype.itemsize
        self._dtype, self._shape, self._chunks = dtype, shape, (max(rows, 1), max(shape[1], 1))
        self._array: Any = None

    def make(self) -> None:
        """Make the folder, which is not there."""
        with needing(self.path, self.size):
            self._array = needed("zarr", "dask").open_array(
                str(self.path), mode="w-", shape=self._shape, dtype=self._dtype,
                chunks=self._chunks,
            )  # fmt: skip

    def open(self) -> bool:
        """Open the folder; return whether it has this dtype and shape, and no links or pipes."""
        if self.path.is_symlink() or not all(map(self._may_hold, self.path.rglob("*"))):
            return False
        try:
            self._array = needed("zarr", "dask").open_array(str(self.path), mode="r+")
        except Exception:  # zarr has many for a folder that is no array of its own
            return False
        return (self._array.dtype, self._array.shape) == (self._dtype, self._shape)

    def _may_hold(self, file: Path) -> bool:
        """Return whether a file is one of those of zarr: its description or a chunk."""
        depth = len(file.relative_to(self.path).parts)
        regular = depth > 2 or bool(file.suffix)
        return not file.is_symlink() and (file.is_file() if regular else file.is_dir())

    def take_room(self) -> None:
        """Do nothing: see above."""

    def read(self, rows: NDArray) -> NDArray | None:
        """Return some rows; None if they cannot be read."""
        try:
            return np.asarray(self._array.oindex[rows])
        except Exception:  # zarr and its codecs have many for a damaged chunk
            return None

    def write(self, rows: NDArray, values: NDArray) -> None:
        """Write rows with ascending numbers."""
        together = len(rows) == 1 + rows[-1] - rows[0]
        with needing(self.path, values.nbytes):
            self._array.oindex[slice(rows[0], rows[-1] + 1) if together else rows] = values

    def sync(self) -> None:
        """Do nothing: zarr closes each file that it writes."""

    def close(self) -> None:
        """Do nothing."""

    def remove(self) -> None:
        """Delete the folder; FileExistsError unless a killed run can have begun it."""
        if not os.path.lexists(self.path):
            return
        begun = self.path.is_dir() and not self.path.is_symlink()
        if begun and any(not file.name.endswith(".partial") for file in self.path.iterdir()):
            begun = self.open()
        if not begun:
            raise FileExistsError(0, "another program has made this", str(self.path))
        shutil.rmtree(self.path)


class Target:
    """A matrix on a disk, in tiles of some `rows` each, and the sidecar next to it.

    A run that continues another run's result, whose sidecar contains `state`, must have the same
    `made_from`. `done` has the digests of the stored tiles.
    """

    def __init__(
        self,
        sidecar: Sidecar,
        matrix: MatrixFile | ZarrMatrix,
        rows: Sequence[NDArray],
        made_from: Mapping[str, Any],
        state: Mapping[str, Any] | None,
    ):
        self._sidecar, self._matrix, self._rows = sidecar, matrix, rows
        self._made_from = dict(made_from)
        self.done: dict[int, str] = {}
        why = {"rows": "which batch, memory and the number of workers decide"}
        sidecar.takes(state, self._made_from, [matrix], why)
        if state is not None:
            done = state.get("done")
            if not isinstance(done, dict) or not all(i.isdecimal() for i in done):
                sidecar.refuse_changed(sidecar.file)
            self.done = {int(i): digest for i, digest in done.items()}
        if not self.done:
            sidecar.begin(self._state(), [matrix])
            return
        if not matrix.open():
            sidecar.refuse_changed(matrix.path)
        for i, digest in self.done.items():
            if i >= len(rows) or digest_of(matrix.read(rows[i])) != digest:
                sidecar.refuse_changed(matrix.path)
        if len(self.done) < len(rows):
            matrix.take_room()

    def write(self, i: int, values: NDArray) -> None:
        """Write tile `i`, then say so."""
        self._matrix.write(self._rows[i], values)
        self._matrix.sync()
        self.done[i] = digest_of(values)
        self._sidecar.write(self._state())

    def finished(self) -> Any:
        """Return the matrix as it stands on the disk."""
        if isinstance(self._matrix, ZarrMatrix):
            return needed("dask.array", "dask").from_zarr(str(self._matrix.path))
        return np.load(self._matrix.path, mmap_mode="r")

    def _state(self) -> dict[str, Any]:
        done = {str(i): digest for i, digest in sorted(self.done.items())}
        return {"made_from": self._made_from, "done": done}


def sidecar_of(into: str | os.PathLike) -> Sidecar:
    """Return the sidecar of rows that are kept in a file.

    InvalidArgument unless `into` ends in ``.npy`` or ``.zarr`` and its folder is there; MissingTool
    if zarr is needed and not installed.
    """
    place = checked_place("into", into, ".npy", ".zarr")
    if place.suffix == ".zarr":
        needed("zarr", "dask"), needed("dask.array", "dask")
    return Sidecar("into", place, FORMAT)


def target_for(
    sidecar: Sidecar,
    shape: tuple[int, int],
    dtype: Any,
    made_from: Mapping[str, Any],
    tiles: Callable[[int | None], list[Any]],
) -> tuple[Target, list[Any]]:
    """Return where rows are kept, and the tiles of which it is made.

    `tiles` takes the rows per tile of the run to continue, or None; `made_from` describes the
    input. InvalidArgument unless it can be made there, or an undamaged part of the same is there.
    """
    state = sidecar.read(digests=shape[0])
    before: Any = None if state is None else state["made_from"].get("rows")
    cut = tiles(before if is_whole(before) and before > 0 else None)
    rows = [tile.rows for tile in cut]
    most = max((part.size for part in rows), default=0)
    made_from = {"shape": list(shape), **made_from, "rows": most}
    matrix: MatrixFile | ZarrMatrix = (
        MatrixFile(sidecar.place, np.dtype(dtype), shape)
        if sidecar.place.suffix == ".npy"
        else ZarrMatrix(sidecar.place, np.dtype(dtype), shape, most)
    )
    return Target(sidecar, matrix, rows, made_from, state), cut
