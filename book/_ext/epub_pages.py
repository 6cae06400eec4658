"""The pages of the EPUB: as they are on paper, and well-formed XML."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from sphinx.application import Sphinx
from sphinx.config import Config

import gpukernels

sys.path.insert(0, str(Path(__file__).parents[1] / "paper"))
from stills import still, xhtml


def settle(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Remove the parts of an EPUB's page that an e-book reader cannot play or open."""
    if app.builder.name != "epub":
        return
    context["script_files"] = []
    if "body" in context:
        body = BeautifulSoup(f"<div>{context['body']}</div>", "html.parser").div
        context["body"] = xhtml(still(body).decode_contents())


def name_version(app: Sphinx, config: Config) -> None:
    """Take the version, which an EPUB must name, from the package."""
    config.version = gpukernels.__version__


def leave_out_redirects(app: Sphinx) -> None:
    """Leave redirecting pages out of an EPUB, because nothing links to them there."""
    if app.builder.name == "epub":
        app.config.redirects = {}


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the writing of every page, after all others."""
    app.connect("config-inited", name_version)
    app.connect("builder-inited", leave_out_redirects)
    app.connect("html-page-context", settle, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
