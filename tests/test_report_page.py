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
from report_page.numbers import Number
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
    told = json.loads(path.read_text(encoding="utf-8"))
    edit(told)
    path.write_text(json.dumps(told), encoding="utf-8")


def row_of(told, graph: str):
    """Return the row of a graph."""
    return next(row for row in told["times"] if row["graph"] == graph)


def looked_up(at: str) -> float:
    """Return what stands at a place in a file; times in milliseconds."""
    name, pointer = at.split("#")
    folder = next(f for f in FOLDERS.values() if (f / f"{name}.json").exists())
    found = told = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    for key in pointer.strip("/").split("/"):
        found = found[int(key)] if isinstance(found, list) else found[key]
    if not isinstance(found, str):
        return found
    unit = told["tables"][int(pointer.split("/")[2])]["unit"]
    number, more = re.match(r"([\d,.]+)(?:\(\+(\d+)\))?", found).groups()
    ending = re.search(r"\d\)? ?(us|ms|s|K|M)$", found)
    factors = {"us": 1e-3, "ms": 1, "s": 1e3, "K": 1e3, "M": 1e6}
    factor = factors.get(ending[1] if ending else unit, 1)
    return (float(number.replace(",", "")) + float(more or 0)) * factor


def shown(element) -> float:
    """Return the number that an element shows, in what its value is in."""
    number, unit = re.fullmatch(r"([\d,.]+(?:e[+-]\d+)?) ?(ms|s|×|%)?", element.text).groups()
    return float(number.replace(",", "")) * {"s": 1e3, "%": 0.01}.get(unit, 1)


def test_every_number_on_the_page_is_the_one_of_its_file(built):
    found = built.select("data[data-at]")
    assert len(found) > 700
    for element in found:
        value = float(element["value"])
        assert value == pytest.approx(looked_up(element["data-at"]), rel=1e-8), element
        millions = str(element.next_sibling or "").startswith(" M")
        scale = 1e6 if millions and value > 1e6 else 1
        digits = 0.051 if element.text.endswith("%") else 0.0051
        assert shown(element) * scale == pytest.approx(value, rel=digits), element


def test_every_ratio_is_that_of_its_two_numbers(built):
    found = built.select("data[data-ratio]")
    assert len(found) > 30
    for element in found:
        one, other = map(looked_up, element["data-ratio"].split(" ÷ "))
        assert float(element["value"]) == pytest.approx(one / other)
        assert shown(element) == pytest.approx(one / other, rel=0.0051)


def test_a_chart_has_no_number_but_those(built):
    assert len(built.select("figure.gk-beside")) >= 11
    for cell in built.select(".gk-beside :is(td.theirs, td.ours, td.times)"):
        rest = "".join(str(t) for t in cell.find_all(string=True) if t.parent.name != "data")
        assert not re.search(r"\d", rest), cell


def test_a_mark_lies_where_its_number_is_on_the_scale(built):
    for chart in built.select("figure.gk-beside"):
        ticks = [
            (float(re.search(r"left:([\d.]+)%", tick["style"])[1]), tick.text)
            for tick in chart.select(".scale span")
        ]
        scale = {"ms": 1, "s": 1e3, "×": 1}
        values = [
            (at, float(n.replace(",", "")) * scale[unit])
            for at, text in ticks
            for n, unit in [re.fullmatch(r"([\d.,e-]+) ?(ms|s|×)", text).groups()]
        ]
        (low_at, low), (high_at, high) = values[0], values[-1]
        for row in chart.select("tbody tr"):
            for kind in ("theirs", "ours"):
                mark, number = row.select_one(f"i.{kind}"), row.select_one(f"td.{kind} > data")
                assert (mark is None) == (number is None)
                if mark is not None:
                    at = float(re.search(r"left:([\d.]+)%", mark["style"])[1])
                    told = low * (high / low) ** ((at - low_at) / (high_at - low_at))
                    assert told == pytest.approx(float(number["value"]), rel=0.01)


def test_a_ratio_is_called_what_it_is_and_stands_only_beside_a_graph_as_large(built):
    for chart in built.select("figure.gk-beside"):
        heads = [head.text for head in chart.select("thead th")]
        if chart.select("td.times"):
            assert re.fullmatch(
                r"times faster: different hardware, \d+( to \d+)? years apart", heads[-1]
            )
            assert heads[-1] in chart.select_one(".legend").text
        else:
            assert "times" not in heads[-1]
    assert Beside(pairs.BFS4K).as_large("random.2Mv.128Me")
    assert not Beside(pairs.BFS4K).as_large("rmat.2Mv.128Me")
    assert Beside(pairs.HBF).as_large("rmat.3Mv.20Me")
    for line in Beside(pairs.BFS4K).lines("rmat.2Mv.128Me"):
        assert line.ratio is None


