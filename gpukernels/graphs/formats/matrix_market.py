"""Matrix Market coordinate files, ``.mtx``: entry (i, j) is an arc i -> j.

The lines are parsed as in the other formats. SciPy's ``mmread`` would be faster still. But as of
1.17 it accepts NaN, further columns and ``1.5`` in an integer matrix, and the process crashes if
the last line ends in a space instead of a line feed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpukernels.errors import GraphFormatError
from gpukernels.graphs.formats.blocks import Block, blocks, find_line
from gpukernels.graphs.formats.text import (
    Announced,
    ArcList,
    Rows,
    narrow,
    read_rows,
    vertices_fault,
)
from gpukernels.graphs.formats.words import (
    control_fault,
    count_fault,
    id_fault,
    number_of,
    shown,
    weight_fault,
)

ENTRY = [("row", "i4"), ("column", "i4")]
FIELDS = {
    "pattern": np.dtype(ENTRY),
    "integer": np.dtype([*ENTRY, ("value", "i8")]),
    "real": np.dtype([*ENTRY, ("value", "f8")]),
}
SYNONYMS = {"double": "real", "unsigned-integer": "integer"}
SYMMETRIES = ("general", "symmetric", "skew-symmetric")
#: A line that is neither blank nor a comment; a comment begins in the first column.
CONTENT = re.compile(rb"^(?:[^%\n \t]|[ \t]+[^ \t\n])", re.MULTILINE)
ANY_LINE = re.compile(rb"^", re.MULTILINE)
#: Comments are allowed before the size line only.
NO_COMMENT = re.compile(rb"(?!)")


def read(file: Path, limit: int | None = None) -> ArcList:
    """Read a Matrix Market file of at most `limit` rows; a symmetric one is an undirected graph.

    Raises
    ------
    GraphFormatError
        At the first line that is wrong, or at the last if there are too few entries.
    """
    header, announced, rest = _header(file, limit)
    n, dtype = header.n, FIELDS[header.field]
    skew = header.symmetry == "skew-symmetric"

    def sound(rows: NDArray) -> bool:
        ends = (rows["row"], rows["column"])
        if not all((end >= 1).all() and (end <= n).all() for end in ends):
            return False
        if skew and (rows["row"] == rows["column"]).any():
            return False
        if header.field == "real":
            return bool(np.isfinite(rows["value"]).all())
        return not skew or bool((rows["value"] > -(2**63)).all())

    def fault(words: list[bytes]) -> str | None:
        if len(words) != len(dtype):
            what = " ".join(name.upper() for name in dtype.names)
            return f"expected {what!r}, found {shown(b' '.join(words))}"
        reason = id_fault(words[0], "row", 1, n) or id_fault(words[1], "column", 1, n)
        if reason is None and header.field != "pattern":
            reason = weight_fault(words[2], whole=header.field == "integer")
        if reason is None and skew:
            reason = _skew_fault(words, header.field)
        return reason

    entries, _ = read_rows(file, rest, Rows(dtype, NO_COMMENT, (), sound, fault), announced)
    source, target = entries["row"] - 1, entries["column"] - 1
    weight = None if header.field == "pattern" else entries["value"]
    if skew:
        source, target = np.concatenate([source, target]), np.concatenate([target, source])
        if weight is not None:
            exact = weight if header.field == "real" else weight.astype(np.int64)
            weight = narrow(np.concatenate([exact, -exact]))
    labels = np.arange(n, dtype=np.int64)  # it has none: rows and columns are positions
    return ArcList(n, source, target, weight, header.symmetry != "symmetric", labels)


class _Header(NamedTuple):
    field: str
    symmetry: str
    n: int


def _header(file: Path, limit: int | None) -> tuple[_Header, Announced, Iterable[Block]]:
    """Check the banner and the size line; return them and the lines that follow."""
    line, rest, _ = find_line(blocks(file), ANY_LINE)
    field, symmetry = _banner(file, line or b"")
    line, rest, number = find_line(rest, CONTENT)
    if line is None:
        reason = "the file is truncated: no size line 'ROWS COLUMNS ENTRIES'"
        raise GraphFormatError(file, number, reason)
    n, entries = _sizes(file, number, line, limit)
    return _Header(field, symmetry, n), Announced(entries, "entries", number), rest


def _banner(file: Path, line: bytes) -> tuple[str, str]:
    words = line.decode("ascii", "backslashreplace").lower().split()
    expected = f"matrix coordinate {'|'.join(FIELDS)} {'|'.join(SYMMETRIES)}"
    if control_fault(line) or len(words) != 5 or words[0] != "%%matrixmarket":
        reason = f"expected the banner '%%MatrixMarket {expected}', found {shown(line)}"
        raise GraphFormatError(file, 1, control_fault(line) or reason)
    field = SYNONYMS.get(words[3], words[3])
    known = words[1:3] == ["matrix", "coordinate"] and field in FIELDS and words[4] in SYMMETRIES
    if not known or (field == "pattern" and words[4] == "skew-symmetric"):
        reason = f"{' '.join(words[1:])!r} cannot be read as a graph: must be {expected!r}"
        raise GraphFormatError(file, 1, reason)
    return field, words[4]


def _sizes(file: Path, number: int, line: bytes, limit: int | None) -> tuple[int, int]:
    words = line.split()
    reason = control_fault(line)
    if reason is None and len(words) != 3:
        reason = f"expected the sizes 'ROWS COLUMNS ENTRIES', found {shown(b' '.join(words))}"
    for word, what in zip(words, ("rows", "columns", "entries"), strict=False):
        reason = reason or count_fault(word, what)
    if reason is None:
        rows, columns, entries = map(number_of, words)
        if rows == columns:
            reason = vertices_fault(rows, entries, limit)
        else:
            reason = f"a graph needs a square matrix, this one is {rows} x {columns}"
    if reason is not None:
        raise GraphFormatError(file, number, reason)
    return rows, entries


def _skew_fault(words: list[bytes], field: str) -> str | None:
    """Return why an entry is not skew-symmetric: entry (j, i) must be minus entry (i, j)."""
    row, column = number_of(words[0]), number_of(words[1])
    if row == column:
        reason = "lies on the diagonal, which a skew-symmetric matrix must leave out"
        return f"entry ({row}, {column}) {reason}"
    if field == "integer" and number_of(words[2]) == -(2**63):
        return f"weight {-(2**63)} is out of range: its negative is no int64"
    return None
