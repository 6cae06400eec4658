"""The steps of some warps of one block, with the source lines they ran through."""

from __future__ import annotations

import ast
import textwrap
from dataclasses import dataclass

import numpy as np

from gpukernels.trace import Source, Trace
from gpukernels.trace.costs import Costs
from gpukernels.views.places import launch_of


@dataclass(frozen=True)
class Row:
    """One line of the listing; ``number`` is 0 for the gap between two functions."""

    number: int
    indent: int
    text: str


@dataclass(frozen=True)
class Access:
    """One memory request of a warp, with its cost in sectors (global) or passes (shared)."""

    step: int
    array: str
    itemsize: int
    kind: int
    shared: bool
    lanes: int
    cost: int
    least: int
    mask: int
    index: np.ndarray  #: of each of its lanes, the element that it touches


@dataclass(frozen=True)
class WarpRecord:
    """The steps of one warp.

    Attributes
    ----------
    warp : int
        Warp within the block.
    row : numpy.ndarray
        int64: index into the listing, one per step.
    kind : numpy.ndarray
        uint8: statement, branch or barrier.
    mask, taken : numpy.ndarray
        int64: active lanes, and for a branch the lanes that go in.
    accesses : tuple of Access
        Requests to global and shared memory, in order.
    total : int
        Steps of the warp in the launch; more than ``len(row)`` if the record was cut.
    """

    warp: int
    row: np.ndarray
    kind: np.ndarray
    mask: np.ndarray
    taken: np.ndarray
    accesses: tuple[Access, ...]
    total: int

    def __len__(self) -> int:
        return len(self.row)

    @property
    def splits(self) -> np.ndarray:
        """Whether each step is a branch at which the active lanes part."""
        return (self.taken != 0) & (self.taken != self.mask)


def listing(source: Source) -> list[Row]:
    """Return the lines of a function without its docstring and its decorators but ``jit``."""
    text = textwrap.dedent("\n".join(source.text)).rstrip()
    hidden: set[int] = set()
    function = first = None
    try:
        function = ast.parse(text).body[0]
        first = function.body[0]
    except (SyntaxError, IndexError, AttributeError):
        pass
    if isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str):
        hidden = set(range(first.lineno, first.end_lineno + 1))
    lines = text.split("\n")
    for decorator in getattr(function, "decorator_list", ()):
        if "jit" not in ast.unparse(decorator):
            hidden |= set(range(decorator.lineno, decorator.end_lineno + 1))
    # A blank line right after the docstring would open the body with a hole.
    while max(hidden, default=len(lines)) < len(lines) and not lines[max(hidden)].strip():
        hidden.add(max(hidden) + 1)
    return [
        Row(source.first_line + i, len(line) - len(line.lstrip()), line.strip())
        for i, line in enumerate(lines)
        if i + 1 not in hidden
    ]


def read_warps(
    trace: Trace, launch: int, block: int, warp: int | None, start: int, limit: int
) -> tuple[list[Row], list[WarpRecord]]:
    """Read the steps `start` to ``start + limit`` of one warp, or of every warp of a block.

    Returns
    -------
    rows : list of Row
        The functions that these warps ran, the kernel first.
    warps : list of WarpRecord
        One per warp, ascending.

    Raises
    ------
    InvalidArgument
        If the trace has no such launch, block or warp.
    """
    shape = launch_of(trace, launch, block, 0 if warp is None else warp)
    steps, requests = trace.steps, trace.requests
    of_block = (steps.launch == launch) & (steps.block == block)
    requests_of_block = (requests.launch == launch) & (requests.block == block)
    chosen = range(shape.warps_per_block) if warp is None else [warp]
    inside = of_block & np.isin(steps.warp, list(chosen))
    used = [shape.source, *(s for s in np.unique(steps.source[inside]) if s != shape.source)]
    rows: list[Row] = []
    place: dict[tuple[int, int], int] = {}
    for source in used:
        if rows:
            rows.append(Row(0, 0, ""))
        for row in listing(trace.sources[source]):
            place[int(source), row.number] = len(rows)
            rows.append(row)
    records = []
    for w in chosen:
        at = np.flatnonzero(of_block & (steps.warp == w))
        at = at[np.argsort(steps.step[at], kind="stable")]
        total, at = len(at), at[start : start + limit]
        number = {int(s): k for k, s in enumerate(steps.step[at])}
        records.append(
            WarpRecord(
                warp=int(w),
                row=np.array(
                    [
                        _row(place, int(s), int(n))
                        for s, n in zip(steps.source[at], steps.line[at], strict=True)
                    ],
                    dtype=np.int64,
                ),
                kind=steps.kind[at],
                mask=steps.mask[at].astype(np.int64),
                taken=steps.taken[at].astype(np.int64),
                accesses=_accesses(trace, requests_of_block & (requests.warp == w), number),
                total=total,
            )
        )
    return rows, records


def _row(place: dict[tuple[int, int], int], source: int, line: int) -> int:
    # A statement that spans lines may be recorded at a line inside it.
    while (source, line) not in place and line > 0:
        line -= 1
    return place.get((source, line), 0)


def _accesses(trace: Trace, rows: np.ndarray, number: dict[int, int]) -> tuple[Access, ...]:
    requests, costs = trace.requests, Costs(trace, rows)
    accesses = []
    for k, r in enumerate(np.flatnonzero(rows).tolist()):
        array = trace.arrays[requests.array[r]]
        step = number.get(int(requests.step[r]))
        if step is None or array.space not in ("global", "shared"):
            continue
        shared = array.space == "shared"
        accesses.append(
            Access(
                step=step,
                array=array.name,
                itemsize=int(array.itemsize),
                kind=int(requests.kind[r]),
                shared=shared,
                lanes=int(costs.lanes[k]),
                mask=int(requests.mask[r]),
                index=requests.index[requests.start[r] : requests.start[r + 1]],
                cost=int((costs.passes if shared else costs.sectors)[k]),
                least=1 if shared else int(costs.ideal[k]),
            )
        )
    return tuple(sorted(accesses, key=lambda access: access.step))
