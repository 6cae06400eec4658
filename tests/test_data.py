"""The graphs of data/ are what data/README.md says and what data/make_graphs.py makes."""

import gzip
import importlib.util
import json
import re
import statistics
from pathlib import Path

import numpy as np
import pytest

import gpukernels as gk

DATA = Path(__file__).parents[1] / "data"
SPEC = importlib.util.spec_from_file_location("make_graphs", DATA / "make_graphs.py")
make_graphs = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make_graphs)


@pytest.mark.parametrize("name", make_graphs.GRAPHS)
def test_a_data_file_is_what_its_maker_writes_and_reads_as_its_graph(name):
    make, text = make_graphs.GRAPHS[name]
    content = (DATA / name).read_bytes()
    content = gzip.decompress(content) if name.endswith(".gz") else content
    assert content == text().encode()
    read, written = gk.read(DATA / name), make()
    np.testing.assert_array_equal(read.offsets, written.offsets)
    np.testing.assert_array_equal(read.targets, written.targets)
    if written.weights is None:
        assert read.weights is None
    else:
        np.testing.assert_array_equal(read.weights, written.weights)
        assert read.weights.dtype == written.weights.dtype
    if written.labels is not None:
        np.testing.assert_array_equal(read.labels, written.labels)


def test_the_readme_tells_vertices_and_arcs_of_every_graph_file():
    rows = re.findall(
        r"^\| `([^`]+)` \|[^|]*\| ([\d,]+) \| ([\d,]+) \|",
        (DATA / "README.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    sizes = {name: (int(n.replace(",", "")), int(m.replace(",", ""))) for name, n, m in rows}
    files = [*DATA.glob("*.txt*"), *DATA.glob("*.gr*"), *DATA.glob("*.mtx*")]
    assert {file.name for file in files} == sizes.keys() == make_graphs.GRAPHS.keys()
    for file in files:
        g = gk.read(file)
        assert sizes[file.name] == (g.n, g.m), file.name


def _told(ratios):
    return f"{statistics.median(ratios):.2f} times", f"{max(ratios):.2f} times"


def test_the_page_tells_what_the_successor_costs():
    record = json.loads((DATA / "benchmarks" / "successor.json").read_text())
    page = (DATA.parent / "book" / "reading.md").read_text(encoding="utf-8")
    times = record["times"]
    calls = [time["call_pair"] for time in times if time["of"] in ("bfs", "sssp")]
    for start, pairs in (
        (
            f"registers of a thread, {len(record['registers'])} kernels",
            record["registers"].values(),
        ),
        (f"time of kernels, {len(times)} measured", [time["kernel_pair"] for time in times]),
        (f"whole calls of searches, {len(calls)} measured", calls),
    ):
        (row,) = (line for line in page.splitlines() if line.startswith(f"| {start} |"))
        for number in _told([theirs / ours for ours, theirs in pairs]):
            assert number in row
