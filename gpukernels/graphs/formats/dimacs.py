"""DIMACS shortest-path graphs, ``.gr``, of the 9th challenge [demetrescu2009shortest].

``c`` lines are comments, ``p sp N M`` announces N vertices and M arcs, and ``a U V W`` is an arc
from U to V of whole weight W, ids from 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpukernels.errors import GraphFormatError
from gpukernels.graphs.formats.blocks import Block, blocks, find_line
from gpukernels.graphs.formats.text import Announced, ArcList, Rows, read_rows, vertices_fault
from gpukernels.graphs.formats.words import (
    control_fault,
    count_fault,
    id_fault,
    number_of,
    shown,
    weight_fault,
)

ARC = np.dtype([("kind", "S2"), ("source", "i4"), ("target", "i4"), ("weight", "i8")])
COMMENT = re.compile(rb"(?:^[ \t]*c(?:[ \t][^\n]*)?(?:\n|\Z))++", re.MULTILINE)
CONTENT = re.compile(rb"^[ \t]*(?:[^ \t\nc]|c[^ \t\n])", re.MULTILINE)


def read(file: Path, limit: int | None = None) -> ArcList:
    """Read a ``.gr`` file of at most `limit` vertices.

    Raises
    ------
    GraphFormatError
        At the first line that is wrong, or at the last if there are too few arcs.
    """
    n, announced, rest = _problem_line(file, limit)

    def sound(rows: NDArray) -> bool:
        ends = (rows["source"], rows["target"])
        return bool(
            (rows["kind"] == b"a").all()
            and all((end >= 1).all() and (end <= n).all() for end in ends)
        )

    def fault(words: list[bytes]) -> str | None:
        if words[0] == b"p":
            return "a second problem line"
        if words[0] != b"a" or len(words) != 4:
            return f"expected 'a U V W', found {shown(b' '.join(words))}"
        return (
            id_fault(words[1], "source", 1, n)
            or id_fault(words[2], "target", 1, n)
            or weight_fault(words[3], whole=True)
        )

    arcs, _ = read_rows(file, rest, Rows(ARC, COMMENT, (b"c",), sound, fault), announced)
    labels = np.arange(1, n + 1, dtype=np.int64)
    return ArcList(n, arcs["source"] - 1, arcs["target"] - 1, arcs["weight"], True, labels)


def _problem_line(file: Path, limit: int | None) -> tuple[int, Announced, Iterable[Block]]:
    """Return N, M and the lines that follow."""
    line, rest, number = find_line(blocks(file), CONTENT)
    if line is None:
        raise GraphFormatError(file, number, "no problem line 'p sp N M'")
    words, reason = line.split(), control_fault(line)
    if reason is None and (words[:2] != [b"p", b"sp"] or len(words) != 4):
        reason = f"expected 'p sp N M', found {shown(b' '.join(words))}"
    reason = reason or count_fault(words[2], "vertices") or count_fault(words[3], "arcs")
    reason = reason or vertices_fault(number_of(words[2]), number_of(words[3]), limit)
    if reason is not None:
        raise GraphFormatError(file, number, reason)
    return number_of(words[2]), Announced(number_of(words[3]), "arcs", number), rest