def test_hardware_date_and_commit_of_every_file_are_named(built):
    said = " ".join(built.text.split())
    for name in OURS:
        told = record.kept(name)
        for key in ("device", "date", "commit", "driver"):
            assert told[key] in said
    for key in papers.KEYS:
        paper = json.loads((papers.FOLDER / f"{key}.json").read_text(encoding="utf-8"))
        for device in paper["hardware"].values():
            assert device["device"] in said


def test_what_is_saved_as_csv_is_the_paper_s_table_with_ours(built):
    link = built.find("a", download="busato2015bfs4k-table-2.csv")
    rows = list(csv.DictReader(io.StringIO(unquote(link["href"].split(",", 1)[1]))))
    of = papers.Paper("busato2015bfs4k")
    assert len(rows) == len(of.rows("Table 2")) * 6
    for row in rows:
        column = next(c for c, (name, _) in pairs.BFS4K.methods.items() if name == row["method"])
        told = of.number("Table 2", row["graph"], column)
        assert row["theirs_ms"] == (f"{told.value:.9g}" if isinstance(told, Number) else told)
        assert bool(row["ours_ms"]) == row["our_graph_or_why_none"].startswith("gp") or row[
            "our_graph_or_why_none"
        ].startswith("gk.")
        if row["ratio_of_different_hardware"]:
            ratio = float(row["theirs_ms"]) / float(row["ours_ms"])
            assert float(row["ratio_of_different_hardware"]) == pytest.approx(ratio)


def test_the_figure_of_mappings_has_the_least_time_of_each_technique(built):
    figure = built.select_one("figure[data-view=compare]")
    told = json.loads(figure.find("script", type="application/json").string)
    times = record.kept("mapping")["times"]
    for row in csv.DictReader(io.StringIO(told["csv"])):
        technique = pairs.TECHNIQUES[row["technique"]], row["workload"]
        least = min(t["ms"] for t in times if (t["method"], t["workload"]) == technique)
        assert float(row["kernels (ms)"]) == least


def test_another_measurement_makes_another_page(copies):
    before = parts(copies)

    def slower(told):
        row_of(told, "random")["searches"]["harish"]["roots_kernel_ms"] = 7.77

    change(copies["benchmarks"], "bfs", slower)
    after = parts(copies)
    assert {name for name in after if after[name] != before[name]} == {"bfs4k"}
    assert ">7.77 ms</data>" in after["bfs4k"]
    assert ">7.77 ms</data>" not in before["bfs4k"]


def test_another_print_makes_another_page(copies):
    def other(told):
        told["tables"][0]["rows"][-1][-1] = "1000000"

    change(copies["papers"], "padamata2013graph", other)
    after = parts(copies)
    assert ">1 s</data>" in after["all-pairs"]
    assert ">1 s</data>" in after["overview"]


def test_a_graph_that_is_measured_later_finds_its_place(copies):
    def add(told):
        row = json.loads(json.dumps(row_of(told, "rmat")))
        told["times"].append({**row, "graph": "kron", "n": 1_000_000, "m": 100_700_000})
        told["times"].append({**row, "n": 2_000_000, "m": 128_000_000})

    change(copies["benchmarks"], "bfs", add)
    of = Beside(pairs.BFS4K, copies["papers"], copies["benchmarks"])
    assert of.row("kron_g500-lon20") is not None
    assert of.ours.rows[of.row("rmat.2Mv.128Me")]["m"] == 128_000_000
    assert of.as_large("rmat.2Mv.128Me")
    assert "kron_g500-lon20" not in parts(copies)["without"]


def test_energy_that_is_measured_later_finds_its_place(copies):
    told = json.loads((copies["benchmarks"] / "mapping.json").read_text(encoding="utf-8"))
    joules = {"multi_phase": 2.0, "two_phase": 5.0, "work_item_to_thread": 3.0}
    rows = [
        {"run": "mapping", "workload": load["workload"], "technique": name, "millijoules": value}
        for load in told["workloads"]
        for name, value in joules.items()
    ]
    (copies["benchmarks"] / "energy.json").unlink()
    assert "its energy is not measured" in parts(copies)["without"]
    (copies["benchmarks"] / "energy.json").write_text(json.dumps({**told, "times": rows}))
    found = parts(copies)
    assert "its energy is not measured" not in found["without"]
    assert ">2.5×</data>" in found["mapping"]
    assert ">1.5×</data>" in found["mapping"]
    assert "energy (mJ)" in found["mapping"]


