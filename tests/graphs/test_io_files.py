"""Files with every trap that real graph files have been seen to set."""

import gzip
import time

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import mmread

import gpukernels as gk
from gpukernels.cores import progress
from gpukernels.graphs.formats import blocks, snap, text

BANNER = "%%MatrixMarket matrix coordinate "
SUFFIXES = ["", ".gz"]


def write(path, content):
    content = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def arcs_of(g, name=""):
    """Return {(source label, target label): weight}, refusing parallel arcs.

    The `name` of a matrix says that vertices have no labels: positions, counted from 1 as in the
    file.
    """
    source, target = g.coo
    if g.labels is not None:
        source, target = g.labels[source], g.labels[target]
    if ".mtx" in str(name):
        assert g.labels is None
        source, target = source + 1, target + 1
    weights = [None] * g.m if g.weights is None else g.weights.tolist()
    arcs = dict(zip(zip(source.tolist(), target.tolist(), strict=True), weights, strict=True))
    assert len(arcs) == g.m
    return arcs


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("last", [True, False], ids=["ended", "unended"])
def test_all_formats_read_alike_with_any_line_end(tmp_path, suffix, line_end, last):
    files = {
        "g.gr": "c a comment\n\np sp 4 3\na 1 2 5\nc another\na 1 3 -6\na  4\t1  7\n",
        "g.mtx": f"{BANNER}integer general\n% c\n4 4 3\n1 2 5\n1 3 -6\n\n4 1 7\n",
        "g.txt": "# Nodes: 4 Edges: 3\n1\t2\t5\n# mid\n1 3 -6\n% also\n\n4 1 7\n",
    }
    for name, content in files.items():
        content = content if last else content.removesuffix("\n")
        g = gk.read(write(tmp_path / (name + suffix), content.replace("\n", line_end)))
        assert arcs_of(g, name) == {(1, 2): 5, (1, 3): -6, (4, 1): 7}, name
        assert g.weights.dtype == np.int32
        assert g.directed
        assert g.n == 4


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("g.gr", "p sp 3 5\na 1 2 9\na 1 2 4\na 2 3 1\na 1 2 6\na 2 3 1\n"),
        ("g.mtx", f"{BANNER}integer general\n3 3 5\n1 2 9\n1 2 4\n2 3 1\n1 2 6\n2 3 1\n"),
        ("g.txt", "1 2 9\n1 2 4\n2 3 1\n1 2 6\n2 3 1\n"),
    ],
)
def test_duplicate_arcs_take_the_minimum_weight(tmp_path, name, content):
    file = write(tmp_path / name, content)
    assert arcs_of(gk.read(file), name) == {(1, 2): 4, (2, 3): 1}
    kept = gk.read(file, parallel="keep")
    assert sorted(kept.weights.tolist()) == [1, 1, 4, 6, 9]


def test_sparse_ids_are_relabelled_and_not_used_as_sizes(tmp_path):
    g = gk.read(write(tmp_path / "g.txt", "9000000000000000000 7\n7 300\n"))
    assert g.n == 3
    assert g.labels.tolist() == [7, 300, 9_000_000_000_000_000_000]
    assert g.coo[0].tolist() == [0, 2]
    assert g.coo[1].tolist() == [1, 0]


@given(st.lists(st.integers(0, 400), max_size=60))
def test_relabelling_is_the_same_by_table_and_by_sorting(ids):
    ids = np.array(ids, dtype=np.int64)
    labels, places = snap.relabel(ids)
    expected_labels, expected_places = np.unique(ids, return_inverse=True)
    np.testing.assert_array_equal(labels, expected_labels)
    np.testing.assert_array_equal(places, expected_places)


def test_ids_that_are_the_vertices_need_no_labels(tmp_path):
    assert gk.read(write(tmp_path / "g.txt", "0 1\n2 1\n")).labels is None


def test_isolated_vertices_of_a_numbered_format_are_there(tmp_path):
    g = gk.read(write(tmp_path / "g.gr", "p sp 5 1\na 2 4 1\n"))
    assert g.n == 5
    assert g.out_degree.tolist() == [0, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("g.gr", "p sp 3 0\n"),
        ("g.gr", "p sp 0 0\n"),
        ("g.mtx", f"{BANNER}pattern general\n3 3 0\n"),
        ("g.mtx", f"{BANNER}real symmetric\n0 0 0"),
        ("g.txt", "# Nodes: 0 Edges: 0\n"),
    ],
)
def test_a_graph_without_arcs_is_a_graph(tmp_path, name, content):
    assert gk.read(write(tmp_path / name, content)).m == 0


