"""What data/papers says that papers print: named in full, and adding up as they say it does."""

from __future__ import annotations

import json
import re
import sys
from itertools import pairwise
from math import log2
from statistics import mean

import pytest
from built_book import ROOT
from pybtex.database import parse_file

import gpukernels as gk

sys.path.insert(0, str(ROOT / "book"))
from report_page import papers
from report_page.numbers import printed

FILES = {path.stem: path for path in sorted((ROOT / "data" / "papers").glob("*.json"))}
PAPERS = {name: json.loads(path.read_text(encoding="utf-8")) for name, path in FILES.items()}
WORKS = parse_file(str(ROOT / "book" / "references.bib")).entries
NO_NUMBER = {"–", "out-of-time", "out-of-memory"}
TABLES = [(key, table["table"]) for key, paper in PAPERS.items() for table in paper["tables"]]


def rows(key: str, name: str) -> dict[str, dict[str, str]]:
    """Return the printed cells of a table by row and column; equal heads get the one before."""
    table = next(t for t in PAPERS[key]["tables"] if t["table"] == name)
    heads = [
        f"{before} {head}" if table["columns"].count(head) > 1 else head
        for before, head in pairwise(["", *table["columns"]])
    ]
    return {row[0]: dict(zip(heads, row, strict=True)) for row in table["rows"]}


def bounds(text: str, unit: str = "") -> tuple[float, float]:
    """Return between what a printed number lies, by the last of its digits."""
    value, _ = printed(text, unit)
    digits = re.match(r"[\d,]*\d(\.\d+)?", text)
    step = 10.0 ** -len(digits[1][1:]) if digits[1] else 1.0
    scale = value / float(digits[0].replace(",", "")) if "(" not in text else 1.0
    return value - step * scale / 2, value + step * scale / 2


def agrees(ratio: str, over: tuple[float, float], under: tuple[float, float]) -> bool:
    """Say whether a printed ratio, rounded or cut off, is that of two printed numbers."""
    low, high = bounds(ratio)
    cut = high - low  # a paper may have cut off where another rounds
    return over[0] / under[1] < high + cut / 2 and low < over[1] / under[0]


def slip(key: str, place: str) -> dict[str, str]:
    """Return the first marked slip of a paper at this place."""
    return next(s for s in PAPERS[key]["slips"] if s["where"] == place)


def slips(key: str) -> str:
    """Return where a paper's marked slips are."""
    return "; ".join(slip["where"] for slip in PAPERS[key]["slips"])


def test_there_is_a_file_for_each_paper_that_the_page_reads():
    assert set(FILES) == set(papers.KEYS)


@pytest.mark.parametrize("key", FILES)
def test_a_file_names_its_paper_and_its_machines(key):
    paper = PAPERS[key]
    assert paper["key"] == key
    assert str(paper["year"]) == WORKS[key].fields["year"]
    assert paper["hardware"]
    assert all(machine["device"] for machine in paper["hardware"].values())


@pytest.mark.parametrize(("key", "name"), TABLES)
def test_a_table_names_its_place_its_hardware_and_its_unit(key, name):
    paper = PAPERS[key]
    table = next(t for t in paper["tables"] if t["table"] == name)
    assert all(table[field] for field in ("table", "where", "what", "hardware", "unit"))
    assert table["page"] is None or table["page"] > 0
    assert table["hardware"] in paper["hardware"] or table["hardware"].startswith("none: ")
    assert {len(row) for row in table["rows"]} == {len(table["columns"])}
    for row in table["rows"]:
        for column, text in zip(table["columns"][1:], row[1:], strict=True):
            words = column in ("optimization", "difference")
            assert words or text in NO_NUMBER or printed(text, table["unit"]), (row[0], text)