def test_energy_of_another_gpu_is_not_shown_as_if_it_were_of_the_gpu_of_the_times(copies):
    for name, device in (("mapping", "NVIDIA One"), ("energy", "NVIDIA Other")):
        change(copies["benchmarks"], name, lambda told, device=device: told.update(device=device))
        change(copies["benchmarks"], name, lambda told: told.update(date="2031-01-01"))
    page = fragment(parts(copies)["mapping"])
    both = "One, 2031; energy: Other, 2031"
    assert both in page.select_one("figure.gk-beside thead").text
    figure = page.select_one("figure[data-view=compare]")
    assert both in figure.select_one(".gk-title").text
    assert re.search(r"Ours: NVIDIA One, .*\. Energy: NVIDIA Other, ", figure.text)
    assert "Energy: NVIDIA Other, " in page.select_one("figure.gk-beside").text

    change(copies["benchmarks"], "energy", lambda told: told.update(device="NVIDIA One"))
    page = fragment(parts(copies)["mapping"])
    assert "; energy:" not in page.select_one("figure.gk-beside thead").text


@pytest.mark.parametrize("name", OURS)
def test_without_a_file_of_ours_the_page_says_so(copies, name):
    (copies["benchmarks"] / f"{name}.json").unlink()
    found = parts(copies)
    assert f"data/benchmarks/{name}.json" in "".join(found.values())
    assert f"{name}.json is missing" in "".join(found.values())
    assert "not measured" in "".join(found.values())


@pytest.mark.parametrize("key", papers.KEYS)
def test_without_a_file_of_a_paper_the_page_says_so(copies, key):
    (copies["papers"] / f"{key}.json").unlink()
    assert f"data/papers/{key}.json" in "".join(parts(copies).values())


def test_with_no_file_at_all_every_part_is_there(tmp_path):
    found = parts({"papers": tmp_path, "benchmarks": tmp_path})
    assert "data/papers/busato2015bfs4k.json" in found["bfs4k"]
    assert all(isinstance(html, str) for html in found.values())


def test_a_row_that_is_not_there_is_not_measured(copies):
    def fewer(told):
        told["times"].remove(row_of(told, "small world"))
        del row_of(told, "random")["searches"]["luo"]
        row_of(told, "random")["searches"]["edge_parallel"] = {"stopped_after_ms": 12000.0}

    change(copies["benchmarks"], "bfs", fewer)
    found = parts(copies)
    assert "no graph of this kind (small world)" in found["without"]
    of = Beside(pairs.BFS4K, copies["papers"], copies["benchmarks"])
    lines = {line.name: line.ours for line in of.lines("random.2Mv.128Me")}
    assert lines["Luo"] is lines["Edge Parallel"] is None
    assert lines["Harish"] is not None
    assert fragment(found["bfs4k"]).find(string="not measured")


def test_every_row_of_a_table_is_beside_ours_or_among_those_without(built):
    lacking = " ".join(
        built.find(string="What has no counterpart, and why").parent.parent.get_text(" ").split()
    )
    for pair in (pairs.BFS4K, pairs.HBF, pairs.SWITCHED, pairs.ALL_PAIRS):
        of = Beside(pair)
        for graph in of.graphs():
            assert (of.row(graph) is None) == bool(re.search(rf"\b{re.escape(graph)}\b", lacking))


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


def test_the_preface_and_the_ways_to_read_lead_there():
    for name in ("preface", "reading"):
        page = fragment((built_book() / "book" / f"{name}.html").read_text(encoding="utf-8"))
        assert page.article.find("a", href=re.compile(r"^report\.html"))


def test_on_paper_the_words_are_opened_and_nothing_is_left_to_save(built):
    paper = still(copy.copy(built))
    said = paper.get_text(" ", strip=True)
    assert "What has no counterpart, and why." in said
    assert "Slips in the papers." in said
    assert not paper.select("details, a[download]")
    assert len(paper.select("figure.gk-beside")) == len(built.select("figure.gk-beside"))
