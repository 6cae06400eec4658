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
from urllib.parse import unquote

import pytest
from bs4 import BeautifulSoup
from built_book import ROOT, built_book

from gpukernels.notebook import record

sys.path.insert(0, str(ROOT / "book" / "paper"))
sys.path.insert(0, str(ROOT / "book"))
import report_page
from report_page import pairs, papers
from report_page.beside import Beside
from report_page.sections import Page
from stills import still

SOURCE = (ROOT / "book" / "report.md").read_text(encoding="utf-8")
PLACES = report_page.PLACE.findall(SOURCE)
FOLDERS = {"papers": papers.FOLDER, "benchmarks": record.FOLDER}
OURS = ("bfs", "sssp", "apsp", "mapping", "duplicates", "energy")


def fragment(html: str) -> BeautifulSoup:
    """Return HTML, parsed."""
    return BeautifulSoup(html, "html.parser")


@pytest.fixture(scope="module")
def built() -> BeautifulSoup:
    """The page as it was built."""
    return fragment((built_book() / "book" / "report.html").read_text(encoding="utf-8")).article


@pytest.fixture
def copies(tmp_path) -> dict:
    """Both folders, to be changed."""
    return {name: shutil.copytree(folder, tmp_path / name) for name, folder in FOLDERS.items()}


def parts(folders) -> dict[str, str]:
    """Return every part of the page, made of some folders."""
    page = Page(folders["papers"], folders["benchmarks"])
    return {name: page.places[name]() for name in page.places}


def change(folder, name: str, edit) -> None:
    """Let `edit` change what a file holds."""
    path = folder / f"{name}.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    edit(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def row_of(content, graph: str):
    """Return the row of a graph."""
    return next(row for row in content["times"] if row["graph"] == graph)


