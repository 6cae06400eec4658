"""What a graph file may claim, and what reading it may take of memory."""

import gzip
import sys
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

import gpukernels as gk
from gpukernels.graphs.formats import dimacs, matrix_market, snap, text
from gpukernels.graphs.formats.blocks import (
    LINE_BYTES,
    UNPACKED_BYTES,
    UNPACKED_RATIO,
    Block,
    find_line,
)

BANNER = "%%MatrixMarket matrix coordinate pattern general\n"
NAMES = ["g.gr", "g.mtx", "g.txt"]
MIB = 1 << 20


def peak_of(call):
    """Return the most bytes that Python and NumPy held during a call, and what it returned."""
    tracemalloc.start()
    try:
        result = call()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


def refusal(file, **options):
    with pytest.raises(gk.GraphFormatError) as caught:
        gk.read(file, **options)
    return caught.value


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("g.gr", "p sp 2147483646 0\n", 1),
        ("g.gr", "c\np sp 100000000 1\na 1 2 3\n", 2),
        ("g.mtx", BANNER + "2147483646 2147483646 0\n", 2),
        ("g.mtx", BANNER + "% c\n100000000 100000000 1\n1 2\n", 3),
        ("g.mtx", BANNER + "2147483646 2147483646 2147483646\n1 2\n", 3),
        ("g.txt", "# Nodes: 2147483646 Edges: 2147483646\n1 2\n", 2),
    ],
)
def test_what_a_header_claims_takes_no_memory(tmp_path, name, content, line):
    file = tmp_path / name
    file.write_text(content)
    peak, error = peak_of(lambda: refusal(file))
    assert peak < 20 * MIB
    assert (error.file, error.line) == (str(file), line)


def test_the_vertices_of_a_file_are_bounded_by_its_arcs_unless_a_limit_says_otherwise(tmp_path):
    free = text.FREE_VERTICES
    file = tmp_path / "g.mtx"
    file.write_text(f"{BANNER}{free} {free} 1\n1 2\n")
    assert gk.read(file).n == free == 1_048_576
    n = free + 1
    file.write_text(f"{BANNER}{n} {n} 1\n1 2\n")
    reason = f"{n} vertices for 1 arcs: must be at most {free}"
    assert reason in str(refusal(file))
    assert f"limit={n}" in str(refusal(file))
    assert gk.read(file, limit=n).n == n
    assert f"{n} vertices, more than limit = {free}" in str(refusal(file, limit=free))
    arcs = n // text.VERTICES_PER_ARC + 1
    file.write_text(f"{BANNER}{n} {n} {arcs}\n" + "1 2\n" * arcs)
    assert gk.read(file).n == n


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("g.gr", "p sp 4 1\na 1 4 1\n", 1),
        ("g.mtx", BANNER + "4 4 1\n1 4\n", 2),
        ("g.txt", "# c\n# Nodes: 4 Edges: 2\n1 2\n3 4\n", 2),
        ("g.txt", "1 2\n3 4\n", 2),
    ],
)
def test_a_limit_holds_in_every_format(tmp_path, name, content, line):
    file = tmp_path / name
    file.write_text(content)
    assert gk.read(file, limit=4).n == 4
    assert gk.read(file, limit=np.int64(4)).n == 4
    assert refusal(file, limit=3).line == line


@pytest.mark.parametrize(
    ("name", "content"), [("g.gr", "p sp 3 {}\na 1 2 5\n"), ("g.mtx", BANNER + "3 3 {}\n1 2\n")]
)
def test_as_many_entries_may_be_announced_as_an_offset_can_count(tmp_path, name, content):
    file = tmp_path / name
    file.write_text(content.format(2**31 - 2))
    assert f"but line {refusal(file).line - 1} says {2**31 - 2}" in str(refusal(file))
    file.write_text(content.format(2**31 - 1))
    assert f"{2**31 - 1} is out of range: must be from 0 to {2**31 - 2}" in str(refusal(file))


@pytest.mark.parametrize("limit", [-1, 2**31, 5.0, True, "5"])
def test_a_limit_is_a_number_of_vertices(tmp_path, limit):
    with pytest.raises(gk.InvalidArgument, match="limit = "):
        gk.read(tmp_path / "g.mtx", limit=limit)


