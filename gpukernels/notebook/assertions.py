"""Assertions in the cells of a notebook: errors in a test, warnings for a reader.

The chapters assert the numbers in their text. In a test, or when outputs are stored, an assertion
that fails has to stop the notebook, because the text is wrong. For a reader it usually fails
because the reader has changed the graph, as the book suggests. Then the cell prints that the text
describes another graph, and goes on.

The cells keep their plain ``assert`` lines, because `chapter.set_up` gives IPython a transformer of
syntax trees. A function or a ``with`` block would be needed in hundreds of places and would teach
nothing about GPUs. Assertions in functions keep Python's meaning, because the code after them
relies on them; assertions in a kernel are compiled with the kernel.

Each request to run a cell contains whether the front end can answer ``input()``, which means that
a reader is present. JupyterLab, the classic notebook and VS Code can; nbval, nbclient and all tools
that use them cannot. So an unknown runner is strict.
"""

from __future__ import annotations

import ast
import linecache
import sys
from typing import Any

#: Errors that an assertion raises when its numbers differ from the book's. NameError is not one of
#: them: it means that a cell was not run.
FAILURES = ("AssertionError", "ArithmeticError", "LookupError", "TypeError", "ValueError")

#: Names after ``except`` which mean that the author expects an assertion to fail.
_CAUGHT = {"AssertionError", "BaseException", "Exception"}

#: Start of the message about the first failure in a cell.
PUBLISHED = "The text nearby describes the published notebook. In the notebook as it is now,"

#: Lines of the running cell whose failure has been printed.
_reported: set[int] = set()


def soften_in_notebook() -> bool:
    """Let a reader's cells go on after an assertion that fails.

    A second call in the same notebook changes nothing more.

    Returns
    -------
    bool
        Whether this is a notebook's kernel.
    """
    shell = _shell()
    if getattr(shell, "kernel", None) is None:
        return False
    # Compared by name, because a module that is loaded again has another class.
    others = [t for t in shell.ast_transformers if type(t).__name__ != SoftAssertions.__name__]
    shell.ast_transformers[:] = [*others, SoftAssertions()]
    return True


class SoftAssertions(ast.NodeTransformer):
    """Makes each assertion of a cell report its failure if a reader runs the cell."""

    def visit_Module(self, cell: ast.Module) -> ast.Module:
        """Change the cell's assertions if a reader runs the cell."""
        _reported.clear()
        return self.generic_visit(cell) if _read() else cell

    def visit_Expr(self, statement: ast.Expr) -> ast.stmt:
        """Treat a call of a function such as ``np.testing.assert_array_equal`` as an assertion."""
        called = getattr(statement.value, "func", None)
        name = getattr(called, "attr", getattr(called, "id", ""))
        return self.visit_Assert(statement) if name.startswith("assert_") else statement

    def visit_Assert(self, statement: ast.Assert | ast.Expr) -> ast.Try:
        """Put the assertion between ``try`` and a handler that reports it."""
        # Imported again by the cell, because a reader may use any name for something else.
        report = (
            f"__import__({__name__!r}, fromlist=['report']).report("
            f"{statement.lineno}, {statement.end_lineno}, {ast.unparse(statement)!r})"
        )
        caught = ", ".join(FAILURES)
        text = f"try:\n    pass\nexcept ({caught}):\n    {report}"
        (guarded,) = ast.parse(text).body
        for node in ast.walk(guarded):
            ast.copy_location(node, statement)
        guarded.body = [statement]
        return guarded

    def visit_Try(self, statement: ast.Try) -> ast.Try:
        """Leave assertions unchanged if the cell itself handles their failure."""
        body = statement.body
        if any(_handles_assertions(handler) for handler in statement.handlers):
            statement.body = []
        self.generic_visit(statement)
        statement.body = statement.body or body
        return statement

    def _leave(self, statement: ast.AST) -> ast.AST:
        return statement

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _leave


def report(line: int, last: int, text: str) -> None:
    """Print which assertion does not hold; called from the handler of its failure.

    Parameters
    ----------
    line, last : int
        First and last line of the assertion in the cell, counted from 1.
    text : str
        The assertion, printed if the lines of the cell cannot be read.
    """
    if line in _reported:  # an assertion in a loop may fail in every iteration
        return
    cell = linecache.getlines(sys._getframe(1).f_code.co_filename)
    if last <= len(cell):
        text = " ".join(part.strip() for part in cell[line - 1 : last])
    error = sys.exc_info()[1]
    why = str(error).strip().partition("\n")[0]
    if not isinstance(error, AssertionError):
        why = f"{type(error).__name__}: {why}"
    if why:
        text += f"  ({why})"
    if _reported:
        message = f"Nor does line {line}: {text}"
    else:
        message = f"{PUBLISHED} line {line} does not hold: {text}"
    _reported.add(line)
    print(message, file=sys.stderr)


def _handles_assertions(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    return any(isinstance(n, ast.Name) and n.id in _CAUGHT for n in ast.walk(handler.type))


def _shell() -> Any:
    # IPython is not imported here: if it is not loaded, there is no notebook.
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def _read() -> bool:
    """Return whether a reader runs the current cell."""
    # Colab has its own way to ask for input, and no test runs there.
    if "google.colab" in sys.modules:
        return True
    get_parent = getattr(_shell(), "get_parent", dict)
    return bool(get_parent().get("content", {}).get("allow_stdin"))