def saved(built, file: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file that the page saves."""
    link = built.find("a", download=f"{file}.csv")
    return list(csv.DictReader(io.StringIO(unquote(link["href"].split(",", 1)[1]))))


def milliseconds(text: str, unit: str) -> float | None:
    """Return the time that a paper prints, None of what is no number."""
    match = re.match(r"([\d,.]+)(?:\(\+(\d+)\))? ?(us|ms|s)?(?: \(W\d+\))?$", text)
    factor = match and {"us": 1e-3, "ms": 1, "s": 1e3}[match[3] or unit]
    return match and (float(match[1].replace(",", "")) + float(match[2] or 0)) * factor


@pytest.mark.parametrize("pair", [pairs.BFS4K, pairs.HBF, pairs.SWITCHED, pairs.ALL_PAIRS])
def test_every_number_of_a_table_is_the_one_of_its_file(built, pair):
    name = f"{pair.paper}-{pair.table}".lower().replace(" ", "-").replace(",", "")
    paper = json.loads((papers.FOLDER / f"{pair.paper}.json").read_text(encoding="utf-8"))
    (table,) = [t for t in paper["tables"] if t["table"] == pair.table]
    printed = {
        (row[0], column): text
        for row in table["rows"]
        for column, text in zip(table["columns"], row, strict=True)
    }
    times = {row["call"]: row["searches"] for row in record.kept(pair.file)["times"]}
    rows = saved(built, name)
    assert len(rows) == len(table["rows"]) * len(pair.methods)
    for graph, method, theirs, ours, search, ratio, ours_graph in (row.values() for row in rows):
        column = next(c for c, (name, _) in pair.methods.items() if name == method)
        text = printed.get((graph, column), "")
        number = milliseconds(text, table["unit"].split(";")[0].replace("as printed", "ms"))
        assert theirs == text if number is None else float(theirs) == pytest.approx(number)
        if ours:
            number_of_ours = times[ours_graph][search]
            figures = ("roots_kernel_ms", "kernel_ms", "roots_call_ms", "call_ms")
            assert float(ours) == next(number_of_ours[f] for f in figures if f in number_of_ours)
        if ratio:
            assert float(ratio) == pytest.approx(number / float(ours))
    assert any(list(row.values())[5] for row in rows)


def test_a_mark_lies_where_its_number_is_on_the_scale(built):
    scale = {"ms": 1, "s": 1e3, "×": 1}

    def value(text: str) -> float:
        number, unit = re.fullmatch(r"([\d.,e-]+) ?(ms|s|×)", text).groups()
        return float(number.replace(",", "")) * scale[unit]

    charts = built.select("figure.gk-beside")
    assert len(charts) >= 11
    for chart in charts:
        ticks = [(float(t["x"][:-1]), value(t.text)) for t in chart.select("tfoot text")]
        (low_at, low), (high_at, high) = ticks[0], ticks[-1]
        for row in chart.select("tbody tr"):
            for kind, cell in zip(("theirs", "ours"), row.select("td.track ~ td"), strict=False):
                mark = row.select_one(f"circle.{kind}")
                assert (mark is None) == (cell.b is None)
                if mark is not None:
                    at = (float(mark["cx"][:-1]) - low_at) / (high_at - low_at)
                    assert low * (high / low) ** at == pytest.approx(value(cell.b.text), rel=0.01)


def test_a_ratio_is_called_what_it_is_and_stands_only_beside_a_graph_as_large(built):
    for chart in built.select("figure.gk-beside"):
        heads = [head.text for head in chart.select("thead th")]
        with_ratio = len(chart.select("tbody tr:first-child td")) == 4
        words = r"times faster: different hardware, \d+( to \d+)? years apart"
        assert with_ratio == bool(re.fullmatch(words, heads[-1]))
        assert heads[-1] in chart.select_one(".legend").text
    assert Beside(pairs.BFS4K).as_large("random.2Mv.128Me")
    assert not Beside(pairs.BFS4K).as_large("rmat.2Mv.128Me")
    assert Beside(pairs.HBF).as_large("rmat.3Mv.20Me")
    for line in Beside(pairs.BFS4K).lines("rmat.2Mv.128Me"):
        assert line.ratio is None


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


def test_another_measurement_and_another_print_make_another_page(copies):
    before = parts(copies)

    def slower(content):
        row_of(content, "random")["searches"]["harish"]["roots_kernel_ms"] = 7.77

    def other(content):
        content["tables"][0]["rows"][-1][-1] = "1000000"

    change(copies["benchmarks"], "bfs", slower)
    after = parts(copies)
    assert {name for name in after if after[name] != before[name]} == {"bfs4k"}
    assert "<b>7.77 ms</b>" in after["bfs4k"]
    change(copies["papers"], "padamata2013graph", other)
    after = parts(copies)
    assert "<b>1 s</b>" in after["all-pairs"]
    assert "<b>1 s</b>" in after["overview"]


def test_a_graph_that_is_measured_later_finds_its_place(copies):
    def add(content):
        row = json.loads(json.dumps(row_of(content, "rmat")))
        content["times"].append({**row, "graph": "kron", "n": 1_000_000, "m": 100_700_000})
        content["times"].append({**row, "n": 2_000_000, "m": 128_000_000})

    change(copies["benchmarks"], "bfs", add)
    of = Beside(pairs.BFS4K, copies["papers"], copies["benchmarks"])
    assert of.row("kron_g500-lon20") is not None
    assert of.row("rmat.2Mv.128Me")["m"] == 128_000_000
    assert of.as_large("rmat.2Mv.128Me")
    assert "kron_g500-lon20" not in parts(copies)["without"]


def test_energy_that_is_measured_later_finds_its_place(copies):
    content = json.loads((copies["benchmarks"] / "mapping.json").read_text(encoding="utf-8"))
    joules = {"multi_phase": 2.0, "two_phase": 5.0, "work_item_to_thread": 3.0}
    rows = [
        {"run": "mapping", "workload": load["workload"], "technique": name, "millijoules": value}
        for load in content["workloads"]
        for name, value in joules.items()
    ]
    (copies["benchmarks"] / "energy.json").unlink()
    assert "its energy is not measured" in parts(copies)["without"]
    (copies["benchmarks"] / "energy.json").write_text(json.dumps({**content, "times": rows}))
    page_parts = parts(copies)
    assert "its energy is not measured" not in page_parts["without"]
    assert "<b>2.5×</b>" in page_parts["mapping"]
    assert "<b>1.5×</b>" in page_parts["mapping"]
    assert "energy (mJ)" in page_parts["mapping"]


def test_energy_of_another_gpu_is_not_shown_as_if_it_were_of_the_gpu_of_the_times(copies):
    for name, device in (("mapping", "NVIDIA One"), ("energy", "NVIDIA Other")):
        change(
            copies["benchmarks"], name, lambda content, device=device: content.update(device=device)
        )
        change(copies["benchmarks"], name, lambda content: content.update(date="2031-01-01"))
    page = fragment(parts(copies)["mapping"])
    both = "One, 2031; energy: Other, 2031"
    assert both in page.select_one("figure.gk-beside thead").text
    figure = page.select_one("figure[data-view=compare]")
    assert both in figure.select_one(".gk-title").text
    assert re.search(r"Ours: NVIDIA One, .*\. Energy: NVIDIA Other, ", figure.text)
    assert "Energy: NVIDIA Other, " in page.select_one("figure.gk-beside").text

    change(copies["benchmarks"], "energy", lambda content: content.update(device="NVIDIA One"))
    page = fragment(parts(copies)["mapping"])
    assert "; energy:" not in page.select_one("figure.gk-beside thead").text


@pytest.mark.parametrize("name", OURS)
def test_without_a_file_of_ours_the_page_says_so(copies, name):
    (copies["benchmarks"] / f"{name}.json").unlink()
    page_parts = parts(copies)
    assert f"data/benchmarks/{name}.json" in "".join(page_parts.values())
    assert f"{name}.json is missing" in "".join(page_parts.values())
    assert "not measured" in "".join(page_parts.values())


@pytest.mark.parametrize("key", papers.KEYS)
def test_without_a_file_of_a_paper_the_page_says_so(copies, key):
    (copies["papers"] / f"{key}.json").unlink()
    assert f"data/papers/{key}.json" in "".join(parts(copies).values())


def test_with_no_file_at_all_every_part_is_there(tmp_path):
    page_parts = parts({"papers": tmp_path, "benchmarks": tmp_path})
    assert "data/papers/busato2015bfs4k.json" in page_parts["bfs4k"]
    assert all(isinstance(html, str) for html in page_parts.values())


def test_a_row_that_is_not_there_is_not_measured(copies):
    def fewer(content):
        content["times"].remove(row_of(content, "small world"))
        del row_of(content, "random")["searches"]["luo"]
        row_of(content, "random")["searches"]["edge_parallel"] = {"stopped_after_ms": 12000.0}

    change(copies["benchmarks"], "bfs", fewer)
    page_parts = parts(copies)
    assert "no graph of this kind (small world)" in page_parts["without"]
    of = Beside(pairs.BFS4K, copies["papers"], copies["benchmarks"])
    lines = {line.name: line.ours for line in of.lines("random.2Mv.128Me")}
    assert lines["Luo"] is lines["Edge Parallel"] is None
    assert lines["Harish"] is not None
    assert fragment(page_parts["bfs4k"]).find(string="not measured")


def test_every_row_of_a_table_is_beside_ours_or_among_those_without(built):
    rows = built.find(string="What has no counterpart, and why").parent.parent.find_all("tr")
    lacking = [" ".join(row.get_text(" ").split()) for row in rows]
    for pair in (pairs.BFS4K, pairs.HBF, pairs.SWITCHED, pairs.ALL_PAIRS):
        of = Beside(pair)
        for graph in of.graphs:
            name = re.compile(rf", {pair.table} .*\b{re.escape(graph)}\b")
            is_lacking = any(of.paper.data["name"] in row and name.search(row) for row in lacking)
            assert (of.row(graph) is None) == is_lacking


def test_a_part_stands_once_where_its_place_is_and_an_unknown_place_is_an_error():
    page = Page()
    assert sorted(PLACES) == sorted(page.places)
    page.places = dict.fromkeys(page.places, lambda: "<p>here</p>")
    assert report_page.written(SOURCE, page).count("<p>here</p>") == len(PLACES)
    with pytest.raises(KeyError, match="nowhere"):
        report_page.written("<!-- report: nowhere -->", page)


def test_a_file_that_changes_makes_the_build_read_the_page_again():
    noted, source = [], [SOURCE]
    app = SimpleNamespace(env=SimpleNamespace(note_dependency=noted.append))
    report_page.write(app, "book/report", source)
    assert report_page.PLACE.findall(source[0]) == []
    files = {f"{name}.json" for name in (*OURS, *papers.KEYS)}
    assert files <= {Path(name).name for name in noted}
    noted.clear()
    report_page.write(app, "book/glossary", ["# Glossary"])
    assert noted == []


def test_the_prose_has_no_number_of_its_own():
    text = re.sub(r"\{\w+\}`[^`]*`|`[^`]*`|<!--.*?-->|\(\S+\)=", "", SOURCE)
    names = re.sub(r"Tables? \d( and \d)?|Fig\. \d+|BFS-4K", "", text)
    assert re.findall(r"\d+", names) == []


def test_the_style_is_named_on_this_page_alone():
    page = fragment((built_book() / "book" / "report.html").read_text(encoding="utf-8"))
    assert page.find("link", href=re.compile(r"report\.css"))
    other = fragment((built_book() / "book" / "glossary.html").read_text(encoding="utf-8"))
    assert not other.find("link", href=re.compile(r"report\.css"))


def test_on_paper_the_words_are_opened_and_nothing_is_left_to_save(built):
    paper = still(copy.copy(built))
    text = paper.get_text(" ", strip=True)
    assert "What has no counterpart, and why." in text
    assert "Slips in the papers." in text
    assert not paper.select("details, a[download]")
    assert len(paper.select("figure.gk-beside")) == len(built.select("figure.gk-beside"))
