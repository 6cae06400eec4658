"""Matrix Market coordinate files, ``.mtx``: entry (i, j) is an arc i -> j.

The lines are parsed as those of the other formats are. SciPy's ``mmread`` would be faster still,
but as of 1.17 it passes over NaN, further columns and ``1.5`` in an integer matrix, and the process
dies where the last line ends in a space instead of a line feed.
"""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path
from typing import NamedTuple

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
    within_float32,
    within_int32,
)

ENTRY = [("row", "i8"), ("column", "i8")]
FIELDS = {
    "pattern": np.dtype(ENTRY),
    "integer": np.dtype([*ENTRY, ("value", "i8")]),
    "real": np.dtype([*ENTRY, ("value", "f8")]),
}
SYNONYMS = {"double": "real", "unsigned-integer": "integer"}
SYMMETRIES = ("general", "symmetric", "skew-symmetric")
#: Comments are allowed before the size line only.
NO_COMMENT = re.compile(rb"(?!)")


def read(file: Path) -> ArcList:
    """Read a Matrix Market file; a symmetric matrix is an undirected graph.

    Raises
    ------
    GraphFormatError
        At the first line that is wrong, or at the last where there are too few entries.
    """
    parts = blocks(file)
    header, announced, rest = _header(file, next(parts))
    n, dtype = header.n, FIELDS[header.field]

    def sound(rows: NDArray) -> bool:
        ends = (rows["row"], rows["column"])
        if not all((end >= 1).all() and (end <= n).all() for end in ends):
            return False
        if header.field == "pattern":
            return True
        return (within_int32 if header.field == "integer" else within_float32)(rows["value"])

    def fault(words: list[bytes]) -> str | None:
        if len(words) != len(dtype):
            what = " ".join(name.upper() for name in dtype.names)
            return f"expected {what!r}, found {shown(b' '.join(words))}"
        reason = id_fault(words[0], "row", 1, n) or id_fault(words[1], "column", 1, n)
        if reason is None and header.field != "pattern":
            reason = weight_fault(words[2], whole=header.field == "integer")
        return reason

    layout = Rows(dtype, NO_COMMENT, sound, fault)
    entries, _ = read_rows(file, chain([rest], parts), layout, announced)
    source, target = entries["row"] - 1, entries["column"] - 1
    weight = None if header.field == "pattern" else entries["value"]
    if header.symmetry == "skew-symmetric":
        source, target = np.concatenate([source, target]), np.concatenate([target, source])
        weight = None if weight is None else np.concatenate([weight, -weight])
    labels = np.arange(1, n + 1, dtype=np.int64)
    return ArcList(n, source, target, weight, header.symmetry != "symmetric", labels)


class _Header(NamedTuple):
    field: str
    symmetry: str
    n: int


def _header(file: Path, block: Block) -> tuple[_Header, Announced, Block]:
    """Check the banner and the size line; return them and the lines that follow."""
    field = symmetry = None
    start = 0
    for number, line in block.lines():
        start += len(line) + 1
        if field is None:
            field, symmetry = _banner(file, line)
        elif line.split() and not line.startswith(b"%"):
            n, entries = _sizes(file, number, line.split())
            announced = Announced(entries, "entries", number)
            return _Header(field, symmetry, n), announced, Block(number + 1, block.text[start:])
    reason = "the file is truncated: no size line 'ROWS COLUMNS ENTRIES'"
    raise GraphFormatError(file, block.last_line, reason)


def _banner(file: Path, line: bytes) -> tuple[str, str]:
    words = line.decode("ascii", "backslashreplace").lower().split()
    expected = f"matrix coordinate {'|'.join(FIELDS)} {'|'.join(SYMMETRIES)}"
    if len(words) != 5 or words[0] != "%%matrixmarket":
        reason = f"expected the banner '%%MatrixMarket {expected}', found {shown(line)}"
        raise GraphFormatError(file, 1, binary(line) or reason)
    field = SYNONYMS.get(words[3], words[3])
    known = words[1:3] == ["matrix", "coordinate"] and field in FIELDS and words[4] in SYMMETRIES
    if not known or (field == "pattern" and words[4] == "skew-symmetric"):
        reason = f"{' '.join(words[1:])!r} cannot be read as a graph: must be {expected!r}"
        raise GraphFormatError(file, 1, reason)
    return field, words[4]


def _sizes(file: Path, number: int, words: list[bytes]) -> tuple[int, int]:
    if len(words) != 3:
        reason = f"expected the sizes 'ROWS COLUMNS ENTRIES', found {shown(b' '.join(words))}"
        raise GraphFormatError(file, number, reason)
    for word, what in zip(words, ("rows", "columns", "entries"), strict=True):
        reason = count_fault(word, what)
        if reason is not None:
            raise GraphFormatError(file, number, reason)
    rows, columns, entries = map(int, words)
    if rows != columns:
        reason = f"a graph needs a square matrix, this one is {rows} x {columns}"
        raise GraphFormatError(file, number, reason)
    return rows, entries
