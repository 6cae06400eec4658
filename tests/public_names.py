"""The names that `gpukernels` offers: those that its `__init__` imports as themselves."""

from __future__ import annotations

import ast
from pathlib import Path

import gpukernels as gk

PUBLIC = sorted(
    alias.name
    for node in ast.parse(Path(gk.__file__).read_text(encoding="utf-8")).body
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
    if alias.asname == alias.name
)
