"""A book of a few small files, built within the test's own process."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TextIO

import pytest
from built_book import ROOT
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils


@pytest.fixture
def book_extensions(monkeypatch) -> None:
    """Let Sphinx find the book's own extensions."""
    monkeypatch.syspath_prepend(str(ROOT / "book"))
    monkeypatch.syspath_prepend(str(ROOT / "book" / "_ext"))


def build(
    source: Path,
    files: dict[str, str],
    settings: dict[str, Any],
    builder: str = "html",
    warnings: TextIO | None = None,
    status: TextIO | None = None,
) -> Sphinx:
    """Write the files of a small book, build it into the folder ``out``, and return the build."""
    for name, text in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text, encoding="utf-8")
    with patch_docutils(), docutils_namespace():
        app = Sphinx(
            source,
            None,
            source / "out",
            source / "trees",
            builder,
            confoverrides=settings,
            status=status,
            warning=warnings,
        )
        app.build()
    return app
