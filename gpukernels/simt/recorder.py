"""Collects what launches do and turns it into a :class:`~gpukernels.simt.trace.Trace`."""

from __future__ import annotations

import numpy as np

from gpukernels.simt.errors import TraceLimit
from gpukernels.simt.trace import (
    ArrayInfo,
    Launch,
    Requests,
    Shuffles,
    Steps,
    Trace,
)

_STEP_COLUMNS = ("launch", "block", "warp", "step", "source", "line", "kind", "mask", "taken")
_SHUFFLE_COLUMNS = ("launch", "block", "warp", "step", "source", "line", "mask")
_REQUEST_COLUMNS = ("launch", "block", "warp", "step", "source", "line", "array", "kind", "mask")
#: What a step or request takes beside its lanes, so that a limit holds for one thread too.
_OWN_ENTRIES = 8
_DTYPES = {"kind": np.uint8, "mask": np.uint32, "taken": np.uint32}


class Recorder:
    """Records the launches that are given it.

    Parameters
    ----------
    limit : int
        How many entries may be kept over all launches, at most 40 bytes each: one for every lane
        of a step or request, and eight for the step or request itself. One more raises
        :class:`~gpukernels.simt.errors.TraceLimit`; then nothing of that launch is kept.
    """

    def __init__(self, limit: int = 40_000_000):
        self.limit = limit
        self.label = ""
        self._used = self._kept = 0
        self._launches = []
        self._sources = []
        self._source_numbers = {}
        self._arrays = []
        self._array_numbers = {}
        self._step_tables = []
        self._request_tables = []
        self._shuffle_tables = []
        self._run = None

    # During a launch ------------------------------------------------------------

    def begin(self, run):
        """Open a launch."""
        self._run = run
        self._steps = []
        self._requests = []
        self._shuffles = []
        self._clock = 0
        self._used = self._kept

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
        event = [self._clock, active, where, kind, None]
        self._steps.append(event)
        return event

    @staticmethod
    def taken(event, active):
        """Note which threads of a branch went into its body."""
        event[4] = active

    def request(self, memory, kind, active, index, value, where):
        """Note one memory request of every warp in `active`."""
        self._count(active.n, where)
        index = np.broadcast_to(index, active.n).astype(np.int64)
        value = np.broadcast_to(value, active.n).astype(np.float64)
        self._requests.append((self._clock, active, where, memory.number, kind, index, value))

    def shuffle(self, active, lane, value, where):
        """Note one shuffle of every warp in `active`: the lanes read, and the values given."""
        self._count(active.n, where)
        value = np.broadcast_to(value, active.n).astype(np.float64)
        self._shuffles.append((self._clock, active, where, lane.astype(np.int64), value))

    def _count(self, entries, where):
        self._clock += 1
        self._used += entries + _OWN_ENTRIES
        if self._used > self.limit:
            self._steps, self._requests, self._shuffles = [], [], []
            raise self._run.error(
                TraceLimit,
                f"the trace has grown past {self.limit:,} entries; trace a smaller launch, or "
                "make the recorder with a higher limit",
                where,
            )

    # After a launch ------------------------------------------------------------

    def end(self, run, label=""):
        """Close the launch and store its rows as columns."""
        number = len(self._launches)
        places = np.array(
            [(self._source(source), line) for source, line in run.program.locations], dtype=np.int64
        ).reshape(-1, 2)
        self._launches.append(
            Launch(
                index=number,
                kernel=run.name,
                source=self._source(run.program.source),
                grid=run.grid,
                block=run.block,
                label=label or self.label,
            )
        )
        steps = self._step_rows(places)
        self._step_tables.append(self._finish(steps, number, run))
        if self._requests:
            rows = _rows_in_steps(self._requests, places, steps, self._clock)
            rows["array"] = np.repeat([r[3] for r in self._requests], rows["per_event"])
            rows["kind"] = np.repeat([r[4] for r in self._requests], rows["per_event"])
            table = self._finish(rows, number, run)
            table["index"] = np.concatenate([r[5] for r in self._requests])
            table["value"] = np.concatenate([r[6] for r in self._requests])
            self._request_tables.append(table)
        if self._shuffles:
            rows = _rows_in_steps(self._shuffles, places, steps, self._clock)
            table = self._finish(rows, number, run)
            table["lane"] = np.concatenate([r[3] for r in self._shuffles])
            table["value"] = np.concatenate([r[4] for r in self._shuffles])
            self._shuffle_tables.append(table)
        self._run = self._steps = self._requests = self._shuffles = None
        self._kept = self._used

    def _source(self, source):
        if source not in self._source_numbers:
            self._source_numbers[source] = len(self._sources)
            self._sources.append(source)
        return self._source_numbers[source]

    def _step_rows(self, places):
        rows = _rows(self._steps, places)
        taken = np.zeros(rows["event"].size, np.int64)
        at = 0
        for event in self._steps:
            warps = event[1].warps()
            if event[4] is not None:
                taken[at + np.searchsorted(warps, event[4].warps())] = event[4].masks()
            at += warps.size
        rows["taken"] = taken
        rows["kind"] = np.repeat([e[3] for e in self._steps], rows["per_event"])
        order = np.argsort(rows["warp"], kind="stable")
        warp = rows["warp"][order]
        first = np.flatnonzero(np.concatenate(([True], warp[1:] != warp[:-1])))
        rank = np.arange(warp.size) - np.repeat(first, np.diff(np.append(first, warp.size)))
        rows["step"] = np.empty(warp.size, np.int64)
        rows["step"][order] = rank
        return rows

    @staticmethod
    def _finish(rows, number, run):
        per_block = -(-run.threads_per_block // 32)
        table = dict(rows)
        table["launch"] = np.full(rows["warp"].size, number)
        table["block"], table["warp"] = np.divmod(rows["warp"], per_block)
        return table

    # The result ------------------------------------------------------------

    @property
    def trace(self) -> Trace:
        """Everything recorded so far."""
        requests = _columns(self._request_tables, _REQUEST_COLUMNS)
        return Trace(
            launches=tuple(self._launches),
            sources=tuple(self._sources),
            arrays=tuple(self._arrays),
            steps=Steps(**_columns(self._step_tables, _STEP_COLUMNS)),
            requests=Requests(
                **requests,
                start=_starts(self._request_tables),
                index=_join(self._request_tables, "index", np.int64),
                value=_join(self._request_tables, "value", np.float64),
            ),
            shuffles=Shuffles(
                **_columns(self._shuffle_tables, _SHUFFLE_COLUMNS),
                start=_starts(self._shuffle_tables),
                lane=_join(self._shuffle_tables, "lane", np.int64),
                value=_join(self._shuffle_tables, "value", np.float64),
            ),
        )


def _rows(events, places):
    """Return one row a warp of each event: (clock, active, location, ...)."""
    per_event = np.array([e[1].warp_starts.size for e in events], dtype=np.int64)
    none = np.zeros(0, np.int64)
    place = np.repeat(np.array([e[2] for e in events], dtype=np.int64), per_event)
    return {
        "per_event": per_event,
        "event": np.repeat(np.array([e[0] for e in events], dtype=np.int64), per_event),
        "warp": np.concatenate([e[1].warps() for e in events]) if events else none,
        "mask": np.concatenate([e[1].masks() for e in events]) if events else none,
        "place": place,
        "source": places[place, 0],
        "line": places[place, 1],
    }


def _rows_in_steps(events, places, steps, clock):
    """Return rows that know the step of their warp in which they came about."""
    rows = _rows(events, places)
    # A request belongs to its warp's latest step at its place; steps of a call lie between.
    span = max(clock, 1) + 1
    places = len(places)
    keys = (steps["warp"] * places + steps["place"]) * span + steps["event"]
    order = np.argsort(keys)
    wanted = (rows["warp"] * places + rows["place"]) * span + rows["event"]
    rows["step"] = steps["step"][order][np.searchsorted(keys[order], wanted) - 1]
    rows["counts"] = np.concatenate([np.diff(np.append(e[1].warp_starts, e[1].n)) for e in events])
    return rows


def _starts(tables):
    counts = _join(tables, "counts", np.int64)
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)


def _join(tables, name, dtype):
    parts = [t[name] for t in tables if t[name].size]
    return np.concatenate(parts).astype(dtype) if parts else np.zeros(0, dtype)


def _columns(tables, names):
    return {name: _join(tables, name, _DTYPES.get(name, np.int32)) for name in names}
