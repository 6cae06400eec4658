"""Edge lists as the SNAP collection has them, ``.txt`` [leskovec2016snap].

A line holds the ids of source and target and, if the first line does, a weight. Lines that start
with ``#`` (or ``%``) are comments; two of those at the top mean something: ``# Undirected graph``
and ``# Nodes: N Edges: M``. Ids are any non-negative numbers: they are relabelled ``0 .. n - 1`` in
ascending order.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpukernels.errors import GraphFormatError
from gpukernels.formats.blocks import Block, blocks, find_line
from gpukernels.formats.text import (
    Announced,
    ArcList,
    Rows,
    read_rows,
    vertices_fault,
    within_float32,
    within_int32,
)
from gpukernels.formats.words import count_fault, id_fault, number_of, shown, weight_fault

PLAIN = np.dtype([("source", "i8"), ("target", "i8")])
WEIGHTED = np.dtype([("source", "i8"), ("target", "i8"), ("weight", "f8")])
COMMENT = re.compile(rb"^[ \t]*[#%][^\n]*$", re.MULTILINE)
COUNTS = re.compile(rb"\bNodes:[ \t]*([0-9]+)[ \t]+Edges:[ \t]*([0-9]+)\b", re.IGNORECASE)
UNDIRECTED = re.compile(rb"^[ \t]*[#%]\s*undirected\b", re.IGNORECASE)
INT64_MAX = np.iinfo(np.int64).max


def read(file: Path, limit: int | None = None) -> ArcList:
    """Read a SNAP edge list of at most `limit` vertices.

    Weights are int32 where every one is whole and fits, else float32.

    Raises
    ------
    GraphFormatError
        At the first line that is wrong; at the last where there are fewer edges than announced; at
        the announcement where it names another number of vertices.
    """
    header = _Header(file)
    first, rest, line = find_line(blocks(file), header.learn, keep=True)
    if first is None:
        first, rest = PLAIN, [Block(line + 1, b"")]
    layout = Rows(first, COMMENT, (b"#", b"%"), _sound, lambda words: _fault(words, len(first)))
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
    if first == WEIGHTED:
        weight = rows["weight"]
        if within_int32(weight) and (weight == np.rint(weight)).all():
            weight = weight.astype(np.int32)
    source, target = ends[: rows.size], ends[rows.size :]
    return ArcList(labels.size, source, target, weight, not header.undirected, labels)


def relabel(ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray]:
    """Return the distinct ids, ascending, and the place of every id among them."""
    if ids.size == 0 or ids.max() > 8 * ids.size:
        labels, places = np.unique(ids, return_inverse=True)
        return labels.astype(np.int64), places
    # A table is faster than sorting where the largest id, which sizes it, is no larger than that.
    present = np.zeros(int(ids.max()) + 1, dtype=bool)
    present[ids] = True
    return np.flatnonzero(present), (np.cumsum(present, dtype=np.int32) - 1)[ids]


class _Header:
    """What the comments above the first edge say."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.undirected = False
        self.nodes: int | None = None
        self.edges: Announced | None = None

    def learn(self, number: int, line: bytes) -> np.dtype | None:
        """Learn from a comment; return the columns of the line if it is the first edge."""
        if not COMMENT.match(line):
            if not line.strip(b" \t"):
                return None
            return WEIGHTED if len(line.split()) == 3 else PLAIN
        self.undirected |= UNDIRECTED.match(line) is not None
        counts = COUNTS.search(line)
        if counts:
            reason = count_fault(counts[1], "vertices") or count_fault(counts[2], "edges")
            if reason is not None:
                raise GraphFormatError(self.file, number, reason)
            self.nodes = number_of(counts[1])
            self.edges = Announced(number_of(counts[2]), "edges", number)
        return None


def _sound(rows: NDArray) -> bool:
    if (rows["source"] < 0).any() or (rows["target"] < 0).any():
        return False
    return "weight" not in rows.dtype.names or within_float32(rows["weight"])


def _fault(words: list[bytes], width: int) -> str | None:
    if len(words) != width:
        what = "ids of source and target" + (" and a weight" if width == 3 else "")
        return f"expected the {what}, found {shown(b' '.join(words))}"
    return (
        id_fault(words[0], "source", 0, INT64_MAX)
        or id_fault(words[1], "target", 0, INT64_MAX)
        or (weight_fault(words[2], whole=False) if width == 3 else None)
    )
