"""Add new addresses to the list of kept addresses: `make addresses`.

The addresses are read from the sources and their stored outputs, so the book need not be built. If
two headings of a page have the same text, only the first one has a kept address.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import report_page
import yaml
from docutils.nodes import make_id
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.myst_blocks import myst_block_plugin
from mdit_py_plugins.myst_role import myst_role_plugin

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
import kept_addresses
from figure_links import figures_of, plays_of

from gpukernels.views.address import figure_id

ROOT = Path(__file__).resolve().parents[1]
READER = MarkdownIt("commonmark").enable("table")
READER.use(myst_role_plugin).use(dollarmath_plugin).use(myst_block_plugin)
#: A role with a title, such as {term}`words <target>`.
SHOWN = re.compile(r"(.+?)\s*<[^<>]+>", re.DOTALL)
RAW_ID = re.compile(r'<\w+[^>]*\sid="([^"]+)"')


class Page(NamedTuple):
    """The parts of a page that have an address."""

    #: Headings, labels and ids of HTML.
    anchors: set[str]
    #: The records of its figures by their ids.
    figures: dict[str, dict[str, Any]]
    #: Links that set a figure of the page, as ``#fig-frontier?step=8``.
    links: set[str]


def pages() -> dict[str, Page]:
    """Return the pages of the book by their addresses."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    names = [toc["root"], *(c["file"] for part in toc["parts"] for c in part["chapters"])]
    return {f"{name}.html": page_of(next(ROOT.glob(f"{name}.*"))) for name in names}


def page_of(source: Path) -> Page:
    """Return the page that is made from a Markdown file or a notebook."""
    text = source.read_text(encoding="utf-8")
    cells = json.loads(text)["cells"] if source.suffix == ".ipynb" else []
    markdown = ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"] or [text]
    outputs = (output.get("data", {}) for cell in cells for output in cell.get("outputs", []))
    html = "".join("".join(data.get("text/html", "")) for data in outputs)
    if report_page.PLACE.search(text):
        html += report_page.written(text)
    records = figures_of(html)[1]
    page = Page(set(), {figure_id(record): record for record in records}, {*plays_of(records)})
    for part in markdown:
        read(READER.parse(part), page)
    return page


def read(tokens: list[Token], page: Page) -> None:
    """Add the anchors and links of Markdown to a page."""
    for before, token in zip([None, *tokens], tokens, strict=False):
        if before is not None and before.type == "heading_open":
            page.anchors.add(make_id("".join(map(shown, token.children or []))))
        if token.type == "myst_target":
            page.anchors.add(make_id(token.content))
        elif token.type in ("html_block", "html_inline"):
            page.anchors.update(RAW_ID.findall(token.content))
        elif token.type == "fence" and token.info.startswith("{"):
            read(READER.parse(token.content), page)
        elif token.type == "link_open" and str(token.attrs["href"]).startswith("#fig-"):
            page.links.add(str(token.attrs["href"]))
        read(token.children or [], page)


def shown(token: Token) -> str:
    """Return the text of a part of a heading."""
    title = SHOWN.fullmatch(token.content) if token.type == "myst_role" else None
    return title[1] if title else token.content


def addresses() -> set[str]:
    """Return all current addresses of the book."""
    return {
        f"{name}{anchor}"
        for name, page in pages().items()
        for anchor in ("", *(f"#{a}" for a in {*page.anchors, *page.figures} if a), *page.links)
    }


def main() -> None:
    """Add new addresses to the list, and sort it."""
    old = kept_addresses.lines()
    new = addresses() - {*kept_addresses.kept()}
    text = kept_addresses.FILE.read_text(encoding="utf-8")
    comments = [line for line in text.splitlines() if line.startswith("# ")]
    kept_addresses.FILE.write_text("\n".join([*comments, *sorted([*old, *new])]) + "\n", "utf-8")
    print(f"{len(new)} addresses added to {kept_addresses.FILE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
