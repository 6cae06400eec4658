"""Translation of docstrings, which are written for readers of the source, for Sphinx."""

from __future__ import annotations

import inspect
import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.inspect import stringify_signature

#: ``[merrill2012scalable]``, a key of references.bib. tests/test_citations.py has the same form.
KEY = re.compile(r"\[([a-z]+(?:19|20)\d\d[a-z0-9]+)\]")


def cite(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Replace the keys in the docstring `lines` by citations, except in the output of examples."""
    example = False
    for i, line in enumerate(lines):
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if not example:
            lines[i] = KEY.sub(r":cite:`\1`", line)


def sign(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: Any
) -> tuple[str, str] | None:
    """Return the signature of a class. For a widget, Sphinx would show ``__new__`` of traitlets."""
    if what != "class":
        return None
    if getattr(obj, "_is_protocol", False):  # it has no instances
        return "", ""
    return stringify_signature(inspect.signature(obj), show_annotation=False), ""


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the reading of every docstring and signature."""
    app.connect("autodoc-process-docstring", cite)
    app.connect("autodoc-process-signature", sign)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
