"""Collects what launches do and turns it into a :class:`~gpukernels.trace.Trace`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gpukernels.simt.errors import TraceLimit
from gpukernels.simt.run.columns import Table
from gpukernels.trace import (
    ArrayInfo,
    Launch,
    Requests,
    Shuffles,
    Steps,
    Trace,
)

_PLACE_COLUMNS = ("launch", "block", "warp", "step", "source", "line")
_STEP_COLUMNS = (*_PLACE_COLUMNS, "kind", "mask", "taken")
_REQUEST_COLUMNS = (*_PLACE_COLUMNS, "array", "kind", "mask")
_SHUFFLE_COLUMNS = (*_PLACE_COLUMNS, "mask")
_DTYPES = {"kind": np.uint8, "mask": np.uint32, "taken": np.uint32}
#: Entries of a step or request besides its lanes, so that a limit holds for one thread too.
_OWN_ENTRIES = 8
#: Entries that wait to become rows. This bounds the memory of a launch, however long it is.
PENDING = 2_000_000
#: Entries of a trace by default: three times the entries of a search of a million vertices.
LIMIT = 1_000_000_000


@dataclass(slots=True)
class _Step:
    """A statement that threads have executed.

    Attributes
    ----------
    clock : int
        Number of the event within the launch.
    active : Active
        The threads.
    where : int
        Location of the statement.
    kind : int
        Kind of the step, one of the kinds of :class:`~gpukernels.trace.Steps`.
    taken : Active, int or None
        The threads that enter a branch's body; the first row of a branch that has been stored.
    """

    clock: int
    active: Any
    where: int
    kind: int
    taken: Any = None


class _Request(NamedTuple):
    """A memory request; `memory` is the array's number."""

    clock: int
    active: Any
    where: int
    memory: int
    kind: int
    index: np.ndarray
    value: np.ndarray


class _Shuffle(NamedTuple):
    """A shuffle; `lane` is the one that each thread reads."""

    clock: int
    active: Any
    where: int
    lane: np.ndarray
    value: np.ndarray


