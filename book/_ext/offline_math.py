"""MathJax from the book's own folder.

One script, which draws formulas as SVG: browsers refuse to load web fonts from a page opened as a
file, so MathJax's font-based output would fall back to ugly glyphs there.
"""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError
from sphinx.util.fileutil import copy_asset

SCRIPT = "tex-svg.js"
#: SHA-256 of es5/tex-svg.js in mathjax 3.2.2 as MathJax publishes it on npm. The wheel that brings
#: the file here is by one person, and the file runs on every page.
CHECKSUM = "d4295dc33744836935c1399feece5159577b34c5c8ffb9f1c6324cd82e03a882"


def name_script(app: Sphinx, config: Config) -> None:
    """Point Sphinx at the copy in `_static`, and keep MathJax from offering to load more."""
    config.mathjax_path = f"mathjax/{SCRIPT}"
    settings = dict(config.mathjax3_config or {})
    settings["options"] = {**settings.get("options", {}), "enableMenu": False}
    config.mathjax3_config = settings


def check_script(path: Path) -> None:
    """Refuse a script that is not MathJax's own."""
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != CHECKSUM:
        raise ExtensionError(
            f"{path}: SHA-256 is {found}, that of MathJax's own file {CHECKSUM}. Compare it with "
            "es5/tex-svg.js of the same version of npm's mathjax before you change the number"
        )


def copy_script(app: Sphinx, error: Exception | None) -> None:
    """Copy the script out of the sphinx-mathjax-offline package into the built pages."""
    if error is None and app.builder.format == "html":
        # The package's name has hyphens, so no import statement can name it.
        spec = importlib.util.find_spec("sphinx-mathjax-offline")
        folder = Path(spec.submodule_search_locations[0]) / "static" / "mathjax"
        check_script(folder / SCRIPT)
        copy_asset(folder / SCRIPT, Path(app.outdir) / "_static" / "mathjax")


def setup(app: Sphinx) -> dict[str, bool]:
    """Load Sphinx's own MathJax extension, then redirect it."""
    app.setup_extension("sphinx.ext.mathjax")
    app.connect("config-inited", name_script, priority=900)
    app.connect("build-finished", copy_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