@pytest.mark.parametrize("key", FILES)
def test_a_plot_is_told_in_words_and_a_statement_names_its_figure_and_its_hardware(key):
    paper = PAPERS[key]
    for entry in [*paper["plots"], *paper.get("statements", [])]:
        named = [name for name in paper["hardware"] if name in entry["hardware"]]
        assert entry["figure"], entry
        assert named, entry
    assert not [plot for plot in paper["plots"] if re.search(r"\d", plot["shape"]) and
                "4 x 2" not in plot["shape"] and "Table 2" not in plot["shape"] and
                "BFS-4K" not in plot["shape"]]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("59,620.0", "ms", (59620.0, "")),
        ("63.0 (W16)", "ms", (63.0, "groups of 16")),
        ("1,445 ms", "", (1445.0, "")),
        ("280 s", "as printed", (280e3, "")),
        ("17(+2) ms", "", (19.0, "")),
        ("8510", "us", (8.51, "")),
        ("415K", "vertices", (415e3, "")),
        ("2.0M", "", (2e6, "")),
        ("20.0x", "", (20.0, "")),
        ("out-of-time", "ms", None),
        ("–", "ms", None),
        ("+17,7%", "vertices", None),
        ("", "ms", None),
    ],
)
def test_a_printed_number_is_read_with_its_unit(text, unit, value):
    number = printed(text, unit)
    assert number == (value if value is None else (pytest.approx(value[0]), value[1]))


def test_the_speed_ups_of_hbf_are_its_times_over_one_core_s():
    for name, row in rows("busato2016hbf", "Table 3").items():
        core = bounds(row["Bellman-Ford, one core"])
        for way in ("without", "with"):
            assert agrees(row[f"speed-up {way}"], core, bounds(row[f"H-BF {way}"])), (name, way)


def test_the_rates_of_hbf_are_edges_by_time_but_for_the_marked_slip():
    graphs, wrong = rows("busato2016hbf", "Table 1"), set()
    for name, row in rows("busato2016hbf", "Table 2").items():
        edges, _ = printed(graphs[name]["E"])
        for method in [m for m in row if m != "graph" and not m.endswith(" MTEPS")]:
            rate = edges / printed(row[method])[0] / 1e3
            if abs(float(row[f"{method} MTEPS"]) - rate) > max(0.1, 0.015 * rate):
                wrong.add(f"Table 2, {name}, {method}")
    assert wrong == {"Table 2, USA-road-d.CAL, H-BF"}
    assert all(place in slips("busato2016hbf") for place in wrong)


@pytest.mark.parametrize(
    ("key", "wrong"),
    [("busato2015bfs4k", {"as-skitter"}), ("busato2016hbf", {"delaunay_n20"})],
)
def test_average_degrees_are_edges_by_vertices_but_for_the_marked_slips(key, wrong):
    differences = {
        name
        for name, row in rows(key, "Table 1").items()
        if not agrees(row["average degree"], bounds(row["E"]), bounds(row["V"]))
    }
    assert differences == wrong
    assert all(f"Table 1, {name}" in slips(key) for name in wrong)


def test_two_papers_print_another_average_degree_of_one_graph():
    assert rows("busato2015bfs4k", "Table 1")["as-skitter"]["average degree"] == "12.1"
    assert rows("busato2016hbf", "Table 1")["as-Skitter"]["average degree"] == "13.1"
    assert rows("busato2017loadbalancing", "Table I")["as-Skitter"]["mean"] == "13.1"


def test_groups_of_one_thread_are_harish_s_and_bfs4k_is_the_fastest_everywhere():
    for row in rows("busato2015bfs4k", "Table 2").values():
        if row["Static Virtual Warp"].endswith("(W1)"):
            assert row["Static Virtual Warp"].startswith(row["Harish"])
        times = {name: printed(text) for name, text in row.items() if name != "graph"}
        assert min((t, name) for name, t in times.items() if t)[1] == "BFS-4K"


def test_the_differences_in_duplicates_are_those_of_the_counts():
    for row in rows("busato2015bfs4k", "Fig. 13(b)").values():
        before, after = (int(row[c].replace(",", "")) for c in ("Garland", "Hash64 (BFS-4K)"))
        difference = float(row["difference"].rstrip("%").replace(",", "."))
        assert difference == pytest.approx(100 * (after / before - 1), abs=0.51)


def test_what_hbf_says_of_its_table_3_is_marked_where_the_table_says_otherwise():
    table = rows("busato2016hbf", "Table 3").values()
    gains = [float(r["speed-up with"][:-1]) / float(r["speed-up without"][:-1]) for r in table]
    assert [round(g, 1) for g in (min(gains), max(gains))] == [1.9, 3.4]
    assert max(float(row["speed-up without"][:-1]) for row in table) == 58.1
    assert {"from 12.5x to 58.1x", "3.4 times"} <= {
        slip["is"] for slip in PAPERS["busato2016hbf"]["slips"]
    }


