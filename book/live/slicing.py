"""The small programs that make the figures of a chapter, sliced from its notebook.

A program has the statements on which its figure depends, in the order of the notebook, and nothing
else: no checks, no tables, no other figures. A statement depends on the earlier statements that
bind or change one of the names it reads. A call of a function of the notebook also reads the
names that the function reads.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator
from typing import Any, NamedTuple

#: Calls that show something and change nothing.
SHOWS = {"display", "print"}
SIMPLE = (ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


class Statement(NamedTuple):
    """A statement of a notebook.

    Attributes
    ----------
    text : str
        Its lines, with the comments directly above it.
    tree : ast.stmt
        The statement.
    binds, always : set of str
        The names that it may bind, and those that it binds in any case.
    changes, reads : set of str
        The names whose objects it may change, and those that it reads before it binds them.
    in_functions : set of str
        The names that functions read which it defines, whenever these are called.
    """

    text: str
    tree: ast.stmt
    binds: set[str]
    always: set[str]
    changes: set[str]
    reads: set[str]
    in_functions: set[str]


def _scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _scopes(child)


def _base(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _changed(tree: ast.stmt, modules: set[str]) -> set[str]:
    """Return the names whose objects a statement may change.

    These are the objects that it stores into, the object of a method called for its effect, and
    the arguments of another call for its effect, such as a launch or ``np.add.at(...)``.
    """
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load):
            names.add(_base(node))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            call = node.value
            if isinstance(call.func, ast.Attribute) and _base(call.func) not in modules:
                names.add(_base(call.func))
            elif _base(call.func) not in SHOWS:
                for part in [*call.args, *(keyword.value for keyword in call.keywords)]:
                    names |= _names_in(part)
    for node in ast.walk(tree):
        # If a loop changes its variable, it changes the elements of its list.
        if isinstance(node, ast.For) and names & _names_in(node.target):
            names |= _names_in(node.iter)
    return names - {""} - modules


def _names_in(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


class _Names(NamedTuple):
    binds: set[str]
    reads: set[str]
    inner: set[str]


def _names(tree: ast.AST) -> _Names:
    """Return the names that a statement binds and reads, and that functions within it read."""
    table = symtable.symtable(ast.unparse(tree), "cell", "exec")
    inner = {
        symbol.get_name()
        for scope in _scopes(table)
        for symbol in scope.get_symbols()
        if symbol.is_global() and symbol.is_referenced()
    }
    symbols = table.get_symbols()
    return _Names(
        {s.get_name() for s in symbols if s.is_assigned() or s.is_imported()},
        {s.get_name() for s in symbols if s.is_referenced()},
        inner,
    )


def _in_order(tree: ast.stmt) -> tuple[set[str], set[str]]:
    """Return the names that a statement reads before it binds them, and those that it binds.

    A loop is taken to run at least once. A name that is bound only under a condition is left out.
    """
    if not isinstance(tree, ast.For | ast.With):
        names = _names(tree)
        return names.reads | names.inner, names.binds if isinstance(tree, SIMPLE) else set()
    heads = [tree] if isinstance(tree, ast.For) else tree.items
    reads: set[str] = set()
    bound: set[str] = set()
    for head in heads:
        value = head.iter if isinstance(head, ast.For) else head.context_expr
        target = head.target if isinstance(head, ast.For) else head.optional_vars
        names = _names(ast.Expr(value))
        reads |= names.reads | names.inner
        bound |= set() if target is None else _names_in(target)
    for statement in tree.body:
        read, now = _in_order(statement)
        reads |= read - bound
        bound |= now
    return reads, bound


def _statement(text: str, tree: ast.stmt, modules: set[str]) -> Statement:
    names = _names(tree)
    is_function = isinstance(tree, ast.FunctionDef | ast.ClassDef)
    reads, bound = _in_order(tree)
    return Statement(
        text,
        tree,
        names.binds,
        bound,
        set() if is_function else _changed(tree, modules),
        names.reads if is_function else reads,
        names.inner if is_function else set(),
    )


def statements_of(cell: str, modules: set[str]) -> list[Statement]:
    """Return the statements of a code cell, each with the comments directly above it.

    `modules` are the names that imports and functions have: calls do not change their objects.
    """
    lines = cell.splitlines()
    statements, end = [], 0
    for tree in ast.parse(cell).body:
        decorators = getattr(tree, "decorator_list", [])
        start = min([tree.lineno, *(d.lineno for d in decorators)]) - 1
        while start > end and lines[start - 1].startswith("#"):
            start -= 1
        end = tree.end_lineno or start
        statements.append(_statement("\n".join(lines[start:end]), tree, modules))
    return statements


def _modules(cells: list[str]) -> set[str]:
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    trees = [tree for cell in cells for tree in ast.parse(cell).body if isinstance(tree, kinds)]
    return {name for tree in trees for name in _names(tree).binds}


def _kept(statements: list[Statement]) -> list[Statement]:
    """Return a cell's statements without a value that it shows at its end."""
    tree = statements[-1].tree if statements else None
    if isinstance(tree, ast.Expr) and not _is_launch(tree.value):
        return statements[:-1]
    return statements