def test_a_symmetric_matrix_is_an_undirected_graph(tmp_path):
    content = f"{BANNER}integer symmetric\n3 3 4\n2 1 5\n3 3 8\n3 1 4\n2 1 3\n"
    file = write(tmp_path / "g.mtx", content)
    g = gk.read(file)
    assert not g.directed
    assert arcs_of(g, "g.mtx") == {(1, 2): 3, (2, 1): 3, (1, 3): 4, (3, 1): 4, (3, 3): 8}
    assert gk.read(file, parallel="keep").m == 7
    assert gk.read(file, self_loops="remove").m == 4
    as_directed = gk.read(file, directed=True)
    assert as_directed.directed
    assert arcs_of(as_directed) == arcs_of(g)


def test_values_of_a_matrix_decide_the_type_of_the_weights(tmp_path):
    def read(field, entry):
        return gk.read(write(tmp_path / "g.mtx", f"{BANNER}{field} general\n2 2 1\n{entry}\n"))

    assert read("pattern", "1 2").weights is None
    assert read("integer", "1 2 -3").weights.dtype == np.int32
    assert read("unsigned-integer", "1 2 3").weights.dtype == np.int32
    assert read("integer", "1 2 2147483648").weights.dtype == np.int64
    assert read("real", "1 2 3").weights.dtype == np.float64
    assert read("real", "1 2 0").weights.tolist() == [0.0], "a stored zero is an arc"
    assert read("double", "1 2 1e-3").weights.tolist() == [1e-3]


@examples(60, soak=1200)
@given(
    st.sampled_from(["pattern", "integer", "real"]),
    st.sampled_from(["general", "symmetric", "skew-symmetric"]),
    st.integers(1, 9).flatmap(
        lambda n: st.lists(
            st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.integers(-99, 99)).map(
                lambda entry: (*entry, n)
            ),
            min_size=1,
            max_size=20,
        )
    ),
)
def test_matrices_written_by_scipy_are_read_as_scipy_reads_them(
    tmp_path_factory, field, symmetry, entries
):
    row, column, value, (n, *_) = (np.array(x) for x in zip(*entries, strict=True))
    if symmetry == "skew-symmetric" and field == "pattern":
        return
    if symmetry != "general":
        lower = row > column if symmetry == "skew-symmetric" else row >= column
        row, column, value = row[lower], column[lower], value[lower]
    # Written by hand, as SciPy would merge the entries that stand twice.
    lines = [f"{BANNER}{field} {symmetry}", f"{n} {n} {row.size}"]
    for i, j, v in zip(row.tolist(), column.tolist(), value.tolist(), strict=True):
        text_of = {"pattern": "", "integer": f" {v}", "real": f" {v}.25"}[field]
        lines.append(f"{i + 1} {j + 1}{text_of}")
    file = write(tmp_path_factory.getbasetemp() / "s.mtx", "\n".join(lines) + "\n")
    g, oracle = gk.read(file), mmread(file, spmatrix=False)
    expected = {}
    weights = [None] * oracle.nnz if field == "pattern" else oracle.data.tolist()
    for i, j, v in zip(oracle.row.tolist(), oracle.col.tolist(), weights, strict=True):
        kept = expected.get((i + 1, j + 1))
        expected[i + 1, j + 1] = v if kept is None else min(v, kept)
    assert arcs_of(g, "g.mtx") == expected
    assert g.n == n
    assert g.directed == (symmetry != "symmetric")


def test_a_skew_symmetric_matrix_is_a_directed_graph(tmp_path):
    content = f"{BANNER}integer skew-symmetric\n2 2 1\n2 1 5\n"
    g = gk.read(write(tmp_path / "g.mtx", content))
    assert g.directed
    assert arcs_of(g, "g.mtx") == {(2, 1): 5, (1, 2): -5}


