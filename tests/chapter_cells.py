"""A chapter as its tests read it: the sentences, and the values that its cells give to names.

Most cells of a chapter draw, explain or pose tasks. A test needs a few of them, so a value is
computed when a test first reads it, from the cells that it depends on and no others.
"""

from __future__ import annotations

import ast
import json
import linecache
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from symtable import SymbolTable, symtable

CHAPTERS = Path(__file__).parents[1] / "chapters"

#: Methods that change the object of which they are called.
CHANGING = {"add", "append", "extend", "insert", "pop", "remove", "setdefault", "update"}


class Page:
    """The text of a chapter.

    Parameters
    ----------
    name : str
        The notebook's name without its ending.
    """

    def __init__(self, name: str):
        path = CHAPTERS / f"{name}.ipynb"
        self.name, self.cells = name, json.loads(path.read_text(encoding="utf-8"))["cells"]

    @cached_property
    def prose(self) -> str:
        """The Markdown cells, each run of white space as one blank."""
        cells = [cell["source"] for cell in self.cells if cell["cell_type"] == "markdown"]
        return re.sub(r"\s+", " ", "\n".join("".join(lines) for lines in cells))

    def says(self, *parts: str) -> bool:
        """Return whether the prose has each of `parts`, word by word."""
        for part in parts:
            assert part in self.prose, f"{self.name} does not say {part!r}"
        return True


@dataclass
class _Cell:
    """A code cell: the names that it binds or changes, those that it reads, and its namespace."""

    label: str
    source: str
    binds: set[str]
    reads: set[str]
    names: dict | None = None


class Cells:
    """The values of a chapter's names, as attributes: those at its end, or after a cell.

    Parameters
    ----------
    page : Page
        The chapter.
    """

    def __init__(self, page: Page):
        self._cells = [
            _read(cell["id"], "".join(cell["source"]))
            for cell in page.cells
            if cell["cell_type"] == "code" and "exercise" not in cell["metadata"].get("tags", [])
        ]
        self._end = len(self._cells)

    def after(self, label: str) -> Cells:
        """Return the values after the cell with the id `label`."""
        earlier = object.__new__(Cells)
        earlier._cells = self._cells
        earlier._end = 1 + [cell.label for cell in self._cells].index(label)
        return earlier

    def __getattr__(self, name: str):
        if name.startswith("_"):
            raise AttributeError(name)
        at = self._bound(name, self._end)
        if at is None:
            raise AttributeError(f"no cell gives {name} a value")
        return self._run(at)[name]

    def _bound(self, name: str, end: int) -> int | None:
        """Return which cell before `end` is the last that binds a name."""
        return next((k for k in reversed(range(end)) if name in self._cells[k].binds), None)

    def _run(self, at: int) -> dict:
        """Run a cell, if it has not been run, after those on which it depends."""
        cell = self._cells[at]
        if cell.names is None:
            names = {"__name__": "__chapter__", "display": lambda *shown: None}
            for name in cell.reads:
                before = self._bound(name, at)
                values = {} if before is None else self._run(before)
                if name in values:  # not so in a branch that is not taken, of Colab for one
                    names[name] = values[name]
            label = f"<cell {cell.label}>"
            lines = cell.source.splitlines(keepends=True)
            linecache.cache[label] = len(cell.source), None, lines, label  # kernels need it
            exec(compile(cell.source, label, "exec"), names)
            cell.names = names
        return cell.names


def _read(label: str, source: str) -> _Cell:
    """Find the names of a cell."""
    tree = ast.parse(source)
    binds = {name for node in _outside_functions(tree) for name in _bound_names(node)}
    reads = _global_names(symtable(source, label, "exec")) | _changed(tree)
    return _Cell(label, source, binds, reads - _bound_first(tree.body))


def _changed(tree: ast.Module) -> set[str]:
    """Return the names that stand left of ``+=`` and its like."""
    changes = (node for node in _outside_functions(tree) if isinstance(node, ast.AugAssign))
    return {name for node in changes for name in _base(node.target)}


def _bound_first(body: list[ast.stmt]) -> set[str]:
    """Return the names that statements bind before they read them."""
    first: dict[str, type[ast.expr_context]] = {}
    for node in _in_order(body):
        if isinstance(node, ast.Name):
            first.setdefault(node.id, type(node.ctx))
    return {name for name, context in first.items() if context is ast.Store}


def _in_order(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the nodes outside functions as they are evaluated: values before targets."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            continue
        yield node
        parts = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.Assign | ast.AugAssign | ast.For):
            targets = getattr(node, "targets", None) or [node.target]
            value = node.iter if isinstance(node, ast.For) else node.value
            if isinstance(node, ast.AugAssign):
                targets = [ast.Name(name, ast.Load()) for name in _base(node.target)]
            parts = [value, *targets, *getattr(node, "body", []), *getattr(node, "orelse", [])]
        yield from _in_order(parts)


def _global_names(table: SymbolTable) -> set[str]:
    """Return the names of the notebook that a cell reads, those in its functions included."""
    module = table.get_type() == "module"
    symbols = (s for s in table.get_symbols() if s.is_referenced() and (module or s.is_global()))
    names = {symbol.get_name() for symbol in symbols}
    return names.union(*map(_global_names, table.get_children()))


def _outside_functions(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a cell outside functions, classes and comprehensions."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda | ast.comprehension):
            yield from _outside_functions(node)


def _bound_names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).split(".")[0] for alias in node.names]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _base(node.func.value) if node.func.attr in CHANGING else []
    stored = isinstance(getattr(node, "ctx", None), ast.Store)
    return (
        _base(node) if stored and not isinstance(node, ast.Starred | ast.Tuple | ast.List) else []
    )


def _base(node: ast.AST) -> list[str]:
    """Return the name at the beginning of ``name[...].attribute``."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return [node.id] if isinstance(node, ast.Name) else []
