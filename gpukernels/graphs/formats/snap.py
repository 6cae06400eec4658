"""Edge lists of the SNAP collection, ``.txt`` [leskovec2016snap].

A line holds the ids of source and target and, if the first line does, a weight. Lines that start
with ``#`` (or ``%``) are comments. Two comments at the top have a meaning: ``# Undirected graph``
and ``# Nodes: N Edges: M``. Ids are any non-negative numbers: they are relabelled ``0 .. n - 1`` in
ascending order.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpukernels.errors import GraphFormatError
from gpukernels.graphs.formats.blocks import Block, blocks, find_line, line_feeds
from gpukernels.graphs.formats.text import (
    Announced,
    ArcList,
    Rows,
    read_rows,
    vertices_fault,
    within_int32,
)
from gpukernels.graphs.formats.words import count_fault, id_fault, number_of, shown, weight_fault

PLAIN = np.dtype([("source", "i8"), ("target", "i8")])
WHOLE = np.dtype([("source", "i8"), ("target", "i8"), ("weight", "i8")])
WEIGHTED = np.dtype([("source", "i8"), ("target", "i8"), ("weight", "f8")])
COMMENT = re.compile(rb"(?:^[ \t]*[#%][^\n]*(?:\n|\Z))++", re.MULTILINE)
CONTENT = re.compile(rb"^[ \t]*[^ \t\n#%]", re.MULTILINE)
COUNTS = re.compile(
    rb"^[ \t]*[#%][^\n]*?\bNodes:[ \t]*([0-9]+)[ \t]+Edges:[ \t]*([0-9]+)\b",
    re.IGNORECASE | re.MULTILINE,
)
UNDIRECTED = re.compile(rb"^[ \t]*[#%][^\S\n]*undirected\b", re.IGNORECASE | re.MULTILINE)
#: A number of vertices or edges with so many digits is in range.
SHORT = 9
INT64_MAX = np.iinfo(np.int64).max


def read(file: Path, limit: int | None = None) -> ArcList:
    """Read a SNAP edge list of at most `limit` vertices.

    Weights are int32 if all of them are whole and fit, int64 if all are written as whole numbers,
    and else float64. A whole number among fractions must be one that float64 holds.

    Raises
    ------
    GraphFormatError
        At the first line that is wrong; at the last if there are fewer edges than announced; at the
        announcement if it gives another number of vertices.
    """
    header = _Header(file)
    line, rest, number = find_line(blocks(file), CONTENT, header.learn, keep=True)
    if line is None:
        rest = [Block(number + 1, b"")]
    first = WHOLE if line is not None and len(line.split()) == 3 else PLAIN
    layout = Rows(
        first, COMMENT, (b"#", b"%"), _sound, lambda words: _fault(words, len(first)),
        WEIGHTED if first == WHOLE else None,
    )  # fmt: skip
    rows, last_line = read_rows(file, rest, layout, header.edges)
    if rows.size == 0 and header.edges is None:
        raise GraphFormatError(file, last_line, "the file holds no edge")
    labels, ends = relabel(np.concatenate([rows["source"], rows["target"]]))
    if header.edges is not None and header.nodes != labels.size:
        reason = f"{header.nodes} vertices are announced, but the edges name {labels.size}"
        raise GraphFormatError(file, header.edges.line, reason)
    reason = vertices_fault(labels.size, rows.size, limit)
    if reason is not None:
        raise GraphFormatError(file, header.edges.line if header.edges else last_line, reason)
    weight = None
    if first == WHOLE:
        weight = rows["weight"]
        if within_int32(weight) and (weight == np.rint(weight)).all():  # such as 4.0
            weight = weight.astype(np.int32)
    source, target = ends[: rows.size], ends[rows.size :]
    return ArcList(labels.size, source, target, weight, not header.undirected, labels)


def relabel(ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray]:
    """Return the distinct ids, ascending, and the place of every id among them."""
    if ids.size == 0 or ids.max() > 8 * ids.size:
        labels, places = np.unique(ids, return_inverse=True)
        return labels.astype(np.int64), places
    # A table is faster than sorting if the largest id, which gives its size, is at most that.
    present = np.zeros(int(ids.max()) + 1, dtype=bool)
    present[ids] = True
    return np.flatnonzero(present), (np.cumsum(present, dtype=np.int32) - 1)[ids]


class _Header:
    """The facts in the comments above the first edge."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.undirected = False
        self.nodes: int | None = None
        self.edges: Announced | None = None

    def learn(self, above: Block) -> None:
        """Read the comments; the last announcement counts."""
        self.undirected |= UNDIRECTED.search(above.text) is not None
        last = None
        for last in COUNTS.finditer(above.text):
            if max(len(last[1]), len(last[2])) > SHORT:
                reason = count_fault(last[1], "vertices") or count_fault(last[2], "edges")
                if reason is not None:
                    raise GraphFormatError(self.file, _line_of(last, above), reason)
        if last is not None:
            self.nodes = number_of(last[1])
            self.edges = Announced(number_of(last[2]), "edges", _line_of(last, above))


def _line_of(match: re.Match[bytes], above: Block) -> int:
    return above.first_line + line_feeds(above.text[: match.start()])


def _sound(rows: NDArray) -> bool:
    if (rows["source"] < 0).any() or (rows["target"] < 0).any():
        return False
    return "weight" not in rows.dtype.names or bool(np.isfinite(rows["weight"]).all())


def _fault(words: list[bytes], width: int) -> str | None:
    if len(words) != width:
        what = "ids of source and target" + (" and a weight" if width == 3 else "")
        return f"expected the {what}, found {shown(b' '.join(words))}"
    return (
        id_fault(words[0], "source", 0, INT64_MAX)
        or id_fault(words[1], "target", 0, INT64_MAX)
        or (weight_fault(words[2], whole=False) if width == 3 else None)
    )
