"""Bibliography entries as list items.

docutils gives each the role "doc-biblioentry", which ARIA's publishing module has since withdrawn
in favor of plain list items; accessibility checkers report each one.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

WITHDRAWN = ' role="doc-biblioentry"'


def name_role(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Exchange the role in the page's body."""
    if "body" in context:
        context["body"] = context["body"].replace(WITHDRAWN, ' role="listitem"')


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the writing of every page."""
    app.connect("html-page-context", name_role)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
