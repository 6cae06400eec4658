"""What data/papers says that papers print: named in full, and adding up as they say it does."""

from __future__ import annotations

import json
import re
import sys
from itertools import pairwise

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


def slip(key: str, place: str) -> dict[str, str]:
    """Return the first marked slip of a paper at this place."""
    return next(s for s in PAPERS[key]["slips"] if s["where"] == place)


def test_there_is_a_file_for_each_paper_that_the_page_reads():
    assert set(FILES) == set(papers.KEYS)


@pytest.mark.parametrize("key", FILES)
def test_a_file_names_its_paper_and_its_machines(key):
    paper = PAPERS[key]
    assert paper["key"] == key
    assert str(paper["year"]) == WORKS[key].fields["year"]
    assert paper["hardware"]
    assert all(told["device"] for told in paper["hardware"].values())


@pytest.mark.parametrize(("key", "name"), TABLES)
def test_a_table_names_its_place_its_hardware_and_its_unit(key, name):
    paper = PAPERS[key]
    table = next(t for t in paper["tables"] if t["table"] == name)
    assert all(table[told] for told in ("table", "where", "what", "hardware", "unit"))
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
    for told in [*paper["plots"], *paper.get("statements", [])]:
        named = [name for name in paper["hardware"] if name in told["hardware"]]
        assert told["figure"], told
        assert named, told
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
    found = printed(text, unit)
    assert found == (value if value is None else (pytest.approx(value[0]), value[1]))


@pytest.mark.parametrize("method", ["harish", "topology_driven", "workfront_sweep"])
def test_rivals_of_hbf_take_negative_weights_though_two_papers_deny_it(method):
    assert "Workfront Sweep" in slip("busato2016hbf", "sections 1 and 6.2")["is"]
    assert "Workfront Sweep" in slip("busato2017chapter", "section 3")["is"]
    g = gk.Graph.from_arcs(4, [0, 0, 1, 2, 3], [1, 2, 3, 1, 2], [2, 5, 1, -4, 3])
    assert gk.sssp(g, 0, method).distance.tolist() == [0, 1, 5, 2]


def test_the_chapter_on_energy_has_what_differed_between_the_two_boards():
    cells = json.loads((ROOT / "chapters" / "performance_power_energy.ipynb").read_text())["cells"]
    (said,) = ("".join(cell["source"]) for cell in cells if cell["id"] == "ppe-boards")
    boards = PAPERS["busato2017loadbalancing"]["boards"]
    told = [line.strip("| ").split(" | ") for line in said.splitlines() if line.startswith("|")]
    names = "workload", "what", *PAPERS["busato2017loadbalancing"]["hardware"]
    assert told[2:] == [[row[name] for name in names] for row in boards]
    assert len(boards) == 6


def test_the_chapter_of_hbf_takes_its_factors_from_table_3():
    cells = json.loads((ROOT / "chapters" / "hbf.ipynb").read_text(encoding="utf-8"))["cells"]
    lines = next(cell["source"] for cell in cells if cell["id"] == "hb-gpu-switches")[:2]
    told: dict[str, dict[str, float]] = {}
    exec("".join(lines), told)
    for factor, row in zip(
        told["TABLE_3"].values(), rows("busato2016hbf", "Table 3").values(), strict=True
    ):
        without, with_it = (
            float(row[f"H-BF {way}"].split("(")[0].split()[0].replace(",", ""))
            for way in ("without", "with")
        )
        ms = {"hugetrace_00000": 1000}.get(row["graph"], 1)
        extra = 2 if "(+2)" in row["H-BF with"] else 0
        assert factor == without * ms / (with_it * ms + extra)
