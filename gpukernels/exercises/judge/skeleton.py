"""Skeletons and solutions are one text: a kernel whose lines marked ``# added`` are the solution.

So a solution can only ever add lines to its skeleton, and the two cannot drift apart.
"""

from __future__ import annotations

import functools
import inspect
import re
import textwrap

from gpukernels.simt import python_function

#: What ends each line of a solution that its skeleton lacks.
MARK = re.compile(r"[ \t]*# added$", re.MULTILINE)
#: Stands in skeleton and solution alike, where the missing lines belong.
HERE = "# Your lines go here."


def solution_text(imports: str, *functions) -> str:
    """Return `imports` and the functions' source, the marks taken off."""
    return MARK.sub("", _whole(imports, functions))


def skeleton_text(imports: str, *functions) -> str:
    """Return `imports` and the functions' source without the marked lines."""
    lines = _whole(imports, functions).splitlines()
    return "\n".join(line for line in lines if not MARK.search(line)) + "\n"


def _whole(imports, functions) -> str:
    return "\n\n\n".join([imports.strip(), *map(_source, functions)]) + "\n"


@functools.cache
def _source(function) -> str:
    # Python reads through a function's tokens to find its end, for skeleton and solution once.
    return textwrap.dedent(inspect.getsource(python_function(function))).strip()
