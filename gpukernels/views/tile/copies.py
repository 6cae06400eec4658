"""The element of a matrix that lies in each element of shared memory, and in each register.

A trace contains the copies: a statement that loads one value and stores it has copied it. A copy of
an element of the matrix is followed wherever it goes. Nothing is concluded from indices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpukernels.trace import BARRIER, LOAD, WARP_SIZE, Trace
from gpukernels.trace.record import Rows, lanes_of


def stages_of(trace: Trace, rows: Rows) -> np.ndarray:
    """Return how many barriers of its block each row's warp has passed in its launch, int64."""
    widest = max((launch.warps_per_block for launch in trace.launches), default=1)
    blocks = max((launch.blocks for launch in trace.launches), default=1)
    longest = int(max(trace.steps.step.max(initial=0), rows.step.max(initial=0))) + 1

    def key(table: Rows, step: np.ndarray | int) -> np.ndarray:
        block = table.launch.astype(np.int64) * blocks + table.block
        return (block * widest + table.warp) * longest + step

    waits = trace.steps.where(trace.steps.kind == BARRIER)
    passed = np.sort(key(waits, waits.step))
    return np.searchsorted(passed, key(rows, rows.step)) - np.searchsorted(passed, key(rows, 0))


@dataclass(frozen=True)
class Touches:
    """Requests lane by lane, in the order of the trace; all columns except `value` are int64.

    ``thread`` counts within the block; ``row`` is the request.
    """

    row: np.ndarray
    launch: np.ndarray
    stage: np.ndarray
    block: np.ndarray
    thread: np.ndarray
    array: np.ndarray
    stored: np.ndarray
    index: np.ndarray
    value: np.ndarray

    def where(self, keep: np.ndarray) -> Touches:
        """Return the entries that `keep` chooses, by bools or by places."""
        return Touches(**{name: column[keep] for name, column in vars(self).items()})

    def keys(self, *names: str) -> np.ndarray:
        """Return a number for each, the same where the columns of these names are."""
        return _numbered([getattr(self, name) for name in names])


def _numbered(columns: list[np.ndarray]) -> np.ndarray:
    number = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        number = number * (int(column.max(initial=0)) + 1) + column
    return number


def touches_of(trace: Trace, limit: float) -> Touches:
    """Return every request of a trace lane by lane; values from `limit` on are infinite."""
    r = trace.requests
    row, lane = lanes_of(r.mask)
    stage = stages_of(trace, r)
    return Touches(
        row=row,
        launch=r.launch[row].astype(np.int64),
        stage=stage[row],
        block=r.block[row].astype(np.int64),
        thread=r.warp[row].astype(np.int64) * WARP_SIZE + lane,
        array=r.array[row].astype(np.int64),
        stored=(r.kind[row] != LOAD).astype(np.int64),
        index=r.index,
        value=np.where(r.value >= limit, np.inf, r.value),
    )


def copies(trace: Trace, touches: Touches) -> tuple[np.ndarray, np.ndarray]:
    """Return where `touches` has a load and a store of one lane and statement that is its copy.

    A statement copies if it loads once; it may store to several places.
    """
    r = trace.requests
    step = _numbered([np.asarray(c, np.int64) for c in (r.launch, r.block, r.warp, r.step)])
    _, statement = np.unique(step, return_inverse=True)
    loads = np.bincount(statement[r.kind == LOAD], minlength=len(r))
    source = np.zeros(int(statement.max(initial=0)) + 1, np.int64)
    source[statement[r.kind == LOAD]] = np.flatnonzero(r.kind == LOAD)
    copied = (r.kind != LOAD) & (loads[statement] == 1)
    copied &= r.mask[source[statement]] == r.mask
    to = np.flatnonzero(copied[touches.row])
    at = touches.row[to]
    came = r.start[source[statement[at]]] + to - r.start[at]
    same = touches.value[came] == touches.value[to]
    return came[same], to[same]


def _latest(
    key: np.ndarray, row: np.ndarray, wanted: np.ndarray, by: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the place of the last entry with the key asked for before row `by`, and if any is."""
    order = np.lexsort((row, key))
    top = int(max(row.max(initial=0), by.max(initial=0))) + 1
    held = key[order] * top + row[order]
    at = np.searchsorted(held, wanted * top + by) - 1
    latest = order[np.maximum(at, 0)] if len(order) else np.zeros(len(wanted), np.int64)
    has_entry = (at >= 0) & (key[latest] == wanted) if len(order) else np.zeros(len(wanted), bool)
    return latest, has_entry


def origins(touches: Touches, pairs: tuple[np.ndarray, np.ndarray], spaces: np.ndarray,
            matrix: np.ndarray) -> np.ndarray:  # fmt: skip
    """Return for each touch of shared or local memory the matrix's element that it copied, or -1.

    Parameters
    ----------
    touches : Touches
        All of a trace.
    pairs : tuple of numpy.ndarray
        Loads and their stores, from `copies`.
    spaces : numpy.ndarray
        Whether each array of the trace is local.
    matrix : numpy.ndarray
        Whether each array of the trace is the matrix.
    """
    came, to = pairs
    origin = np.full(len(touches.row), -1, np.int64)
    direct = matrix[touches.array[came]]
    origin[to[direct]] = touches.index[came[direct]]
    # Through a register: the element that the same thread last copied there.
    by_way = ~direct & spaces[touches.array[came]]
    local = to[direct & spaces[touches.array[to]]]
    key = touches.keys("launch", "block", "thread", "array", "index")
    loads, target = came[by_way], to[by_way]
    latest, has_entry = _latest(key[local], touches.row[local], key[loads], touches.row[loads])
    if len(local):
        origin[target[has_entry]] = origin[local[latest[has_entry]]]
    return origin
