"""What a graph file means, worked out character by character.

It shares nothing with `gpukernels.graphs.formats`, which parses a megabyte at a time: every line
is looked at in order, and the first that is wrong ends it.
"""

from __future__ import annotations

import gzip
import re
import zlib
from dataclasses import dataclass

LONGEST_LINE = 65_536
FREE_VERTICES, VERTICES_PER_ARC = 1_048_576, 4
UNPACKED_BYTES, UNPACKED_RATIO = 16_777_216, 32
INT32 = range(-(2**31), 2**31)
INT64 = range(-(2**63), 2**63)
IDS = range(2**63)
COUNTS = range(2**31 - 1)
BLANKS = b" \t"
NOTHING_BUT_FLOATS = frozenset(b"0123456789+-.eEinfatyINFATY")


@dataclass(frozen=True)
class Meaning:
    """A graph: the vertices' names, the lightest weight of each arc, and whether it is directed."""

    labels: list[int]
    arcs: dict[tuple[int, int], float | None]
    directed: bool
    whole: bool


class Refused(Exception):
    """The file is refused; `line` is the first that is wrong, or None for damaged packing."""

    def __init__(self, line: int | None):
        super().__init__(line)
        self.line = line


def meaning(name: str, data: bytes) -> Meaning:
    """Return what the file says; raise Refused where that is no graph."""
    if name.endswith(".gz"):
        name, data = name.removesuffix(".gz"), unpacked(data)
    lines = lines_of(data)
    if not lines:
        raise Refused(1)
    return FORMATS[name[name.rindex(".") :]](lines)


def unpacked(data: bytes) -> bytes:
    """Return what a gzip file holds."""
    try:
        text = gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        raise Refused(None) from None
    if len(text) > max(UNPACKED_BYTES, UNPACKED_RATIO * len(data)):
        raise Refused(None)
    return text


def lines_of(data: bytes) -> list[bytes]:
    """Split at any kind of line end."""
    lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    return lines if lines[-1] else lines[:-1]


def words_of(line: bytes) -> list[bytes]:
    """Split at spaces and tabs, and at nothing else."""
    return [word for word in line.replace(b"\t", b" ").split(b" ") if word]


def whole(word: bytes, allowed: range, line: int) -> int:
    """Return a whole number in decimal."""
    digits = word[1:] if word[:1] in (b"+", b"-") else word
    if not digits or any(d not in b"0123456789" for d in digits):
        raise Refused(line)
    digits = digits.lstrip(b"0")
    if len(digits) > 19:
        raise Refused(line)
    number = int(digits or b"0") * (-1 if word.startswith(b"-") else 1)
    if number not in allowed:
        raise Refused(line)
    return number


def real(word: bytes, line: int) -> float:
    """Return the nearest float64, which is 0 for nothing but a zero."""
    if not NOTHING_BUT_FLOATS.issuperset(word):
        raise Refused(line)
    try:
        number = float(word)
    except ValueError:
        raise Refused(line) from None
    if number != number or number in (float("inf"), float("-inf")):
        raise Refused(line)
    if number == 0 and re.match(rb"[^eE]*[1-9]", word):
        raise Refused(line)
    return number


def mixed(word: bytes, line: int) -> float:
    """Return a weight of a ``.txt``: an int64 if it is written as one, or else a float64."""
    return whole(word, INT64, line) if re.fullmatch(rb"[+-]?[0-9]+", word) else real(word, line)


def fit(arcs: list) -> bool:
    """Return whether each weight is a whole number that an int32 holds."""
    return all(w is not None and w == int(w) and int(w) in INT32 for _, _, w in arcs)


def dimacs(lines: list[bytes]) -> Meaning:
    """Go through a ``.gr`` file."""
    n = announced = None
    arcs = []
    for at, text in enumerate(lines, 1):
        short(text, at)
        start = text.lstrip(BLANKS)
        if not start or start == b"c" or start[:2] in (b"c ", b"c\t"):
            continue
        words = words_of(text)
        if n is None:
            if words[:2] != [b"p", b"sp"] or len(words) != 4:
                raise Refused(at)
            n, announced = whole(words[2], COUNTS, at), whole(words[3], COUNTS, at)
            few(n, announced, at)
            continue
        if words[0] != b"a" or len(words) != 4:
            raise Refused(at)
        u, v = (whole(word, range(1, n + 1), at) for word in words[1:3])
        arcs.append((u, v, whole(words[3], INT64, at)))
        enough(arcs, announced, at)
    if n is None or len(arcs) < announced:
        raise Refused(len(lines))
    return Meaning(list(range(1, n + 1)), lightest(arcs), True, fit(arcs))


