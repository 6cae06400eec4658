"""What the text formats share: parsing columns, counting arcs, naming the faulty line."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpukernels.errors import GraphFormatError
from gpukernels.formats.blocks import Block
from gpukernels.formats.words import CONTROL, control_fault

#: A file may announce this many vertices, or so many for each arc, whichever is more.
FREE_VERTICES = 1 << 20
VERTICES_PER_ARC = 4
#: The faulty line is sought in parts of a block that are about so long.
PART_BYTES = 1 << 15
#: From this size on a file is read by a compiled parser, and a gzip file from that. NumPy is done
#: with a smaller one before it would be loaded, and nobody waits for a compiler.
COMPILED_BYTES = 4 << 20
PACKED_BYTES = 1 << 20


@dataclass(frozen=True)
class ArcList:
    """What a file says, before parallel arcs and self-loops are dealt with.

    Attributes
    ----------
    n : int
        Number of vertices.
    source, target : array of int, shape (k,)
        Ends of every arc, or of every edge of an undirected graph (each once), from 0.
    weight : array of int or float, shape (k,), or None
        Weights as the file has them.
    directed : bool
        What the file says, or the convention of its format.
    labels : array of int64, shape (n,)
        Id of every vertex in the file.
    """

    n: int
    source: NDArray
    target: NDArray
    weight: NDArray | None
    directed: bool
    labels: NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """What the lines of arcs look like in a format.

    Attributes
    ----------
    dtype : numpy.dtype
        The columns, separated by white space.
    comment : re.Pattern
        Matches one or more whole lines that are comments.
    marks : tuple of bytes
        What comments start with: a text without any of them has none.
    sound : callable
        Whether parsed rows hold nothing that no graph may have.
    fault : callable
        Says what is wrong with the words of one line, or ``None``.
    """

    dtype: np.dtype
    comment: re.Pattern[bytes]
    marks: tuple[bytes, ...]
    sound: Callable[[NDArray], bool]
    fault: Callable[[list[bytes]], str | None]

    def parsed(self, text: bytes, compiled: bool = False) -> NDArray | None:
        """Parse lines; ``None`` where any of them is faulty."""
        if compiled:
            from gpukernels.formats.scanning import scanned

            some = scanned(text, self.dtype, self.marks)
            if some is not None and self.sound(some):
                return some
        if any(mark in text for mark in self.marks):
            text = self.comment.sub(b"", text)
        if len(text.translate(None, CONTROL)) < len(text):
            return None
        some = columns(text, self.dtype)
        return some if some is not None and self.sound(some) else None

    def numbered(self, block: Block) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of a block that are neither blank nor comments."""
        for number, line in block.lines():
            if line.strip(b" \t") and not self.comment.match(line):
                yield number, line

    def line_fault(self, line: bytes) -> str | None:
        """Say what is wrong with one line."""
        reason = control_fault(line) or self.fault(line.split())
        if reason is None and self.parsed(line) is None:
            reason = "the line cannot be parsed"
        return reason


@dataclass(frozen=True)
class Announced:
    """How many arcs a file says it has: their number, what it calls them, and where it says so."""

    count: int
    what: str
    line: int


def read_rows(
    file: Path, parts: Iterable[Block], rows: Rows, announced: Announced | None
) -> tuple[NDArray, int]:
    """Parse all lines of arcs.

    Returns
    -------
    rows : structured array of ``rows.dtype``, ids narrowed to int32 where all fit
    last_line : int
        Number of the last line of the file.

    Raises
    ------
    GraphFormatError
        At the first line that is wrong or too much, or at the last where there are too few.
    """
    parsed, count, last_line = [np.zeros(0, dtype=rows.dtype)], 0, 1
    compiled = file.stat().st_size >= (PACKED_BYTES if file.suffix == ".gz" else COMPILED_BYTES)
    for block in parts:
        last_line = block.last_line
        some = rows.parsed(block.text, compiled)
        spare = None if announced is None else announced.count - count
        if some is None or (spare is not None and some.size > spare):
            raise refusal(file, block, rows, spare, announced)
        count += some.size
        parsed.append(_narrow(some))
    if announced is not None and count < announced.count:
        reason = (
            f"the file ends after {count} {announced.what}, "
            f"but line {announced.line} says {announced.count}"
        )
        raise GraphFormatError(file, last_line, reason)
    return np.concatenate(parsed), last_line


def columns(text: bytes, dtype: np.dtype) -> NDArray | None:
    """Parse lines of whitespace-separated columns; ``None`` where any line does not fit `dtype`."""
    if not text.strip():
        return np.zeros(0, dtype=dtype)
    try:
        with warnings.catch_warnings():
            # NumPy only warns where it cuts "1.5" down to an integer.
            warnings.simplefilter("error")
            lines = io.StringIO(text.decode("ascii"))
            return np.loadtxt(lines, dtype=dtype, comments=None, ndmin=1)
    except (ValueError, OverflowError, Warning):
        return None


def refusal(
    file: Path, block: Block, rows: Rows, spare: int | None, announced: Announced | None
) -> GraphFormatError:
    """Find the first faulty line of a block; only the first `spare` lines may be there at all."""
    for part in block.parts(PART_BYTES):
        some = rows.parsed(part.text)
        if some is not None and (spare is None or some.size <= spare):
            # The fast parser leaves only one part to go through line by line.
            spare = None if spare is None else spare - some.size
            continue
        for at, (number, line) in enumerate(rows.numbered(part)):
            reason = rows.line_fault(line)
            if reason is None and at == spare:
                reason = (
                    f"more than the {announced.count} {announced.what} that line "
                    f"{announced.line} announces"
                )
            if reason is not None:
                return GraphFormatError(file, number, reason)
    return GraphFormatError(file, block.first_line, "the lines from here cannot be parsed")


def vertices_fault(n: int, arcs: int, limit: int | None) -> str | None:
    """Say that a file announces more vertices than it may, before memory is spent on them."""
    most = max(FREE_VERTICES, VERTICES_PER_ARC * arcs) if limit is None else limit
    if n <= most:
        return None
    if limit is not None:
        return f"{n} vertices, more than limit = {limit}"
    return (
        f"{n} vertices for {arcs} arcs: must be at most {most}; "
        f"where that is meant, read with limit={n}"
    )


def within_int32(weight: NDArray) -> bool:
    """Whether all weights lie in the range of int32."""
    return bool((weight >= -(2**31)).all() and (weight < 2**31).all())


def within_float32(weight: NDArray) -> bool:
    """Whether all weights are finite float32 numbers."""
    with np.errstate(over="ignore"):
        return bool(np.isfinite(weight.astype(np.float32)).all())


def _narrow(rows: NDArray) -> NDArray:
    """Return rows with int32 for int64 in the columns whose numbers all fit: half the memory."""
    narrow = [
        (name, "i4" if rows[name].dtype == np.int64 and within_int32(rows[name]) else kind)
        for name, kind in rows.dtype.descr
    ]
    return rows.astype(narrow, copy=False)
