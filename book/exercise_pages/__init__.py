"""Exercises on the page: predicted numbers and lines of bugs are judged on the page itself.

A Sphinx extension. Before the cell that shows an exercise, it writes the exercise's sheet, which is
made from the same object. The page's script makes fields from the sheet. Without scripts, the page
shows statement, hint and solution as the notebook has stored them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from page_parts import classic, reader, static
from sphinx.application import Sphinx
from sphinx.util import logging

from gpukernels import __version__
from gpukernels.exercises import CATALOG
from gpukernels.exercises.tasks import EXERCISES

from .listing import PLACE, listed, read_chapter
from .sheets import as_json, sheet_of
from .syllabus import with_tables

LOGGER = logging.getLogger(__name__)
read = reader(Path(__file__).parent / "js")
#: A cell that shows an exercise, up to the exercise's id.
CELL = re.compile(
    r'<div class="cell [^"]*tag_exercise[^"]*">(?:(?!<div class="cell ).)*?'
    r'<span class="n">gk</span><span class="o">\.</span><span class="n">exercise</span>'
    r'<span class="p">\(</span><span class="s2">"([a-z0-9-]+)"',
    re.DOTALL,
)


def exercises_of(document: str) -> list:
    """Return the exercises of a chapter, or none for another document."""
    folder, _, name = document.rpartition("/")
    return list(EXERCISES.get(name, ())) if folder == "chapters" else []


def chapters(app: Sphinx) -> list[tuple[str, list]]:
    """Return the chapters with exercises, in the order of the book, and their exercises."""
    order = {id: k for k, id in enumerate(CATALOG)}
    pairs = [(name, exercises_of(name)) for name in app.env.found_docs]
    return sorted((c for c in pairs if c[1]), key=lambda chapter: order[chapter[1][0].id])


def contents(app: Sphinx, page: str) -> list[dict[str, Any]]:
    """Return the title, the address relative to `page`, and the exercises of each chapter."""
    return [
        {
            "title": app.env.titles[name].astext(),
            "page": app.builder.get_relative_uri(page, name),
            "exercises": [{"id": ex.id, "title": ex.title} for ex in exercises],
        }
        for name, exercises in chapters(app)
    ]


def list_all(app: Sphinx, page: str, source: list[str]) -> None:
    """Write the lists of exercises, lectures and labs into a page that has places for them."""
    source[0] = with_tables(source[0], Path(app.srcdir) / "chapters")
    if PLACE in source[0]:
        known = [
            read_chapter(Path(app.env.doc2path(name)), exercises)
            for name, exercises in chapters(app)
        ]
        source[0] = source[0].replace(PLACE, listed(known))


def with_sheets(body: str) -> tuple[str, list[str]]:
    """Return a page with a sheet for each exercise, and the ids of these exercises."""
    ids = []

    def before(cell: re.Match[str]) -> str:
        if cell[1] not in CATALOG:
            return cell[0]
        ids.append(cell[1])
        sheet = as_json(sheet_of(CATALOG[cell[1]]))
        data = f'<script type="application/json">{sheet}</script>'
        return f'<div class="gk-try" id="try-{cell[1]}">{data}</div>\n{cell[0]}'

    return CELL.sub(before, body), ids


def finish(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Add its sheets to a page, and the list of all exercises to the front page."""
    if app.builder.name != "html" or "body" not in context:
        return
    context["body"], shown = with_sheets(context["body"])
    missing = [ex.id for ex in exercises_of(page) if ex.id not in shown]
    if missing:
        message = f"no cell shows {', '.join(missing)}"
        LOGGER.warning(message, location=page, type="exercises")
    if page == app.config.root_doc:
        data = as_json(contents(app, page))
        context["body"] += f'<script class="gk-contents" type="application/json">{data}</script>'


def add_assets(app: Sphinx) -> None:
    """Write the exercises' script, and name it and its style sheet on every page."""
    if app.builder.name != "html":
        return
    script = classic(["page"], read, f'bringExercisesToLife("{__version__}");')
    (static(app) / "exercises.js").write_text(script, encoding="utf-8")
    for name in ("exercises.css", "questions.css"):
        app.add_css_file(name, priority=960)
    app.add_js_file("exercises.js", priority=910, loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the start of the build and to the writing of pages."""
    app.connect("builder-inited", add_assets)
    app.connect("source-read", list_all)
    app.connect("html-page-context", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
