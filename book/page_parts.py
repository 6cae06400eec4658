"""Parts of pages that extensions share: the form of a stored figure, files in ``_static``."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from sphinx.application import Sphinx

from gpukernels.views.script import join, read_module

#: A figure in HTML, up to the end of the record that its script reads.
FIGURE = re.compile(
    r'<figure (?P<rest>class="gk-view .*?<script type="application/json">(?P<record>.*?)</script>)',
    re.DOTALL,
)


def reader(folder: Path) -> Callable[[str], str]:
    """Return a function that reads a JavaScript module of `folder` or of the figures."""

    def read(name: str) -> str:
        own = folder / f"{name}.js"
        return own.read_text(encoding="utf-8") if own.exists() else read_module(name)

    return read


def classic(modules: list[str], read: Callable[[str], str], start: str = "") -> str:
    """Return a classic script of modules, because a page opened as a file may not load modules."""
    return f'(() => {{ "use strict";\n{join(modules, read)}\n{start} }})();\n'


def static(app: Sphinx) -> Path:
    """Return the folder of the files that all pages load."""
    folder = Path(app.outdir) / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
