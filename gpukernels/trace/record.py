"""The record of launches: columns for every warp-step and every memory request.

A :class:`Record` is plain NumPy. Costs, metrics and views read nothing else, so everything that a
figure shows can be recomputed by a reader from these columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

WARP_SIZE = 32

#: Values of ``steps.kind``.
STATEMENT, BRANCH, BARRIER = 0, 1, 2
#: Values of ``requests.kind``.
LOAD, STORE, ATOMIC = 0, 1, 2

STEP_KINDS = ("statement", "branch", "barrier")
REQUEST_KINDS = ("load", "store", "atomic")


@dataclass(frozen=True)
class Source:
    """One kernel or device function as it stands in its file.

    Attributes
    ----------
    function : str
        Name of the kernel or device function.
    file : str
        File name as Python knows it (``<ipython-input-...>`` for a notebook cell).
    first_line : int
        Line number of ``text[0]`` in that file.
    text : tuple of str
        The lines of the function, decorators included, without line ends.
    """

    function: str
    file: str
    first_line: int
    text: tuple[str, ...]

    def line(self, number: int) -> str:
        """Return the text of line `number` of the file, or ``""`` if it is outside the function."""
        at = number - self.first_line
        return self.text[at] if 0 <= at < len(self.text) else ""

    def lines_with(self, part: str) -> list[int]:
        """Return the numbers of the lines that hold `part`."""
        return [self.first_line + k for k, text in enumerate(self.text) if part in text]


@dataclass(frozen=True)
class Launch:
    """One kernel launch: name, source and shape (``grid`` and ``block`` are (x, y, z))."""

    index: int
    kernel: str
    source: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    label: str = ""

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return int(np.prod(self.grid))

    @property
    def threads_per_block(self) -> int:
        """Number of threads of each block."""
        return int(np.prod(self.block))

    @property
    def warps_per_block(self) -> int:
        """Number of warps of each block, the last one perhaps partly filled."""
        return -(-self.threads_per_block // WARP_SIZE)


@dataclass(frozen=True)
class ArrayInfo:
    """An array that a kernel touched.

    Attributes
    ----------
    name : str
        The kernel's parameter, or the variable that a shared or local array was first assigned to.
    space : str
        ``"global"``, ``"shared"``, ``"local"`` or ``"const"``.
    dtype : numpy.dtype
        Element type.
    shape : tuple of int
        Shape (of one block's or thread's copy for shared and local arrays).
    """

    name: str
    space: str
    dtype: np.dtype
    shape: tuple[int, ...]

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize


def lanes_of(mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the row and the lane of every active lane of a column of masks."""
    return np.nonzero((mask[:, None] >> np.arange(WARP_SIZE, dtype=np.uint32)) & 1)


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Columns of one length, with the launch, warp, step and source line of each row.

    ``step`` counts a warp's own steps within the launch from 0. ``mask`` holds the active lanes
    (bit i = lane i).
    """

    launch: np.ndarray  # int32, index into Trace.launches
    block: np.ndarray  # int32, linear block index (x fastest)
    warp: np.ndarray  # int32, warp within its block
    step: np.ndarray  # int32
    source: np.ndarray  # int32, index into Trace.sources
    line: np.ndarray  # int32, line in the source's file
    mask: np.ndarray  # uint32

    def __len__(self) -> int:
        return len(self.launch)

    def where(self, keep: np.ndarray) -> Self:
        """Return the rows where `keep` is True, with their lanes; this table if it is all True."""
        if keep.all():
            return self
        columns = dict(vars(self))
        start = columns.pop("start", None)
        counts = None if start is None else np.diff(start).astype(np.intp, copy=False)
        of_lane = keep if start is None else np.repeat(keep, counts)
        for name, column in columns.items():
            columns[name] = column[of_lane if name in ("index", "lane", "value") else keep]
        if start is not None:
            columns["start"] = np.append(0, np.cumsum(counts[keep]))
        return type(self)(**columns)

    def lanes(self, row: int) -> np.ndarray:
        """Return the numbers of the lanes that are active in `row`, ascending."""
        return np.flatnonzero((np.int64(self.mask[row]) >> np.arange(WARP_SIZE)) & 1)

    def lane_id(self) -> np.ndarray:
        """Return the number of every active lane (0 to 31), row by row, ascending in each row."""
        return lanes_of(self.mask)[1]


@dataclass(frozen=True, kw_only=True)
class Steps(Rows):
    """One row per warp-step, in the order of execution.

    For a row of kind BRANCH, ``taken`` holds the lanes that went into the body; otherwise 0.
    """

    kind: np.ndarray  # uint8
    taken: np.ndarray  # uint32


@dataclass(frozen=True, kw_only=True)
class Requests(Rows):
    """One row per memory request of a warp, with its lanes in CSR form.

    Lane k of row r (in ascending lane order among the bits of ``mask[r]``) touched element
    ``index[start[r] + k]`` of array ``array[r]`` and read or wrote ``value[start[r] + k]`` (for an
    atomic: the operand). ``step`` is the warp's step that made the request.
    """

    array: np.ndarray  # int32, index into Record.arrays
    kind: np.ndarray  # uint8
    start: np.ndarray  # int64, length rows + 1
    index: np.ndarray  # int64, flat element index, one per lane
    value: np.ndarray  # float64, one per lane

    def lane_row(self) -> np.ndarray:
        """Return the row of each entry of ``index``."""
        return np.repeat(np.arange(len(self)), np.diff(self.start).astype(np.intp, copy=False))


@dataclass(frozen=True, kw_only=True)
class Shuffles(Rows):
    """One row per shuffle of a warp, with its lanes in CSR form, as in :class:`Requests`.

    Lane k of row r gave ``value[start[r] + k]`` and got the value of lane ``lane[start[r] + k]``.
    If this is its own number, it got its own value.
    """

    start: np.ndarray  # int64, length rows + 1
    lane: np.ndarray  # int64, the lane read, one per lane
    value: np.ndarray  # float64, the value given, one per lane


def no_shuffles() -> Shuffles:
    """Return a table without rows."""
    none, lanes = np.zeros(0, np.int32), np.zeros(0, np.int64)
    place = dict.fromkeys(("launch", "block", "warp", "step", "source", "line"), none)
    columns = {"start": np.zeros(1, np.int64), "lane": lanes, "value": lanes.astype(np.float64)}
    return Shuffles(**place, mask=none.astype(np.uint32), **columns)


@dataclass(frozen=True)
class Record:
    """The columns of one or more launches, and methods that select rows of them."""

    launches: tuple[Launch, ...]
    sources: tuple[Source, ...]
    arrays: tuple[ArrayInfo, ...]
    steps: Steps
    requests: Requests
    notes: dict = field(default_factory=dict)
    shuffles: Shuffles = field(default_factory=no_shuffles)

    def array_named(self, name: str) -> list[int]:
        """Return the index in ``arrays`` of each array called `name` (one per launch shape)."""
        return [i for i, a in enumerate(self.arrays) if a.name == name]

    def text(self, source: int, line: int) -> str:
        """Return the source text of `line`."""
        return self.sources[source].line(line)

    def select(
        self,
        *,
        kernel=None,
        launch=None,
        block=None,
        warp=None,
        source=None,
        line=None,
        function=None,
        statement=None,
        array=None,
        space=None,
        kind=None,
    ) -> Self:
        """Return the trace's rows that match every given value; sources and arrays stay.

        If `kernel` is given, only the launches of these kernels stay, and are numbered again from
        0. A table whose rows all match is shared with this trace.

        Parameters
        ----------
        kernel, function, array : str or iterable of str, optional
            Name of the launched kernel, of the function that has the line, of the array. A single
            name must be in the trace; names in an iterable need not be. `array` restricts only the
            requests.
        launch, block, warp, source, line : int, optional
            Index of the launch, block within it, warp within the block, index of the source, line
            of it.
        statement : str, optional
            Part of the line's text.
        space : str, optional
            Space of memory; restricts only the requests.
        kind : int or tuple of int, optional
            LOAD, STORE, ATOMIC; restricts only the requests.

        Raises
        ------
        KeyError
            If the trace has no kernel, function or array of that name, or no such line.
        """
        chosen = _find("kernel", kernel, [item.kernel for item in self.launches])
        of_all = [
            *[("launch", launch), ("block", block), ("warp", warp), ("source", source)],
            ("line", line),
            ("launch", chosen),
            ("source", _find("function", function, [item.function for item in self.sources])),
        ]
        inside = [k for k, item in enumerate(self.arrays) if item.space == space]
        of_requests = [
            ("array", _find("array", array, [item.name for item in self.arrays])),
            ("array", None if space is None else inside),
            ("kind", kind),
        ]
        lines = [(k, item.lines_with(statement or "")) for k, item in enumerate(self.sources)]
        if statement is not None and not any(numbers for _, numbers in lines):
            raise KeyError(f"statement={statement!r} is in no line of the trace's sources")

        def matching(table, *more):
            keep = np.ones(len(table), dtype=bool)
            for column, values in (*of_all, *more):
                if values is not None:
                    keep &= np.isin(getattr(table, column), values)
            if statement is not None:
                at = [(table.source == k) & np.isin(table.line, numbers) for k, numbers in lines]
                keep &= np.any(at, axis=0)
            return numbered(table.where(keep))

        launches = self.launches if chosen is None else [self.launches[k] for k in chosen]
        place = {item.index: k for k, item in enumerate(launches)}

        def numbered(table):
            if len(launches) == len(self.launches):
                return table
            number = np.array([place.get(k, -1) for k in range(len(self.launches))], np.int32)
            return replace(table, launch=number[table.launch])

        return type(self)(
            tuple(replace(item, index=k) for k, item in enumerate(launches)),
            self.sources,
            self.arrays,
            matching(self.steps),
            matching(self.requests, *of_requests),
            self.notes,
            matching(self.shuffles),
        )


def _find(what, wanted, names):
    """Return the positions in `names` of the wanted name, or of each of several."""
    if wanted is None:
        return None
    if isinstance(wanted, str) and wanted not in names:
        known = ", ".join(sorted(set(names)))
        raise KeyError(f"{what}={wanted!r} is not in the trace, which holds {known}")
    several = {wanted} if isinstance(wanted, str) else set(wanted)
    return [k for k, name in enumerate(names) if name in several]
