"""The families of methods, and a table of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gpukernels import all_pairs, mapping, shortest_paths, traversal
from gpukernels.checks import check_choice
from gpukernels.methods import Method, defaults_of
from gpukernels.notebook.table import Table

#: The public functions that take a method's name, and what they look it up in.
FAMILIES: dict[str, Mapping[str, Method]] = {
    "apsp": all_pairs.METHODS,
    "bfs": traversal.METHODS,
    "expand": mapping.METHODS,
    "sssp": shortest_paths.METHODS,
}


def methods(family: str | Callable) -> Table:
    """Return a table of the methods that a function of this package knows.

    Parameters
    ----------
    family : str or function
        ``"apsp"``, ``"bfs"``, ``"expand"`` or ``"sssp"``, or the function itself.

    Returns
    -------
    Table
        One row per method: name, idea, paper (its key in the book's bibliography), work, and
        options with their defaults.

    Raises
    ------
    InvalidArgument
        If there is no such family.

    Examples
    --------
    >>> import gpukernels as gk
    >>> for method, idea, paper, work, options in gk.methods("bfs").rows[:2]:
    ...     print(f"{method}: {work} [{paper}] {options}")
    harish: O(V D + E) [harish2007accelerating] threads=128, parents=True
    virtual_warp: O(V D + E) [hong2011accelerating] warp_size=8, threads=128, parents=True
    """
    name: Any = getattr(family, "__name__", family)
    check_choice("family", name, FAMILIES)
    rows = []
    for key, method in FAMILIES[name].items():
        rows.append((key, method.idea, method.paper, method.work, defaults_of(method.driver)))
    heads = ("method", "idea", "paper", "work", "options and defaults")
    return Table(heads, rows, caption=f"Methods of gk.{name}", words=True)
