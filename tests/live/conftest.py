"""The book's extension for programs on pages, and an interpreter that runs them."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from interpreter import ROOT, Interpreter

sys.path.insert(0, str(ROOT / "book"))


@pytest.fixture(scope="session")
def interpreter(tmp_path_factory) -> Iterator[Interpreter]:
    """Run programs as a page does, in CPython."""
    started = Interpreter(tmp_path_factory.mktemp("interpreter"))
    yield started
    started.close()
