"""The report: the papers' numbers and ours, from ``data/papers`` and ``data/benchmarks``.

A Sphinx extension. It replaces each comment ``<!-- report: bfs4k -->`` in the source of a page with
the part of this name. Only the prose of the page is written by hand, so a new measurement changes
the page.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from gpukernels.notebook import record

from .papers import FOLDER
from .sections import PARTS

PLACE = re.compile(r"<!-- report: ([a-z0-9-]+) -->")


def written(source: str) -> str:
    """Return a page's source with every part in its place.

    Raises
    ------
    KeyError
        If a place names no part.
    """
    return PLACE.sub(lambda place: f"`````{{raw}} html\n{PARTS[place[1]]()}\n`````", source)


def write(app: Sphinx, page: str, source: list[str]) -> None:
    """Write the parts, and note the files that they come from."""
    if PLACE.search(source[0]):
        source[0] = written(source[0])
        code = Path(__file__).parent
        for files in (FOLDER.glob("*.json"), record.FOLDER.glob("*.json"), code.glob("*.py")):
            for file in sorted(files):
                app.env.note_dependency(str(file))


def add_style(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Name the style sheet on the pages that need it."""
    if 'class="gk-beside' in context.get("body", ""):
        app.add_css_file("report.css", priority=970)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the reading and to the writing of pages."""
    app.connect("source-read", write)
    app.connect("html-page-context", add_style)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
