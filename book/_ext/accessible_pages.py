"""Small repairs of generated HTML that accessibility checkers ask for."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

#: What scrolls sideways on a phone: it must be reachable by the keyboard to be scrolled.
SCROLLS = re.compile(
    r'<(?:div|figure) (?![^>]*tabindex)[^>]*(?:class="gk-(?:table|summary)"|overflow-x: ?auto)[^>]*'
)
#: ARIA's publishing module has withdrawn docutils' role in favor of plain list items.
WITHDRAWN, ROLE = ' role="doc-biblioentry"', ' role="listitem"'


def repair(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Repair the page's body."""
    if "body" in context:
        body = context["body"].replace(WITHDRAWN, ROLE)
        context["body"] = SCROLLS.sub(lambda tag: f'{tag[0]} tabindex="0"', body)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the writing of every page."""
    app.connect("html-page-context", repair)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
