"""Citations of the book, resolved without a look through all that is installed for each of them."""

from __future__ import annotations

import pybtex.plugin
from pybtex.backends.plaintext import Backend
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Register what sphinxcontrib-bibtex asks pybtex for at each citation: it is found first."""
    pybtex.plugin.register_plugin("pybtex.backends", "plaintext", Backend, force=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
