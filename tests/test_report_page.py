"""The page of the papers' numbers beside ours says what the files say, and nothing else."""

from __future__ import annotations

import copy
import csv
import io
import json
import re
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from built_book import ROOT, built_book

from gpukernels.notebook import record

sys.path.insert(0, str(ROOT / "book" / "paper"))
sys.path.insert(0, str(ROOT / "book"))
import report_page
from report_page import pairs, papers
from report_page.beside import Beside
from report_page.sections import PARTS
from stills import still

SOURCE = (ROOT / "book" / "report.md").read_text(encoding="utf-8")
PAIRS = (pairs.BFS4K, pairs.HBF, pairs.SWITCHED, pairs.ALL_PAIRS)
OURS = ("bfs", "sssp", "apsp", "mapping", "duplicates", "energy")
SCALE = {"us": 1e-3, "ms": 1, "s": 1e3, "×": 1}


@pytest.fixture(scope="module")
def built() -> BeautifulSoup:
    """The page as it was built."""
    html = (built_book() / "book" / "report.html").read_text(encoding="utf-8")
    return BeautifulSoup(html, "html.parser").article


@pytest.fixture
def change(tmp_path, monkeypatch):
    """Return a function that edits the content of a file, in copies of both folders."""
    for module in (papers, record):
        folder = shutil.copytree(module.FOLDER, tmp_path / module.__name__)
        monkeypatch.setattr(module, "FOLDER", folder)

    def changed(module, name: str, edit) -> None:
        path = module.FOLDER / f"{name}.json"
        content = json.loads(path.read_text(encoding="utf-8"))
        edit(content)
        path.write_text(json.dumps(content), encoding="utf-8")

    return changed


def row_of(content, graph: str):
    """Return the row of a graph."""
    return next(row for row in content["times"] if row["graph"] == graph)


def milliseconds(text: str, unit: str = "") -> float | None:
    """Return the time that a paper prints, None of what is no number."""
    match = re.match(r"([\d,.]+)(?:\(\+(\d+)\))? ?(us|ms|s|×)?(?: \(W\d+\))?$", text)
    factor = match and SCALE[match[3] or unit]
    return match and (float(match[1].replace(",", "")) + float(match[2] or 0)) * factor


@pytest.mark.parametrize("pair", PAIRS)
def test_every_number_of_a_table_is_the_one_of_its_file(pair):
    paper = json.loads((papers.FOLDER / f"{pair.paper}.json").read_text(encoding="utf-8"))
    (table,) = [t for t in paper["tables"] if t["table"] == pair.table]
    of = Beside(pair)
    ratios = []
    for row in table["rows"]:
        printed = dict(zip(table["columns"], row, strict=True))
        for column, line in zip(pair.methods, of.lines(row[0]), strict=True):
            text = printed.get(column)
            number = milliseconds(text, table["unit"].split(";")[0].replace("as printed", "ms"))
            assert line.theirs == text if number is None else line.theirs.value == number
            if line.ours:
                search = of.row(row[0])["searches"][line.ours.note]
                figures = ("roots_kernel_ms", "kernel_ms", "roots_call_ms", "call_ms")
                assert line.ours.value == next(search[f] for f in figures if f in search)
            if line.ratio:
                ratios.append(line.ratio)
                assert line.ratio.value == pytest.approx(number / line.ours.value)
    assert ratios


def test_a_mark_lies_where_its_number_is_on_the_scale(built):
    charts = built.select("figure.gk-beside")
    assert len(charts) >= 11
    for chart in charts:
        low, high = map(milliseconds, chart.select_one("th.track").text.split(" – "))
        for row in chart.select("tbody tr"):
            for kind, cell in zip(("theirs", "ours"), row.select("td.track ~ td"), strict=False):
                mark = row.select_one(f"circle.{kind}")
                assert (mark is None) == (cell.b is None)
                if mark is not None:
                    at = float(mark["cx"][:-1]) / 100
                    value = milliseconds(cell.b.text)
                    assert low * (high / low) ** at == pytest.approx(value, rel=0.01)


def test_a_ratio_is_called_what_it_is_and_stands_only_beside_a_graph_as_large(built):
    for chart in built.select("figure.gk-beside"):
        words = re.search(r"Times faster: different hardware, \d+( to \d+)? years", chart.text)
        assert bool(words) == (chart.select("thead th")[-1].text == "times faster")
    assert Beside(pairs.BFS4K).as_large("random.2Mv.128Me")
    assert not Beside(pairs.BFS4K).as_large("rmat.2Mv.128Me")
    assert Beside(pairs.HBF).as_large("rmat.3Mv.20Me")
    assert [line.ratio for line in Beside(pairs.BFS4K).lines("rmat.2Mv.128Me")] == [None] * 6


