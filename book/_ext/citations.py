"""Citations of the book, resolved without a search of all installed packages for each of them."""

from __future__ import annotations

import pybtex.plugin
from pybtex.backends.plaintext import Backend
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the backend that sphinxcontrib-bibtex looks up at each citation."""
    pybtex.plugin.register_plugin("pybtex.backends", "plaintext", Backend, force=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
