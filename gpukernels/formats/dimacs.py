"""DIMACS shortest-path graphs, ``.gr``, of the 9th challenge [demetrescu2009shortest].

``c`` lines are comments, ``p sp N M`` announces N vertices and M arcs, and ``a U V W`` is an arc
from U to V of whole weight W, ids from 1.
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
    whole_number,
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
    n = m = None
    parts = []
    count = last_line = 0
    for block in blocks(file):
        last_line = block.first_line + block.text.removesuffix(b"\n").count(b"\n")
        if n is None:
            n, m, block = _problem_line(file, block)
        rows = columns(COMMENT.sub(b"", block.text), ARC)
        if rows is None or not _sound(rows, n):
            raise refusal(file, block, partial(_fault, n=n), _is_comment)
        if count + rows.size > m:
            line = nth_line(block, m - count, _is_comment)
            raise GraphFormatError(file, line, f"one arc more than the {m} of the problem line")
        count += rows.size
        parts.append(rows)
    if count < m:
        reason = f"the file ends after {count} arcs, but its problem line says {m}"
        raise GraphFormatError(file, last_line, reason)
    rows = np.concatenate(parts)
    labels = np.arange(1, n + 1, dtype=np.int64)
    return ArcList(n, rows["source"] - 1, rows["target"] - 1, rows["weight"], True, labels)


def _is_comment(words: list[bytes]) -> bool:
    return words[0] == b"c"


def _problem_line(file: Path, block: Block) -> tuple[int, int, Block]:
    """Return N, M and what follows their line."""
    start = 0
    for number, line in block.lines():
        start += len(line) + 1
        words = line.split()
        if not words or _is_comment(words):
            continue
        if words[:2] != [b"p", b"sp"] or len(words) != 4:
            return _refuse(file, block, number, words)
        counts = []
        for word, what in zip(words[2:], ("number of vertices", "number of arcs"), strict=True):
            value, reason = whole_number(word, what)
            if reason is None and not 0 <= value < 2**31 - 1:
                reason = f"{what} {value} is out of range"
            if reason is not None:
                raise GraphFormatError(file, number, reason)
            counts.append(value)
        return counts[0], counts[1], Block(number + 1, block.text[start:])
    last = block.first_line + block.text.removesuffix(b"\n").count(b"\n")
    raise GraphFormatError(file, last, "no problem line 'p sp N M'")


def _refuse(file: Path, block: Block, number: int, words: list[bytes]):
    only = Block(number, dict(block.lines())[number])
    found = shown(b" ".join(words))
    raise refusal(file, only, lambda _: f"expected 'p sp N M', found {found}", _is_comment)


def _sound(rows: np.ndarray, n: int) -> bool:
    if rows.size == 0:
        return True
    ends = (rows["source"], rows["target"])
    return bool(
        (rows["kind"] == b"a").all()
        and min(end.min() for end in ends) >= 1
        and max(end.max() for end in ends) <= n
        and rows["weight"].min() >= -(2**31)
        and rows["weight"].max() < 2**31
    )


def _fault(words: list[bytes], n: int) -> str | None:
    if words[0] == b"p":
        return "a second problem line"
    if words[0] != b"a" or len(words) != 4:
        return f"expected 'a U V W', found {shown(b' '.join(words))}"
    return (
        id_fault(words[1], "source", 1, n)
        or id_fault(words[2], "target", 1, n)
        or weight_fault(words[3], whole=True)
    )
