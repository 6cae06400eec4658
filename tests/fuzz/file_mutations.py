"""Sound graph files of every format, and ways to damage them."""

from __future__ import annotations

import gzip
import random

NAMES = ("g.mtx", "g.gr", "g.txt", "g.mtx.gz", "g.gr.gz", "g.txt.gz")

ODD_NAMES = ("\x1b[31mred", "two\nlines", "\u202eleft", "\udcff", "long" * 50, "a b", "%s{}")
ODD_BYTES = (
    b"\0", b"\x01", b"\x07", b"\b", b"\v", b"\f", b"\x1a", b"\x1b", b"\x1c", b"\x1f", b"\x7f",
    b"\x85", b"\xa0", b"\xff", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\xd9\xa1", b" ", b"\t", b"\n",
    b"\r", b"\r\n", b"\n\n", b"_", b"+", b"-", b".", b",", b"e", b"#", b"%", b"c", b"a", b"p",
    b'"', b"'", b"\\", b"0", b"9",
)  # fmt: skip
ODD_NUMBERS = (
    "0", "-0", "-1", "+1", "1_0", "0x1", "1.0", "1.5", ".5", "5.", "1e3", "1e", "1d3", "1e39",
    "-1e39", "1e400", "1e-400", "3.4028235e38", "3.4028236e38", "nan", "NaN", "-inf", "Infinity",
    "infinit", "nan()", "1j", "16777217", "2147483646", "2147483647", "2147483648", "-2147483648",
    "-2147483649", "4294967296", "4294967297", "9223372036854775807", "9223372036854775808",
    "18446744073709551617", "1" + "0" * 30, "9" * 5000, "0" * 5000 + "1", "0" * 25 + "2", "--1",
    "+-1", "1-", "1,000", "1e5000", "0" * 400 + ".5", "true", "None", "*",
)  # fmt: skip


def sound(name: str, rng: random.Random) -> bytes:
    """Return the text of a small sound file in one of the many ways to write it."""
    kind = name.removesuffix(".gz").rsplit(".", 1)[1]
    n = rng.choice((1, 2, 3, 5, 9, 30))
    count = rng.choice((0, 1, 2, 4, 8, 25)) if kind != "txt" else rng.choice((1, 2, 4, 8, 25))
    lines = {"mtx": _matrix_market, "gr": _dimacs, "txt": _edge_list}[kind](rng, n, count)
    end = rng.choice(("\n", "\n", "\n", "\r\n", "\r"))
    return (end.join(lines) + end * rng.choice((0, 1, 1, 1, 2))).encode()


def damaged(name: str, rng: random.Random) -> bytes:
    """Return a file with up to three faults; one in eight has none."""
    data = sound(name, rng)
    for _ in range(rng.choice((0, 1, 1, 1, 1, 2, 2, 3))):
        data = rng.choice(MUTATIONS)(data, rng)
    return packed(data, rng) if name.endswith(".gz") else data


def packed(data: bytes, rng: random.Random) -> bytes:
    """Return a gzip file of it, perhaps of several members, perhaps damaged."""
    if rng.random() < 0.001:
        data += rng.choice((b" ", b"\n", b"1 2\n", b"% x\n")) * (5 << 20)
    cut = rng.choice((0, 0, 0, rng.randrange(len(data) + 1)))
    level = rng.choice((0, 1, 9))
    whole = gzip.compress(data[cut:], level, mtime=0)
    if cut:
        whole = gzip.compress(data[:cut], level, mtime=0) + whole
    fault = rng.random()
    if fault < 0.5:
        return whole
    if fault < 0.6:
        return _flip(whole, rng)
    if fault < 0.7:
        return whole[: rng.randrange(len(whole) + 1)]
    if fault < 0.8:
        return whole + rng.choice((b"\0" * 9, b"tail", b"\x1f\x8b", whole, whole[:12], b"\x1f"))
    if fault < 0.85:
        return whole[:-8] + rng.randbytes(8)
    if fault < 0.9:
        return data
    if fault < 0.95:
        return _splice(whole, rng)
    return whole[:3] + bytes([rng.randrange(256)]) + whole[4:]


def _matrix_market(rng: random.Random, n: int, count: int) -> list[str]:
    field = rng.choice(("pattern", "integer", "real", "double", "unsigned-integer"))
    symmetry = rng.choice(("general", "symmetric", "skew-symmetric"))
    if symmetry == "skew-symmetric" and (field == "pattern" or n == 1):
        symmetry = "general"
    lines = []
    for _ in range(count):
        i, j = rng.randint(1, n), rng.randint(1, n)
        if symmetry == "skew-symmetric" and i == j:
            i, j = 2, 1
        value = []
        if field != "pattern":
            value = [_number(rng, field in ("real", "double"))]
        lines.append(_row(rng, [str(i), str(j), *value]))
    banner = f"%%MatrixMarket matrix coordinate {field} {symmetry}"
    head = [*_comments(rng, "%"), _row(rng, [str(n), str(n), str(count)])]
    return [rng.choice((banner, banner, banner.upper())), *head, *_blanks(rng, lines)]


def _dimacs(rng: random.Random, n: int, count: int) -> list[str]:
    arcs = [
        _row(rng, ["a", str(rng.randint(1, n)), str(rng.randint(1, n)), _number(rng, False)])
        for _ in range(count)
    ]
    head = [*_comments(rng, "c "), _row(rng, ["p", "sp", str(n), str(count)])]
    return [*head, *_blanks(rng, arcs + _comments(rng, "c"))]


