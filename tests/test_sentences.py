"""What sentences of the book promise: sliders, checks, what comes next, how many ways there are."""

from __future__ import annotations

import ast
import json
import re
import sys
from itertools import pairwise
from pathlib import Path

import yaml

import gpukernels as gk

sys.path.insert(0, str(Path(__file__).parents[1] / "book"))
from exercise_pages import syllabus

ROOT = Path(__file__).parents[1]


def text_of(name: str) -> str:
    """Return the prose of a file, its white space made single blanks."""
    text = (ROOT / name).read_text(encoding="utf-8")
    if name.endswith(".ipynb"):
        cells = json.loads(text)["cells"]
        text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return " ".join(text.split())


CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))


def strings_of(cell: dict) -> str:
    """Return what a cell says to its reader: its prose, or the texts in its code."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return source
    words = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    return "\n".join(word for word in words if isinstance(word, str))


def cells():
    """Yield the chapter and the content of each cell."""
    for path in CHAPTERS:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            yield path.stem, cell


def test_what_only_a_notebook_has_is_not_promised_to_a_page():
    for chapter, cell in cells():
        for sentence in re.split(r"(?<=[.?!:])\s", strings_of(cell)):
            if re.search(r"\bslid(e|er|ers|ing)\b", sentence, re.IGNORECASE):
                assert "live notebook" in sentence, chapter


def test_a_drawer_promises_as_many_checks_as_it_has():
    for chapter, cell in cells():
        label = cell["metadata"].get("mystnb", {}).get("code_prompt_show", "")
        text = "".join("".join(output.get("text", "")) for output in cell.get("outputs", []))
        if "check" in label and (counted := re.search(r"Evidence: ([\d,]+) checks?", text)):
            promised = sum(map(int, re.findall(r"(\d+) (?:checks?|random)", label)))
            assert promised == int(counted[1]), chapter


def test_the_next_chapter_is_the_next_in_the_contents():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    files = [c["file"] for part in toc["parts"] for c in part["chapters"]]
    chapters = [file for file in files if file.startswith("chapters/")]
    count = 0
    for this, following in pairwise(chapters):
        for named in re.findall(r"\*\*Next\.\*\* \{doc\}`(\w+)`", text_of(f"{this}.ipynb")):
            count += 1
            assert (this, f"chapters/{named}") == (this, following)
    assert count >= 2


NUMBERS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen"""


def test_searches_and_mappings_are_counted_as_they_are():
    words = dict(enumerate(NUMBERS.split()))
    table = text_of("chapters/better_queues.ipynb").split("(bfs-work-table)=")[1].split("## ")[1]
    searches = words[sum(f"`{method}`" in table for method in gk.traversal.METHODS)]
    preface, front = text_of("book/preface.md"), text_of("book/index.ipynb")
    assert f"runs breadth-first search in {searches} ways" in preface
    assert f"{searches.title()} ways to run one search" in front
    pages = [ROOT / "chapters" / f"mapping_{kind}.ipynb" for kind in ("static", "dynamic")]
    cells = "".join(page.read_text(encoding="utf-8") for page in pages)
    taught = sum(method in cells for method in gk.mapping.METHODS)
    dynamic = words[taught - 2]  # without the two static ones
    assert f"in {words[taught]} ways" in preface
    assert f"read {dynamic} mappings" in text_of("chapters/mapping_dynamic.ipynb")
    assert f"{dynamic.title()} ways to share uneven work at run time" in front


def test_the_front_page_says_how_long_its_first_chapters_take():
    front = text_of("book/index.ipynb")
    assert "The first chapter takes about an hour" in front
    lectures = syllabus.lectures(ROOT / "chapters")
    minutes = [syllabus.minutes_of(sections) for name, sections in lectures if name == "simt"]
    assert 50 <= sum(minutes) <= 75
    match = re.search(
        r"takes (\S+ to \S+) minutes", text_of("chapters/before_the_first_warp.ipynb")
    )
    assert f"{match[1]} minutes" in front


def test_the_glossary_is_in_order():
    entries = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8").split("{glossary}\n")[1]
    terms = [entry.split("\n")[0].lower() for entry in entries.split("\n\n")]
    assert terms == sorted(terms)


def test_every_chapter_has_links_that_move_a_figure_and_a_question_before_its_exercises():
    for path in CHAPTERS:
        text = text_of(f"chapters/{path.name}")
        # The build checks that a figure has the state to which a link leads.
        assert len(set(re.findall(r"\]\(#fig-[a-z0-9-]+\?[^)\s]*\)", text))) >= 3, path.stem
        assert 0 < text.find("**Now you") < text.find("## Exercises"), path.stem
