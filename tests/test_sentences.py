"""Sentences of the book that were false once, and must not come back."""

from __future__ import annotations

import ast
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

import gpukernels as gk

ROOT = Path(__file__).parents[1]


def text_of(name: str) -> str:
    """Return the prose of a file, its white space made single blanks."""
    text = (ROOT / name).read_text(encoding="utf-8")
    if name.endswith(".ipynb"):
        cells = json.loads(text)["cells"]
        text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return " ".join(text.split())


#: What is told, its file, a pattern that must not occur there, and one that must.
SENTENCES = {
    "counters say what a kernel asks for": ("book/preface.md", r"kernel \*?did", r"\*asks for\*"),
    "the front page plays a recording": ("book/index.ipynb", r"really did", r"recording of a"),
    "the README speaks of asking": ("README.md", r"claim about the hardware", r"kernel asks of"),
    "the machine writes down what is asked for": (
        "book/simt.md", r"what each warp did", r"what each warp asks for",
    ),
    "steps compare runs of one kernel": (
        "book/simt.md", r"Ratios between kernels mean something", r"runs of \*one\* kernel",
    ),
    "what continuous integration compiles": (
        "book/simt.md",
        r"for compute capability 7\.5, 8\.0, 8\.9, 9\.0 and 10\.0",
        r"in turn, one of",
    ),
    "PTX is virtual": ("chapters/better_queues.ipynb", r"the GPU's instruction set", r"virtual"),
    "a warp's lanes may part": (
        "chapters/simt.ipynb", r"warps of 32 lanes with one instruction stream", r"Since Volta",
    ),
    "stores of one instruction to one place": (
        "chapters/mapping_dynamic.ipynb",
        r"Many plain stores to one place, one of which survives, are a",
        r"in one instruction\*",
    ),
    "direct search hands out units": (
        "chapters/mapping_dynamic.ipynb",
        r"All the mappings so far hand equally many",
        r"Direct search apart",
    ),
    "the authors cull by history first": (
        "chapters/duplicates.ipynb", r"culling\* comes second", r"\*before\* warp culling",
    ),
    "a block keeps its place to the last warp": (
        "chapters/mapping_static.ipynb", r"40 to 940", r"only when its \*last\* warp is done",
    ),
    "one counter is added up by the compiler": (
        "chapters/scans.ipynb", r"all lanes write: 31 of 32 wait", r"profiler",
    ),
    "the H200's second-level cache": (
        "chapters/bfs4k.ipynb", r"50 MB", r"to 60 MiB on the GPU above",
    ),
    "a pitch is counted in cells": (
        "book/glossary.md", r"bytes from one row", r"pitch The number of cells from the start",
    ),
    "CUDA counts a pitch in bytes": (
        "chapters/representations.ipynb", r"computes one, and", r"computes one, in bytes",
    ),
    "COO is the coordinate format": (
        "book/glossary.md", r"COO conflict", r"COO coordinate format A graph as two arrays",
    ),
    "sight or slots hangs on the order": (
        "chapters/duplicates.ipynb",
        r"\*\*Sight matters more than slots",
        r"In lockstep, \*\*sight matters more than slots\*\*: .* Under `random`, slots spare",
    ),
    "who finds duplicates hangs on the order": (
        "chapters/duplicates.ipynb", r"entry, 43% do", r"`random` two of three do; in lockstep",
    ),
    "two numbers of the paper hold in lockstep": (
        "chapters/duplicates.ipynb",
        r"two hold in our counts|(more|fewer): holds\.\*\*",
        r"misses fewer than a table per warp. Under `random` a table per warp misses as few",
    ),
    "the atomic's sectors are counted in lockstep": (
        "chapters/duplicates.ipynb", r"steps and sectors here\.", r"has, in lockstep, the fewest",
    ),
    "the queue loses to all vertices in lockstep": (
        "chapters/frontier_bfs.ipynb",
        r"second look\. A method",
        r"In lockstep, a method advertised .* under `random` the queue loads less and moves fewer",
    ),
    "the copies of one request are counted in lockstep": (
        "chapters/frontier_bfs.ipynb", r"stand out\. ", r"Two facts stand out, in lockstep\. ",
    ),
    "the traffic of an edge frontier beside the queue's": (
        "chapters/better_queues.ipynb",
        r"traffic\.\*\* `expand_contract`",
        r"In lockstep, `expand_contract` touches less than half",
    ),
    "what the features leave hangs on the order": (
        "chapters/bfs4k.ipynb", r"on every family\. Most", r"in lockstep; under `random` more\.",
    ),
    "the front page counts the searches": ("book/index.ipynb", r"Four mappings", r"Twelve ways"),
    "one launch is not the fastest from every root": (
        "chapters/sssp_spectrum.ipynb", r"wins on all five", r"one launch is not always first",
    ),
    "harish keeps up in the small world": (
        "chapters/sssp_spectrum.ipynb", r"far behind", r"the two take about the same time",
    ),
    "a block of the one launch has eight warps": (
        "chapters/sssp_spectrum.ipynb", r"16 warps", r"all 8 warps of a block",
    ),
    "relaxations on the grid were not counted": (
        "chapters/sssp_spectrum.ipynb", r"each arc four times", r"a fixed one \(`adapt=False`\)",
    ),
    "the method of all arcs is the slowest on large graphs": (
        "chapters/sssp_spectrum.ipynb", r"graphs of few rounds", r"takes? the longest on all five",
    ),
    "Workfront Sweep is faster than H-BF on uneven degrees": (
        "chapters/hbf.ipynb", r"same search with less", r"paper's headline is reversed",
    ),
    "msdoor has 415 thousand vertices": (
        "chapters/hbf.ipynb", r"graph of millions of vertices gives", r"415 thousand vertices",
    ),
    "offsets are scattered": (
        "chapters/hbf.ipynb", r"frontier, offsets", r"\| offsets \| once, scattered",
    ),
    "whole calls of many searches gain less than their kernels": (
        "chapters/direction.ipynb",
        r"Twelve times, on|and 256 of them take|twelfth of the time",
        r"kernels of 256 .* eleven times .* Whole calls gain less",
    ),
    "the rate of a copy": ("chapters/direction.ipynb", r"4,207", r"4\.2 TB a second"),
    "copies do not hide behind products": (
        "chapters/all_pairs_otherwise.ipynb",
        r"copies hide behind products",
        r"the copies take most of the time",
    ),
    "searches and tiles were both timed up to 8,192 vertices": (
        "chapters/all_pairs_otherwise.ipynb", r"up to 2,048 vertices, w", r"up to 8,192 vertices",
    ),
    "the matrix that an H200's cache holds": (
        "chapters/floyd_warshall.ipynb", r"50 MB|3,500", r"3,965 vertices .* the 60 MiB",
    ),
    "the shapes differ with 1,024 vertices": (
        "chapters/floyd_warshall.ipynb", r"1,024 vertices and fewer", r"256 such tiles,.* 45% ",
    ),
    "the energy of multi-phase on the roads": (
        "chapters/performance_power_energy.ipynb",
        r"Three times as much as one|with either search",
        r"one item per thread, at each of four settings",
    ),
    "multi-phase does not take half the energy": (
        "chapters/performance_power_energy.ipynb", r"54% of it", r"Multi-phase takes 0\.80",
    ),
    "energy is counted between steps of the counter": (
        "chapters/performance_power_energy.ipynb",
        r"four slices|peak from the samples|for two seconds",
        r"Each window begins and ends at a step of the counter",
    ),
    "the GPU whose energy is measured": (
        "chapters/performance_power_energy.ipynb",
        r"this H200 draws|on an \{term\}`H200` for",
        r"Power and energy in this chapter are of an H100",
    ),
    "the runs above the line end within a tenth of a millisecond": (
        "chapters/performance_power_energy.ipynb", r"twenty microseconds", r"tenth of a milli",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", SENTENCES)
def test_a_sentence_that_was_false_stays_mended(what):
    name, gone, there = SENTENCES[what]
    text = text_of(name)
    assert not re.search(gone, text)
    assert re.search(there, text)


CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))