def _is_launch(call: ast.expr) -> bool:
    """Return whether an expression is ``kernel[blocks, threads](...)``."""
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Subscript)


def _without_unused(statement: Statement, needed: set[str]) -> str:
    """Return an import with the names that are needed."""
    tree = statement.tree
    if not isinstance(tree, ast.ImportFrom):
        return statement.text
    names = [a for a in tree.names if (a.asname or a.name) in needed]
    if len(names) == len(tree.names):
        return statement.text
    return ast.unparse(ast.ImportFrom(tree.module, names, tree.level))


def _reads_of(statement: Statement, functions: dict[str, set[str]]) -> set[str]:
    names, waiting = set(), set(statement.reads)
    while waiting:
        name = waiting.pop()
        names.add(name)
        waiting |= functions.get(name, set()) - names
    return names


def program_of(cells: list[str]) -> str:
    """Return the program of the figure that the last of these code cells shows.

    Parameters
    ----------
    cells : list of str
        The code cells of a notebook up to the figure's, without its set-up.
    """
    modules = _modules(cells)
    before = [s for cell in cells[:-1] for s in _kept(statements_of(cell, modules))]
    *inside, last = statements_of(cells[-1], modules)
    statements = [*before, *inside]
    functions: dict[str, set[str]] = {}
    for statement in statements:
        for name in statement.binds:
            functions[name] = statement.in_functions
    needed = _reads_of(last, functions)
    parts = [(last.text, last.tree)]
    for statement in reversed(statements):
        if isinstance(statement.tree, ast.Assert):
            continue
        if not needed & (statement.binds | statement.changes):
            continue
        text = _without_unused(statement, needed)
        needed -= statement.always
        needed |= _reads_of(statement, functions)
        parts.append((text, statement.tree))
    return _laid_out(parts[::-1])


def _laid_out(parts: list[tuple[str, Any]]) -> str:
    """Return the text of a program: imports first, and two empty lines around functions."""
    imports = [p for p in parts if isinstance(p[1], ast.Import | ast.ImportFrom)]
    rest = [p for p in parts if p not in imports]
    # The order of a formatter: the standard library's and NumPy's modules before the book's own.
    ordered = sorted(dict.fromkeys(text for text, _ in imports), key=_place)
    text = "\n".join(ordered)
    after_function = False
    for k, (own, tree) in enumerate(rest):
        is_function = isinstance(tree, ast.FunctionDef | ast.ClassDef)
        wide = is_function or after_function
        text += "\n\n\n" if wide else "\n\n" if k == 0 or "\n" in own else "\n"
        text += own
        after_function = is_function
    return text.strip("\n") + "\n"


def _place(text: str) -> tuple[bool, bool, str]:
    return "gpukernels" in text, text.startswith("from"), text
