"""A matrix in tiles of whole rows: made one after the other here, or by workers as they come."""

from __future__ import annotations

import operator
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpukernels.checks import check_choice, needed
from gpukernels.cores.progress import Progress
from gpukernels.cores.slabs import copy, on_all_cores
from gpukernels.device import Device, place_of

from .targets import Target, sidecar_of, target_for
from .tasks import advice, cancel, named, result_of, submitted

#: Engines that may do the work: kernels on a device, or one core of a CPU, compiled by numba.
ENGINES = ("kernels", "cpu")
#: Bytes of a tile of rows unless a caller says how many rows it has.
TILE_BYTES = 1 << 26
#: Least number of tiles per worker, so that no worker waits long for the last tile.
TILES_A_WORKER = 4


def chosen_engine(engine: str | None, device: Device | None) -> str:
    """Return the engine of a call: by default the CPU, if kernels would not run on a GPU.

    Kernels run on the SIMT machine if it is given, or if it traces. InvalidArgument if there is no
    such engine.
    """
    if engine is None:
        return "cpu" if place_of(device).device is None else "kernels"
    check_choice("engine", engine, ENGINES)
    return engine


class RowTile(NamedTuple):
    """Some rows of the result, by number, and the `name` of the tile in messages.

    `args` returns the further arguments of the work on it, which may hold futures. It is called
    only if the tile is not there yet.
    """

    name: str
    rows: NDArray[np.int64]
    args: Callable[[], tuple]


