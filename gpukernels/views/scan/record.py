"""The steps of a prefix sum in a trace: values of lanes or cells, and which lane read which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from gpukernels.checks import check_name_or_none
from gpukernels.errors import InvalidArgument
from gpukernels.trace import BARRIER, LOAD, STORE, WARP_SIZE, Trace
from gpukernels.trace.costs import Costs
from gpukernels.views.places import launch_of

#: Effect of a value read from elsewhere: added to the lane's own, replaced it, or neither.
ADD, TAKE, READ = 0, 1, 2


@dataclass
class ScanRow:
    """The values after one step.

    Attributes
    ----------
    values : numpy.ndarray
        float64, one per column; NaN if the trace does not contain the value.
    line, text : int, str
        The source line that made the step.
    arcs : list of (int, int)
        (column read, column that the value went to), the two being different.
    kinds : list of int
        Effect of each arc's value: ADD, TAKE or READ.
    changed : list of int
        Columns written in this step; for registers, columns with a new value.
    crowded : list of int
        Cells in a bank that had to serve several words of one request.
    requests, conflicts : int
        Requests to the array since the row before, and passes beyond one per request.
    """

    values: np.ndarray
    line: int
    text: str
    arcs: list[tuple[int, int]] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    changed: list[int] = field(default_factory=list)
    crowded: list[int] = field(default_factory=list)
    requests: int = 0
    conflicts: int = 0

    def apart(self, kind: int) -> int | None:
        """Return how far arcs of a kind reach, if equally far: positive to higher columns."""
        reach = {to - of for (of, to), k in zip(self.arcs, self.kinds, strict=True) if k == kind}
        return reach.pop() if len(reach) == 1 else None


@dataclass(frozen=True)
class ScanRecord:
    """A prefix sum step by step.

    Attributes
    ----------
    array : str
        Name of the shared array; empty if the values are in registers.
    columns : int
        Lanes of the warp, or cells of the array.
    rows : list of ScanRow
        The values at first, then after each step.
    """

    array: str
    columns: int
    rows: list[ScanRow]

    @property
    def noun(self) -> str:
        """Word for a column."""
        return "cell" if self.array else "lane"


def read_scan(
    trace: Trace, launch: int, block: int, warp: int, array: str | None, argument: str
) -> ScanRecord:
    """Read a scan: from the shuffles of a warp, or from the requests of a block to a shared array.

    Parameters
    ----------
    trace : Trace
        The recording.
    launch, block, warp : int
        Index of the launch, of its block, and of the block's warp (for shuffles).
    array : str or None
        Name of a shared array; None takes the warp's shuffles or, if it makes none, the shared
        array that is stored to most often.
    argument : str
        Name of the trace in an error.
    """
    if not trace.launches:
        raise InvalidArgument(argument, "a trace without launches", "the trace of a launch")
    launch_of(trace, launch, block, warp)
    check_name_or_none("array", array)
    part = trace.select(launch=launch, block=block)
    if array is None and len(part.select(warp=warp).shuffles):
        return ScanRecord("", WARP_SIZE, _register_rows(part.select(warp=warp)))
    names = _stored_shared_arrays(part)
    if not names or array not in (None, *names):
        selection = f"launch={launch}, block={block}, warp={warp}, array={array!r}"
        raise InvalidArgument(
            argument,
            f"no shuffle and no store to shared memory with {selection}",
            f"a trace with them; its shared arrays are {', '.join(names) or 'none'}",
        )
    return _shared_record(part, array or names[0])


# Registers ------------------------------------------------------------------


@dataclass
class _Exchange:
    """One shuffle: the value that each lane gave (NaN: took no part), and the lane that it read."""

    step: int
    line: int
    text: str
    given: np.ndarray
    read: np.ndarray

    @property
    def got(self) -> np.ndarray:
        return self.given[self.read]


def _exchanges(part: Trace) -> list[_Exchange]:
    table = part.shuffles
    exchanges = []
    for row in range(len(table)):
        entries = slice(int(table.start[row]), int(table.start[row + 1]))
        lanes = table.lanes(row)
        given, read = np.full(WARP_SIZE, np.nan), np.arange(WARP_SIZE)
        given[lanes], read[lanes] = table.value[entries], table.lane[entries]
        line = int(table.line[row])
        text = part.text(int(table.source[row]), line).strip()
        exchanges.append(_Exchange(int(table.step[row]), line, text, given, read))
    return exchanges


def _stored_after(part: Trace, before: _Exchange, first: int, last: int) -> np.ndarray:
    """Return what each lane stores of the outcome of an exchange, NaN where it stores nothing.

    Looked for in the stores up to step `last`. A store whose value is made by a call has the step
    at which the call began, so those from step `first` on count as well where every lane fits.
    """
    r = part.requests
    stored = np.full(WARP_SIZE, np.nan)
    rows = np.flatnonzero((r.kind == STORE) & (r.step >= first) & (r.step <= last))
    for row in sorted(rows.tolist(), key=lambda row: r.step[row] < before.step):
        values = np.full(WARP_SIZE, np.nan)
        lanes = r.lanes(row)
        values[lanes] = r.value[r.start[row] : r.start[row + 1]]
        fits = _fitting(before, values)[lanes]
        needed = 1.0 if r.step[row] < before.step else 0.5
        if fits.mean() >= needed:
            stored = np.where(np.isnan(stored), values, stored)
    return stored


def _fitting(before: _Exchange, now: np.ndarray) -> np.ndarray:
    """Return which lanes go on with their own value, the one they got, or their sum."""
    own, got = before.given, before.got
    return (now == own) | (now == got) | (now == own + got)


def _register_rows(part: Trace) -> list[ScanRow]:
    every = _exchanges(part)
    rows, exchanges, first = [], [], 0
    for k, exchange in enumerate(every):
        if not rows or not np.array_equal(rows[-1].values, exchange.given, equal_nan=True):
            rows.append(ScanRow(exchange.given, exchange.line, exchange.text))
            exchanges.append(None)
        given = every[k + 1].given if k + 1 < len(every) else np.full(WARP_SIZE, np.nan)
        if not np.isnan(given).all() and (_fitting(exchange, given) | np.isnan(given)).all():
            after = given
        else:
            last = every[k + 1].step if k + 1 < len(every) else 2**31
            after = _stored_after(part, exchange, first, last)
            first = exchange.step
        lanes = [
            int(lane)
            for lane in np.flatnonzero(~np.isnan(exchange.given))
            if exchange.read[lane] != lane
        ]
        new = ~np.isnan(after) & (after != exchange.given)
        changed = sorted({*np.flatnonzero(new).tolist(), *lanes})
        arcs = [(int(exchange.read[lane]), lane) for lane in lanes]
        rows.append(ScanRow(after, exchange.line, exchange.text, arcs, changed=changed))
        exchanges.append(exchange)
    _name_kinds(
        (row.line, row, to, exchange.given[to], exchange.given[of], row.values[to])
        for row, exchange in zip(rows, exchanges, strict=True)
        if exchange is not None
        for of, to in row.arcs
    )
    return rows


def _name_kinds(arcs: Iterator[tuple[int, ScanRow, int, float, float, float]]) -> None:
    """Set the kind of every arc, decided for each source line by all arcs of that line."""
    every = list(arcs)
    kind = {}
    for line in {arc[0] for arc in every}:
        values = [arc[3:] for arc in every if arc[0] == line and not np.isnan(arc[5])]
        adds = [own + got == now for own, got, now in values]
        takes = [got == now for _, got, now in values]
        kind[line] = TAKE if takes and all(takes) else ADD if adds and all(adds) else READ
    for line, row, *_ in every:
        row.kinds.append(kind[line])


# Shared memory ----------------------------------------------------------------


def _stored_shared_arrays(part: Trace) -> list[str]:
    """Return the names of the shared arrays stored to, the one with most such requests first."""
    r = part.requests
    times: dict[str, int] = {}
    for number, info in enumerate(part.arrays):
        stores = int(((r.array == number) & (r.kind == STORE)).sum())
        if info.space == "shared" and stores:
            times[info.name] = times.get(info.name, 0) + stores
    return sorted(times, key=lambda name: -times[name])


def _phases(part: Trace) -> np.ndarray:
    """Return for each request how many barriers its warp had come to before."""
    s, r = part.steps, part.requests
    phase = np.zeros(len(r), np.int64)
    for warp in np.unique(r.warp):
        barriers = np.sort(s.step[(s.warp == warp) & (s.kind == BARRIER)])
        mine = r.warp == warp
        phase[mine] = np.searchsorted(barriers, r.step[mine])
    return phase


def _shared_record(part: Trace, array: str) -> ScanRecord:
    numbers = [i for i in part.array_named(array) if part.arrays[i].space == "shared"]
    r, phases, costs = part.requests, _phases(part), Costs(part)
    wanted = np.isin(r.array, numbers)
    columns = 1 + max(
        int(r.index[r.start[row] : r.start[row + 1]].max()) for row in np.flatnonzero(wanted)
    )
    values = np.full(columns, np.nan)
    rows: list[ScanRow] = []
    arcs = []
    # Values that each thread loaded since the last barrier, and between that and the one before.
    loaded: dict[tuple[int, int], dict[int, float]] = {}
    requests = conflicts = 0
    for phase in np.unique(phases[wanted]).tolist():
        row, crowded = None, set()
        for at in np.flatnonzero(wanted & (phases == phase)).tolist():
            entries = slice(int(r.start[at]), int(r.start[at + 1]))
            lanes, index, value = r.lanes(at), r.index[entries], r.value[entries]
            requests += 1
            if costs.conflicts[at]:
                conflicts += int(costs.conflicts[at])
                crowded |= set(index[costs.crowded[entries]].tolist())
            threads = (WARP_SIZE * int(r.warp[at]) + lanes).tolist()
            for thread, cell, v in zip(threads, index.tolist(), value.tolist(), strict=True):
                if r.kind[at] == LOAD:
                    loaded.setdefault((thread, phase), {})[cell] = v
                    continue
                line = int(r.line[at])
                text = part.text(int(r.source[at]), line).strip()
                row = row or ScanRow(values, line, text)
                if text not in row.text.split("; "):
                    row.text += f"; {text}"
                known = loaded.get((thread, phase), {})
                if not set(known) - {cell}:
                    # For kernels that load, wait until all have loaded, and store.
                    known = loaded.get((thread, phase - 1), {}) | known
                for of, got in known.items():
                    if of != cell and (of, cell) not in row.arcs:
                        row.arcs.append((of, cell))
                        arcs.append((line, row, cell, known.get(cell, np.nan), got, v))
                row.changed.append(cell)
                # The operand of an atomic says nothing of the value that results.
                values[cell] = v if r.kind[at] == STORE else np.nan
        if row is not None:
            row.values, row.changed = values.copy(), sorted(set(row.changed))
            row.crowded, row.requests, row.conflicts = sorted(crowded), requests, conflicts
            requests = conflicts = 0
            rows.append(row)
    _name_kinds(iter(arcs))
    return ScanRecord(array, columns, rows)