def matrix_market(lines: list[bytes]) -> Meaning:
    """Go through a ``.mtx`` file."""
    short(lines[0], 1)
    banner = words_of(lines[0].lower())
    fields = {b"pattern": 2, b"integer": 3, b"unsigned-integer": 3, b"real": 3, b"double": 3}
    if len(banner) != 5 or banner[:3] != [b"%%matrixmarket", b"matrix", b"coordinate"]:
        raise Refused(1)
    field, symmetry = banner[3:]
    if field not in fields or symmetry not in (b"general", b"symmetric", b"skew-symmetric"):
        raise Refused(1)
    skew, is_whole = symmetry == b"skew-symmetric", field in (b"integer", b"unsigned-integer")
    if skew and field == b"pattern":
        raise Refused(1)
    n = announced = None
    entries = []
    for at, text in enumerate(lines[1:], 2):
        short(text, at)
        words = words_of(text)
        if not words or (n is None and text.startswith(b"%")):
            continue
        if n is None:
            if len(words) != 3:
                raise Refused(at)
            n, columns, announced = (whole(word, COUNTS, at) for word in words)
            if n != columns:
                raise Refused(at)
            few(n, announced, at)
            continue
        if len(words) != fields[field]:
            raise Refused(at)
        i, j = (whole(word, range(1, n + 1), at) for word in words[:2])
        value = None
        if len(words) == 3:
            value = whole(words[2], INT64, at) if is_whole else real(words[2], at)
        if skew and (i == j or (is_whole and -value not in INT64)):
            raise Refused(at)
        entries.append((i, j, value))
        enough(entries, announced, at)
    if n is None or len(entries) < announced:
        raise Refused(len(lines))
    if symmetry != b"general":
        entries += [(j, i, -x if skew else x) for i, j, x in entries]
    is_short = is_whole and fit(entries)
    entries = [(i - 1, j - 1, value) for i, j, value in entries]  # it has no labels
    return Meaning(list(range(n)), lightest(entries), symmetry != b"symmetric", is_short)


def edge_list(lines: list[bytes]) -> Meaning:
    """Go through a ``.txt`` file."""
    nodes = announced = announcement = width = None
    undirected = False
    edges, lines_of_edges = [], []
    for at, text in enumerate(lines, 1):
        short(text, at)
        start = text.lstrip(BLANKS)
        if not start:
            continue
        if start[:1] in (b"#", b"%"):
            if width is None:
                undirected |= re.match(rb"\s*undirected\b", start[1:], re.IGNORECASE) is not None
                match = re.search(
                    rb"\bnodes:[ \t]*([0-9]+)[ \t]+edges:[ \t]*([0-9]+)\b", text, re.IGNORECASE
                )
                if match:
                    nodes, announced = (whole(word, COUNTS, at) for word in match.groups())
                    announcement = at
            continue
        words = words_of(text)
        if width is None:
            width = 3 if len(words) == 3 else 2
        if len(words) != width:
            raise Refused(at)
        u, v = (whole(word, IDS, at) for word in words[:2])
        weight = mixed(words[2], at) if width == 3 else None
        edges.append((u, v, weight))
        lines_of_edges.append(at)
        if announced is not None:
            enough(edges, announced, at)
    if len(edges) < (announced or 0) or (announced is None and not edges):
        raise Refused(len(lines))
    labels = sorted({end for edge in edges for end in edge[:2]})
    if announced is not None and nodes != len(labels):
        raise Refused(announcement)
    if any(isinstance(w, float) for _, _, w in edges):
        for at, (_, _, w) in zip(lines_of_edges, edges, strict=True):
            if int(float(w)) != w and isinstance(w, int):
                raise Refused(at)
    if undirected:
        edges += [(v, u, w) for u, v, w in edges]
    return Meaning(labels, lightest(edges), not undirected, width == 3 and fit(edges))


FORMATS = {".gr": dimacs, ".mtx": matrix_market, ".txt": edge_list}


def short(text: bytes, at: int) -> None:
    """Refuse a line that is too long."""
    if len(text) > LONGEST_LINE:
        raise Refused(at)


def few(n: int, arcs: int, at: int) -> None:
    """Refuse far more vertices than arcs."""
    if n > max(FREE_VERTICES, VERTICES_PER_ARC * arcs):
        raise Refused(at)


def enough(arcs: list, announced: int, at: int) -> None:
    """Refuse an arc beyond those that are announced."""
    if len(arcs) > announced:
        raise Refused(at)


def lightest(arcs: list) -> dict[tuple[int, int], float | None]:
    """Keep the least weight of parallel arcs."""
    kept = {}
    for u, v, weight in arcs:
        if (u, v) not in kept or (weight is not None and weight < kept[u, v]):
            kept[u, v] = weight
    return kept
