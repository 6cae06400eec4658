"""Every citation key in the package's docstrings is in the book's bibliography."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
KEY = re.compile(r"\[([a-z]+(?:19|20)\d\d[a-z0-9]+)\]")
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef


def test_cited_keys_exist():
    bibliography = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    known = set(re.findall(r"^@\w+\{([^,]+),", bibliography, re.MULTILINE))
    cited = {}
    for path in sorted((ROOT / "gpukernels").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, DOCUMENTED):
                cited.update(dict.fromkeys(KEY.findall(ast.get_docstring(node) or ""), path))
    assert {"harish2007accelerating", "hong2011accelerating", "jia2011edge"} <= set(cited)
    assert {key: str(path) for key, path in cited.items() if key not in known} == {}