def times_of_hbf() -> dict[str, dict[str, float]]:
    """Return the times of Table 2, in milliseconds, by graph and method."""
    return {
        name: {m: printed(t)[0] for m, t in row.items() if m != "graph" and "MTEPS" not in m}
        for name, row in rows("busato2016hbf", "Table 2").items()
    }


@pytest.mark.parametrize(
    ("key", "section", "figure"),
    [("busato2016hbf", "6.2", "Fig. 8"), ("busato2017chapter", "3.2", "Fig. 7")],
)
def test_hbf_is_not_the_fastest_on_one_graph_though_two_papers_say_so(key, section, figure):
    fastest = {name: min(times, key=times.get) for name, times in times_of_hbf().items()}
    beaten = {name: method for name, method in fastest.items() if method != "H-BF"}
    assert beaten == {"USA-road-d.CAL": "Boost Dijkstra, one core"}
    (shape,) = (p["shape"] for p in PAPERS[key]["plots"] if p["figure"] == figure)
    text = slip(key, f"section {section}, of {figure}")
    assert text["printed"] == "outperforms all the other implementations in every graph"
    for name in beaten:
        assert f"every graph except {name}" in shape
        assert text["is"] == f"in every graph except {name}"


def test_the_average_speed_up_of_hbf_is_less_than_its_abstract_says():
    times = times_of_hbf().values()
    other, sweep = "LoneStar", "Workfront Sweep / Near-Far"
    gains = [min(of[other], of[sweep]) / of["H-BF"] for of in times]
    assert slip("busato2016hbf", "abstract")["is"] == f"{mean(gains):.1f}x"
    over_sweep = [round(of[sweep] / of["H-BF"], 1) for of in times]
    assert (min(over_sweep), max(over_sweep)) == (1.3, 6.4)  # which the chapter says


def test_msdoor_has_415_thousand_vertices():
    assert printed(rows("busato2016hbf", "Table 1")["msdoor"]["V"])[0] == 415e3


#: A path from 0, its last arc first.
BACKWARDS = [(2, 3, 1), (1, 2, 1), (0, 1, 1)]
FAR = float("inf")


@pytest.mark.parametrize(
    ("key", "place"), [("busato2016hbf", "Algorithm 1"), ("busato2017chapter", "Algorithm 4")]
)
def test_one_pass_over_all_edges_does_not_find_the_distances(key, place):
    assert slip(key, place)["printed"] == "one pass over all edges"
    distance, after = [0, FAR, FAR, FAR], []
    for _ in range(len(distance) - 1):
        for u, v, weight in BACKWARDS:
            distance[v] = min(distance[v], distance[u] + weight)
        after.append(distance.copy())
    assert after == [[0, 1, FAR, FAR], [0, 1, 2, FAR], [0, 1, 2, 3]]


@pytest.mark.parametrize(("enqueues", "count"), [(False, [0, 1, FAR, FAR]), (True, [0, 1, 2, 3])])
def test_algorithm_5_of_the_survey_ends_after_the_root_as_it_never_enqueues(enqueues, count):
    assert "queue is empty after the root" in slip("busato2017chapter", "Algorithm 5")["why"]
    distance, queue = [0, FAR, FAR, FAR], [0]
    while queue:
        u = queue.pop(0)
        for v, weight in ((v, weight) for tail, v, weight in BACKWARDS if tail == u):
            if distance[u] + weight < distance[v]:
                distance[v] = distance[u] + weight
                queue += [v] * enqueues
    assert distance == count


@pytest.mark.parametrize("method", ["harish", "topology_driven", "workfront_sweep"])
def test_rivals_of_hbf_take_negative_weights_though_two_papers_deny_it(method):
    assert "Workfront Sweep" in slip("busato2016hbf", "sections 1 and 6.2")["is"]
    assert "Workfront Sweep" in slip("busato2017chapter", "section 3")["is"]
    g = gk.Graph.from_arcs(4, [0, 0, 1, 2, 3], [1, 2, 3, 1, 2], [2, 5, 1, -4, 3])
    assert gk.sssp(g, 0, method).distance.tolist() == [0, 1, 5, 2]


