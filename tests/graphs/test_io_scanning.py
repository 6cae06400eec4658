"""The compiled parser reads what NumPy's reads, to the bit, or leaves it to that one."""

from __future__ import annotations

import gzip
import subprocess
import sys

import numpy as np
import pytest
from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st

import gpukernels as gk
from gpukernels.graphs.formats import dimacs, matrix_market, scanning, snap, text

LAYOUTS = {
    "snap": (snap.PLAIN, snap.COMMENT, (b"#", b"%")),
    "snap, weighted": (snap.WEIGHTED, snap.COMMENT, (b"#", b"%")),
    "snap, whole": (snap.WHOLE, snap.COMMENT, (b"#", b"%")),
    "dimacs": (dimacs.ARC, dimacs.COMMENT, (b"c",)),
    **{
        f"matrix market, {field}": (dtype, matrix_market.NO_COMMENT, ())
        for field, dtype in matrix_market.FIELDS.items()
    },
}

whole = st.integers(-(10**19), 10**19).map(str) | st.integers(0, 99).map(str)
real = (
    st.floats(allow_nan=False, allow_infinity=False).map(repr)
    | st.floats(allow_nan=False, allow_infinity=False, width=32).map("{:.9g}".format)
    | st.from_regex(r"[+-]?[0-9]{0,19}\.?[0-9]{0,19}([eE][+-]?[0-9]{1,3})?", fullmatch=True)
)
odd = st.sampled_from(
    "a c # % aa ca +1 -0 +-1 1- 1_0 0x1 1. .5 . e1 1e 1e+ 1e5000 nan inf 1\x0b2 1\x00 é"
    " 007 00000000000000000000001 1,2 a1 #1 c1 2147483648 -2147483648".split(" ")
)
words = st.lists(whole | real | odd, max_size=5)
sound_rows = st.tuples(st.integers(1, 99).map(str), st.integers(1, 99).map(str), whole | real)


def lines(rows, gaps):
    return "".join(
        gap.join(row) + end for row, (gap, end) in zip(rows, gaps, strict=False)
    ).encode()


gaps = st.lists(
    st.tuples(
        st.sampled_from([" ", "\t", "  ", " \t"]), st.sampled_from(["\n", "\n", " \n", "\n\n"])
    ),
    min_size=8,
    max_size=8,
)


def numpys(content, dtype, comment):
    """Parse as a small file is parsed."""
    layout = text.Rows(dtype, comment, (b"#", b"%", b"c"), lambda rows: True, lambda words: None)
    return layout.parsed(content)


@pytest.mark.parametrize("layout", LAYOUTS)
@examples(100, 3000)
@given(rows=st.lists(words | sound_rows, max_size=8), gaps=gaps)
@example(rows=[["1", "2", "9007199254740993"]], gaps=[(" ", "")])
@example(rows=[["1", "2", "0.1e-22"], ["3", "4", "-0"]], gaps=[(" ", "\n")] * 2)
def test_what_it_reads_numpy_reads_too(layout, rows, gaps):
    dtype, comment, marks = LAYOUTS[layout]
    if layout == "dimacs":
        rows = [["a", *row] for row in rows]
    content = lines(rows, gaps)
    columns = scanning.scanned(content, dtype, marks)
    if columns is not None:
        known = numpys(content, dtype, comment)
        assert known is not None
        assert columns.dtype == known.dtype
        assert columns.tobytes() == known.tobytes()