def strings_of(cell: dict) -> str:
    """Return what a cell says to its reader: its prose, or the texts in its code."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return source
    words = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    return "\n".join(word for word in words if isinstance(word, str))


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_what_only_a_notebook_has_is_not_promised_to_a_page(path):
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        for sentence in re.split(r"(?<=[.?!:])\s", strings_of(cell)):
            if re.search(r"\bslid(e|er|ers|ing)\b", sentence, re.IGNORECASE):
                assert "live notebook" in sentence


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_drawer_promises_as_many_checks_as_it_has(path):
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        label = cell["metadata"].get("mystnb", {}).get("code_prompt_show", "")
        told = "".join("".join(output.get("text", "")) for output in cell.get("outputs", []))
        if "check" in label and (counted := re.search(r"Evidence: ([\d,]+) checks?", told)):
            assert sum(map(int, re.findall(r"(\d+) (?:checks?|random)", label))) == int(counted[1])


def test_the_next_chapter_is_the_next_in_the_contents():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    files = [c["file"] for part in toc["parts"] for c in part["chapters"]]
    chapters = [file for file in files if file.startswith("chapters/")]
    found = 0
    for this, following in pairwise(chapters):
        for named in re.findall(r"\*\*Next\.\*\* \{doc\}`(\w+)`", text_of(f"{this}.ipynb")):
            found += 1
            assert (this, f"chapters/{named}") == (this, following)
    assert found >= 2


NUMBERS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen"""


def test_searches_and_mappings_are_counted_as_they_are():
    said = dict(enumerate(NUMBERS.split()))
    table = text_of("chapters/better_queues.ipynb").split("(bfs-work-table)=")[1].split("## ")[1]
    searches = said[sum(f"`{method}`" in table for method in gk.traversal.METHODS)]
    preface, front = text_of("book/preface.md"), text_of("book/index.ipynb")
    assert f"runs breadth-first search in {searches} ways" in preface
    assert f"{searches.title()} ways to run one search" in front
    pages = [ROOT / "chapters" / f"mapping_{kind}.ipynb" for kind in ("static", "dynamic")]
    cells = "".join(page.read_text(encoding="utf-8") for page in pages)
    taught = sum(method in cells for method in gk.mapping.METHODS)
    dynamic = said[taught - 2]  # without the two static ones
    assert f"in {said[taught]} ways" in preface
    assert f"read {dynamic} mappings" in text_of("chapters/mapping_dynamic.ipynb")
    assert f"{dynamic.title()} ways to share uneven work at run time" in front


def test_the_glossary_is_in_order():
    entries = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8").split("{glossary}\n")[1]
    terms = [entry.split("\n")[0].lower() for entry in entries.split("\n\n")]
    assert terms == sorted(terms)
