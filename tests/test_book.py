"""The built pages: whole, self-contained, light, and in step with their sources."""

from __future__ import annotations

import functools
import json
import re
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from bs4 import BeautifulSoup
from built_book import ROOT, built_book
from pybtex.database import parse_file

from gpukernels.exercises import CATALOG

sys.path.insert(0, str(ROOT / "book"))
import find_addresses
import first_cell

CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
NOTEBOOKS = [*CHAPTERS, ROOT / "book" / "index.ipynb"]
SETTINGS = yaml.safe_load((ROOT / "_config.yml").read_text())
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
FILES = [TOC["root"], *(c["file"] for part in TOC["parts"] for c in part["chapters"])]
#: With the redirect in front and what Sphinx adds.
PAGES = [*(f"{name}.html" for name in FILES), "index.html"]
PAGES += ["search.html", "genindex.html", "prf-prf.html"]
LARGEST_PAGE = 1.5e6
#: Attributes by which a page makes the browser load something.
LOADS = {
    **dict.fromkeys(["script", "img", "iframe", "source", "video", "audio", "embed"], "src"),
    "link": "href",
    "object": "data",
}


@functools.cache
def page(name: str) -> BeautifulSoup:
    """Return a built page, parsed."""
    return BeautifulSoup((built_book() / name).read_text(encoding="utf-8"), "html.parser")


@functools.cache
def anchors(name: str) -> frozenset[str]:
    """Return the targets on a page that a link may name."""
    ids = {tag["id"] for tag in page(name).find_all(id=True)}
    return frozenset(ids | {tag["name"] for tag in page(name).find_all("a", attrs={"name": True})})


def is_outside(url: str) -> bool:
    """Say whether the browser would leave the book's folder for this address."""
    return bool(urlsplit(url).netloc) or urlsplit(url).scheme not in ("", "data")


def resolve(name: str, url: str) -> tuple[Path, str]:
    """Return the file and the fragment that `url` on page `name` leads to."""
    parts = urlsplit(url)
    folder = (built_book() / name).parent
    path = (folder / unquote(parts.path)).resolve() if parts.path else built_book() / name
    return path, unquote(parts.fragment)


def notebook(path: Path) -> list[dict]:
    """Return the cells of a notebook."""
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def test_every_file_of_the_contents_becomes_a_page_and_nothing_else_does():
    built = {p.relative_to(built_book()).as_posix() for p in built_book().rglob("*.html")}
    redirects = SETTINGS["sphinx"]["config"]["redirects"]
    pages = {*PAGES, *(f"{name}.html" for name in redirects)}
    assert {name for name in built if not name.startswith("_static/")} == pages


def test_a_page_leads_to_every_exercise_and_says_what_is_to_be_done():
    listed = {}
    for entry in page("book/exercises.html").select("article section section li"):
        facts = re.search(r"\((\S+)\): ([a-z ]+), ([a-z]+), (\d+)\sminutes\.", entry.text)
        if facts is None:  # of the list by level, or an open task
            continue
        name, kind, level, minutes = facts.groups()
        path, fragment = resolve("book/exercises.html", entry.find("a")["href"])
        heading = page(path.relative_to(built_book()).as_posix()).find(id=fragment)
        assert f'exercise("{name}")' in heading.find_parent("section").text
        ex = CATALOG[name]
        assert entry.find("a").text.replace("’", "'").lower() == ex.title.lower()
        assert (kind, level, int(minutes)) == (ex.kind, ex.level, ex.minutes)
        assert entry.text.replace("’", "'").endswith(f"You learn {ex.teaches}.")
        assert ex.about in heading.find_parent("section").text.replace("’", "'")
        listed[name] = kind
    assert list(listed) == list(CATALOG)


