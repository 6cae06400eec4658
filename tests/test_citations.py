"""Every citation key in the package's docstrings is in the book's bibliography."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "gpukernels").rglob("*.py"))
KEY = re.compile(r"\[([a-z]+(?:19|20)\d\d[a-z0-9]+)\]")


@functools.cache
def _known() -> frozenset[str]:
    """Return the keys of the bibliography."""
    bibliography = (ROOT / "book" / "references.bib").read_text()
    return frozenset(re.findall(r"^@\w+\{([^,]+),", bibliography, re.MULTILINE))


@functools.cache
def _docstrings(path: Path) -> str:
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef
    nodes = ast.walk(ast.parse(path.read_text()))
    return "\n".join(ast.get_docstring(n) or "" for n in nodes if isinstance(n, kinds))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_cited_keys_exist(path):
    assert set(KEY.findall(_docstrings(path))) <= _known()


def test_the_search_finds_citations():
    found = {key for path in FILES for key in KEY.findall(_docstrings(path))}
    assert {"harish2007accelerating", "hong2011accelerating", "jia2011edge"} <= found
