"""Counters computed from a trace, each beside the profiler counter it stands for on hardware.

They count what the program asks for. The machine has no caches, no latencies and no occupancy, so
no counter here is a time.
"""

from __future__ import annotations

import html
from collections import Counter
from dataclasses import dataclass

import numpy as np

from gpukernels.simt.trace import ATOMIC, BARRIER, BRANCH, LOAD, STORE, WARP_SIZE, Trace

SECTOR_BYTES = 32
LINE_BYTES = 128
BANKS = 32
BANK_BYTES = 4


def _ratio(numerator, denominator) -> float:
    return float(numerator) / float(denominator) if denominator else float("nan")


def _popcount(mask):
    return np.bitwise_count(np.asarray(mask, dtype=np.uint32)).astype(np.int64)


def warp_steps(trace: Trace) -> int:
    """Return the number of statements that warps executed.

    Hardware: ``smsp__inst_executed.sum``, there in instructions.
    """
    return len(trace.steps)


def simd_efficiency(trace: Trace) -> float:
    """Return the mean fraction of a warp's 32 lanes that are active in a step, 0 to 1.

    Hardware: ``smsp__thread_inst_executed_per_inst_executed.ratio`` / 32, there over instructions.
    """
    return _ratio(_popcount(trace.steps.mask).sum(), WARP_SIZE * len(trace.steps))


def divergent_branches(trace: Trace) -> int:
    """Return how often a branch split the active lanes of a warp.

    Hardware: ``smsp__sass_branch_targets_threads_divergent.sum``.
    """
    steps = trace.steps
    branch = steps.kind == BRANCH
    return int(np.count_nonzero(branch & (steps.taken != 0) & (steps.taken != steps.mask)))


def barriers(trace: Trace) -> int:
    """Return the number of warp-level arrivals at a barrier."""
    return int(np.count_nonzero(trace.steps.kind == BARRIER))


def _rows_in(trace, space, kinds):
    spaces = np.array([a.space == space for a in trace.arrays] or [False])
    requests = trace.requests
    keep = np.isin(requests.kind, kinds)
    return keep & spaces[requests.array] if len(requests) else keep


def requests(trace: Trace, space: str = "global", kinds=(LOAD, STORE, ATOMIC)) -> int:
    """Return the number of memory requests, one a warp and access.

    Hardware: ``l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum`` (and ``_st``, ``_atom``).
    """
    return int(_rows_in(trace, space, kinds).sum())