def test_the_list_of_exercises_has_each_at_its_level_and_every_open_task():
    exercises, opened = [], []
    for link in page("book/exercises.html").select("#by-level-and-kind a.reference"):
        path, fragment = resolve("book/exercises.html", link["href"])
        level = link.find_parent("ul").find_previous_sibling("p").find("strong").text.lower()
        kind = link.find_parent("li").find("em").text.lower()
        if level == "open":
            heading = page(path.relative_to(built_book()).as_posix()).find(id=fragment)
            assert link.text.lower() in heading.find_parent("section").find("h3").text.lower()
            opened.append(fragment)
        else:
            ex = CATALOG[fragment.removeprefix("exercise-")]
            assert (level, kind) == (ex.level, ex.kind)
            assert link.next_sibling.startswith(f" ({ex.minutes})")
            exercises.append(ex.id)
    assert sorted(exercises) == sorted(CATALOG)
    headings = [h for name in PAGES for h in page(name).select("h3") if h.text.startswith("Open:")]
    assert len(set(opened)) == len(headings) == 7


@pytest.mark.parametrize("name", PAGES)
def test_links_and_anchors_resolve(name):
    broken = []
    for link in page(name).find_all("a", href=True):
        url = link["href"]
        # A table's numbers as CSV lie in the link itself.
        if is_outside(url) or url.startswith("data:"):
            continue
        path, fragment = resolve(name, url)
        if not path.is_file():
            broken.append(url)
        elif fragment and path.suffix == ".html":
            if fragment not in anchors(path.relative_to(built_book()).as_posix()):
                broken.append(url)
    assert broken == []


def test_what_the_sources_say_can_be_named_is_on_the_pages():
    for name, source in find_addresses.pages().items():
        assert {*source.anchors, *source.figures} - anchors(name) == set(), name


@pytest.mark.parametrize("name", PAGES)
def test_a_page_loads_only_files_of_the_book(name):
    wrong = []
    for tag in page(name).find_all(list(LOADS)):
        url = tag.get(LOADS[tag.name])
        if url and (is_outside(url) or not is_data_or_file(name, url)):
            wrong.append(url)
    for tag in page(name).find_all(["use", "image"]):
        url = tag.get("href") or tag.get("xlink:href") or ""
        if is_outside(url):
            wrong.append(url)
    styles = [t.text for t in page(name).find_all("style")]
    styles += [t["style"] for t in page(name).find_all(style=True)]
    wrong += [url for text in styles for url in outside_of_css(text)]
    assert wrong == []


def is_data_or_file(name: str, url: str) -> bool:
    """Say whether `url` holds its own data or names a file that exists."""
    return url.startswith(("data:", "#")) or resolve(name, url)[0].is_file()


def outside_of_css(text: str) -> list[str]:
    """Return the outside addresses that a style sheet would load."""
    urls = re.findall(r"url\(\s*['\"]?([^'\")]+)", text)
    urls += re.findall(r"@import\s+['\"]([^'\"]+)", text)
    return [url for url in urls if is_outside(url)]


def test_style_sheets_load_nothing_from_outside():
    sheets = sorted((built_book() / "_static").rglob("*.css"))
    assert sheets
    assert {p.name: outside_of_css(p.read_text()) for p in sheets} == {p.name: [] for p in sheets}


@pytest.mark.parametrize("name", PAGES)
def test_no_page_names_a_content_network_or_thebe(name):
    text = (built_book() / name).read_text(encoding="utf-8").lower()
    # The policy of a chapter names the host of Pyodide, of which nothing is loaded before a click.
    text, policies = re.subn(r"(?<=; connect-src \'self\') https://cdn.jsdelivr.net(?=;)", "", text)
    assert policies == name.startswith("chapters/")
    assert re.findall(r"unpkg|jsdelivr|cdnjs|cloudflare\.com|googleapis|thebe", text) == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_light(name):
    assert (built_book() / name).stat().st_size < LARGEST_PAGE


@pytest.mark.parametrize("name", PAGES[:-4])
def test_what_a_page_loads_is_light(name):
    urls = [tag["src"] for tag in page(name).find_all("script", src=True)]
    urls += [tag["href"] for tag in page(name).find_all("link", rel="stylesheet")]
    # The script of all figures is 301,000 of them. Chapters offer to run their programs.
    most = 1.17e6 if name.startswith("chapters/") else 1.12e6
    assert sum(path.stat().st_size for path in {resolve(name, url)[0] for url in urls}) < most


