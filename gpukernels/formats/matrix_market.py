"""Matrix Market coordinate files, ``.mtx``: entry (i, j) is an arc i -> j.

SciPy parses the entries. It accepts more than a graph may have (NaN, further columns, ``1.5`` in an
integer matrix), so what it would pass over is checked here.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.io import mmread

from gpukernels.errors import GraphFormatError
from gpukernels.formats.text import (
    ArcList,
    Block,
    blocks,
    first_fault,
    id_fault,
    nth_line,
    refusal,
    shown,
    weight_fault,
    whole_number,
)

FIELDS = ("pattern", "integer", "real")
SYMMETRIES = ("general", "symmetric", "skew-symmetric")


def read(file: Path) -> ArcList:
    """Read a Matrix Market file; a symmetric matrix is an undirected graph.

    Raises
    ------
    GraphFormatError
        At the first line that is wrong, or at the last where there are too few entries.
    """
    text = b"".join(block.text for block in blocks(file))
    header, body = _header(file, text)
    matrix = None
    if _words(body.text) == header.entries * header.width:
        try:
            matrix = mmread(io.BytesIO(text)).tocoo()
        except (ValueError, OverflowError):
            pass
    if matrix is None or not _sound(matrix, header, body.text):
        raise _first_fault(file, header, body)
    source, target = matrix.row, matrix.col
    weight = None if header.field == "pattern" else matrix.data
    directed = header.symmetry != "symmetric"
    if not directed:
        # SciPy has filled in the other triangle: each edge is wanted once.
        once = source >= target
        source, target = source[once], target[once]
        weight = None if weight is None else weight[once]
    labels = np.arange(1, header.n + 1, dtype=np.int64)
    return ArcList(header.n, source, target, weight, directed, labels)


@dataclass(frozen=True)
class _Header:
    field: str
    symmetry: str
    n: int
    entries: int

    @property
    def width(self) -> int:
        return 2 if self.field == "pattern" else 3


def _header(file: Path, text: bytes) -> tuple[_Header, Block]:
    """Check the banner and the size line; return them and the lines of the entries."""
    whole = Block(1, text)
    start = 0
    banner = None
    number = 1
    for number, line in whole.lines():
        start += len(line) + 1
        if banner is None:
            banner = _banner(file, line)
        elif line.split() and not line.startswith(b"%"):
            n, entries = _sizes(file, number, line.split())
            return _Header(*banner, n, entries), Block(number + 1, text[start:])
    reason = "the file is truncated: no size line 'ROWS COLUMNS ENTRIES'"
    raise GraphFormatError(file, number, reason)


def _banner(file: Path, line: bytes) -> tuple[str, str]:
    words = line.decode("ascii", "backslashreplace").lower().split()
    expected = f"matrix coordinate {'|'.join(FIELDS)} {'|'.join(SYMMETRIES)}"
    if len(words) != 5 or words[0] != "%%matrixmarket":
        only = Block(1, line or b"?")
        reason = f"expected the banner '%%MatrixMarket {expected}', found {shown(line)}"
        raise refusal(file, only, lambda _: reason, _never)
    field = {"double": "real", "unsigned-integer": "integer"}.get(words[3], words[3])
    known = words[1:3] == ["matrix", "coordinate"] and field in FIELDS
    if not known or words[4] not in SYMMETRIES:
        reason = f"{' '.join(words[1:])!r} cannot be read as a graph: must be {expected!r}"
        raise GraphFormatError(file, 1, reason)
    return field, words[4]


def _sizes(file: Path, number: int, words: list[bytes]) -> tuple[int, int]:
    if len(words) != 3:
        reason = f"expected the sizes 'ROWS COLUMNS ENTRIES', found {shown(b' '.join(words))}"
        raise GraphFormatError(file, number, reason)
    sizes = []
    for word, what in zip(words, ("rows", "columns", "entries"), strict=True):
        value, reason = whole_number(word, f"number of {what}")
        if reason is None and not 0 <= value < 2**31 - 1:
            reason = f"number of {what} {value} is out of range"
        if reason is not None:
            raise GraphFormatError(file, number, reason)
        sizes.append(value)
    if sizes[0] != sizes[1]:
        reason = f"a graph needs a square matrix, this one is {sizes[0]} x {sizes[1]}"
        raise GraphFormatError(file, number, reason)
    return sizes[0], sizes[2]


def _words(text: bytes) -> int:
    """Count the words of a text, without making them."""
    letters = np.frombuffer(text, dtype=np.uint8) > ord(" ")
    return int(np.count_nonzero(letters[1:] & ~letters[:-1])) + bool(letters[:1].any())


def _sound(matrix, header: _Header, body: bytes) -> bool:
    if header.field == "real":
        return bool((np.abs(matrix.data) <= np.finfo(np.float32).max).all())
    if body.translate(None, b"0123456789+- \t\n"):
        return False
    if header.field == "pattern" or matrix.nnz == 0:
        return True
    return bool(matrix.data.min() >= -(2**31) and matrix.data.max() < 2**31)


def _first_fault(file: Path, header: _Header, body: Block) -> GraphFormatError:
    def fault(words: list[bytes]) -> str | None:
        if len(words) != header.width:
            what = "ROW COLUMN" + (" VALUE" if header.width == 3 else "")
            return f"expected {what!r}, found {shown(b' '.join(words))}"
        reason = id_fault(words[0], "row", 1, header.n) or id_fault(words[1], "column", 1, header.n)
        if reason is None and header.width == 3:
            reason = weight_fault(words[2], whole=header.field == "integer")
        return reason

    entries = sum(1 for _, line in body.lines() if line.split())
    lines = body.text.removesuffix(b"\n").split(b"\n")
    if entries > header.entries:
        excess = nth_line(body, header.entries, _never) - body.first_line
        within = Block(body.first_line, b"\n".join(lines[:excess]))
    else:
        excess, within = None, body
    found = first_fault(file, within, fault, _never)
    if found is not None:
        return found
    if excess is not None:
        reason = f"one entry more than the {header.entries} of the size line"
        return GraphFormatError(file, body.first_line + excess, reason)
    if entries < header.entries:
        reason = f"the file ends after {entries} entries, but its size line says {header.entries}"
        last = body.first_line - 1 + (len(lines) if body.text else 0)
        return GraphFormatError(file, last, reason)
    return refusal(file, within, fault, _never)


def _never(words: list[bytes]) -> bool:
    return False