@pytest.mark.parametrize("value", [False, np.False_])
def test_a_directed_file_is_undirected_where_asked_for(tmp_path, value):
    g = gk.read(write(tmp_path / "g.txt", "1 2 5\n"), directed=value)
    assert g.directed is False
    assert arcs_of(g) == {(1, 2): 5, (2, 1): 5}
    assert gk.read(tmp_path / "g.txt", directed=np.True_).directed is True


@pytest.mark.parametrize("value", [0, 1, "no", "False", [], np.int8(0)])
def test_directed_is_a_flag_or_nothing(tmp_path, value):
    file = write(tmp_path / "g.txt", "1 2 5\n")
    with pytest.raises(gk.InvalidArgument, match="must be True or False"):
        gk.read(file, directed=value)


def test_long_ways_to_write_a_number_are_read(tmp_path):
    ids = "0" * 5000 + "1 +2"
    assert arcs_of(gk.read(write(tmp_path / "g.txt", f"{ids} 5.{'0' * 5000}\n"))) == {(1, 2): 5}
    assert arcs_of(gk.read(write(tmp_path / "g.gr", f"p sp 2 1\na {ids} 5\n"))) == {(1, 2): 5}
    count = "0" * 5000 + "2"
    file = write(tmp_path / "g.mtx", f"{BANNER}real general\n{count} {count} +1\n{ids} 5E+0\n")
    assert arcs_of(gk.read(file), file) == {(1, 2): 5}


def test_an_edge_list_says_whether_it_is_undirected(tmp_path):
    edges = "1 2\n2 3\n"
    g = gk.read(write(tmp_path / "u.txt", "# Undirected graph (each pair once)\n" + edges))
    assert not g.directed
    assert g.m == 4
    # The words of one collection's directed graphs.
    not_said = "# Directed graph (each unordered pair of nodes is saved once)\n"
    assert gk.read(write(tmp_path / "d.txt", not_said + edges)).directed
    assert not gk.read(tmp_path / "d.txt", directed=False).directed


def test_weights_of_an_edge_list_are_whole_only_if_all_are(tmp_path):
    whole = gk.read(write(tmp_path / "a.txt", "1 2 3\n2 1 4.0\n"))
    assert whole.weights.dtype == np.int32
    broken = gk.read(write(tmp_path / "b.txt", "1 2 3\n2 1 4.5\n"))
    assert broken.weights.dtype == np.float64
    assert broken.weights.tolist() == [3.0, 4.5]


WHOLE = [2**31 - 1, 2**31, -(2**31), 4294967296, 2**53 + 1, 2**63 - 1, -(2**63)]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("whole", WHOLE)
def test_whole_numbers_are_read_to_the_last_digit(tmp_path, monkeypatch, suffix, whole, compiled):
    if compiled:
        monkeypatch.setattr("gpukernels.graphs.formats.text.COMPILED_BYTES", 0)
        monkeypatch.setattr("gpukernels.graphs.formats.text.PACKED_BYTES", 0)
    files = {
        "g.gr": f"p sp 3 2\na 1 2 {whole}\na 2 3 7\n",
        "g.mtx": f"{BANNER}integer general\n3 3 2\n1 2 {whole}\n2 3 7\n",
        "g.txt": f"1 2 {whole}\n2 3 7\n",
    }
    for name, content in files.items():
        g = gk.read(write(tmp_path / (name + suffix), content))
        assert arcs_of(g, name) == {(1, 2): whole, (2, 3): 7}, name
        assert g.weights.dtype == (np.int32 if -(2**31) <= whole < 2**31 else np.int64)


def test_blocks_of_a_file_may_hold_weights_of_other_sizes(tmp_path, monkeypatch):
    monkeypatch.setattr("gpukernels.graphs.formats.blocks.BLOCK_BYTES", 16)
    rows = [f"{v} {v + 1} {2**62 + v if v == 30 else v}\n" for v in range(60)]
    g = gk.read(write(tmp_path / "g.txt", "".join(rows)))
    assert g.weights.tolist() == [2**62 + v if v == 30 else v for v in range(60)]
    rows[50] = "50 51 0.5\n"
    g = gk.read(write(tmp_path / "g.txt", "".join(rows[:30] + rows[31:])))
    assert g.weights.dtype == np.float64
    assert g.weights.tolist() == [0.5 if v == 50 else v for v in range(60) if v != 30]
    rows[30] = f"30 31 {2**62 + 1}\n"
    with pytest.raises(
        gk.GraphFormatError, match="among fractions, and no float64 holds"
    ) as caught:
        gk.read(write(tmp_path / "g.txt", "".join(rows)))
    assert caught.value.line == 31


