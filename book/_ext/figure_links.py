"""Links that set a figure, such as ``[Stop at level 8](#fig-frontier?step=8)`` in a text.

A figure gets its address when its page is written, so stored outputs need no address. The links are
checked at the same time, by the script that draws the figure. Without scripts, a link leads to the
figure. The state of the figure is in an attribute of the link, where the page's script finds it.
The page also lists the addresses of figures that have moved on it.
"""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

from docutils import nodes
from kept_addresses import moves_of
from page_parts import FIGURE
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from gpukernels.views.address import ADDRESS, address_problem, figure_id

LOGGER = logging.getLogger(__name__)
LINK = re.compile(r'href="(#fig-[^"]*)"')
MOVES = '<script type="application/json" class="gk-moves">{}</script>'


class KeepFigureLinks(SphinxTransform):
    """Hide links to figures from MyST, which accepts only links to headings and labels."""

    default_priority = 878  # before myst_parser's ResolveAnchorIds

    def apply(self, **_: Any) -> None:
        """Remove the mark of a link to a label from links to figures."""
        for link in self.document.findall(nodes.reference):
            target = link.get("refuri", "")
            if link.get("id_link") and target.startswith("#fig-"):
                if target[1:] not in self.document.nameids:
                    del link["id_link"]
                    link["internal"] = True


def figures_of(body: str) -> tuple[str, list[dict[str, Any]]]:
    """Return a page with ids for its figures, and their records in the order of the page."""
    records = []

    def named(figure: re.Match[str]) -> str:
        records.append(json.loads(figure["record"]))
        return f'<figure id="{figure_id(records[-1])}" {figure["rest"]}'

    return FIGURE.sub(named, body), records


def problems_of(addresses: list[str], records: list[dict[str, Any]]) -> list[str]:
    """Return the errors in the links to a page's figures and in the names of its figures."""
    names = [figure_id(record) for record in records]
    problems = [
        f"two figures are called {name}: give one of them another name"
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    for address in dict.fromkeys(addresses):
        parts = ADDRESS.match(address)
        if parts is None or parts["figure"] not in names:
            known = ", ".join(f"#{name}" for name in names) or "none at all"
            problems.append(f"{address}: the page has no such figure, but {known}")
        elif problem := address_problem(records[names.index(parts["figure"])], address):
            problems.append(f"{address}: {problem}")
    return problems


def plays_of(records: list[dict[str, Any]]) -> list[str]:
    """Return the addresses to which cells of comparisons link."""
    return [a for record in records for row in record.get("plays", []) for a in row if a]


def anchored(body: str) -> str:
    """Return the page with links that lead to their figures even without a script."""

    def split(link: re.Match[str]) -> str:
        figure, _, state = link[1].partition("?")
        return f'href="{figure}"' + (f' data-gk-state="{state}"' if state else "")

    return LINK.sub(split, body)


def finish(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Name a page's figures, mark the first one, and check and split the links to them."""
    if "#fig-" not in context.get("body", "") and "gk-view" not in context.get("body", ""):
        return
    body, records = figures_of(context["body"])
    links = [unescape(link) for link in LINK.findall(body)]
    moves = moves_of(f"{page}.html")
    known = [*links, *plays_of(records), *(new for _, new in moves)]
    for problem in problems_of(known, records):
        LOGGER.warning(problem, location=page, type="figures")
    body = anchored(body)
    if page.startswith("chapters/"):  # the first figure of a chapter shows few numbers
        body = body.replace(' class="gk-view ', ' class="gk-view gk-few ', 1)
    context["body"] = body + (MOVES.format(json.dumps(moves)) if moves else "")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the reading of texts and the writing of pages."""
    app.add_transform(KeepFigureLinks)
    app.connect("html-page-context", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
