"""Small repairs of generated HTML, as accessibility checkers require."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from sphinx.application import Sphinx

#: Elements that scroll sideways on a phone. The keyboard must be able to reach them.
SCROLLS = re.compile(
    r'<(?:div|figure) (?![^>]*tabindex)[^>]*(?:class="gk-table[^"]*"|overflow-x: ?auto)[^>]*'
)
#: The headings of a page, and its tables without a name, with the caption of each.
TABLES = re.compile(
    r"<h[1-6][^>]*>(?P<heading>.*?)(?:<a class=.headerlink.[^<]*</a>)?</h[1-6]>"
    r'|<div class="(?:gk-table[^"]*|pst-scrollable-table-container)"(?![^>]*aria-label)[^>]*'
    r"(?P<end>>)(?:<table[^>]*>\s*<caption>(?P<caption>.*?)</caption>)?",
    re.DOTALL,
)
#: ARIA's publishing module has withdrawn docutils' role in favor of plain list items.
WITHDRAWN, ROLE = ' role="doc-biblioentry"', ' role="listitem"'


def named_tables(body: str) -> str:
    """Name every table that may scroll, by its caption or the heading above it.

    A screen reader says the name when its user comes to the table by the keyboard or goes from
    region to region. All names of a page are different.
    """
    heading, count = "", Counter()

    def named(match: re.Match) -> str:
        nonlocal heading
        if match["heading"] is not None:
            heading = _words(match["heading"])
            return match[0]
        name = f"Table: {_words(match['caption'] or heading)}"
        count[name] += 1
        name += f" ({count[name]})" if count[name] > 1 else ""
        cut = match.start("end") - match.start()
        return f'{match[0][:cut]} role="region" aria-label="{name}"{match[0][cut:]}'

    return TABLES.sub(named, body)


def _words(markup: str) -> str:
    """Return the text of HTML, escaped for an attribute."""
    return " ".join(re.sub("<[^>]*>", "", markup).replace('"', "&quot;").split())


def repair(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Repair the page's body."""
    if "body" in context:
        body = named_tables(context["body"].replace(WITHDRAWN, ROLE))
        context["body"] = SCROLLS.sub(lambda tag: f'{tag[0]} tabindex="0"', body)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the writing of every page."""
    app.connect("html-page-context", repair)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
