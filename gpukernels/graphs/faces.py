"""The face of a public call: it takes graphs of other libraries, and vertices by their labels.

Behind the face, a graph is a :class:`Graph` without labels and a vertex is its position, so that
the code there need not know of labels.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, TypeAlias, TypeVar

from gpukernels.errors import (
    LengthOverflow,
    NegativeCycleError,
    NegativeWeightError,
    RoundingError,
)
from gpukernels.graphs.answers import Answer
from gpukernels.graphs.graph import Graph
from gpukernels.graphs.io import from_networkx, from_scipy

Call = TypeVar("Call", bound=Callable[..., Any])

#: A Graph, a NetworkX graph or a SciPy sparse matrix; the latter two need not be installed.
GraphLike: TypeAlias = Graph | Any

#: Errors that name vertices; behind the face, by position.
NAME_VERTICES = LengthOverflow, NegativeCycleError, NegativeWeightError, RoundingError


def as_graph(g: Any, weighted: bool = True) -> Any:
    """Return the Graph of a NetworkX graph or a SciPy sparse matrix; other objects unchanged.

    If a library is not imported, `g` cannot come from it, so this function imports none. Without
    `weighted`, the edge attributes of a NetworkX graph are not read.
    """
    if isinstance(g, Graph):
        return g
    networkx, sparse = sys.modules.get("networkx"), sys.modules.get("scipy.sparse")
    if networkx is not None and isinstance(g, networkx.Graph):
        return from_networkx(g, "weight" if weighted else None)
    if sparse is not None and sparse.issparse(g):
        return from_scipy(g)
    return g


def takes_labels(
    root: str | None = None, roots: str | None = None, *, weighted: bool = True
) -> Callable[[Call], Call]:
    """Declare that a call takes vertices by label, and graphs of other libraries as well.

    Parameters
    ----------
    root, roots : str, optional
        The name of the second argument, which is a vertex or several vertices. If it is left out,
        it is the vertex at position 0.
    weighted : bool
        Whether the call reads weights.
    """

    def declare(call: Call) -> Call:
        @wraps(call)
        def face(g: GraphLike, *arguments: Any, **options: Any) -> Any:
            g = as_graph(g, weighted)
            if not isinstance(g, Graph) or g.names is None:
                return call(g, *arguments, **options)
            names, argument = g.names, root or roots
            if argument is not None:
                positions = names.position if root else names.positions
                if arguments:
                    arguments = positions(argument, arguments[0]), *arguments[1:]
                elif argument in options:
                    options[argument] = positions(argument, options[argument])
            try:
                result = call(g.unlabeled, *arguments, **options)
            except NAME_VERTICES as error:
                error.rename(names)
                raise
            return replace(result, names=names) if isinstance(result, Answer) else result

        return face  # type: ignore[return-value]

    return declare
