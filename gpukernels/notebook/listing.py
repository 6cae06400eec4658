"""Show a kernel's source as it stands in its file, so that a page cannot drift from the code."""

from __future__ import annotations

import html
import inspect
import textwrap
from pathlib import Path
from typing import Any

from gpukernels.checks import needed
from gpukernels.simt import python_function

#: JupyterLab and Colab wrap a pre anywhere, in the middle of a name too; the book's pages scroll.
_UNWRAPPED = "white-space: pre; overflow-x: auto"


class Listing:
    """Source text that shows itself highlighted in a notebook and plain elsewhere."""

    def __init__(self, title: str, text: str):
        self.title = title
        self.text = text

    def __repr__(self) -> str:
        return f"# {self.title}\n{self.text}"

    def _repr_html_(self) -> str:
        pygments = needed("pygments", "notebook")
        formatters = needed("pygments.formatters", "notebook")
        lexer = needed("pygments.lexers", "notebook").PythonLexer()
        code = pygments.highlight(self.text, lexer, formatters.HtmlFormatter(nowrap=True))
        title = html.escape(self.title)
        return (
            f'<figure class="gk-listing"><figcaption>{title}</figcaption>'
            f'<div class="highlight"><pre style="{_UNWRAPPED}">{code}</pre></div></figure>'
        )


def show(*functions: Any) -> Listing:
    """Return the source of kernels, device functions or plain functions of one file.

    Parameters
    ----------
    *functions
        ``@cuda.jit`` kernels or Python functions.

    Returns
    -------
    Listing
        Displays itself as highlighted code titled with the file's path within the project.

    Raises
    ------
    TypeError
        If something other than a function is given.

    Examples
    --------
    >>> import gpukernels as gk
    >>> from gpukernels.primitives import queue_append
    >>> repr(gk.show(queue_append)).splitlines()[0]
    '# gpukernels/primitives/queue_append.py'
    """
    texts, title = [], ""
    for function in functions:
        python = python_function(function)
        if python is None:
            raise TypeError(f"show() takes kernels and functions, not {type(function).__name__}")
        texts.append(textwrap.dedent(inspect.getsource(python)).rstrip("\n"))
        title = title or _title(python)
    return Listing(title, "\n\n\n".join(texts) + "\n")


def _title(function: Any) -> str:
    package = Path(__file__).parents[1]
    file = Path(inspect.getsourcefile(function) or "")
    if package in file.parents:
        return f"gpukernels/{file.relative_to(package).as_posix()}"
    return "this notebook"
