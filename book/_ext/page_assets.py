"""Every style sheet and script of `book/_static` is on every page."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx


def add_assets(app: Sphinx) -> None:
    """Name the files in alphabetical order, after the theme's own."""
    static = Path(app.srcdir) / "book" / "_static"
    for path in sorted(static.rglob("*.css")):
        app.add_css_file(path.relative_to(static).as_posix(), priority=900)
    for path in sorted(static.rglob("*.js")):
        app.add_js_file(path.relative_to(static).as_posix(), priority=900, loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the start of the build."""
    app.connect("builder-inited", add_assets)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
