"""Edge lists as the SNAP collection has them, ``.txt`` [leskovec2016snap].

A line holds the ids of source and target and, if the first line does, a weight. Lines that start
with ``#`` (or ``%``) are comments; two of them mean something: ``# Undirected graph`` and
``# Nodes: N Edges: M``. Ids are any non-negative numbers: they are relabelled ``0 .. n - 1`` in
ascending order.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import numpy as np

from gpukernels.errors import GraphFormatError
from gpukernels.formats.text import (
    ArcList,
    Block,
    blocks,
    columns,
    id_fault,
    nth_line,
    refusal,
    shown,
    weight_fault,
)

PLAIN = np.dtype([("source", "i8"), ("target", "i8")])
WEIGHTED = np.dtype([("source", "i8"), ("target", "i8"), ("weight", "f8")])
COMMENT = re.compile(rb"^[ \t]*[#%][^\n]*$", re.MULTILINE)
COUNTS = re.compile(rb"\bNodes:\s*(\d+)\s+Edges:\s*(\d+)", re.IGNORECASE)
UNDIRECTED = re.compile(rb"^[ \t]*[#%]\s*undirected\b", re.IGNORECASE)
INT64_MAX = np.iinfo(np.int64).max


def read(file: Path) -> ArcList:
    """Read a SNAP edge list.

    Weights are int32 where every one is whole, else float32.

    Raises
    ------
    GraphFormatError
        At the first line that is wrong; at the last where there are fewer edges than announced; at
        the announcement where it names another number of vertices.
    """
    header = _Header()
    dtype = None
    parts = []
    count = last_line = 0
    for block in blocks(file):
        last_line = block.first_line + block.text.removesuffix(b"\n").count(b"\n")
        header.learn(block)
        text = COMMENT.sub(b"", block.text)
        if dtype is None:
            first = text.lstrip().split(b"\n", 1)[0].split()
            dtype = WEIGHTED if len(first) == 3 else PLAIN if first else None
            if dtype is None:
                continue
        rows = columns(text, dtype)
        if rows is None or not _sound(rows):
            raise refusal(file, block, partial(_fault, width=len(dtype)), _is_comment)
        if header.edges is not None and count + rows.size > header.edges:
            line = nth_line(block, max(header.edges - count, 0), _is_comment)
            reason = f"one edge more than the {header.edges} announced in line {header.line}"
            raise GraphFormatError(file, line, reason)
        count += rows.size
        parts.append(rows)
    if header.edges is not None and count < header.edges:
        reason = f"the file ends after {count} edges, but line {header.line} says {header.edges}"
        raise GraphFormatError(file, last_line, reason)
    if not parts and header.edges is None:
        raise GraphFormatError(file, last_line, "the file holds no edge")
    rows = np.concatenate(parts) if parts else np.zeros(0, dtype=PLAIN)
    labels, ends = np.unique(np.concatenate([rows["source"], rows["target"]]), return_inverse=True)
    if header.nodes is not None and header.nodes != labels.size:
        reason = f"{header.nodes} vertices are announced, but the edges name {labels.size}"
        raise GraphFormatError(file, header.line, reason)
    source, target = ends[: rows.size], ends[rows.size :]
    weight = rows["weight"] if "weight" in rows.dtype.names else None
    if weight is not None and (weight == np.rint(weight)).all() and _within_int32(weight):
        weight = weight.astype(np.int32)
    return ArcList(labels.size, source, target, weight, not header.undirected, labels)


class _Header:
    """What the comments have said so far."""

    def __init__(self) -> None:
        self.undirected = False
        self.nodes: int | None = None
        self.edges: int | None = None
        self.line: int | None = None

    def learn(self, block: Block) -> None:
        """Read the comments of a block, of which only the first is expected to have any."""
        if b"#" not in block.text and b"%" not in block.text:
            return
        for comment in COMMENT.finditer(block.text):
            self.undirected |= UNDIRECTED.match(comment[0]) is not None
            counts = COUNTS.search(comment[0])
            if counts and self.edges is None:
                self.nodes, self.edges = int(counts[1]), int(counts[2])
                self.line = block.first_line + block.text.count(b"\n", 0, comment.start())


def _is_comment(words: list[bytes]) -> bool:
    return words[0][:1] in (b"#", b"%")


def _within_int32(weight: np.ndarray) -> bool:
    return weight.size == 0 or (weight.min() >= -(2.0**31) and weight.max() < 2.0**31)


def _sound(rows: np.ndarray) -> bool:
    if rows.size == 0:
        return True
    if min(rows["source"].min(), rows["target"].min()) < 0:
        return False
    if "weight" not in rows.dtype.names:
        return True
    return bool((np.abs(rows["weight"]) <= np.finfo(np.float32).max).all())


def _fault(words: list[bytes], width: int) -> str | None:
    if len(words) != width:
        what = "ids of source and target" + (" and a weight" if width == 3 else "")
        return f"expected the {what}, found {shown(b' '.join(words))}"
    reason = id_fault(words[0], "source", 0, INT64_MAX) or id_fault(
        words[1], "target", 0, INT64_MAX
    )
    return reason or (weight_fault(words[2], whole=False) if width == 3 else None)