@pytest.mark.parametrize(
    ("number", "weight"),
    [
        ("16777217.0", 16777217),
        ("1e-46", 1e-46),
        ("5e-324", 5e-324),
        ("3.5e38", 3.5e38),
        ("0.1", 0.1),
        ("0e-999", 0),
        ("5000000001.0", 5000000001.0),
    ],
)
def test_fractions_are_the_nearest_float64(tmp_path, number, weight):
    text = gk.read(write(tmp_path / "g.txt", f"1 2 {number}\n"))
    matrix = gk.read(write(tmp_path / "g.mtx", f"{BANNER}real general\n2 2 1\n1 2 {number}\n"))
    assert text.weights.tolist() == matrix.weights.tolist() == [weight]
    assert matrix.weights.dtype == np.float64


@pytest.mark.parametrize("number", ["1e-400", "-0." + "0" * 400 + "1", "9" * 400, str(2**63)])
def test_a_number_that_no_type_holds_is_refused_with_its_line(tmp_path, number):
    with pytest.raises(gk.GraphFormatError, match="weight") as caught:
        gk.read(write(tmp_path / "g.txt", f"1 2 0\n# 0\n2 3 {number}\n"))
    assert caught.value.line == 3


def test_the_negative_of_an_entry_may_need_more_bits(tmp_path):
    content = f"{BANNER}integer skew-symmetric\n2 2 1\n2 1 {-(2**31)}\n"
    g = gk.read(write(tmp_path / "g.mtx", content))
    assert arcs_of(g, "g.mtx") == {(2, 1): -(2**31), (1, 2): 2**31}


def test_comments_may_hold_any_bytes(tmp_path):
    comment = "Straße, 東京, é".encode()
    files = {
        "g.gr": b"c " + comment + b"\xff\np sp 2 1\nc " + comment + b"\na 1 2 1\n",
        "g.mtx": BANNER.encode() + b"pattern general\n%" + comment + b"\xff\n2 2 1\n1 2\n",
        "g.txt": b"# " + comment + b"\xff\n1 2\n",
    }
    for name, content in files.items():
        assert gk.read(write(tmp_path / name, content)).m == 1


GR = "c head\np sp 3 3\na 1 2 5\n"
MTX = f"{BANNER}integer general\n% head\n3 3 3\n1 2 5\n"
REAL = f"{BANNER}real general\n3 3 3\n1 2 5\n"
TXT = "# Nodes: 3 Edges: 3\n1 2\n"
SKEW = f"{BANNER}integer skew-symmetric\n3 3 2\n"