class Recorder:
    """Records the launches that are given it.

    Parameters
    ----------
    limit : int
        How many entries may be kept over all launches, at most 40 bytes each: one for every lane
        of a step or request, and eight for the step or request itself. One more raises
        :class:`~gpukernels.simt.errors.TraceLimit`; then nothing of that launch is kept. A long
        trace lies in temporary files.

    Raises
    ------
    ValueError
        If `limit` is not a positive integer.

    Examples
    --------
    >>> import numpy as np
    >>> from numba import cuda
    >>> from gpukernels import simt
    >>> @cuda.jit
    ... def fill(a):
    ...     a[cuda.grid(1)] = 1
    >>> recorder = simt.Recorder()
    >>> simt.launch(fill, 2, 32, (np.zeros(64),), recorder=recorder)
    >>> len(recorder.trace.requests)
    2
    """

    def __init__(self, limit: int = LIMIT):
        if not isinstance(limit, (int, np.integer)) or isinstance(limit, bool) or limit < 1:
            raise ValueError(f"limit={limit!r}; allowed are integers of 1 and more, in entries")
        self.limit = int(limit)
        self.label = ""
        self._used = self._kept = 0
        self._launches = []
        self._sources = []
        self._kept_sources = 0
        self._source_numbers = {}
        self._arrays = []
        self._kept_arrays = 0  # what the arrays of a launch that failed stand behind
        self._array_numbers = {}
        self._step_table = Table(_typed(_STEP_COLUMNS))
        lane_columns = {"index": np.int64, "value": np.float64}
        self._request_table = Table(_typed(_REQUEST_COLUMNS), lane_columns)
        lane_columns = {"lane": np.int64, "value": np.float64}
        self._shuffle_table = Table(_typed(_SHUFFLE_COLUMNS), lane_columns)
        self._tables = self._step_table, self._request_table, self._shuffle_table
        self._run = None

    # During a launch ------------------------------------------------------------

    def begin(self, run):
        """Open a launch, and forget what one that failed has left."""
        for number in range(self._kept_arrays, len(self._arrays)):
            info = self._arrays[number]
            del self._array_numbers[info.name, info.space, info.dtype, info.shape]
        del self._arrays[self._kept_arrays :]
        for source in self._sources[self._kept_sources :]:
            del self._source_numbers[source]
        del self._sources[self._kept_sources :]
        self._run = run
        self._steps = []
        self._requests = []
        self._shuffles = []
        self._clock = self._pending = 0
        self._used = self._kept
        self._late = []  # who took a branch, where its row has been stored before it was known
        self._ranks = self._latest = None
        for table in self._tables:
            table.rewind()

    def array(self, memory) -> int:
        """Return the number of an array, giving it one at first sight."""
        key = (memory.name, memory.space, memory.dtype, memory.shape)
        if key not in self._array_numbers:
            self._array_numbers[key] = len(self._arrays)
            self._arrays.append(ArrayInfo(memory.name, memory.space, memory.dtype, memory.shape))
        return self._array_numbers[key]

    def step(self, active, where, kind):
        """Note that `active` executes the statement at location `where`."""
        self._count(active.n, where)
        event = _Step(self._clock, active, where, kind)
        self._steps.append(event)
        return event

    def taken(self, event, active):
        """Note which threads of a branch went into its body."""
        if event.taken is None:
            event.taken = active
        else:
            rows = event.taken + np.searchsorted(event.active.warps(), active.warps())
            self._late.append((rows, active.masks()))

    def request(self, memory, kind, active, index, value, where):
        """Note one memory request of every warp in `active`."""
        self._count(active.n, where)
        index = _column(index, active.n, np.int64)
        value = _column(value, active.n, np.float64)
        self._requests.append(
            _Request(self._clock, active, where, memory.number, kind, index, value)
        )

    def shuffle(self, active, lane, value, where):
        """Note one shuffle of every warp in `active`: the lanes read, and the values given."""
        self._count(active.n, where)
        value = _column(value, active.n, np.float64)
        self._shuffles.append(_Shuffle(self._clock, active, where, lane.astype(np.int64), value))

    def _count(self, entries, where):
        self._clock += 1
        self._used += entries + _OWN_ENTRIES
        self._pending += entries + _OWN_ENTRIES
        if self._used > self.limit:
            self._steps, self._requests, self._shuffles = [], [], []
            for table in self._tables:
                table.rewind()
            raise self._run.error(
                TraceLimit,
                f"the trace has grown past limit={self.limit:,} entries; trace a smaller launch, "
                f"or give a higher one, as in gk.trace(limit={2 * self.limit:_})",
                where,
            )
        if self._pending > PENDING:
            self._store(last=False)

    # From events to rows ------------------------------------------------------------

    def end(self, run, label=""):
        """Close the launch: keep its rows."""
        self._store(last=True)
        if self._late:
            rows, masks = (np.concatenate(part) for part in zip(*self._late, strict=True))
            self._step_table.columns["taken"].replace(rows, masks)
        for table in self._tables:
            table.keep()
        self._launches.append(
            Launch(
                index=len(self._launches),
                kernel=run.name,
                source=self._source(run.program.source),
                grid=run.grid,
                block=run.block,
                label=label or self.label,
            )
        )
        self._run = self._steps = self._requests = self._shuffles = None
        self._late = self._ranks = self._latest = None
        self._kept = self._used
        self._kept_arrays, self._kept_sources = len(self._arrays), len(self._sources)

    def keep_failed(self):
        """Close a launch that an error has ended, and keep what it did up to there."""
        if self._run is not None:
            self.end(self._run)

    def _source(self, source):
        if source not in self._source_numbers:
            self._source_numbers[source] = len(self._sources)
            self._sources.append(source)
        return self._source_numbers[source]

    def _store(self, last):
        """Append the events that wait to the tables; `last` says that the launch ends here."""
        run = self._run
        locations = run.program.locations
        places = np.array([(self._source(s), line) for s, line in locations], np.int64)
        places = places.reshape(-1, 2)
        first_row = self._step_table.columns["step"].size
        steps = self._step_rows(places)
        self._step_table.append(self._finish(steps, run))
        if self._requests:
            rows = self._rows_in_steps(self._requests, places, steps)
            rows["array"] = np.repeat([r.memory for r in self._requests], rows["per_event"])
            rows["kind"] = np.repeat([r.kind for r in self._requests], rows["per_event"])
            index = np.concatenate([r.index for r in self._requests])
            value = np.concatenate([r.value for r in self._requests])
            self._request_table.append(self._finish(rows, run), {"index": index, "value": value})
        if self._shuffles:
            rows = self._rows_in_steps(self._shuffles, places, steps)
            lane = np.concatenate([s.lane for s in self._shuffles])
            value = np.concatenate([s.value for s in self._shuffles])
            self._shuffle_table.append(self._finish(rows, run), {"lane": lane, "value": value})
        if not last:
            self._remember(steps, len(places), first_row)
        self._steps, self._requests, self._shuffles = [], [], []
        self._pending = 0

    def _remember(self, steps, places, first_row):
        """Note what events to come need of those that are stored."""
        warps = self._run.blocks * self._run.warps_per_block
        if self._latest is None:
            self._latest = np.zeros((places, warps), np.int32)
            self._ranks = np.zeros(warps, np.int64)
        # If a warp occurs more than once, its last value stays.
        self._latest[steps["place"], steps["warp"]] = steps["step"]
        self._ranks += np.bincount(steps["warp"].astype(np.intp, copy=False), minlength=warps)
        rows = np.cumsum(steps["per_event"]) - steps["per_event"] + first_row
        for event, row in zip(self._steps, rows.tolist(), strict=True):
            if event.taken is None:
                event.taken = row

    def _step_rows(self, places):
        rows = _rows(self._steps, places)
        taken = np.zeros(rows["event"].size, np.int64)
        at = 0
        for event in self._steps:
            warps = event.active.warps()
            if event.taken is not None:
                taken[at + np.searchsorted(warps, event.taken.warps())] = event.taken.masks()
            at += warps.size
        rows["taken"] = taken
        rows["kind"] = np.repeat([e.kind for e in self._steps], rows["per_event"])
        order = np.argsort(rows["warp"], kind="stable")
        warp = rows["warp"][order]
        first = np.flatnonzero(np.concatenate(([True], warp[1:] != warp[:-1])))
        rank = np.arange(warp.size) - np.repeat(first, np.diff(np.append(first, warp.size)))
        if self._ranks is not None:
            rank += self._ranks[warp]
        rows["step"] = np.empty(warp.size, np.int64)
        rows["step"][order] = rank
        return rows

    def _rows_in_steps(self, events, places, steps):
        """Return rows that know the step of their warp in which they came about."""
        rows = _rows(events, places)
        # A request belongs to its warp's latest step at its place; steps of a call lie between.
        span = self._clock + 1
        own = rows["warp"] * len(places) + rows["place"]
        keys = (steps["warp"] * len(places) + steps["place"]) * span + steps["event"]
        order = np.argsort(keys)
        at = np.searchsorted(keys[order], own * span + rows["event"]) - 1
        if self._latest is None:
            rows["step"] = steps["step"][order][at]
        else:  # that step may have been stored before
            rows["step"] = self._latest[rows["place"], rows["warp"]].astype(np.int64)
            has_step = at >= 0
            has_step[has_step] = keys[order][at[has_step]] // span == own[has_step]
            rows["step"][has_step] = steps["step"][order][at[has_step]]
        rows["counts"] = np.concatenate([e.active.counts() for e in events])
        return rows

    def _finish(self, rows, run):
        table = dict(rows)
        table["launch"] = np.full(rows["warp"].size, len(self._launches))
        table["block"], table["warp"] = np.divmod(rows["warp"], run.warps_per_block)
        return table

    # The result ------------------------------------------------------------

    @property
    def trace(self) -> Trace:
        """Everything recorded so far."""
        return Trace(
            launches=tuple(self._launches),
            sources=tuple(self._sources[: self._kept_sources]),
            arrays=tuple(self._arrays[: self._kept_arrays]),
            steps=Steps(**self._step_table.arrays()),
            requests=Requests(**self._request_table.arrays()),
            shuffles=Shuffles(**self._shuffle_table.arrays()),
        )


def _typed(names):
    return {name: _DTYPES.get(name, np.int32) for name in names}


def _column(value, n, dtype):
    """Return a fresh array with one value per thread."""
    return value.astype(dtype) if value.ndim else value.astype(dtype).repeat(n)


def _rows(events, places):
    """Return one row per warp for each event."""
    per_event = np.array([e.active.warp_starts.size for e in events], dtype=np.intp)
    none = np.zeros(0, np.int64)
    place = np.repeat(np.array([e.where for e in events], dtype=np.int64), per_event)
    return {
        "per_event": per_event,
        "event": np.repeat(np.array([e.clock for e in events], dtype=np.int64), per_event),
        "warp": np.concatenate([e.active.warps() for e in events]) if events else none,
        "mask": np.concatenate([e.active.masks() for e in events]) if events else none,
        "place": place,
        "source": places[place, 0],
        "line": places[place, 1],
    }