def rows_a_tile(rows: int, row_bytes: int, client: Any) -> int:
    """Return how many rows a tile has unless a caller knows better."""
    workers = 1 if client is None else max(1, len(client.nthreads()))
    share = -(-rows // (TILES_A_WORKER * workers)) if client is not None else rows
    return max(1, min(share, TILE_BYTES // max(1, row_bytes)))


def tiles_of(what: str, ids: NDArray, each: int) -> list[RowTile]:
    """Return tiles of `each` rows, the work on which takes its part of `ids`."""
    tiles = []
    for first in range(0, ids.size, each):
        rows = np.arange(first, min(first + each, ids.size))
        name = f"{what} {rows[0]:,} to {rows[-1]:,}"
        tiles.append(RowTile(name, rows, partial(_part, ids, rows)))
    return tiles


def _part(ids: NDArray, rows: NDArray) -> tuple[NDArray]:
    return (ids[rows],)


class Made(NamedTuple):
    """A matrix of NumPy or Dask, and the statistics of the work on each tile of this call.

    There are so many `tiles`, of which `resumed` were there already; the largest has `batch` rows.
    """

    matrix: Any
    stats: list[dict[str, Any]]
    tiles: int
    resumed: int
    batch: int


def make_rows(
    call: str,
    shape: tuple[int, int],
    dtype: Any,
    tiles: Callable[[int | None], list[RowTile]],
    work: Callable[..., tuple[NDArray, dict[str, Any]]],
    args: tuple,
    client: Any = None,
    into: str | PathLike | None = None,
    made_from: Mapping[str, Any] | None = None,
) -> Made:
    """Make all rows of a result, tile by tile, for the public function `call`.

    Parameters
    ----------
    tiles : callable
        Takes the rows per tile of the run to continue, or None, and returns all tiles; every
        row is in one of them.
    work : callable
        Takes `args` and the arguments of a tile; returns its rows and the statistics of its work.
    client : dask.distributed.Client, optional
        Client with workers that do the work. By default, it is done here.
    into : path, optional
        Where to keep the rows. By default, they are in memory: here, or in the workers' memory.
    made_from : mapping, optional
        Description of the input, for `target_for`.
    """
    making = _Making(call, shape, dtype, work, args, client)
    if into is None:
        return making.all(tiles(None), None)
    with sidecar_of(into) as sidecar:
        target, cut = target_for(sidecar, shape, dtype, made_from or {}, tiles)
        return making.all(cut, target)


class _Making(NamedTuple):
    """The common data of the tiles of one result; see `make_rows`."""

    call: str
    shape: tuple[int, int]
    dtype: Any
    work: Callable[..., tuple[NDArray, dict[str, Any]]]
    args: tuple
    client: Any

    def all(self, cut: list[RowTile], target: Target | None) -> Made:
        """Make the tiles that are not in the target yet."""
        batch = max((tile.rows.size for tile in cut), default=0)
        if self.client is not None and cut and target is None:
            return Made(*self._on_workers(cut), len(cut), 0, batch)
        missing = [i for i in range(len(cut)) if target is None or i not in target.done]
        resumed = len(cut) - len(missing)
        matrix: Any = None
        stats = []
        with Progress(f"gk.{self.call}", len(cut), "tile") as bar:
            results = self._in_this_process if self.client is None else self._as_they_come
            for done, (i, (rows, tile_stats)) in enumerate(results(cut, missing)):
                stats.append(tile_stats)
                if target is None:
                    matrix = self._placed(rows, cut[i].rows, matrix)
                else:
                    target.write(i, rows)
                bar.reach(resumed + done + 1)
        if target is not None:
            matrix = target.finished()
        elif matrix is None:
            matrix = np.empty(self.shape, self.dtype)
        return Made(matrix, stats, len(cut), resumed, batch)

    def _placed(self, rows: NDArray, where: NDArray[np.int64], matrix: Any) -> NDArray:
        """Return the matrix, or a new one if there is none yet, with some rows in their places."""
        first, end = int(where[0]), int(where[-1]) + 1
        neighbors = np.array_equal(where, np.arange(first, end))
        if matrix is None:
            if neighbors and (rows.shape, rows.dtype) == (self.shape, self.dtype):
                return rows  # all of it, and to copy it takes as long as to bring it here
            matrix = np.empty(self.shape, self.dtype)
        if neighbors:
            copy(rows, matrix[first:end])
            return matrix

        def put(first: int, last: int) -> None:
            matrix[where[first:last]] = rows[first:last]

        on_all_cores(put, rows.shape, one_pass=True)
        return matrix

    def _in_this_process(self, cut: list[RowTile], missing: list[int]) -> Iterator[tuple[int, Any]]:
        """Yield the number of each missing tile, and the result of the work on it."""
        for i in missing:
            try:
                result = self.work(*self.args, *cut[i].args())
            except Exception as error:
                error.add_note(f"found by gk.{self.call}, {cut[i].name}" + advice(error))
                raise
            yield i, result

    def _as_they_come(self, cut: list[RowTile], missing: list[int]) -> Iterator[tuple[int, Any]]:
        """Yield the same of workers, whichever is made first."""
        futures = self._submit([cut[i] for i in missing])
        places = {future.key: i for future, i in zip(futures, missing, strict=True)}
        names = {key: cut[i].name for key, i in places.items()}
        try:
            for future in needed("distributed", "dask").as_completed(list(futures)):
                yield places[future.key], result_of(self.call, future, names)
                future.release()
        except BaseException:
            cancel(futures)
            raise

    def _submit(self, tiles: Sequence[RowTile]) -> list[Any]:
        """Return one future per tile, with keys that are readable in Dask."""
        run = uuid.uuid4().hex[:8]
        names, takes = [tile.name for tile in tiles], [(*self.args, *tile.args()) for tile in tiles]
        keys = [f"{self.call}-{run}-{tile.rows[0]}" for tile in tiles]
        return submitted(self.client, self.call, names, self.work, takes, keys)

    def _on_workers(self, cut: Sequence[RowTile]) -> tuple[Any, list[dict[str, Any]]]:
        """Return rows that stay with the workers, as an array of Dask, when all are made."""
        dask, array = needed("dask", "dask"), needed("dask.array", "dask")
        pairs = self._submit(cut)
        names = {pair.key: tile.name for pair, tile in zip(pairs, cut, strict=True)}
        # A pair is split when its rows are requested. A worker would split it between two tiles.
        # The code from here on takes a client some milliseconds; by then, workers have begun.
        rows = dask.delayed(operator.itemgetter(0))
        blocks = [
            array.from_delayed(
                rows(pair, dask_key_name=f"rows-{pair.key}"),
                (tile.rows.size, self.shape[1]), self.dtype,
            )
            for pair, tile in zip(pairs, cut, strict=True)
        ]  # fmt: skip
        matrix, order = array.concatenate(blocks), np.concatenate([tile.rows for tile in cut])
        if (order[1:] < order[:-1]).any():
            matrix = matrix[np.argsort(order)]
        try:
            with Progress(f"gk.{self.call}", len(cut), "tile") as bar:
                for done, pair in enumerate(needed("distributed", "dask").as_completed(pairs)):
                    if pair.status in ("error", "cancelled"):
                        result_of(self.call, pair, names)
                    bar.reach(done + 1)
            stats_names = {f"told-{key}": name for key, name in names.items()}
            stats = named(self.call, partial(_stats_of, self.client, pairs), names | stats_names)
        except BaseException:
            cancel(pairs)
            raise
        return matrix, stats


def _stats_of(client: Any, pairs: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the statistics of each tile, without the rows, which stay on their workers."""
    keys = [pair.key for pair in pairs]
    stats: dict[str, dict[str, Any]] = {}
    # One message a worker. A task for each tile would come between two tiles: some milliseconds.
    for some in client.run(_stats_on_worker, keys, on_error="ignore").values():
        stats |= some
    # Then the tiles of a worker that has died since, or has its rows on a disk.
    rest = [pair for pair in pairs if pair.key not in stats]
    stats_keys = [f"told-{pair.key}" for pair in rest]
    futures = client.map(operator.itemgetter(1), rest, key=stats_keys, pure=False) if rest else []
    stats |= zip((pair.key for pair in rest), client.gather(futures), strict=True)
    return [stats[key] for key in keys]


def _stats_on_worker(keys: Sequence[str], dask_worker: Any) -> dict[str, dict[str, Any]]:
    """Return the statistics of the tiles among `keys` that this worker has in memory."""
    held = getattr(dask_worker.data, "fast", dask_worker.data)  # without the tiles on a disk
    return {key: held[key][1] for key in keys if key in held}
