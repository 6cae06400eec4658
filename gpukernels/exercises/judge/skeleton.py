"""Skeletons and solutions are one text: a kernel whose lines marked ``# added`` are the solution.

So a solution can only ever add lines to its skeleton, and the two cannot drift apart. A kernel of
the library has no marks: there a :class:`Gap` says which of its lines are left out.
"""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from typing import NamedTuple

from gpukernels.simt import python_function

#: Mark at the end of each line of a solution that its skeleton lacks.
MARK = re.compile(r"[ \t]*# added$", re.MULTILINE)
#: Stands in skeleton and solution alike, where the missing lines belong.
HERE = "# Your lines go here."


class Gap(NamedTuple):
    """Lines that are left out of a kernel: the first of them, which stands there once, and all."""

    first: str
    lines: int = 1


def solution_text(imports: str, *functions, gap: Gap | None = None) -> str:
    """Return `imports` and the functions' source, the marks taken off."""
    return MARK.sub("", _whole(imports, functions, gap))


def skeleton_text(imports: str, *functions, gap: Gap | None = None) -> str:
    """Return `imports` and the functions' source without the marked lines."""
    lines = _whole(imports, functions, gap).splitlines()
    return "\n".join(line for line in lines if not MARK.search(line)) + "\n"


def _whole(imports, functions, gap) -> str:
    text = "\n\n\n".join([imports.strip(), *map(_source, functions)]) + "\n"
    return text if gap is None else _marked(text, gap)


def _marked(text: str, gap: Gap) -> str:
    lines = text.splitlines()
    (begin,) = (k for k, line in enumerate(lines) if line.strip() == gap.first)
    end = begin + gap.lines
    blank = lines[begin][: -len(gap.first)]
    lines[begin:end] = [blank + HERE, *(f"{line}  # added" for line in lines[begin:end])]
    return "\n".join(lines) + "\n"


@functools.cache
def _source(function) -> str:
    # Python reads through a function's tokens to find its end, for skeleton and solution once.
    return textwrap.dedent(inspect.getsource(python_function(function))).strip()
