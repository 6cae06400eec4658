"""The common part of the text formats: parse columns, count arcs, name the faulty line."""

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
from gpukernels.graphs.formats.blocks import Block
from gpukernels.graphs.formats.words import CONTROL, control_fault, mixed_fault, weight_fault

#: A file may announce this many vertices, or so many per arc, whichever is more.
FREE_VERTICES = 1 << 20
VERTICES_PER_ARC = 4
#: The faulty line is sought in parts of a block that are about so long.
PART_BYTES = 1 << 15
#: Only a text with one of these can hold a fraction.
FRACTION = re.compile(rb"[.eE]")
#: Only a text with one of these can hold a number other than 0 that float64 rounds to 0.
TINY = re.compile(rb"e-|[0.]{300}", re.IGNORECASE)
#: Up to this number, float64 holds every whole number.
WHOLE_FLOATS = 2**53
#: From the first size on, a compiled parser reads a file, and from the second a gzip file. NumPy
#: reads a smaller one before the parser would be loaded, without a wait for the compiler.
COMPILED_BYTES = 4 << 20
PACKED_BYTES = 1 << 20


@dataclass(frozen=True)
class ArcList:
    """The contents of a file, before parallel arcs and self-loops are removed.

    Attributes
    ----------
    n : int
        Number of vertices.
    source, target : array of int, shape (k,)
        Ends of every arc, or of every edge of an undirected graph (each once), from 0.
    weight : array of int or float, shape (k,), or None
        Weights as the file has them.
    directed : bool
        From the file, or from the convention of its format.
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
    """The form of the lines of arcs in a format.

    Attributes
    ----------
    dtype : numpy.dtype
        The columns, separated by white space.
    comment : re.Pattern
        Matches one or more whole lines that are comments.
    marks : tuple of bytes
        The first bytes of comments: a text without any of them has none.
    sound : callable
        Returns whether all values of parsed rows are allowed in a graph.
    fault : callable
        Returns the fault in the words of one line, or ``None``.
    fractions : numpy.dtype, optional
        The columns of a block whose weights are not all written as whole numbers, if the format
        allows both.
    """

    dtype: np.dtype
    comment: re.Pattern[bytes]
    marks: tuple[bytes, ...]
    sound: Callable[[NDArray], bool]
    fault: Callable[[list[bytes]], str | None]
    fractions: np.dtype | None = None

    def parsed(self, text: bytes, compiled: bool = False) -> NDArray | None:
        """Parse lines; ``None`` if any of them is faulty."""
        layouts = [self.dtype] if self.fractions is None else [self.dtype, self.fractions]
        if compiled:
            from gpukernels.graphs.formats.scanning import scanned

            for dtype in layouts if FRACTION.search(text) else layouts[:1]:
                some = scanned(text, dtype, self.marks)
                if some is not None and self.sound(some):
                    return some
        if any(mark in text for mark in self.marks):
            text = self.comment.sub(b"", text)
        if len(text.translate(None, CONTROL)) < len(text):
            return None
        for dtype in layouts:
            some = columns(text, dtype)
            if some is not None and self.sound(some):
                return some
        return None

    def changed(self, block: Block, some: NDArray) -> tuple[int, str] | None:
        """Return the line of the first weight that float64 changes too much, and the reason.

        A number other than 0 may not become 0. A whole number among fractions may not change.
        """
        weight = some[some.dtype.names[-1]]
        looked_at = np.zeros(some.size, dtype=bool)
        if weight.dtype == np.float64 and TINY.search(block.text):
            looked_at = weight == 0
        if self.fractions is not None:
            looked_at |= (weight >= WHOLE_FLOATS) | (weight <= -WHOLE_FLOATS)
        if not looked_at.any():
            return None
        for (number, line), look in zip(self.numbered(block), looked_at.tolist(), strict=True):
            word = line.split()[-1]
            reason = weight_fault(word, whole=False) or mixed_fault(word) if look else None
            if reason is not None:
                return number, reason
        return None

    def numbered(self, block: Block) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of a block that are neither blank nor comments."""
        for number, line in block.lines():
            if line.strip(b" \t") and not self.comment.match(line):
                yield number, line

    def line_fault(self, line: bytes) -> str | None:
        """Return the fault in one line."""
        reason = control_fault(line) or self.fault(line.split())
        if reason is None and self.parsed(line) is None:
            reason = "the line cannot be parsed"
        return reason