def _units_per_request(trace, rows, unit_bytes, passes=False):
    """Return how many distinct aligned units of `unit_bytes` each selected request touches.

    With `passes`, those of an atomic request are counted anew in each of its passes.
    """
    table = trace.requests
    counts = np.diff(table.start)
    lanes = np.repeat(rows, counts)
    row = np.repeat(np.arange(len(table)), counts)[lanes]
    size = np.array([a.itemsize for a in trace.arrays] or [1])[table.array]
    index = table.index[lanes]
    unit = index * size[row] // unit_bytes
    if unit.size == 0:
        return np.zeros(len(table), np.int64)
    group = row
    if passes:
        group = row * WARP_SIZE + np.where(table.kind[row] == ATOMIC, _passes(row, index), 0)
    # Allocations start at a multiple of 256 bytes, so the unit number within the array decides.
    span = int(unit.max()) + 1
    found = np.unique(group * span + unit) // span
    return np.bincount(found // WARP_SIZE if passes else found, minlength=len(table))


def _passes(row, index):
    """Return the pass of each lane: how many lanes of its row before it have its element."""
    order = np.lexsort((index, row))  # stable: equal ones stay in the order of lanes
    row, index = row[order], index[order]
    new = np.append(True, (row[1:] != row[:-1]) | (index[1:] != index[:-1]))
    first = np.flatnonzero(new)
    passes = np.empty(row.size, np.int64)
    passes[order] = np.arange(row.size) - np.repeat(first, np.diff(np.append(first, row.size)))
    return passes


def sectors(trace: Trace, kinds=(LOAD, STORE, ATOMIC)) -> np.ndarray:
    """Return the number of 32-byte sectors that each global request moves (one entry a request).

    Lanes of an atomic request that meet at one element are served in successive passes, the r-th
    of them in pass r, and each pass moves its own sectors: 32 lanes on one element move 32.

    Hardware: ``l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum`` (and ``_st``, ``_atom``, ``_red``).
    An atomic whose address the compiler sees to be the same for all lanes is another matter: the
    warp adds up first, and one lane asks.
    """
    rows = _rows_in(trace, "global", kinds)
    return _units_per_request(trace, rows, SECTOR_BYTES, passes=True)[rows]


def lines(trace: Trace, kinds=(LOAD, STORE, ATOMIC)) -> np.ndarray:
    """Return the number of 128-byte cache lines of each global request (one entry a request)."""
    rows = _rows_in(trace, "global", kinds)
    return _units_per_request(trace, rows, LINE_BYTES)[rows]


def sectors_per_request(trace: Trace, kinds=(LOAD, STORE, ATOMIC)) -> float:
    """Return the mean number of 32-byte sectors a global request; 32 x 4 bytes need 4.

    Hardware: ``l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum`` / ``l1tex__t_requests_..._ld.sum``.
    """
    values = sectors(trace, kinds)
    return _ratio(values.sum(), values.size)


def coalescing_efficiency(trace: Trace, kinds=(LOAD, STORE, ATOMIC)) -> float:
    """Return distinct bytes asked for / bytes of the sectors moved in global memory, 0 to 1.

    Hardware: ``smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct`` / 100, which counts
    a byte once for every lane that asks for it; here it counts once a request, also where colliding
    lanes of an atomic move its sector again and again.
    """
    rows = _rows_in(trace, "global", kinds)
    size = np.array([a.itemsize for a in trace.arrays] or [1])[trace.requests.array]
    table = trace.requests
    lane_rows = np.repeat(np.arange(len(table)), np.diff(table.start))
    chosen = rows[lane_rows]
    pairs = np.unique(np.stack([lane_rows[chosen], table.index[chosen]]), axis=1)
    useful = size[pairs[0]].sum()
    return _ratio(useful, sectors(trace, kinds).sum() * SECTOR_BYTES)


def shared_passes(trace: Trace, kinds=(LOAD, STORE, ATOMIC)) -> np.ndarray:
    """Return the passes of each shared-memory request (one entry a request).

    There are 32 banks of 4 bytes; a pass serves one word of each bank, to all lanes that want it.
    Elements of 8 bytes are served half a warp at a time, except that one turn serves both halves
    where each lane's neighbor (lane ``i ^ 1``) is absent or wants the same element, or each lane's
    next but one (``i ^ 2``): 32 lanes on one word of 8 bytes take one pass, on 16 words two.

    Hardware: ``l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum`` (and ``_st``, ``_atom``).
    """
    passes, _, rows = _shared(trace, kinds)
    return passes[rows]


def bank_conflicts(trace: Trace, kinds=(LOAD, STORE, ATOMIC)) -> np.ndarray:
    """Return the extra passes of each shared-memory request: 0 where no two words share a bank.

    Lanes on the same word do not conflict. What an element's width needs is no extra pass: 32
    words of 8 bytes side by side take two passes, one for each half of the warp, and no conflict.
    `shared_passes` has both together.

    Hardware: ``l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum`` (and ``_st``, ``_atom``).
    The total without a suffix counts other traffic too: some in kernels that use no shared memory.
    """
    passes, turns, rows = _shared(trace, kinds)
    return (passes - turns)[rows]


def _shared(trace, kinds):
    """Return, for each request of any kind, passes and turns; and which are shared of `kinds`."""
    rows = _rows_in(trace, "shared", kinds)
    table = trace.requests
    lanes = np.repeat(rows, np.diff(table.start))
    row = table.lane_row()[lanes]
    lane = table.lane_id()[lanes]
    size = np.array([a.itemsize for a in trace.arrays] or [1])[table.array]
    words = np.maximum(size // BANK_BYTES, 1)
    index = table.index[lanes]
    passes = np.zeros(len(table), np.int64)
    turns = np.zeros(len(table), np.int64)
    for width in np.unique(words[rows]) if rows.any() else ():
        of_width = words[row] == width
        # Wide elements take `width` turns of 32 / width lanes each.
        turn = lane[of_width] * width // WARP_SIZE
        if width == 2:
            turn[_one_turn(row[of_width], lane[of_width], index[of_width])] = 0
        first = index[of_width] * size[row[of_width]] // BANK_BYTES
        word = (first[:, None] + np.arange(width)).ravel()
        group = np.repeat(row[of_width] * width + turn, width)
        key = np.unique(np.stack([group, word]), axis=1)
        cell = key[0] * BANKS + key[1] % BANKS
        used, count = np.unique(cell, return_counts=True)
        groups, start = np.unique(used // BANKS, return_index=True)
        worst = np.maximum.reduceat(count, start)
        np.add.at(passes, groups // width, worst)
        np.add.at(turns, groups // width, 1)
    return passes, turns, rows


def _one_turn(row, lane, index):
    """Return which lanes belong to a request of 8-byte elements that one turn serves."""
    number, at = np.unique(row, return_inverse=True)
    wants = np.full((number.size, WARP_SIZE), -1, np.int64)
    wants[at, lane] = index
    order = np.arange(WARP_SIZE)
    met = np.zeros(number.size, bool)
    for apart in (1, 2):
        other = wants[:, order ^ apart]
        met |= ((wants == other) | (wants < 0) | (other < 0)).all(axis=1)
    return met[at]


def bank_conflicts_per_request(trace: Trace, kinds=(LOAD, STORE, ATOMIC)) -> float:
    """Return the mean number of extra passes a shared-memory request."""
    values = bank_conflicts(trace, kinds)
    return _ratio(values.sum(), values.size)


def local_sectors(trace: Trace, kinds=(LOAD, STORE)) -> np.ndarray:
    """Return the number of 32-byte sectors of each request to local memory (one entry a request).

    An array of ``cuda.local.array`` lies in device memory unless the compiler knows every index.
    The lanes' copies are interleaved word by word: 32 lanes at one index of 4-byte elements lie
    side by side in 4 sectors.

    Hardware: ``l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum`` (and ``_st``); the requests are
    ``requests(trace, "local")``, there ``l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum``.
    """
    rows = _rows_in(trace, "local", kinds)
    table = trace.requests
    lanes = np.repeat(rows, np.diff(table.start))
    row = table.lane_row()[lanes]
    size = np.array([a.itemsize for a in trace.arrays] or [1])[table.array]
    words = np.maximum(size // BANK_BYTES, 1)[row]
    first = table.index[lanes] * size[row] // BANK_BYTES
    word = np.repeat(first - np.cumsum(words) + words, words) + np.arange(words.sum())
    lanes_of_a_sector = SECTOR_BYTES // BANK_BYTES
    quarter = np.repeat(table.lane_id()[lanes] // lanes_of_a_sector, words)
    touched = np.unique(np.stack([np.repeat(row, words), word, quarter]), axis=1)[0]
    return np.bincount(touched, minlength=len(table))[rows]


def atomic_conflicts(trace: Trace) -> np.ndarray:
    """Return, for each atomic request, the lanes that had to wait for another on the same element.

    Hardware: no single counter; ``lts__t_sectors_op_atom.sum`` and ``_red.sum`` rise with it.
    """
    table = trace.requests
    rows = table.kind == ATOMIC
    counts = np.diff(table.start)
    lanes = np.repeat(rows, counts)
    row = table.lane_row()[lanes]
    index = table.index[lanes]
    distinct = np.zeros(len(table), np.int64)
    if row.size:
        pairs = np.unique(np.stack([row, index]), axis=1)
        distinct = np.bincount(pairs[0], minlength=len(table))
    return (counts - distinct)[rows]


def work_per_thread(trace: Trace, array: str, launch: int | None = None) -> np.ndarray:
    """Return how many elements of `array` each thread loaded, in thread order.

    Parameters
    ----------
    array : str
        For graph kernels usually ``"targets"``: one element is one edge.
    launch : int, optional
        Index of the launch; by default the sum over all launches, which must have one shape.
    """
    table = trace.select(array=array, launch=launch).requests
    launched = [item for item in trace.launches if launch is None or item.index == launch]
    shapes = {(item.blocks, item.threads_per_block) for item in launched}
    if len(shapes) != 1:
        raise ValueError(f"launch={launch}: the launches have {len(shapes)} shapes; choose one")
    ((blocks, threads),) = shapes
    row = table.lane_row()
    loads = table.kind[row] == LOAD
    thread = table.block[row] * threads + table.warp[row] * WARP_SIZE + table.lane_id()
    return np.bincount(thread[loads], minlength=blocks * threads)


@dataclass(frozen=True)
class Balance:
    """How evenly work is spread: max / mean over threads, warps and blocks (1 is perfect)."""

    threads: float
    warps: float
    blocks: float


def balance(trace: Trace, launch: int = 0) -> Balance:
    """Return the balance of one launch, in steps: of active threads, of warps, of blocks."""
    shape = trace.launches[launch]
    steps = trace.select(launch=launch).steps
    per_block = shape.warps_per_block
    warp = steps.block.astype(np.int64) * per_block + steps.warp
    warps = np.bincount(warp, minlength=shape.blocks * per_block)
    bits = (steps.mask[:, None] >> np.arange(WARP_SIZE, dtype=np.uint32)) & 1
    lanes = np.zeros((shape.blocks * per_block, WARP_SIZE), np.int64)
    np.add.at(lanes, warp, bits)
    lane = np.arange(per_block * WARP_SIZE).reshape(1, -1) < shape.threads_per_block
    threads = lanes.reshape(shape.blocks, -1)[np.broadcast_to(lane, (shape.blocks, lane.size))]
    return Balance(
        *(
            _ratio(values.max(), values.mean())
            for values in (threads, warps, warps.reshape(shape.blocks, -1).sum(axis=1))
        )
    )


COLUMNS = (
    ("launches", "launches", "{:,.0f}"),
    ("warp steps", "warp steps", "{:,.0f}"),
    ("SIMD efficiency", "active lanes / 32", "{:.1%}"),
    ("divergent branches", "branches that split a warp", "{:,.0f}"),
    ("global requests", "requests to global memory", "{:,.0f}"),
    ("sectors / request", "32-byte sectors a global request", "{:.2f}"),
    ("coalescing", "useful bytes / sector bytes", "{:.1%}"),
    ("bank conflicts / request", "extra passes a shared request", "{:.2f}"),
    ("local requests", "requests to local memory", "{:,.0f}"),
    ("local sectors / request", "32-byte sectors a local request", "{:.2f}"),
    ("atomic conflicts", "lanes that waited for another", "{:,.0f}"),
    ("barriers", "warp arrivals at barriers", "{:,.0f}"),
)


def counters(trace: Trace) -> dict[str, float]:
    """Return the counters of the summary table for all rows of `trace`, by column name."""
    used = np.union1d(np.unique(trace.steps.launch), np.unique(trace.requests.launch))
    return {
        "launches": float(used.size),
        "warp steps": float(warp_steps(trace)),
        "SIMD efficiency": simd_efficiency(trace),
        "divergent branches": float(divergent_branches(trace)),
        "global requests": float(requests(trace)),
        "sectors / request": sectors_per_request(trace),
        "coalescing": coalescing_efficiency(trace),
        "bank conflicts / request": bank_conflicts_per_request(trace),
        "local requests": float(requests(trace, "local")),
        "local sectors / request": _ratio((local := local_sectors(trace)).sum(), local.size),
        "atomic conflicts": float(atomic_conflicts(trace).sum()),
        "barriers": float(barriers(trace)),
    }


class Summary:
    """A table of counters; prints as text and shows as HTML in a notebook.

    Attributes
    ----------
    rows : dict of str to dict
        Row label -> counters, as :func:`counters` names them.
    """

    def __init__(self, head: str, rows: dict[str, dict[str, float]]):
        self.head = head
        self.rows = rows

    def __getitem__(self, row: str) -> dict[str, float]:
        return self.rows[row]

    def _cells(self):
        # A column in which every row is zero or undefined says nothing.
        shown = [
            (name, form)
            for name, _, form in COLUMNS
            if any(r[name] == r[name] and r[name] != 0 for r in self.rows.values())
        ]
        head = [self.head, *(name for name, _ in shown)]
        body = [
            [label, *("–" if r[n] != r[n] else form.format(r[n]) for n, form in shown)]
            for label, r in self.rows.items()
        ]
        return head, body

    def __repr__(self) -> str:
        head, body = self._cells()
        widths = [max(len(row[i]) for row in [head, *body]) for i in range(len(head))]
        lines = []
        for row in [head, *body]:
            cells = [
                cell.ljust(w) if i == 0 else cell.rjust(w)
                for i, (cell, w) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head, body = self._cells()
        top = "".join(f'<th scope="col">{html.escape(c)}</th>' for c in head)
        rows = "".join(
            f'<tr><th scope="row">{html.escape(r[0])}</th>'
            + "".join(f"<td>{html.escape(c)}</td>" for c in r[1:])
            + "</tr>"
            for r in body
        )
        return (
            '<div class="gk-table"><table><thead><tr>'
            f"{top}</tr></thead><tbody>{rows}</tbody></table></div>"
        )


def summarize(trace: Trace, by: str = "kernel") -> Summary:
    """Return the counters per ``"kernel"``, ``"launch"`` or ``"line"`` of source.

    A row of a line names its function, its number in the file and its text.
    """
    if by == "kernel":
        names = dict.fromkeys(item.kernel for item in trace.launches)
        return Summary(by, {name: counters(trace.select(kernel=name)) for name in names})
    if by == "launch":
        return Summary(
            by,
            {
                f"{item.index} {item.label or item.kernel}": counters(
                    trace.select(launch=item.index)
                )
                for item in trace.launches
            },
        )
    if by == "line":
        rows = {}
        pairs = np.unique(np.stack([trace.steps.source, trace.steps.line]), axis=1).T
        names = _function_names(trace, np.unique(trace.steps.source).tolist())
        width = max(map(len, names.values()), default=0)
        for source, line in pairs.tolist():
            text = f"{names[source]:<{width}} {line:>4} {trace.text(source, line)}".rstrip()
            rows[text] = counters(trace.select(source=source, line=line))
        return Summary(by, rows)
    raise ValueError(f"by={by!r}; allowed are 'kernel', 'launch' and 'line'")


def _function_names(trace: Trace, sources: list[int]) -> dict[int, str]:
    """Return the name of each source's function, numbered where two are called the same."""
    names, met = {}, Counter()
    for source in sources:
        name = trace.sources[source].function
        met[name] += 1
        names[source] = name if met[name] == 1 else f"{name} ({met[name]})"
    return names