def test_the_survey_prints_the_relaxations_of_another_search():
    text = slip("busato2017chapter", "section 3.2, of Fig. 6")
    assert (text["printed"], text["is"]) == ("5 relax operations over 5 iterations", "23 over 6")
    nine = gk.Graph.from_arcs(
        9,
        [0, 0, 2, 2, 2, 3, 3, 4, 4, 4, 6, 6, 7, 7],
        [2, 3, 1, 2, 3, 7, 8, 4, 5, 8, 4, 8, 4, 6],
        [1, 6, 2, 9, 3, 4, 3, 2, 4, 2, 5, 9, 3, 5],
    )
    plain = gk.sssp(nine, 0, "hbf", gk.SimtDevice(), edge_classes=False).stats
    classed = gk.sssp(nine, 0, "hbf", gk.SimtDevice()).stats
    atomics = classed["relaxations"] - sum(classed["saved"][c] for c in ("in_degree", "source"))
    assert (plain["relaxations"], plain["iterations"]) == (23, 6)
    assert (atomics, classed["iterations"]) == (5, 5)


def test_the_course_s_all_pairs_are_as_many_times_faster_as_it_says():
    table = rows("padamata2013graph", "Results, all pairs")
    times = {int(n): {m: int(t) for m, t in row.items() if m != "vertices"}
             for n, row in table.items()}  # fmt: skip
    for of in times.values():
        assert list(of) == sorted(of, key=of.get, reverse=True)
        assert 200 < of["one core"] / of["blocked, 4 x 2"] < 255
    assert [round(of["naive"] / of["blocked, 4 x 2"], 1) for of in times.values()] == [
        1.3, 1.9, 2.1, 2.2, 2.2,
    ]  # fmt: skip
    rate = 2 * 4096**3 * log2(4096) / times[4096]["matrix products"] / 1e3
    assert round(rate) == 291  # not above 600
    assert "291 at 4,096 vertices" in {s["is"] for s in PAPERS["padamata2013graph"]["slips"]}


def test_the_course_s_average_speed_ups_are_marked_as_slips():
    table = rows("padamata2013graph", "Experiments, by size").values()
    marked = {s["printed"]: s["is"] for s in PAPERS["padamata2013graph"]["slips"]}
    for method, factor in (("edge list", "2x"), ("linear work", "4x")):
        average = mean(int(row["one core"]) / int(row[method]) for row in table)
        assert marked[f"an average speed-up of {factor}"] == f"{average:.1f}"


def test_the_chapter_on_energy_has_what_differed_between_the_two_boards():
    cells = json.loads((ROOT / "chapters" / "performance_power_energy.ipynb").read_text())["cells"]
    (text,) = ("".join(cell["source"]) for cell in cells if cell["id"] == "ppe-boards")
    boards = PAPERS["busato2017loadbalancing"]["boards"]
    table_rows = [
        line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")
    ]
    names = "workload", "what", *PAPERS["busato2017loadbalancing"]["hardware"]
    assert table_rows[2:] == [[row[name] for name in names] for row in boards]
    assert len(boards) == 6


def test_the_chapter_of_hbf_takes_its_factors_from_table_3():
    cells = json.loads((ROOT / "chapters" / "hbf.ipynb").read_text(encoding="utf-8"))["cells"]
    lines = next(cell["source"] for cell in cells if cell["id"] == "hb-gpu-switches")[:2]
    factors: dict[str, dict[str, float]] = {}
    exec("".join(lines), factors)
    for factor, row in zip(
        factors["TABLE_3"].values(), rows("busato2016hbf", "Table 3").values(), strict=True
    ):
        without, with_it = (
            float(row[f"H-BF {way}"].split("(")[0].split()[0].replace(",", ""))
            for way in ("without", "with")
        )
        ms = {"hugetrace_00000": 1000}.get(row["graph"], 1)
        extra = 2 if "(+2)" in row["H-BF with"] else 0
        assert factor == without * ms / (with_it * ms + extra)
