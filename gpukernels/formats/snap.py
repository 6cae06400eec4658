"""Edge lists as the SNAP collection has them, ``.txt`` [leskovec2016snap].

A line holds the ids of source and target and, if the first line does, a weight. Lines that start
with ``#`` (or ``%``) are comments; two of those at the top mean something: ``# Undirected graph``
and ``# Nodes: N Edges: M``. Ids are any non-negative numbers: they are relabelled ``0 .. n - 1`` in
ascending order.
"""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpukernels.errors import GraphFormatError
from gpukernels.formats.text import (
    Announced,
    ArcList,
    Block,
    Rows,
    blocks,
    id_fault,
    read_rows,
    shown,
    weight_fault,
    within_float32,
    within_int32,
)

PLAIN = np.dtype([("source", "i8"), ("target", "i8")])
WEIGHTED = np.dtype([("source", "i8"), ("target", "i8"), ("weight", "f8")])
COMMENT = re.compile(rb"^[ \t]*[#%][^\n]*$", re.MULTILINE)
COUNTS = re.compile(rb"\bNodes:\s*(\d{1,18})\s+Edges:\s*(\d{1,18})\b", re.IGNORECASE)
UNDIRECTED = re.compile(rb"^[ \t]*[#%]\s*undirected\b", re.IGNORECASE)
INT64_MAX = np.iinfo(np.int64).max


def read(file: Path) -> ArcList:
    """Read a SNAP edge list.

    Weights are int32 where every one is whole and fits, else float32.

    Raises
    ------
    GraphFormatError
        At the first line that is wrong; at the last where there are fewer edges than announced; at
        the announcement where it names another number of vertices.
    """
    parts = blocks(file)
    header = _Header()
    seen: list[Block] = []
    dtype = None
    for block in parts:
        seen.append(block)
        dtype = header.learn(block)
        if dtype is not None:
            break
    layout = Rows(dtype or PLAIN, COMMENT, _sound, lambda words: _fault(words, len(layout.dtype)))
    rows, last_line = read_rows(file, chain(seen, parts), layout, header.edges)
    if rows.size == 0 and header.edges is None:
        raise GraphFormatError(file, last_line, "the file holds no edge")
    labels, ends = relabel(np.concatenate([rows["source"], rows["target"]]))
    if header.edges is not None and header.nodes != labels.size:
        reason = f"{header.nodes} vertices are announced, but the edges name {labels.size}"
        raise GraphFormatError(file, header.edges.line, reason)
    weight = None
    if layout.dtype == WEIGHTED:
        weight = rows["weight"]
        if within_int32(weight) and (weight == np.rint(weight)).all():
            weight = weight.astype(np.int32)
    source, target = ends[: rows.size], ends[rows.size :]
    return ArcList(labels.size, source, target, weight, not header.undirected, labels)


def relabel(ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray]:
    """Return the distinct ids, ascending, and the place of every id among them."""
    if ids.size == 0 or ids.max() > 8 * ids.size:
        return np.unique(ids, return_inverse=True)
    # A table is faster than sorting where the largest id, which sizes it, is no larger than that.
    present = np.zeros(ids.max() + 1, dtype=bool)
    present[ids] = True
    return np.flatnonzero(present), (np.cumsum(present, dtype=np.int32) - 1)[ids]


class _Header:
    """What the comments above the first edge say."""

    def __init__(self) -> None:
        self.undirected = False
        self.nodes: int | None = None
        self.edges: Announced | None = None

    def learn(self, block: Block) -> np.dtype | None:
        """Read comments up to the first edge; return the columns of that edge, if it is here."""
        for number, line in block.lines():
            if COMMENT.match(line):
                self.undirected |= UNDIRECTED.match(line) is not None
                counts = COUNTS.search(line)
                if counts:
                    self.nodes = int(counts[1])
                    self.edges = Announced(int(counts[2]), "edges", number)
            elif line.split():
                return WEIGHTED if len(line.split()) == 3 else PLAIN
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
