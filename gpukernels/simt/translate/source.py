"""Find a kernel's source, its syntax tree and the values that its free names stand for."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import linecache
import textwrap
from dataclasses import dataclass, field

from gpukernels.simt.errors import SourceNotFound, UnsupportedConstruct
from gpukernels.simt.translate.versions import split_variables
from gpukernels.trace import Source


@dataclass(frozen=True)
class Function:
    """The parsed source of a kernel or device function.

    Attributes
    ----------
    source : Source
        Text and place, as the trace shows them.
    tree : ast.FunctionDef
        The syntax tree, with line numbers of the file and a name for each life of a variable.
    python : function
        The plain Python function.
    results : dict
        Results of the translator by argument types: the types of all variables, and of the
        function's result.
    captured : dict
        Values from outside of the function, by argument types and by name. The first translation
        fixes them, as the first compilation does in numba.
    """

    source: Source
    tree: ast.FunctionDef
    python: object
    results: dict = field(default_factory=dict, compare=False, repr=False)
    captured: dict = field(default_factory=dict, compare=False, repr=False)

    def free(self, name: str):
        """Return the value of a closure variable, global or builtin; raise NameError if absent."""
        code = self.python.__code__
        if name in code.co_freevars:
            cell = self.python.__closure__[code.co_freevars.index(name)]
            return cell.cell_contents
        if name in self.python.__globals__:
            return self.python.__globals__[name]
        return getattr(builtins, name) if hasattr(builtins, name) else _undefined(name)


def _undefined(name):
    raise NameError(name)


def python_function(kernel):
    """Return the plain Python function of a ``@cuda.jit`` kernel, or of a function itself.

    Examples
    --------
    >>> from gpukernels.primitives import queue_append
    >>> from gpukernels.simt import python_function
    >>> python_function(queue_append).__name__
    'queue_append'
    """
    function = getattr(kernel, "py_func", None) or getattr(kernel, "fn", None) or kernel
    return function if inspect.isfunction(function) else None


def load(kernel) -> Function:
    """Read and parse the source of `kernel`.

    Raises
    ------
    SourceNotFound
        Where Python keeps no source, and what to do about it.
    UnsupportedConstruct
        For lambdas, generators and coroutines.
    """
    function = python_function(kernel)
    if function is None:
        raise UnsupportedConstruct(f"{kernel!r} is neither a @cuda.jit kernel nor a function")
    return parsed(function)


@functools.lru_cache(maxsize=1024)
def parsed(function) -> Function:
    """Read and parse the source of a plain function, once."""
    name = function.__name__
    file = inspect.getsourcefile(function) or function.__code__.co_filename
    try:
        linecache.checkcache(file)
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise SourceNotFound(
            "the source of this kernel cannot be found; define it in a file or a notebook cell "
            "rather than at a prompt or through exec",
            kernel=name,
        ) from None
    first = max(first, 1)
    text = textwrap.dedent("".join(lines))
    try:
        module = ast.parse(text)
    except SyntaxError:
        module = ast.Module(body=[], type_ignores=[])
    trees = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)]
    if not trees:
        raise UnsupportedConstruct(
            "only functions written with `def` can be run; give this one a `def` of its own",
            kernel=name,
            file=file,
            line=first,
            text=lines[0],
        )
    ast.increment_lineno(module, first - 1)
    split_variables(trees[0])
    stripped = tuple(line.rstrip("\n") for line in text.splitlines())
    return Function(Source(name, file, first, stripped), trees[0], function)
