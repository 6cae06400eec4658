"""A matrix in tiles of whole rows: made one after the other here, or by workers as they come."""

from __future__ import annotations

import operator
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpukernels.cores.slabs import copy
from gpukernels.errors import InvalidArgument, NegativeCycleError, NegativeWeightError, TileError
from gpukernels.progress import Progress

from .clients import needed
from .targets import target_for

#: What may do the work: kernels on a device, or one core of a CPU, compiled by numba.
ENGINES = ("kernels", "cpu")
#: Bytes of a tile of rows unless a caller says how many rows it has.
TILE_BYTES = 1 << 26
#: Tiles a worker, at least: so that none waits long for the last.
TILES_A_WORKER = 4
#: What a search says of its input; it is said in the same words wherever the search runs.
OF_INPUT = (
    InvalidArgument, NegativeCycleError, NegativeWeightError, OverflowError, FloatingPointError,
)  # fmt: skip
SMALLER = "ask for smaller tiles: less memory=, a smaller batch= or block=, or more parts="
#: A worker's device does one thing at a time, however many threads the worker has.
_ONE_AT_A_TIME = threading.Lock()


class RowTile(NamedTuple):
    """Some rows of the result.

    Attributes
    ----------
    name : str
        What messages call it.
    rows : ndarray of int64
        Which rows they are.
    args : callable
        Returns what the work on this tile takes beside, which may hold futures. Called only if the
        tile is not there yet.
    """

    name: str
    rows: NDArray[np.int64]
    args: Callable[[], tuple]