BAD = [
    # (file name, content, line, words of the reason)
    ("g.gr", "", 1, "the file is empty"),
    ("g.mtx", "", 1, "the file is empty"),
    ("g.txt", "", 1, "the file is empty"),
    ("g.gr", "c only\n\n", 2, "no problem line"),
    ("g.txt", "# only\n# comments\n", 2, "holds no edge"),
    ("g.mtx", BANNER + "integer general\n% only\n", 2, "truncated: no size line"),
    # truncated
    ("g.gr", GR + "a 2 3 6\n", 4, "ends after 2 arcs, but line 2 says 3"),
    ("g.gr", GR + "a 2 3 6\na 3 1", 5, "expected 'a U V W', found 'a 3 1'"),
    ("g.gr", "p sp 3 3\n", 1, "ends after 0 arcs"),
    ("g.mtx", MTX + "2 3 6\n", 5, "ends after 2 entries, but line 3 says 3"),
    ("g.mtx", MTX + "2 3 6\n3 1", 6, "expected 'ROW COLUMN VALUE', found '3 1'"),
    ("g.mtx", MTX.replace("1 2 5\n", ""), 3, "ends after 0 entries"),
    ("g.txt", TXT + "2 3\n", 3, "ends after 2 edges, but line 1 says 3"),
    ("g.txt", TXT + "2 3\n3", 4, "expected the ids of source and target, found '3'"),
    # too long
    (
        "g.gr",
        GR + "a 2 3 6\nc x\na 3 1 7\na 3 2 7\n",
        7,
        "more than the 3 arcs that line 2 announces",
    ),
    ("g.mtx", MTX + "2 3 6\n\n3 1 7\n3 2 7\n", 8, "more than the 3 entries that line 3"),
    ("g.txt", TXT + "2 3\n# x\n3 1\n3 2\n", 6, "more than the 3 edges that line 1 announces"),
    ("g.txt", TXT + "2 3\n3 4\n", 1, "3 vertices are announced, but the edges name 4"),
    (
        "g.txt",
        "# Nodes: 5 Edges: 2\n1 2\n2 3\n",
        1,
        "5 vertices are announced, but the edges name 3",
    ),
    # ids
    ("g.gr", GR + "a -2 3 6\na 1 1 1\n", 4, "source -2 is negative"),
    ("g.gr", GR + "a 0 3 6\na 1 1 1\n", 4, "source 0 is out of range: must be from 1 to 3"),
    ("g.gr", GR + "a 1 1 1\n\na 2 4 6\n", 6, "target 4 is out of range: must be from 1 to 3"),
    ("g.gr", GR + "a 99999999999999999999 3 6\na 1 1 1\n", 4, "out of range"),
    ("g.mtx", MTX + "1 1 1\n-2 3 6\n", 6, "row -2 is negative"),
    ("g.mtx", MTX + "0 3 6\n1 1 1\n", 5, "row 0 is out of range: must be from 1 to 3"),
    ("g.mtx", MTX + "3 4 6\n1 1 1\n", 5, "column 4 is out of range: must be from 1 to 3"),
    ("g.mtx", MTX + "99999999999999999999 3 6\n1 1 1\n", 5, "out of range"),
    ("g.txt", TXT + "-2 3\n1 3\n", 3, "source -2 is negative"),
    ("g.txt", TXT + "2 99999999999999999999\n1 3\n", 3, "target 99999999999999999999 is out"),
    ("g.gr", GR + "a 1.5 3 6\na 1 1 1\n", 4, "source '1.5' is not a whole number"),
    ("g.mtx", MTX + "1.5 3 6\n1 1 1\n", 5, "row '1.5' is not a whole number"),
    ("g.txt", TXT + "1.5 3\n1 1\n", 3, "source '1.5' is not a whole number"),
    ("g.txt", TXT + "1_0 3\n1 1\n", 3, "source '1_0' is not a whole number"),
    ("g.gr", GR + "a 1_0 3 6\na 1 1 1\n", 4, "source '1_0' is not a whole number"),
    ("g.mtx", MTX + "1_0 3 6\n1 1 1\n", 5, "row '1_0' is not a whole number"),
    ("g.txt", TXT + "2 3\n" + "9" * 5000 + " 3\n", 4, "source 999999999999999999999999... is out"),
    ("g.gr", GR + "a 2 -" + "9" * 5000 + " 6\n", 4, "target -99999999999999999999999... is neg"),
    # weights
    ("g.gr", GR + "a 2 3 1_0\na 1 1 1\n", 4, "weight '1_0' is not a whole number"),
    ("g.mtx", REAL + "1 1 1\n2 3 1_0\n", 5, "weight '1_0' is not a number"),
    ("g.mtx", REAL + "1 1 1\n2 3 1_0.5\n", 5, "weight '1_0.5' is not a number"),
    ("g.txt", "1 2 0.5\n1 3 0.5\n2 3 1_0\n", 3, "weight '1_0' is not a number"),
    ("g.gr", GR + "a 2 3 nan\na 1 1 1\n", 4, "weight 'nan' is not a whole number"),
    ("g.gr", GR + "a 2 3 1.5\na 1 1 1\n", 4, "weight '1.5' is not a whole number"),
    ("g.gr", GR + f"a 2 3 {2**63}\na 1 1 1\n", 4, f"weight {2**63} is out of range"),
    ("g.mtx", REAL + "2 3 NaN\n1 1 1\n", 4, "the weight is NaN"),
    ("g.mtx", REAL + "1 1 1\n2 3 inf\n", 5, "weight 'inf' is not finite"),
    ("g.mtx", REAL + "1 1 1\n2 3 1e309\n", 5, "weight '1e309' is not finite"),
    ("g.mtx", REAL + "1 1 1\n2 3 1e-400\n", 5, "weight '1e-400' is not 0, but too small"),
    ("g.mtx", REAL + "1 1 1\n2 3 heavy\n", 5, "weight 'heavy' is not a number"),
    ("g.mtx", MTX + "2 3 1.5\n1 1 1\n", 5, "weight '1.5' is not a whole number"),
    ("g.mtx", MTX + "2 3 nan\n1 1 1\n", 5, "weight 'nan' is not a whole number"),
    ("g.mtx", MTX + f"2 3 {2**63}\n1 1 1\n", 5, f"weight {2**63} is out of range"),
    ("g.mtx", MTX + "2 3 99999999999999999999\n1 1 1\n", 5, "out of range: must be an int64"),
    ("g.mtx", MTX + f"2 3 {-(2**63) - 1}\n1 1 1\n", 5, "weight -9223372036854775809 is out of"),
    ("g.mtx", MTX + "2 3 -2147483648\n1 1 x\n", 6, "weight 'x' is not a whole number"),
    ("g.mtx", MTX + "2 3 2147483647\n1 1 x\n", 6, "weight 'x' is not a whole number"),
    ("g.txt", "1 2 0.5\n2 3 nan\n", 2, "the weight is NaN"),
    ("g.txt", "1 2 0.5\n2 3 -inf\n", 2, "weight '-inf' is not finite"),
    # what a skew-symmetric matrix cannot hold
    ("g.mtx", SKEW + "2 1 5\n2 2 5\n", 4, "entry (2, 2) lies on the diagonal"),
    ("g.mtx", SKEW + "1 1 0\n2 1 5\n", 3, "entry (1, 1) lies on the diagonal"),
    ("g.mtx", SKEW + f"2 1 {-(2**63)}\n2 2 5\n", 3, f"weight {-(2**63)} is out of range"),
    # columns
    ("g.gr", GR + "a 2 3 6 7\na 1 1 1\n", 4, "expected 'a U V W', found 'a 2 3 6 7'"),
    ("g.gr", GR + "e 2 3 6\na 1 1 1\n", 4, "expected 'a U V W', found 'e 2 3 6'"),
    ("g.gr", GR + "arc 2 3 6\na 1 1 1\n", 4, "expected 'a U V W', found 'arc 2 3 6'"),
    ("g.mtx", MTX + "2 3 6 7\n1 1 1\n", 5, "expected 'ROW COLUMN VALUE', found '2 3 6 7'"),
    ("g.mtx", BANNER + "pattern general\n2 2 2\n1 2 1\n2 1\n", 3, "expected 'ROW COLUMN'"),
    ("g.mtx", MTX + "% late\n2 3 6\n1 1 1\n", 5, "expected 'ROW COLUMN VALUE', found '% late'"),
    ("g.txt", "1 2\n2 3 4\n", 2, "expected the ids of source and target, found '2 3 4'"),
    ("g.txt", "1 2 3\n2 3\n", 2, "expected the ids of source and target and a weight"),
    ("g.txt", "1\n", 1, "expected the ids of source and target, found '1'"),
    ("g.txt", "1,2\n", 1, "expected the ids of source and target, found '1,2'"),
    # headers
    ("g.gr", "p sp 3\n", 1, "expected 'p sp N M', found 'p sp 3'"),
    ("g.gr", "c\np max 3 3\n", 2, "expected 'p sp N M', found 'p max 3 3'"),
    ("g.gr", "a 1 2 3\np sp 3 1\n", 1, "expected 'p sp N M', found 'a 1 2 3'"),
    ("g.gr", "p sp three 1\n", 1, "number of vertices 'three' is not a whole number"),
    ("g.gr", "p sp -3 1\n", 1, "number of vertices -3 is out of range"),
    ("g.gr", "p sp 3 99999999999\n", 1, "number of arcs 99999999999 is out of range"),
    ("g.gr", GR + "p sp 3 3\n", 4, "a second problem line"),
    (
        "g.txt",
        "# Nodes: 3 Edges: 9999999999\n1 2\n",
        1,
        "number of edges 9999999999 is out of range",
    ),
    ("g.txt", "# Nodes: 99999999999999999999 Edges: 1\n1 2\n", 1, "number of vertices 999999999"),
    ("g.mtx", "3 3 3\n1 2 5\n", 1, "expected the banner '%%MatrixMarket"),
    ("g.mtx", "\n" + MTX, 1, "expected the banner '%%MatrixMarket"),
    ("g.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n", 1, "cannot be read as a graph"),
    ("g.mtx", BANNER + "complex general\n1 1 1\n1 1 1 1\n", 1, "'matrix coordinate complex"),
    ("g.mtx", BANNER + "real hermitian\n1 1 1\n1 1 1\n", 1, "cannot be read as a graph"),
    ("g.mtx", BANNER + "pattern general\n3 4 1\n1 1\n", 2, "a square matrix, this one is 3 x 4"),
    ("g.mtx", BANNER + "pattern general\n3 3\n1 1\n", 2, "expected the sizes"),
    ("g.mtx", BANNER + "pattern general\n3 3 x\n1 1\n", 2, "number of entries 'x' is not a whole"),
    ("g.mtx", BANNER + "pattern general\n3 3 -1\n1 1\n", 2, "number of entries -1 is out of range"),
    # binary
    ("g.gr", b"\x00\x01\x02\xff\xfe" * 40, 1, "binary data"),
    ("g.mtx", b"\x00\x01\x02\xff\xfe" * 40, 1, "binary data"),
    ("g.txt", b"\x00\x01\x02\xff\xfe" * 40, 1, "binary data"),
    ("g.gr", GR.encode() + b"a 1 2 \x00\n", 4, "binary data"),
    ("g.mtx", MTX.encode() + b"1 2 \x00\n1 1 1\n", 5, "binary data"),
    ("g.txt", TXT.encode() + b"1 \x07\n", 3, "binary data"),
    ("g.gr", GR + "a\x1c2 3 6\na 1 1 1\n", 4, "binary data: byte 0x1c in column 2"),
    ("g.gr", GR + "a\0 2 3 6\na 1 1 1\n", 4, "binary data: byte 0x00"),
    ("g.gr", "p\x0bsp 3 1\na 1 2 5\n", 1, "binary data: byte 0x0b"),
    ("g.gr", "\x0c\np sp 3 1\na 1 2 5\n", 1, "binary data: byte 0x0c"),
    ("g.mtx", MTX + "2 3\x1f6\n1 1 1\n", 5, "binary data: byte 0x1f"),
    ("g.mtx", MTX + "2 3 6\n1 1 1\n\x1a", 7, "binary data: byte 0x1a"),
    ("g.mtx", MTX.replace("3 3 3", "3\x1d3\x1e3"), 3, "binary data: byte 0x1d"),
    ("g.mtx", MTX.replace(" coordinate", "\x1fcoordinate"), 1, "binary data: byte 0x1f"),
    ("g.txt", "1 2\n2\x0b3\n", 2, "binary data: byte 0x0b"),
    ("g.txt", "1\x0c2\n", 1, "binary data: byte 0x0c"),
    ("g.txt", "1 2\n\x1c\n2 3\n", 2, "binary data: byte 0x1c"),
    ("g.txt", "\0\n1 2\n", 1, "binary data: byte 0x00"),
    ("g.txt", gzip.compress(TXT.encode() * 9, mtime=0), 1, "binary data, gzip by its first bytes"),
]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize(("name", "content", "line", "reason"), BAD)
def test_bad_files_are_refused_at_the_right_line(
    tmp_path, name, content, line, reason, line_end, suffix
):
    if isinstance(content, str):
        content = content.replace("\n", line_end)
    file = write(tmp_path / (name + suffix), content)
    with pytest.raises(gk.GraphFormatError) as caught:
        gk.read(file)
    error = caught.value
    assert (error.line, error.file) == (line, str(file)), str(error)
    assert reason in error.reason
    assert str(error) == f"{file}, line {line}: {error.reason}"


