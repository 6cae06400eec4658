"""Plain notebooks: the chapters for programs that do not read MyST, such as Colab and JupyterLab.

A Sphinx extension. In addition to the pages, it writes one notebook per chapter. Roles become links
to the published book, and directives become Markdown. The pages' download and Colab buttons open
these notebooks, and `make lab` copies them. A second folder has them without the solutions.
"""

from __future__ import annotations

import json
import os
from pathlib import Path, PurePosixPath
from typing import Any

import first_cell
from addresses import FOLDER, LITE, PLACEHOLDER, WITHOUT_SOLUTIONS, colab_address, pages_address
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError

from .cells import plain_notebook, without_solutions
from .markdown import NotPlain
from .references import References
from .running import below_title, row


def chapters(app: Sphinx) -> list[str]:
    """Return the chapters among the documents, by Sphinx's names."""
    return sorted(name for name in app.env.found_docs if name.startswith("chapters/"))


def write(app: Sphinx, error: Exception | None) -> None:
    """Write the plain notebook of every chapter, with and without solutions."""
    if error is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / FOLDER
    (folder / WITHOUT_SOLUTIONS).mkdir(parents=True, exist_ok=True)
    address = app.config.html_baseurl.rstrip("/") or pages_address(repository())
    set_up = first_cell.source(first_cell.published()).splitlines(keepends=True)
    for name in chapters(app):
        path = Path(app.env.doc2path(name))
        chapter = json.loads(path.read_text(encoding="utf-8"))
        chapter["cells"][0]["source"] = set_up
        try:
            plain = plain_notebook(chapter, References(app, name, address))
        except NotPlain as reason:
            raise ExtensionError(f"{name}: {reason}") from None
        write_notebook(folder / path.name, plain)
        write_notebook(folder / WITHOUT_SOLUTIONS / path.name, without_solutions(plain))


def write_notebook(file: Path, notebook: dict[str, Any]) -> None:
    """Write a notebook in the format of the chapters' files."""
    text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    file.write_text(text, encoding="utf-8")


def repository() -> str:
    """Return the repository's address, or an empty text if there is none."""
    url, _ = first_cell.published()
    return "" if PLACEHOLDER in url else url


def point_buttons(
    app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any
) -> None:
    """Let a chapter's buttons open its plain notebook, and add the row on how to run it."""
    if page not in chapters(app):
        return
    name = PurePosixPath(page).name
    folder = context["pathto"](FOLDER, 1)
    download = f"{folder}/{name}.ipynb"
    colab = colab_address(repository(), name)
    addresses = {"download-source-button": download, "Colab": colab}
    for group in context["header_buttons"]:
        for button in group.get("buttons", []):
            which = button.get("label", button["text"])
            if which in addresses:
                button["url"] = addresses[which]
    if app.builder.name == "html":
        unsolved = f"{folder}/{WITHOUT_SOLUTIONS}/{name}.ipynb"
        lite = f"{context['pathto'](LITE, 1)}/lab/index.html?path={name}.ipynb"
        browser = lite if app.config.lite else None
        links = row(name, download, unsolved, colab, repository(), browser)
        context["body"] = below_title(context["body"], links)


def find_lite(app: Sphinx, config: Config) -> None:
    """Let pages link to JupyterLite if `make lite` builds it after them, or has built it before."""
    built = (Path(app.outdir) / LITE / "index.html").exists()
    config.lite = built or os.environ.get("GPUKERNELS_LITE") == "yes"


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the end of the build, and to pages after the theme has made their buttons."""
    app.add_config_value("lite", False, "html", bool)
    app.connect("config-inited", find_lite)
    app.connect("html-page-context", point_buttons, priority=900)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
