"""The plain notebook of every chapter: the same cells, folded, with nothing left of MyST."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from unittest import mock

import nbformat
import pytest
from built_book import ROOT, built_book
from markdown_it import MarkdownIt
from nbclient import NotebookClient

from gpukernels.exercises.tasks import EXERCISES

sys.path.insert(0, str(ROOT / "book"))
import folding

CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
UNSOLVED = "without_solutions"
#: Bytes of a chapter whose figures bring their scripts; sssp_spectrum has most, 2.10 million.
LARGEST = 2.2e6
TITLE = re.compile(r"\A# @title [A-Z][^\n]*\n")
#: A program that knows no MyST, as strict readers of Markdown are: CommonMark and tables.
READER = MarkdownIt("commonmark").enable("table")


@functools.cache
def read(path: Path) -> nbformat.NotebookNode:
    """Return a notebook; cached, since most tests look at all."""
    return nbformat.read(path, as_version=nbformat.NO_CONVERT)


def plain(chapter: Path) -> Path:
    """Return the plain notebook that was built of a chapter."""
    return built_book() / "notebooks" / chapter.name


def is_closed_heading(cell: nbformat.NotebookNode) -> bool:
    """Say whether the cell is the heading that a plain notebook has above a solution."""
    return cell.metadata.get("jp-MarkdownHeadingCollapsed", False)


def own_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """Return the cells of a plain notebook that come from the chapter."""
    return [cell for cell in notebook.cells if not is_closed_heading(cell)]


def pairs(chapter: Path, kind: str) -> list[tuple]:
    """Return the chapter's cells of a kind, each with the plain one."""
    both = zip(read(chapter).cells, own_cells(read(plain(chapter))), strict=True)
    return [(source, copy) for source, copy in both if source.cell_type == kind]


def is_check(cell: nbformat.NotebookNode) -> bool:
    """Say whether the cell asks the checker about an exercise's skeleton."""
    return {"exercise", "hide-output"} <= set(cell.metadata.get("tags", []))


each_chapter = pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda p: p.stem)


@pytest.mark.parametrize("folder", [".", UNSOLVED])
def test_there_is_one_for_each_chapter_and_no_other(folder):
    files = (built_book() / "notebooks" / folder).iterdir()
    names = sorted(path.name for path in files if path.name != UNSOLVED)
    assert names == [path.name for path in CHAPTERS]


@each_chapter
def test_it_is_a_valid_notebook_with_the_same_cells(chapter):
    nbformat.validate(read(plain(chapter)))
    cells = [(c.id, c.cell_type) for c in read(chapter).cells]
    assert [(c.id, c.cell_type) for c in own_cells(read(plain(chapter)))] == cells
    assert plain(chapter).stat().st_size < LARGEST


@each_chapter
def test_its_code_is_the_chapters_but_for_the_line_that_names_a_folded_cell(chapter):
    for source, copy in pairs(chapter, "code"):
        folded = copy.metadata.get("cellView") == "form"
        assert bool(TITLE.match(copy.source)) == folded
        assert TITLE.sub("", copy.source) == source.source


@each_chapter
def test_its_outputs_are_the_chapters_and_figures_bring_what_draws_them(chapter):
    for source, copy in pairs(chapter, "code"):
        if is_check(source):
            assert copy.outputs == []
            continue
        for before, after in zip(source.outputs, copy.outputs, strict=True):
            html = before.get("data", {}).get("text/html", "")
            if 'data-view="' in html:
                shown = after["data"]["text/html"]
                assert shown.startswith(html)
                assert "<style>" in shown[len(html) :]
                assert "<script>" in shown[len(html) :]
                after = {**after, "data": {**after["data"], "text/html": html}}
            assert after == before


def myst(source: str) -> list[str]:
    """Return what a program that knows no MyST would show raw, or link to nowhere."""
    html = READER.render(source)
    left = [t.info for t in READER.parse(source) if t.type == "fence" and t.info.startswith("{")]
    left += re.findall(r"\{[\w:+-]+\}<code>.*?</code>", html)
    text = re.sub(r"<(pre|code)\b.*?</\1>", "", html, flags=re.DOTALL)
    left += re.findall(r"(?m)^(?:<p>)?\s*(:::.*|\([\w-]+\)=.*|\{[.#].*|%.*|\+\+\+.*)", text)
    return left + re.findall(r'href="(?!https?:|mailto:|#|\w+\.ipynb")([^"]*)', html)