@pytest.mark.parametrize("name", ["g.gr.gz", "g.mtx.gz", "g.txt.gz"])
def test_damaged_gzip_files_are_refused(tmp_path, name):
    lines = "\n".join(f"{i} {i * i}" for i in range(5000)).encode()
    whole = gzip.compress(lines)
    file = tmp_path / name
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(
        gk.GraphFormatError, match="truncated: its gzip stream has no end"
    ) as caught:
        gk.read(file)
    assert 1000 < caught.value.line < 5000, "as far as it could be unpacked"
    file.write_bytes(b"1 2\n3 4\n")
    with pytest.raises(gk.GraphFormatError, match="line 1: not a sound gzip file"):
        gk.read(file)
    file.write_bytes(whole[:-8] + b"\0" * 8)
    with pytest.raises(gk.GraphFormatError, match="not a sound gzip file: CRC"):
        gk.read(file)
    file.write_bytes(b"")
    with pytest.raises(gk.GraphFormatError, match="line 1: the file is empty"):
        gk.read(file)


@pytest.mark.parametrize("line", [2, 3, 400, 999, 1000, 1001])
@pytest.mark.parametrize("name", ["g.gr", "g.mtx", "g.txt"])
def test_the_line_is_right_in_whichever_block_it_lies(tmp_path, monkeypatch, name, line):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 100)
    head, row = {
        "g.gr": ("p sp 9 1000", "a 1 2 3"),
        "g.mtx": (BANNER + "integer general\n9 9 999", "1 2 3"),
        "g.txt": ("# Nodes: 2 Edges: 1000", "1 2"),
    }[name]
    lines = [*head.split("\n"), *[row] * 1000][:1001]
    assert gk.read(write(tmp_path / name, "\n".join(lines))).m == 1
    if line <= head.count("\n") + 1:
        return
    lines[line - 1] = row.replace("1", "x")
    with pytest.raises(gk.GraphFormatError, match="'x' is not a whole number") as caught:
        gk.read(write(tmp_path / name, "\n".join(lines)))
    assert caught.value.line == line


