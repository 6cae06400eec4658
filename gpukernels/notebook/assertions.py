"""Assertions in the cells of a notebook that somebody reads, and changes.

The chapters assert the numbers of which their text speaks. Where nobody sits at the notebook, in a
test or when outputs are stored, an assertion that fails has to stop it: the text is wrong. In front
of a reader it fails because the reader has changed the graph, as the book asks them to. Then the
cell says that its text speaks of another graph, and goes on.

The cells keep their plain ``assert`` lines: `chapter.set_up` gives IPython a transformer of syntax
trees. A function or a ``with`` block of our own would stand in hundreds of
places and teach nothing about GPUs. Assertions in functions stay as Python has them: there they
guard what follows, and what stands in a kernel belongs to the kernel's compiler.

Whether somebody sits there is told by each request to run a cell. It says whether the front end can
answer ``input()``: JupyterLab, the classic notebook and VS Code can, nbval, nbclient and all that
stands on them cannot. So a runner that nobody thought of is strict.
"""

from __future__ import annotations

import ast
import linecache
import sys
from typing import Any

#: What becomes of an assertion's expression when the numbers in it are not those of the book. A
#: name that does not exist is none of these: then a cell was not run.
FAILURES = ("AssertionError", "ArithmeticError", "LookupError", "TypeError", "ValueError")

#: What an author who writes this after ``except`` wants to see fail.
_CAUGHT = {"AssertionError", "BaseException", "Exception"}

#: What a reader is told before the first line of a cell.
PUBLISHED = "The text nearby speaks of the notebook as it was published; of what it is now,"

#: Lines of the running cell of which the reader has been told.
_told: set[int] = set()


def soften_in_notebook() -> bool:
    """Let cells that a reader runs go on after an assertion that fails; once for each notebook.

    Returns
    -------
    bool
        Whether this is a notebook's kernel.
    """
    shell = _shell()
    if getattr(shell, "kernel", None) is None:
        return False
    # By name: a class of a module that was loaded again is another one.
    others = [t for t in shell.ast_transformers if type(t).__name__ != SoftAssertions.__name__]
    shell.ast_transformers[:] = [*others, SoftAssertions()]
    return True


class SoftAssertions(ast.NodeTransformer):
    """Makes each assertion of a cell report its failure, where a reader runs the cell."""

    def visit_Module(self, cell: ast.Module) -> ast.Module:
        """Change the cell's assertions, unless nobody is there to read what they say."""
        _told.clear()
        return self.generic_visit(cell) if _read() else cell

    def visit_Expr(self, found: ast.Expr) -> ast.stmt:
        """Take a call of ``np.testing.assert_array_equal`` or its like for an assertion."""
        called = getattr(found.value, "func", None)
        name = getattr(called, "attr", getattr(called, "id", ""))
        return self.visit_Assert(found) if name.startswith("assert_") else found

    def visit_Assert(self, found: ast.Assert | ast.Expr) -> ast.Try:
        """Put the assertion between ``try`` and a handler that reports it."""
        # What `import` gives is looked for again, as a reader may use any name for something else.
        report = (
            f"__import__({__name__!r}, fromlist=['report']).report("
            f"{found.lineno}, {found.end_lineno}, {ast.unparse(found)!r})"
        )
        caught = ", ".join(FAILURES)
        text = f"try:\n    pass\nexcept ({caught}):\n    {report}"
        (guarded,) = ast.parse(text).body
        for node in ast.walk(guarded):
            ast.copy_location(node, found)
        guarded.body = [found]
        return guarded

    def visit_Try(self, found: ast.Try) -> ast.Try:
        """Leave assertions alone whose failure the cell itself handles."""
        body = found.body
        if any(_handles_assertions(handler) for handler in found.handlers):
            found.body = []
        self.generic_visit(found)
        found.body = found.body or body
        return found

    def _leave(self, found: ast.AST) -> ast.AST:
        return found

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _leave


def report(line: int, last: int, text: str) -> None:
    """Tell the reader which assertion does not hold; called where it failed.

    Parameters
    ----------
    line, last : int
        Its first and last line in the cell, counted from 1.
    text : str
        The assertion, for a cell whose lines are not to be had.
    """
    if line in _told:  # one in a loop may fail at every turn
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
    if _told:
        said = f"Nor does line {line}: {text}"
    else:
        said = f"{PUBLISHED} line {line} does not hold: {text}"
    _told.add(line)
    print(said, file=sys.stderr)


def _handles_assertions(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    return any(isinstance(n, ast.Name) and n.id in _CAUGHT for n in ast.walk(handler.type))


def _shell() -> Any:
    # Not imported for this: where nobody has loaded IPython there is no notebook.
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def _read() -> bool:
    """Return whether a reader has asked for the running cell."""
    # Colab, which no runner has, asks for input in a way of its own.
    if "google.colab" in sys.modules:
        return True
    get_parent = getattr(_shell(), "get_parent", dict)
    return bool(get_parent().get("content", {}).get("allow_stdin"))