@each_chapter
def test_nothing_of_myst_is_left(chapter):
    both = pairs(chapter, "markdown")
    assert [raw for source, _ in both for raw in myst(source.source)] != []
    assert [raw for _, copy in both for raw in myst(copy.source)] == []


@each_chapter
def test_a_link_to_a_notebook_finds_it_beside(chapter):
    text = "\n".join(copy.source for _, copy in pairs(chapter, "markdown"))
    names = re.findall(r"\]\((\w+\.ipynb)\)", text)
    assert names
    assert {name for name in names if not (plain(chapter).parent / name).exists()} == set()


@each_chapter
def test_solutions_and_set_up_are_closed_in_jupyterlab_and_on_colab(chapter):
    closed = [m for _, m in pairs(chapter, "code") if m.metadata.get("cellView") == "form"]
    assert all(cell.metadata.jupyter.source_hidden for cell in closed)
    solutions = [m for s, m in pairs(chapter, "code") if "solution" in s.metadata.get("tags", [])]
    assert len(solutions) >= 3
    for cell in (read(plain(chapter)).cells[0], *solutions):
        assert cell in closed
        hidden = cell.metadata.jupyter.get("outputs_hidden", False)
        assert hidden == cell.metadata.get("collapsed", False) == bool(cell.outputs)


@each_chapter
def test_a_solution_is_under_a_closed_heading_since_jupyterlab_opens_the_outputs_that_it_runs(
    chapter,
):
    closed = None
    for cell in read(plain(chapter)).cells:
        heading = re.match(r"#+ ", cell.source) if cell.cell_type == "markdown" else None
        if heading:
            closed = is_closed_heading(cell)
        if "solution" in cell.metadata.get("tags", []):
            assert closed
        elif cell.cell_type == "code" and cell.metadata.get("tags") == ["exercise"]:
            assert not closed


@each_chapter
def test_without_solutions_it_is_the_same_notebook_and_shows_none(chapter):
    every = read(plain(chapter))
    unsolved = read(plain(chapter).parent / UNSOLVED / chapter.name)
    nbformat.validate(unsolved)
    others = [cell for cell in every.cells if "solution" not in cell.metadata.get("tags", [])]
    assert unsolved == {**every, "cells": others}
    assert any(cell.id.endswith("-check") for cell in others)
    shown = "\n".join(nbformat.writes(nbformat.v4.new_notebook(cells=[c])) for c in unsolved.cells)
    assert ".solution" not in shown
    assert len(every.cells) - len(others) >= len(EXERCISES[chapter.stem])
    for ex in EXERCISES[chapter.stem]:
        first_words = json.dumps(ex.solution.why.splitlines()[0][:60], ensure_ascii=False)[1:-1]
        assert first_words not in shown


def missing_names(folder: Path) -> set[tuple[str, str]]:
    """Return the notebook and ruff's sentence of each name that is nowhere defined."""
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select=F821"]
    files = sorted(map(str, folder.glob("*.ipynb")))
    run = subprocess.run(
        [*command, "--output-format=concise", *files], capture_output=True, text=True
    )
    assert len(files) > 10, run.stderr
    return {
        (Path(place).name, message)
        for place, message in re.findall(r"^(.*?\.ipynb):.*?: (F821 .*)$", run.stdout, re.MULTILINE)
    }


def test_without_solutions_no_cell_misses_a_name():
    """A later cell could use a name that a solution has imported or defined.

    Some skeletons lack a name that a reader's line is to define, with solutions, too.
    """
    folder = built_book() / "notebooks"
    lacking = missing_names(folder)
    assert missing_names(folder / UNSOLVED) == lacking


def test_what_folds_follows_from_the_tags():
    assert folding.folded({"tags": ["solution", "hide-cell"], "mystnb": {"a": 1}}) == {
        "jupyter": {"outputs_hidden": True, "source_hidden": True},
        "mystnb": {"a": 1},
        "tags": ["solution", "hide-cell"],
    }
    assert folding.folded({"tags": ["exercise"], "jupyter": {"source_hidden": True}}) == {
        "tags": ["exercise"]
    }


def test_a_plain_notebook_runs_to_its_end():
    notebook = nbformat.read(plain(ROOT / "chapters" / "representations.ipynb"), as_version=4)
    folder = ROOT / "chapters"  # as far from data/ as the folder that `make notebooks` fills
    with mock.patch.dict(os.environ, GPUKERNELS_DEVICE="simt"):
        NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
    checks = [cell for cell in notebook.cells if is_check(cell)]
    assert checks
    assert all(cell.outputs for cell in checks)
