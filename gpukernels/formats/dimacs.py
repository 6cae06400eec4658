"""DIMACS shortest-path graphs, ``.gr``, of the 9th challenge [demetrescu2009shortest].

``c`` lines are comments, ``p sp N M`` announces N vertices and M arcs, and ``a U V W`` is an arc
from U to V of whole weight W, ids from 1.
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
    binary,
    blocks,
    count_fault,
    id_fault,
    read_rows,
    shown,
    weight_fault,
    within_int32,
)

ARC = np.dtype([("kind", "S2"), ("source", "i8"), ("target", "i8"), ("weight", "i8")])
COMMENT = re.compile(rb"^[ \t]*c(?:[ \t][^\n]*)?$", re.MULTILINE)


def read(file: Path) -> ArcList:
    """Read a ``.gr`` file.

    Raises
    ------
    GraphFormatError
        At the first line that is wrong, or at the last where there are too few arcs.
    """
    parts = blocks(file)
    n, announced, rest = _problem_line(file, next(parts))

    def sound(rows: NDArray) -> bool:
        ends = (rows["source"], rows["target"])
        return bool(
            (rows["kind"] == b"a").all()
            and all((end >= 1).all() and (end <= n).all() for end in ends)
            and within_int32(rows["weight"])
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

    arcs, _ = read_rows(file, chain([rest], parts), Rows(ARC, COMMENT, sound, fault), announced)
    labels = np.arange(1, n + 1, dtype=np.int64)
    return ArcList(n, arcs["source"] - 1, arcs["target"] - 1, arcs["weight"], True, labels)


def _problem_line(file: Path, block: Block) -> tuple[int, Announced, Block]:
    """Return N, M and the lines that follow."""
    start = 0
    for number, line in block.lines():
        start += len(line) + 1
        words = line.split()
        if not words or COMMENT.match(line):
            continue
        if words[:2] != [b"p", b"sp"] or len(words) != 4:
            reason = f"expected 'p sp N M', found {shown(b' '.join(words))}"
            raise GraphFormatError(file, number, binary(line) or reason)
        reason = count_fault(words[2], "vertices") or count_fault(words[3], "arcs")
        if reason is not None:
            raise GraphFormatError(file, number, reason)
        announced = Announced(int(words[3]), "arcs", number)
        return int(words[2]), announced, Block(number + 1, block.text[start:])
    raise GraphFormatError(file, block.last_line, "no problem line 'p sp N M'")
