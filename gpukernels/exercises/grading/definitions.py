"""The part of an answer that is judged: its imports, kernels and numbers, and no other code.

A kernel is run by the SIMT machine and never by Python, so it cannot reach the judge. Statements
that call anything but arithmetic could, and are left out, as are imports of the exercises.
"""

from __future__ import annotations

import ast
import builtins

#: Modules that an answer may import from.
MODULES = ("numba", "numpy", "math", "gpukernels")
#: Functions that an assignment may call, in addition to all of `math` and NumPy.
CALLED = {
    "abs", "dict", "divmod", "float", "int", "len", "list", "max", "min", "pow", "range", "round",
    "sorted", "sum", "tuple", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64", "float32", "float64",
}  # fmt: skip
#: Modules whose functions an assignment may call, by the names that they may have.
CALLED_OF = {"math": "math", "np": "numpy", "numpy": "numpy"}
#: Decorators of a kernel or a device function.
DECORATORS = {"cuda.jit", "benign_race", "gk.benign_race", "gpukernels.benign_race"}


def definitions(source: str) -> tuple[str, list[int]]:
    """Return a source in which every other statement is a blank line, and where these began.

    Raises
    ------
    SyntaxError
        If it is no Python.
    """
    lines = source.splitlines()
    own, others = [""] * len(lines), []
    for statement in ast.parse(source).body:
        if _is_kept(statement):
            above = [line.lineno for line in getattr(statement, "decorator_list", ())]
            first, last = min([statement.lineno, *above]), statement.end_lineno
            own[first - 1 : last] = lines[first - 1 : last]
        else:
            others.append(statement.lineno)
    return "\n".join(own) + "\n", others


def _is_kept(statement: ast.stmt) -> bool:
    match statement:
        case ast.Import(names=names):
            return all(_may_import(alias.name, alias.asname) for alias in names)
        case ast.ImportFrom(module=module, level=0, names=names):
            return all(_may_import(f"{module}.{alias.name}", alias.asname) for alias in names)
        case ast.FunctionDef(decorator_list=decorators, args=arguments):
            named = [ast.unparse(getattr(d, "func", d)) for d in decorators]
            parts = [x for d in decorators for x in ast.iter_child_nodes(d) if x is not _called(d)]
            plain = all(_is_plain(part) for part in (*parts, *arguments.defaults))
            return bool(named) and set(named) <= DECORATORS and plain
        case ast.Assign(targets=targets, value=value):
            return all(map(_is_name, targets)) and _is_plain(value)
        case ast.AnnAssign(target=target, value=value) | ast.AugAssign(target=target, value=value):
            return _is_name(target) and value is not None and _is_plain(value)
    return False


def _called(decorator: ast.expr) -> ast.expr:
    return getattr(decorator, "func", decorator)


def _may_import(name: str, alias: str | None) -> bool:
    """Return whether an answer may import a module, or a name of one, under an alias."""
    root, _, rest = name.partition(".")
    is_own = alias is None or (alias not in CALLED and CALLED_OF.get(alias, name) == name)
    return root in MODULES and is_own and not (root == "gpukernels" and rest[:8] == "exercise")


def _is_name(target: ast.expr) -> bool:
    """Return whether a name or an element of one is assigned to, and none that may be called."""
    if isinstance(target, ast.Tuple):
        return all(map(_is_name, target.elts))
    name = target.value if isinstance(target, ast.Subscript) else target
    return isinstance(name, ast.Name) and name.id not in {*CALLED, *CALLED_OF}


def _is_plain(value: ast.expr) -> bool:
    """Return whether an expression is arithmetic: no lambda, and no call but of known functions."""
    for node in ast.walk(value):
        if isinstance(node, ast.Lambda | ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr):
            return False
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            return False
        # A builtin such as `exec` could be called by the function that gets it as an argument.
        if isinstance(node, ast.Name) and node.id in vars(builtins) and node.id not in CALLED:
            return False
        if isinstance(node, ast.Call) and not _may_call(node.func):
            return False
    return True


def _may_call(function: ast.expr) -> bool:
    match function:
        case ast.Name(id=name):
            return name in CALLED
        case ast.Attribute(value=ast.Name(id=module)):
            return module in CALLED_OF
    return False