def test_other_names_and_missing_files_say_so(tmp_path):
    with pytest.raises(gk.InvalidArgument, match=r"must be a name that ends in .mtx, .gr, .txt"):
        gk.read(tmp_path / "graph.csv")
    with pytest.raises(FileNotFoundError):
        gk.read(tmp_path / "graph.gr")


@pytest.mark.parametrize("path", [5, None, b"graph.gr", ["graph.gr"], "graph\0.gr"], ids=repr)
def test_what_is_no_path_is_refused(path):
    with pytest.raises(gk.InvalidArgument, match=r"path = .*must be a path"):
        gk.read(path)


@pytest.mark.parametrize("option", ["parallel", "self_loops"])
def test_a_choice_is_checked_before_the_file_is_read(tmp_path, option):
    with pytest.raises(gk.InvalidArgument, match=f"{option} = 'most'"):
        gk.read(tmp_path / "missing.gr", **{option: "most"})


def test_a_progress_bar_appears_only_after_its_delay(tmp_path, monkeypatch, capsys):
    columns = text.columns

    def slow_columns(*arguments):
        time.sleep(0.12)
        return columns(*arguments)

    file = write(tmp_path / "g.txt", "1 2\n" * 50)
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 40)
    monkeypatch.setattr(text, "columns", slow_columns)
    assert progress.DELAY == 2.0
    gk.read(file)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "DELAY", 0.2)
    gk.read(file)
    assert "g.txt: " in capsys.readouterr().err


@pytest.mark.parametrize("name", ["g.gr", "g.mtx", "g.txt"])
def test_a_file_of_many_blocks_is_read_whole(tmp_path, monkeypatch, name):
    ends = np.random.default_rng(0).integers(1, 20_001, (100_000, 2))
    n = 20_000 if name != "g.txt" else np.unique(ends).size
    head = {
        "g.gr": "p sp 20000 100000\n",
        "g.mtx": f"{BANNER}integer general\n20000 20000 100000\n",
        "g.txt": "",
    }[name]
    prefix = "a " if name == "g.gr" else ""
    write(tmp_path / name, head + "".join(f"{prefix}{u} {v} {u}\n" for u, v in ends.tolist()))
    assert (tmp_path / name).stat().st_size > 4 * 2**18
    with monkeypatch.context() as patched:
        patched.setattr(blocks, "BLOCK_BYTES", 2**18)
        g = gk.read(tmp_path / name)
    assert (g.n, g.m) == (n, np.unique(ends, axis=0).shape[0])
    source, _ = g.coo
    np.testing.assert_array_equal(g.weights, source + 1 if g.labels is None else g.labels[source])