@pytest.mark.parametrize("name", PAGES)
def test_a_page_s_signs_are_drawings_within_it(name):
    assert [str(tag) for tag in page(name).select("[class*='fa-']:not(svg)")] == []


def test_every_term_and_citation_has_its_text_in_the_page():
    lacking = []
    for name in FILES:
        known = {text["data-card"] for text in page(f"{name}.html").select("template [data-card]")}
        for link in page(f"{name}.html").select("article a.reference[href]"):
            path, fragment = resolve(f"{name}.html", link["href"])
            cited = path.name == "bibliography.html" and re.fullmatch(r"id\d+", fragment)
            if fragment.startswith("term-") or cited:
                if fragment not in known or not link.get("title"):
                    lacking.append((name, link["href"]))
    assert lacking == []


@pytest.mark.parametrize("name", [f"{name}.html" for name in FILES])
def test_every_image_has_a_text(name):
    article = page(name).find("article")
    assert [str(tag)[:200] for tag in article.find_all("img") if not tag.get("alt")] == []


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_a_chapter_says_below_its_title_how_to_run_it(path):
    name = path.relative_to(ROOT).with_suffix(".html").as_posix()
    title = page(name).article.h1
    row = title.find_next_sibling()
    assert row["class"] == ["run-row"]
    text = row.get_text(" ", strip=True)
    assert f"make lab CHAPTER={path.stem}" in text
    assert "OWNER" not in text
    files = [resolve(name, a["href"])[0] for a in row.select("a[download]")]
    assert [file.name for file in files] == [path.name] * 2
    assert [file.parent.name for file in files] == ["notebooks", "without_solutions"]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_a_chapter_begins_with_the_set_up_cell(path):
    cell = notebook(path)[0]
    assert cell["cell_type"] == "code"
    assert "".join(cell["source"]) == first_cell.source()
    assert cell["outputs"] == []
    assert cell["metadata"].get("tags") == first_cell.TAGS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_every_code_cell_was_run_in_order(path):
    counts = [c["execution_count"] for c in notebook(path) if c["cell_type"] == "code"]
    assert counts == list(range(1, len(counts) + 1))


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_every_stored_figure_holds_its_picture(path):
    # Where it was run without the engine that draws, it would be words alone.
    outputs = [output for cell in notebook(path) for output in cell.get("outputs", [])]
    texts = ["".join(output.get("data", {}).get("text/html", "")) for output in outputs]
    figures = [text for text in texts if 'data-view="' in text]
    assert figures
    assert [text[:200] for text in figures if "<svg" not in text] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_no_code_cell_is_long(path):
    # The set-up cell is not shown; a kernel to complete or to mend may be a little longer. One that
    # the chapter has printed, with its device function, is as long as it is.
    cells = [c for c in notebook(path) if c["cell_type"] == "code"]
    for cell in cells:
        tags = cell["metadata"].get("tags", [])
        if "remove-cell" not in tags:
            printed = re.search("-lines?-skeleton$", cell["id"])
            longest = 54 if printed else 32 if "exercise" in tags else 26
            assert "".join(cell["source"]).count("\n") + 1 <= longest, cell["id"]


def test_every_reference_is_complete():
    needed = {
        "article": {"journal", "volume", "pages"},
        "inproceedings": {"booktitle"},
        "incollection": {"booktitle", "publisher", "pages", "editor"},
        "book": {"publisher"},
        "techreport": {"institution"},
        "manual": {"organization", "url"},
        "misc": {"howpublished"},
    }
    lacking = {}
    for key, entry in parse_file(str(ROOT / "book" / "references.bib")).entries.items():
        missing = ({"title", "year"} | needed[entry.type]) - set(entry.fields)
        if not (entry.persons.get("author") or entry.persons.get("editor")):
            missing.add("author")
        if entry.type == "incollection":
            missing -= {"editor"} if entry.persons.get("editor") else set()
        if missing:
            lacking[key] = missing
    assert lacking == {}