def _edge_list(rng: random.Random, n: int, count: int) -> list[str]:
    weighted, far = rng.random() < 0.5, rng.choice((1, 1, 1, 1000, 10**15))
    ends, lines = set(), []
    for _ in range(count):
        u, v = rng.randrange(n) * far, rng.randrange(n) * far
        ends |= {u, v}
        weight = [_number(rng, rng.random() < 0.3)] if weighted else []
        lines.append(_row(rng, [str(u), str(v), *weight]))
    head = _comments(rng, "#")
    if rng.random() < 0.3:
        head.append(rng.choice(("# Undirected graph", "% undirected: each pair once")))
    if rng.random() < 0.5:
        head.append(f"# Nodes: {len(ends)} Edges: {count}")
    return head + _blanks(rng, lines + _comments(rng, "%"))


def _number(rng: random.Random, broken: bool) -> str:
    if not broken:
        return str(rng.choice((rng.randint(-9, 99), rng.randint(1, 2**31 - 1))))
    x = rng.uniform(-9, 99)
    return rng.choice((str(x), f"{x:.3e}", f"{x:.0f}.", f"{x:E}", f"{round(x)}"))


def _row(rng: random.Random, words: list[str]) -> str:
    if rng.random() < 0.8:
        return " ".join(words)
    gap = rng.choice(("\t", "  ", " \t "))
    return rng.choice(("", " ", "\t")) + gap.join(words) + rng.choice(("", " ", "\t"))


def _comments(rng: random.Random, mark: str) -> list[str]:
    texts = ("", " a comment", "\t1 2 3", " Straße", " \x00 odd \x1b[31m", " Nodes: 3")
    many = rng.choice((0, 0, 1, 1, 2, 40))
    return [mark + rng.choice(texts if mark != "c" else ("", " x", "\ty")) for _ in range(many)]


def _blanks(rng: random.Random, lines: list[str]) -> list[str]:
    if rng.random() < 0.8:
        return lines
    at = rng.randint(0, len(lines))
    return [*lines[:at], rng.choice(("", " ", "\t")), *lines[at:]]


def _place(data: bytes, rng: random.Random) -> int:
    return rng.randrange(len(data)) if data else 0


def _flip(data: bytes, rng: random.Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + bytes(b ^ 1 << rng.randrange(8) for b in data[at : at + 1]) + data[at + 1 :]


def _replace(data: bytes, rng: random.Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + rng.choice(ODD_BYTES) + data[at + rng.choice((0, 1, 1)) :]


def _truncate(data: bytes, rng: random.Random) -> bytes:
    return data[: _place(data, rng)]


def _splice(data: bytes, rng: random.Random) -> bytes:
    """Delete, double or move a piece."""
    start, length, at = _place(data, rng), rng.choice((1, 3, 20, 200)), _place(data, rng)
    piece = data[start : start + length]
    rest = data if rng.random() < 0.5 else data[:start] + data[start + length :]
    return rest if rng.random() < 0.3 else rest[:at] + piece + rest[at:]


def _other_format(data: bytes, rng: random.Random) -> bytes:
    other, at = sound(rng.choice(NAMES), rng), _place(data, rng)
    return data[:at] + other[_place(other, rng) :]


def _lines(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
    what = rng.randrange(4)
    if what == 0:
        del lines[at]
    elif what == 1:
        lines.insert(to, lines[at])
    elif what == 2:
        lines[at], lines[to] = lines[to], lines[at]
    else:
        lines.insert(at, lines[at] * rng.choice((2, 3)))
    return b"\n".join(lines)


def _word(data: bytes, rng: random.Random) -> bytes:
    """Put an odd number in the place of a word; in one of the first lines, often a count."""
    lines = data.split(b"\n")
    at = rng.randrange(min(len(lines), rng.choice((3, 1000))))
    words = lines[at].split(b" ")
    words[rng.randrange(len(words))] = rng.choice(ODD_NUMBERS).encode()
    lines[at] = b" ".join(words)
    return b"\n".join(lines)


def _count(data: bytes, rng: random.Random) -> bytes:
    """Add a little to a number."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    words = lines[at].split(b" ")
    for k, word in rng.sample(list(enumerate(words)), len(words)):
        if word.isdigit() and len(word) < 30:
            words[k] = str(int(word) + rng.choice((-2, -1, 1, 2, 10, 2_000_000))).encode()
            break
    lines[at] = b" ".join(words)
    return b"\n".join(lines)


def _encoding(data: bytes, rng: random.Random) -> bytes:
    text = data.decode("latin-1")
    return text.encode(rng.choice(("utf-16", "utf-8-sig", "utf-32-le", "cp500", "utf-7", "utf-8")))


def _long_line(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    length = 65_536 + rng.choice((-1, 0, 1, 30_000)) - len(lines[at])
    lines[at] += rng.choice((b" ", b"x", b"0", b"\0")) * length
    return b"\n".join(lines)


def _noise(data: bytes, rng: random.Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + rng.randbytes(rng.choice((1, 4, 60))) + data[at:]


MUTATIONS = (
    _flip, _flip, _replace, _replace, _truncate, _splice, _other_format, _lines, _word, _word,
    _word, _count, _count, _encoding, _long_line, _noise,
)  # fmt: skip