def test_hardware_date_and_commit_of_every_file_are_named(built):
    text = " ".join(built.text.split())
    for name in OURS:
        content = record.kept(name)
        for key in ("device", "date", "commit", "driver"):
            assert content[key] in text
    for key in papers.KEYS:
        paper = json.loads((papers.FOLDER / f"{key}.json").read_text(encoding="utf-8"))
        for device in paper["hardware"].values():
            assert device["device"] in text


def test_the_figure_of_mappings_has_the_least_time_of_each_technique(built):
    figure = built.select_one("figure[data-view=compare]")
    content = json.loads(figure.find("script", type="application/json").string)
    times = record.kept("mapping")["times"]
    for row in csv.DictReader(io.StringIO(content["csv"])):
        technique = pairs.TECHNIQUES[row["technique"]], row["workload"]
        least = min(t["ms"] for t in times if (t["method"], t["workload"]) == technique)
        assert float(row["kernels (ms)"]) == least


def test_another_measurement_and_another_print_make_another_page(change):
    before = {name: part() for name, part in PARTS.items()}

    def slower(content):
        row_of(content, "random")["searches"]["harish"]["roots_kernel_ms"] = 7.77

    def other(content):
        content["tables"][0]["rows"][-1][-1] = "1000000"

    change(record, "bfs", slower)
    assert {name for name in PARTS if PARTS[name]() != before[name]} == {"bfs4k"}
    assert "<b>7.77 ms</b>" in PARTS["bfs4k"]()
    change(papers, "padamata2013graph", other)
    assert "<b>1 s</b>" in PARTS["all-pairs"]()
    assert "<b>1 s</b>" in PARTS["overview"]()


def test_a_graph_that_is_measured_later_finds_its_place(change):
    def add(content):
        row = json.loads(json.dumps(row_of(content, "rmat")))
        content["times"].append({**row, "graph": "kron", "n": 1_000_000, "m": 100_700_000})
        content["times"].append({**row, "n": 2_000_000, "m": 128_000_000})

    change(record, "bfs", add)
    of = Beside(pairs.BFS4K)
    assert of.row("kron_g500-lon20") is not None
    assert of.row("rmat.2Mv.128Me")["m"] == 128_000_000
    assert of.as_large("rmat.2Mv.128Me")
    assert "kron_g500-lon20" not in PARTS["without"]()


def test_a_row_that_is_not_there_is_not_measured(change):
    def fewer(content):
        content["times"].remove(row_of(content, "small world"))
        del row_of(content, "random")["searches"]["luo"]
        row_of(content, "random")["searches"]["edge_parallel"] = {"stopped_after_ms": 12000.0}

    change(record, "bfs", fewer)
    assert "no graph of this kind (small world)" in PARTS["without"]()
    lines = {line.name: line.ours for line in Beside(pairs.BFS4K).lines("random.2Mv.128Me")}
    assert lines["Luo"] is lines["Edge Parallel"] is None
    assert lines["Harish"] is not None
    assert "<td>not measured</td>" in PARTS["bfs4k"]()


def test_every_row_of_a_table_is_beside_ours_or_among_those_without(built):
    rows = built.find(string="What has no counterpart, and why").parent.parent.find_all("tr")
    lacking = [" ".join(row.get_text(" ").split()) for row in rows]
    for pair in PAIRS:
        of = Beside(pair)
        for graph in of.graphs:
            name = re.compile(rf", {pair.table} .*\b{re.escape(graph)}\b")
            is_lacking = any(of.paper.name in row and name.search(row) for row in lacking)
            assert (of.row(graph) is None) == is_lacking


def test_a_part_stands_once_where_its_place_is_and_an_unknown_place_is_an_error():
    assert sorted(report_page.PLACE.findall(SOURCE)) == sorted(PARTS)
    with pytest.raises(KeyError, match="nowhere"):
        report_page.written("<!-- report: nowhere -->")


def test_a_file_that_changes_makes_the_build_read_the_page_again():
    noted, source = [], [SOURCE]
    app = SimpleNamespace(env=SimpleNamespace(note_dependency=noted.append))
    report_page.write(app, "book/report", source)
    assert report_page.PLACE.findall(source[0]) == []
    assert {f"{name}.json" for name in (*OURS, *papers.KEYS)} <= {Path(n).name for n in noted}
    noted.clear()
    report_page.write(app, "book/glossary", ["# Glossary"])
    assert noted == []


def test_the_prose_has_no_number_of_its_own():
    text = re.sub(r"\{\w+\}`[^`]*`|`[^`]*`|<!--.*?-->|\(\S+\)=", "", SOURCE)
    names = re.sub(r"Tables? \d( and \d)?|Fig\. \d+|BFS-4K", "", text)
    assert re.findall(r"\d+", names) == []


def test_on_paper_the_words_are_opened(built):
    paper = still(copy.copy(built))
    text = paper.get_text(" ", strip=True)
    assert "What has no counterpart, and why." in text
    assert "Slips in the papers." in text
    assert not paper.select("details")
    assert len(paper.select("figure.gk-beside")) == len(built.select("figure.gk-beside"))