def rows_a_tile(rows: int, columns: int, client: Any) -> int:
    """Return how many rows a tile has unless a caller knows better."""
    workers = 1 if client is None else max(1, len(client.nthreads()))
    share = -(-rows // (TILES_A_WORKER * workers)) if client is not None else rows
    return max(1, min(share, TILE_BYTES // (4 * max(1, columns))))


def tiles_of(what: str, ids: NDArray, each: int) -> list[RowTile]:
    """Return tiles of `each` rows, the work on which takes its part of `ids`."""
    found = []
    for first in range(0, ids.size, each):
        rows = np.arange(first, min(first + each, ids.size))
        name = f"{what} {rows[0]:,} to {rows[-1]:,}"
        found.append(RowTile(name, rows, partial(_part, ids, rows)))
    return found


def _part(ids: NDArray, rows: NDArray) -> tuple[NDArray]:
    return (ids[rows],)


def run_tile(call: str, name: str, work: Callable[..., Any], *args: Any) -> Any:
    """Return what the work on a tile returns; what goes wrong names the tile.

    Raises
    ------
    TileError
        If it fails by no fault of the input.
    """
    with _ONE_AT_A_TIME:
        try:
            return work(*args)
        except OF_INPUT as error:
            error.add_note(f"found by gk.{call}, {name}")
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {error}{_advice(error)}"
            raise TileError(call, name, reason) from error


def task(client: Any, call: str, name: str, work: Callable[..., Any], *args: Any) -> Any:
    """Return what `work` returns: done here, or a future of it where there is a client."""
    if client is None:
        return work(*args)
    key = f"{work.__name__}-{name}-{uuid.uuid4().hex[:8]}"  # Dask shows it, up to the first dash
    return client.submit(run_tile, call, name, work, *args, key=key, pure=False)


def _advice(error: Exception) -> str:
    short = isinstance(error, MemoryError) or "out_of_memory" in str(error).lower()
    return f"; {SMALLER}" if short else ""


class Made(NamedTuple):
    """What `make_rows` returns.

    Attributes
    ----------
    matrix : ndarray or dask.array.Array
        The result.
    stats : list of dict
        What the work on each tile did that was not there already.
    tiles, resumed, batch : int
        How many tiles there are, how many were there already, and the rows of the largest.
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
    """Make all rows, tile by tile.

    Parameters
    ----------
    call : str
        The public function, for messages.
    tiles : callable
        Given the rows of a tile of the run that is gone on with, or None, returns all tiles; every
        row is in one of them.
    work : callable
        Given `args` and those of a tile; returns its rows, and what the work on it did.
    client : dask.distributed.Client, optional
        Whose workers do it. Unless given, it is done here.
    into : path, optional
        Where the rows are kept. Unless given, they are in memory: here, or the workers'.
    made_from : mapping, optional
        What `target_for` has to be told of the result.
    """
    target, dtype = None, np.dtype(dtype)
    if into is None:
        cut = tiles(None)
    else:
        target, cut = target_for(into, shape, dtype, made_from or {}, tiles)
    missing = [i for i in range(len(cut)) if target is None or i not in target.done]
    batch = max((tile.rows.size for tile in cut), default=0)
    resumed = len(cut) - len(missing)
    if client is not None and cut and target is None:
        return Made(*_on_workers(call, shape, dtype, cut, work, args, client), len(cut), 0, batch)
    matrix: Any = None
    stats = []
    with Progress(f"gk.{call}", len(cut), "tile") as bar:
        found = _here if client is None else _as_they_come
        for done, (i, (rows, told)) in enumerate(found(call, cut, missing, work, args, client)):
            stats.append(told)
            if target is None:
                matrix = _placed(rows, cut[i].rows, matrix, shape, dtype)
            else:
                target.write(i, rows)
            bar.reach(resumed + done + 1)
    if target is not None:
        matrix = target.finished()
    elif matrix is None:
        matrix = np.empty(shape, dtype)
    return Made(matrix, stats, len(cut), resumed, batch)


def _placed(
    rows: NDArray, where: NDArray[np.int64], matrix: Any, shape: tuple[int, int], dtype: Any
) -> NDArray:
    """Return the matrix, or a new one if there is none yet, with some rows where they belong."""
    first, end = int(where[0]), int(where[-1]) + 1
    neighbors = np.array_equal(where, np.arange(first, end))
    if matrix is None:
        if neighbors and (rows.shape, rows.dtype) == (shape, dtype):
            return rows  # they are all of it, and to copy it takes as long as to bring it here
        matrix = np.empty(shape, dtype)
    if neighbors:
        copy(rows, matrix[first:end])
    else:
        matrix[where] = rows
    return matrix


def _here(
    call: str, cut: list[RowTile], missing: list[int], work: Callable, args: tuple, client: Any
) -> Iterator[tuple[int, Any]]:
    """Yield the number of each missing tile, and what the work on it returns."""
    for i in missing:
        try:
            found = work(*args, *cut[i].args())
        except Exception as error:
            error.add_note(f"found by gk.{call}, {cut[i].name}" + _advice(error))
            raise
        yield i, found


def _as_they_come(
    call: str, cut: list[RowTile], missing: list[int], work: Callable, args: tuple, client: Any
) -> Iterator[tuple[int, Any]]:
    """Yield the same of workers, whichever is made first."""
    futures = _submit(call, [cut[i] for i in missing], work, args, client)
    places = {future.key: i for future, i in zip(futures, missing, strict=True)}
    names = {future.key: cut[i].name for future, i in zip(futures, missing, strict=True)}
    try:
        for future in needed("distributed").as_completed(list(futures)):
            yield places[future.key], result_of(call, future, names)
            future.release()
    except BaseException:
        _cancel(futures)
        raise


def _submit(
    call: str, tiles: Sequence[RowTile], work: Callable, args: tuple, client: Any
) -> list[Any]:
    """Return a future a tile, the key of which is one that Dask shows."""
    if not tiles:
        return []
    run = uuid.uuid4().hex[:8]
    takes = [(call, tile.name, work, *args, *tile.args()) for tile in tiles]
    # All by one message: to submit a task takes a client as long as a GPU takes for some searches.
    return client.map(
        run_tile, *map(list, zip(*takes, strict=True)),
        key=[f"{call}-{run}-{tile.rows[0]}" for tile in tiles], pure=False,
    )  # fmt: skip


def result_of(call: str, future: Any, names: Mapping[str, str]) -> Any:
    """Return what a future holds; a task that has killed its workers is named."""
    return _named(call, future.result, names)


def _named(call: str, ask: Callable[[], Any], names: Mapping[str, str]) -> Any:
    """Return what workers are asked for; a task that has killed them is named."""
    killed = needed("distributed.scheduler").KilledWorker
    try:
        return ask()
    except killed as error:
        name = names.get(str(error.task), str(error.task))
        reason = f"its worker died again and again; if memory was short, {SMALLER}"
        raise TileError(call, name, reason) from error


def _cancel(futures: Sequence[Any]) -> None:
    for future in futures:
        future.cancel()


def _on_workers(
    call: str,
    shape: tuple[int, int],
    dtype: Any,
    cut: Sequence[RowTile],
    work: Callable,
    args: tuple,
    client: Any,
) -> tuple[Any, list[dict[str, Any]]]:
    """Return rows that stay with the workers, as an array of Dask, when all are made."""
    dask, array = needed("dask"), needed("dask.array")
    pairs = _submit(call, cut, work, args, client)
    told = client.map(
        operator.itemgetter(1), pairs, key=[f"told-{pair.key}" for pair in pairs], pure=False
    )
    names = {
        future.key: tile.name
        for futures in (pairs, told)
        for future, tile in zip(futures, cut, strict=True)
    }
    try:
        stats = _named(call, partial(client.gather, told), names)
    except BaseException:
        _cancel(pairs)
        raise
    # A pair is taken apart when its rows are asked for: a worker would do that between two tiles.
    rows = dask.delayed(operator.itemgetter(0))
    blocks = [
        array.from_delayed(
            rows(pair, dask_key_name=f"rows-{pair.key}"), (tile.rows.size, shape[1]), dtype
        )
        for pair, tile in zip(pairs, cut, strict=True)
    ]
    matrix, order = array.concatenate(blocks), np.concatenate([tile.rows for tile in cut])
    if (order[1:] < order[:-1]).any():
        matrix = matrix[np.argsort(order)]
    return matrix, stats