SOUND = {
    "g.gr": b"p sp 3 1\na 1 2 5\n",
    "g.mtx": BANNER.encode() + b"3 3 1\n1 2\n",
    "g.txt": b"# x\n1 2\n",
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "unit",
    [b"1 2" + b" " * 60 + b"\n", b"#", b"1", b"\r", b"\n", b" ", b"c " * 9 + b"\r"],
    ids=repr,
)
def test_a_small_gzip_file_does_not_unpack_to_much(tmp_path, name, unit):
    file = tmp_path / (name + ".gz")
    content = SOUND[name] + unit * (20 * MIB // len(unit))
    file.write_bytes(gzip.compress(content, 1))
    assert file.stat().st_size < MIB // 4
    peak, error = peak_of(lambda: refusal(file))
    assert peak < 60 * MIB
    assert error.file == str(file)
    assert error.line >= 1


def test_a_gzip_file_may_unpack_to_its_share_and_no_more(tmp_path):
    file = tmp_path / "g.txt.gz"
    comment = b"#" + b"x" * 60_000 + b"\n"
    count = UNPACKED_BYTES // len(comment)
    file.write_bytes(gzip.compress(comment * count + b"1 2\n"))
    assert gk.read(file).m == 1
    file.write_bytes(gzip.compress(comment * (count + 1) + b"1 2\n"))
    error = refusal(file)
    assert f"unpacks to over {UNPACKED_RATIO} times its size" in error.reason
    assert "unpack it before reading" in error.reason
    (tmp_path / "g.txt").write_bytes(comment * (count + 1) + b"1 2\n")
    assert gk.read(tmp_path / "g.txt").m == 1
    hard = np.random.default_rng(0).integers(48, 122, 2_500_000, dtype=np.uint8).tobytes()
    mixed = b"".join(b"#" + hard[k : k + 9000] + b"\n" + comment for k in range(0, len(hard), 9000))
    file.write_bytes(gzip.compress(mixed + b"1 2\n"))
    assert len(mixed) > UNPACKED_BYTES
    assert gk.read(file).m == 1


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
def test_a_line_has_a_longest_length(tmp_path, name, line_end, suffix):
    file = tmp_path / (name + suffix)

    def write(length):
        head, *rest = SOUND[name].splitlines()
        mark = b"%" if name == "g.mtx" else b"c " if name == "g.gr" else b"# "
        lines = [head, mark + b"x" * (length - len(mark)), *rest]
        content = line_end.join(lines) + line_end
        file.write_bytes(gzip.compress(content) if suffix else content)

    write(LINE_BYTES)
    assert gk.read(file).m == 1
    write(LINE_BYTES + 1)
    error = refusal(file)
    assert error.line == 2
    assert error.reason == "the line is longer than 65536 bytes"


@pytest.mark.parametrize("name", NAMES)
def test_a_fault_ahead_of_a_long_line_is_named_first(tmp_path, name):
    file = tmp_path / name
    file.write_bytes(SOUND[name] + b"x\n" + b" " * (LINE_BYTES + 1) + b"\n")
    assert refusal(file).line == SOUND[name].count(b"\n") + 1


@pytest.mark.parametrize("name", NAMES)
def test_a_header_is_found_behind_any_number_of_comments(tmp_path, name):
    banner, *rest = SOUND[name].splitlines(keepends=True)
    mark = b"c " if name == "g.gr" else b"% "
    comments = (mark + b"x" * 60_000 + b"\n") * 150
    assert len(comments) > 8 * MIB
    file = tmp_path / name
    file.write_bytes((banner + comments if name == "g.mtx" else comments + banner) + b"".join(rest))
    assert gk.read(file).m == 1
    file.write_bytes(file.read_bytes() + b"x\n")
    assert refusal(file).line == 150 + len(rest) + 2
    file.write_bytes(banner + comments if name == "g.mtx" else comments)
    assert refusal(file).line == 150 + (name == "g.mtx")


@pytest.mark.parametrize("name", NAMES)
def test_a_fault_at_the_end_of_a_long_file_is_found_without_going_through_it(
    tmp_path, monkeypatch, name
):
    seen = []
    line_fault = text.Rows.line_fault
    monkeypatch.setattr(
        text.Rows, "line_fault", lambda rows, line: seen.append(line) or line_fault(rows, line)
    )
    head, row = {
        "g.gr": (b"p sp 3 100001\n", b"a 1 2 5\n"),
        "g.mtx": (BANNER.encode() + b"3 3 100001\n", b"1 2\n"),
        "g.txt": (b"", b"1 2\n"),
    }[name]
    file = tmp_path / name
    file.write_bytes(head + row * 100_000 + b"1 x\n")
    assert refusal(file).line == head.count(b"\n") + 100_001
    assert len(seen) < 20_000


# --- lines that hold nothing ----------------------------------------------------------------------


def calls_during(work):
    """Return how many functions, of Python or of C, were called while `work` ran."""
    count = 0

    def counted(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("place", ["above", "below"])
@pytest.mark.parametrize(
    "empty", [b"MARK\n", b"\n", b"MARK\r\n\r\n", b"  \nMARK hello\n", b"\t\r"], ids=repr
)
@pytest.mark.parametrize("name", NAMES)
def test_lines_without_arcs_are_not_taken_one_by_one(tmp_path, name, empty, place):
    mark = {"g.gr": b"c", "g.mtx": b"%", "g.txt": b"#"}[name]
    if name == "g.mtx" and place == "below":
        empty = empty.replace(b"MARK hello", b"")
        mark = b""  # a comment below the size line is no comment
    empty = empty.replace(b"MARK", mark)
    lines = empty * 100_000
    head, *rest = SOUND[name].splitlines(keepends=True)
    above, arcs = (head, b"".join(rest)) if name == "g.mtx" else (b"", head + b"".join(rest))
    file = tmp_path / (name + ".gz")
    file.write_bytes(gzip.compress(above + (lines + arcs if place == "above" else arcs + lines)))
    assert calls_during(lambda: gk.read(file)) < 20_000
    file.write_bytes(gzip.compress(above + lines))
    assert calls_during(lambda: refusal(file)) < 20_000


ODD = [
    b"",
    b" ",
    b"\t ",
    b"#",
    b" #",
    b"%",
    b"\t% x",
    b"c",
    b" c",
    b"c x",
    b"cx",
    b"c\tx",
    b"1 2",
    b" 1 2",
]


@examples(200, 5000)
@given(lines=st.lists(st.sampled_from(ODD), max_size=12), ends=st.booleans(), data=st.data())
def test_the_first_line_that_holds_something_is_the_one_that_a_loop_finds(lines, ends, data):
    comments = {
        snap: lambda line: line.strip()[:1] in (b"#", b"%"),
        dimacs: lambda line: line.split()[:1] == [b"c"],
        matrix_market: lambda line: line.startswith(b"%"),
    }
    text_ = b"".join(line + b"\n" for line in lines)
    text_ = text_ if ends or not lines or not lines[-1] else text_[:-1]
    cuts = sorted({0, len(lines), *data.draw(st.lists(st.integers(0, len(lines)), max_size=3))})
    each = text_.splitlines(keepends=True)
    parts = [Block(a + 1, b"".join(each[a:b])) for a, b in pairwise(cuts)]
    for layout, is_comment in comments.items():
        full = (i for i, line in enumerate(lines) if line.strip() and not is_comment(line))
        at = next(full, None)
        passed = []
        line, rest, number = find_line(parts, layout.CONTENT, passed.append)
        kept = find_line(parts, layout.CONTENT, keep=True)
        above = lines if at is None else lines[:at]
        if at is None:
            assert (line, number, [*rest]) == (None, max(len(lines), 1), [])
            assert b"".join(block.text for block in passed) == text_
        else:
            assert (line, number, kept[0], kept[2]) == (lines[at], at + 1, lines[at], at + 1)
            assert b"".join(block.text for block in passed) == b"".join(each[: len(above)])
            for blocks, first in ((rest, at + 1), (kept[1], at)):
                blocks = [*blocks]
                assert b"".join(block.text for block in blocks) == b"".join(each[first:])
                assert blocks[0].first_line == first + 1


def test_the_last_announcement_counts_and_the_first_faulty_one_is_named(tmp_path):
    file = tmp_path / "g.txt"
    line = "# Nodes: {} Edges: {}\n"
    file.write_text(line.format(9, 9) + "\n" + line.format(3, 2) + "# Nodes: 7\n0 1\n1 2\n")
    assert gk.read(file).m == 2
    long = "0" * 40
    file.write_text(line.format(long + "2", long + "1") + "% UNDIRECTED: yes\n0 1\n")
    assert (gk.read(file).m, gk.read(file).directed) == (2, False)
    file.write_text(line.format(9, 9) + "#\nundirected\n")
    assert refusal(file).line == 3
    file.write_text(line.format(9, 9) + line.format(2**31, 1) + line.format(1, 2**31) + "0 1\n")
    assert refusal(file).line == 2
    assert "number of vertices" in refusal(file).reason
    file.write_text(line.format("3 Edges: 2 Nodes: 9", 9) + "0 1\n1 2\n")
    assert gk.read(file).m == 2