@pytest.mark.parametrize(
    ("layout", "content", "rows"),
    [
        ("snap", "1 2\n\n# c\x00\n \t3\t4 ", [(1, 2), (3, 4)]),
        ("snap", "0 999999999999999999\n%", [(0, 10**18 - 1)]),
        ("snap, weighted", "1 2 .5\n3 4 -1.25E+2", [(1, 2, 0.5), (3, 4, -125.0)]),
        ("snap, weighted", "1 2 0.12345678901234567\n", [(1, 2, 0.12345678901234567)]),
        ("snap, whole", f"1 2 {10**18 - 1}\n3 4 -8\n", [(1, 2, 10**18 - 1), (3, 4, -8)]),
        ("dimacs", f"a 1 2 {2**31}\n", [(b"a", 1, 2, 2**31)]),
        ("dimacs", "a 1 2 -3\nc\nc 1\n a 4 5 6\n", [(b"a", 1, 2, -3), (b"a", 4, 5, 6)]),
        ("matrix market, pattern", "+1 002\n", [(1, 2)]),
        ("matrix market, integer", "1 2 -2147483648\n", [(1, 2, -(2**31))]),
        ("matrix market, real", "1 2 3e5\n", [(1, 2, 3e5)]),
        ("snap", "", []),
        ("snap", " \n\t", []),
    ],
)
def test_what_is_ordinary_is_not_given_up(layout, content, rows):
    dtype, _, marks = LAYOUTS[layout]
    assert scanning.scanned(content.encode(), dtype, marks).tolist() == rows


@pytest.mark.parametrize("digits", ["{:.16e}", "{:.17g}", "{:.6f}", "{!r}"])
def test_the_digits_that_programs_write_are_read_to_the_bit(digits):
    values = np.random.default_rng(0).lognormal(0, 4, 20_000)
    content = "".join(f"1 2 {digits.format(float(value))}\n" for value in values).encode()
    columns = scanning.scanned(content, snap.WEIGHTED, ())
    assert columns["weight"].tolist() == [float(line.split()[2]) for line in content.splitlines()]


HEADS = {
    "g.gr": "p sp {n} {m}\n",
    "g.mtx": "%%MatrixMarket matrix coordinate real general\n{n} {n} {m}\n",
    "g.txt": "# Undirected graph\n",
}


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("name", HEADS)
def test_a_large_file_is_the_graph_that_it_is_line_by_line(tmp_path, monkeypatch, name, suffix):
    """Of three blocks the second holds a number that only NumPy's parser reads."""
    monkeypatch.setattr("gpukernels.graphs.formats.blocks.BLOCK_BYTES", 2000)
    lead, ends = "a " if name == "g.gr" else "", np.random.default_rng(0).integers(1, 90, (500, 2))
    rows = [f"{lead}{u} {v} {u}" for u, v in ends.tolist()]
    rows[250] = rows[250].rsplit(" ", 1)[0] + " 0000000000000000000000001"
    content = (HEADS[name].format(n=90, m=500) + "\n".join(rows)).encode()
    file = tmp_path / (name + suffix)
    file.write_bytes(gzip.compress(content) if suffix else content)
    known = gk.read(file, parallel="keep")
    calls = []
    scanned = scanning.scanned
    monkeypatch.setattr(
        scanning, "scanned", lambda *args: calls.append(scanned(*args)) or calls[-1]
    )
    monkeypatch.setattr(text, "COMPILED_BYTES", 0)
    monkeypatch.setattr(text, "PACKED_BYTES", 0)
    again = gk.read(file, parallel="keep")
    assert [some is None for some in calls].count(True) == 1
    assert len(calls) > 2
    assert again.offsets.tolist() == known.offsets.tolist()
    assert again.targets.tolist() == known.targets.tolist()
    assert again.weights.tobytes() == known.weights.tobytes()
    assert again.directed == known.directed
    file.write_bytes(gzip.compress(content + b"x") if suffix else content + b"x")
    with pytest.raises(gk.GraphFormatError) as caught:
        gk.read(file)
    assert caught.value.line == content.count(b"\n") + 1


def test_nobody_who_reads_a_small_file_waits_for_the_compiler(tmp_path):
    (tmp_path / "g.txt").write_text("1 2\n" * 1000)
    program = (
        f"import sys, gpukernels as gk; gk.read({str(tmp_path / 'g.txt')!r}); "
        "sys.exit('gpukernels.graphs.formats.scanning' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
