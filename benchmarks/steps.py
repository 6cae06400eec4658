"""What a benchmark says while it runs: a line for each row, and how far it is.

A writer says how many rows it expects and tells each as it is there. Alone that prints them; within
`shown`, on a terminal, a progress bar stands below. In a log there is no bar: it would be a line a
row, too.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from tqdm.auto import tqdm

from gpukernels.cores.progress import Progress

#: The bar of the benchmark that runs, if it has one, and the rows that it has told.
_shown: list[Progress] = []
_told: list[int] = [0]


@contextlib.contextmanager
def shown(name: str) -> Iterator[None]:
    """Show a bar for what is told in the block, where somebody looks at a terminal."""
    _told[0] = 0
    with Progress(name, 0, "row") as bar:
        _shown[:] = [bar] if sys.stderr.isatty() else []
        try:
            yield
        finally:
            _shown.clear()


def expect(rows: int) -> None:
    """Say that so many more rows will be told."""
    for bar in _shown:
        bar.expect(rows)


def tell(line: str, rows: int = 1) -> None:
    """Print a line, which stands for so many rows."""
    _told[0] += rows
    if not _shown:
        print(line, flush=True)
    for bar in _shown:
        tqdm.write(line)
        bar.reach(_told[0])
