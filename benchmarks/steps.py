"""The output of a running benchmark: one line per row, and a progress bar.

A writer announces how many rows it expects, and reports each row when it is measured. Each row is
printed. Within `shown`, a terminal has a progress bar below the rows. A log has no bar, because
each step of the bar would be another line.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from tqdm.auto import tqdm

from gpukernels.cores.progress import Progress

#: The bar of the running benchmark, if it has one, and the number of reported rows.
_shown: list[Progress] = []
_rows_done: list[int] = [0]


@contextlib.contextmanager
def shown(name: str) -> Iterator[None]:
    """Show a bar for the rows of the block, if the output is a terminal."""
    _rows_done[0] = 0
    with Progress(name, 0, "row") as bar:
        _shown[:] = [bar] if sys.stderr.isatty() else []
        try:
            yield
        finally:
            _shown.clear()


def expect(rows: int) -> None:
    """Announce so many more rows."""
    for bar in _shown:
        bar.expect(rows)


def tell(line: str, rows: int = 1) -> None:
    """Print a line that reports so many rows."""
    _rows_done[0] += rows
    if not _shown:
        print(line, flush=True)
    for bar in _shown:
        tqdm.write(line)
        bar.reach(_rows_done[0])