@dataclass(frozen=True)
class Announced:
    """The number of arcs that a file announces, its word for them, and the line of the number."""

    count: int
    what: str
    line: int


def read_rows(
    file: Path, parts: Iterable[Block], rows: Rows, announced: Announced | None
) -> tuple[NDArray, int]:
    """Parse all lines of arcs.

    Returns
    -------
    rows : structured array of ``rows.dtype``
        Columns of int64 are int32 if all of their numbers fit.
    last_line : int
        Number of the last line of the file.

    Raises
    ------
    GraphFormatError
        At the first line that is wrong or too much, or at the last if there are too few.
    """
    parsed, count, last_line = [_narrow(np.zeros(0, dtype=rows.dtype))], 0, 1
    changed, fractions = None, False
    compiled = file.stat().st_size >= (PACKED_BYTES if file.suffix == ".gz" else COMPILED_BYTES)
    for block in parts:
        last_line = block.last_line
        some = rows.parsed(block.text, compiled)
        spare = None if announced is None else announced.count - count
        if some is None or (spare is not None and some.size > spare):
            raise refusal(file, block, rows, spare, announced)
        changed = changed or rows.changed(block, some)
        fractions |= some.dtype[-1].kind == "f"
        if changed is not None and fractions:
            raise GraphFormatError(file, *changed)
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
    """Parse lines of whitespace-separated columns; ``None`` if any line does not fit `dtype`."""
    if not text.strip():
        return np.zeros(0, dtype=dtype)
    try:
        with warnings.catch_warnings():
            # NumPy only warns if it cuts "1.5" down to an integer.
            warnings.simplefilter("error")
            lines = io.StringIO(text.decode("ascii"))
            return np.loadtxt(lines, dtype=dtype, comments=None, ndmin=1)
    except (ValueError, OverflowError, Warning):
        return None


def refusal(
    file: Path, block: Block, rows: Rows, spare: int | None, announced: Announced | None
) -> GraphFormatError:
    """Find the first faulty line of a block; only the first `spare` lines are allowed at all."""
    for part in block.parts(PART_BYTES):
        some = rows.parsed(part.text)
        if some is not None and (spare is None or some.size <= spare):
            # After the fast parser, only one part must be read line by line.
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
    """Return a fault if a file announces too many vertices, before memory is spent on them."""
    most = max(FREE_VERTICES, VERTICES_PER_ARC * arcs) if limit is None else limit
    if n <= most:
        return None
    if limit is not None:
        return f"{n} vertices, more than limit = {limit}"
    return (
        f"{n} vertices for {arcs} arcs: must be at most {most}; "
        f"if this is intended, read with limit={n}"
    )


def within_int32(weight: NDArray) -> bool:
    """Return whether all weights are in the range of int32."""
    return bool((weight >= -(2**31)).all() and (weight < 2**31).all())


def narrow(numbers: NDArray) -> NDArray:
    """Return whole numbers as int32 if all of them fit; others as they are."""
    fit = numbers.dtype == np.int64 and within_int32(numbers)
    return numbers.astype(np.int32) if fit else numbers


def _narrow(rows: NDArray) -> NDArray:
    """Return rows with int32 for int64 in the columns whose numbers all fit: half the memory."""
    kinds = [
        (name, "i4" if rows[name].dtype == np.int64 and within_int32(rows[name]) else kind)
        for name, kind in rows.dtype.descr
    ]
    return rows.astype(kinds, copy=False)
