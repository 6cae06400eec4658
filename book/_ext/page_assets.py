"""Styles and scripts of the book and its figures, which every page loads after the theme's."""

from __future__ import annotations

import shutil
from pathlib import Path

from page_parts import classic, reader, static
from sphinx.application import Sphinx

from gpukernels.views.script import classic_script, encoder_script, stylesheet

BOOK = Path(__file__).parents[1]
PAPER = BOOK / "paper" / "paper.css"
#: The scripts of every page and of the search page, with their first modules in ``book/js``.
SCRIPTS = {
    "reading.js": ["cards", "contents", "paper", "served"],
    "search.js": ["search"],
}


def add_assets(app: Sphinx) -> None:
    """Write the figures' files into the pages' folder, and name all after the theme's files."""
    if app.builder.format != "html":
        return
    target = static(app)
    (target / "views.css").write_text(stylesheet(), encoding="utf-8")
    app.add_css_file("views.css", priority=900)
    app.add_css_file("book.css", priority=950)
    if app.builder.name == "epub":
        shutil.copy(PAPER, target)
        app.add_css_file(PAPER.name, priority=990)
        return
    for name, modules in SCRIPTS.items():
        script = classic(modules, reader(BOOK / "js"))
        (target / name).write_text(script, encoding="utf-8")
    (target / "views.js").write_text(classic_script(), encoding="utf-8")
    (target / "gifenc.js").write_text(encoder_script(), encoding="utf-8")
    app.add_js_file("views.js", priority=900, loading_method="defer")
    app.add_js_file("reading.js", priority=900, loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the start of the build."""
    app.connect("builder-inited", add_assets)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
