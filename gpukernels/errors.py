"""Every error that a user of the library can cause.

An error about an argument, a file or a graph names the given value and the allowed ones, and is
raised before anything is written. Kernels that run on the SIMT machine raise subclasses of
`KernelError`. They are defined in the machine's package and also named here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from os import PathLike, fspath
from typing import Any

from gpukernels.simt.errors import (
    BarrierDivergence,
    EndlessLoop,
    KernelAssertion,
    KernelError,
    KernelException,
    KernelTypeError,
    LaunchError,
    OutOfBounds,
    RaceError,
    ReadOnlyArray,
    ShuffleError,
    SourceNotFound,
    TraceLimit,
    UninitializedRead,
    UnsetVariable,
    UnsupportedConstruct,
)

__all__ = [
    "BarrierDivergence",
    "EndlessLoop",
    "GraphFormatError",
    "InvalidArgument",
    "KernelAssertion",
    "KernelError",
    "KernelException",
    "KernelTypeError",
    "LaunchError",
    "LengthOverflow",
    "MissingTool",
    "NegativeCycleError",
    "NegativeWeightError",
    "OutOfBounds",
    "RaceError",
    "ReadOnlyArray",
    "RoundingError",
    "ShuffleError",
    "SourceNotFound",
    "TileError",
    "TraceLimit",
    "UninitializedRead",
    "UnknownMethod",
    "UnsetVariable",
    "UnsupportedConstruct",
    "VertexOutOfRange",
]


#: Longest message in characters, unless a list of allowed values is longer; longest name in one.
MESSAGE = 300
PART = 120


def printable(text: str, most: int = MESSAGE) -> str:
    """Return `text` for a message: on one line, its middle cut out, control characters escaped.

    Characters that are not printable are written as in a string literal: control characters, line
    ends, characters that change the direction of the text, halves of surrogate pairs. So a file
    name or a line of a file can neither move the cursor nor stop the program that prints it.
    """
    if len(text) > most:
        text = f"{text[:most]} ... {text[-most:]}"
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    if len(text) <= most:
        return text
    head = (most - 5) // 2
    return f"{text[:head]} ... {text[len(text) - (most - 5 - head) :]}"


def _own_words(text: str) -> str:
    """Return a text of this package for a message; a list of allowed values is never cut."""
    return printable(text, max(MESSAGE, len(text)))


def _plain(vertex: Any) -> Any:
    """Return a vertex: a NumPy number as a Python number, a label unchanged."""
    return vertex.item() if hasattr(vertex, "item") else vertex


class InvalidArgument(ValueError):
    """An argument has a value that is not allowed.

    Parameters
    ----------
    argument : str
        Name of the argument, with an index if one element is wrong (``"offsets[3]"``).
    value : object
        The given value.
    allowed : str
        The allowed values, as the end of the sentence "must be ...".

    Examples
    --------
    >>> import gpukernels as gk
    >>> try:
    ...     gk.Graph(offsets=[0, 2, 1], targets=[0])
    ... except gk.InvalidArgument as error:
    ...     error.argument, error.value
    ...     print(error)
    ('offsets[2]', 1)
    offsets[2] = 1: must be at least offsets[1] = 2
    """

    def __init__(self, argument: str, value: object, allowed: str) -> None:
        super().__init__(argument, value, allowed)
        self.argument = argument
        self.value = value
        self.allowed = allowed

    def __str__(self) -> str:
        name, allowed = printable(self.argument, PART), f": must be {_own_words(self.allowed)}"
        room = MESSAGE - len(name) - 3 - len(allowed)
        return f"{name} = {printable(repr(self.value), max(PART // 2, room))}{allowed}"


class GraphFormatError(ValueError):
    r"""A graph file cannot be read; no graph has been made.

    Parameters
    ----------
    file : str or path
        The file, as the caller named it.
    line : int or None
        Line of the first fault, counted from 1; ``None`` if no line can be named.
    reason : str
        Description of the fault.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import gpukernels as gk
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "arcs.txt")
    ...     _ = file.write_text("0 1\n1 two\n")
    ...     try:
    ...         gk.read(file)
    ...     except gk.GraphFormatError as error:
    ...         error.line, error.reason
    (2, "target 'two' is not a whole number")
    """

    def __init__(self, file: str | PathLike[str], line: int | None, reason: str) -> None:
        super().__init__(fspath(file), line, reason)
        self.file = fspath(file)
        self.line = line
        self.reason = reason

    def __str__(self) -> str:
        place = printable(self.file, PART)
        if self.line is not None:
            place += f", line {self.line}"
        return f"{place}: {printable(self.reason, MESSAGE - len(place) - 2)}"


class VertexOutOfRange(InvalidArgument, IndexError):
    """A vertex id is not one of 0 to n - 1.

    Parameters
    ----------
    argument : str
        Name of the argument, with an index if one element is wrong.
    value : int
        The given id.
    n : int
        Number of vertices of the graph.

    Examples
    --------
    >>> import gpukernels as gk
    >>> gk.bfs(gk.path(3), root=3)
    Traceback (most recent call last):
        ...
    gpukernels.errors.VertexOutOfRange: root = 3: must be a vertex from 0 to 2
    """

    def __init__(self, argument: str, value: int, n: int) -> None:
        allowed = f"a vertex from 0 to {n - 1}" if n else "absent, as the graph has no vertices"
        super().__init__(argument, value, allowed)
        self.n = n
        self.args = (argument, value, n)


class NegativeWeightError(ValueError):
    """A method that needs non-negative weights was given a negative one.

    Parameters
    ----------
    method : str
        The requested method.
    arc : (vertex, vertex)
        Source and target of the first arc with a negative weight, by label.
    weight : int or float
        Its weight.
    alternatives : iterable of str, optional
        Methods of the same family that take negative weights.

    Examples
    --------
    >>> import gpukernels as gk
    >>> print(gk.NegativeWeightError("dijkstra", arc=(0, 1), weight=-4))
    method 'dijkstra' needs weights of at least 0, but arc 0 -> 1 weighs -4
    """

    def __init__(
        self,
        method: str,
        arc: tuple[Any, Any],
        weight: float,
        alternatives: Iterable[str] = (),
    ) -> None:
        self.method = method
        self.arc = _plain(arc[0]), _plain(arc[1])
        self.weight = weight
        self.alternatives = tuple(alternatives)
        super().__init__(method, self.arc, weight, self.alternatives)

    def rename(self, names: Any) -> None:
        """Replace each vertex, a position, by its label."""
        source, target = self.arc
        self.arc = names[source], names[target]
        self.args = (self.method, self.arc, self.weight, self.alternatives)

    def __str__(self) -> str:
        source, target = self.arc
        text = (
            f"method {self.method!r} needs weights of at least 0, "
            f"but arc {source} -> {target} weighs {self.weight}"
        )
        if self.alternatives:
            text += f"; methods that allow it: {', '.join(self.alternatives)}"
        return text


class NegativeCycleError(ValueError):
    """The graph has a reachable cycle of negative length, so shortest paths do not exist.

    Parameters
    ----------
    cycle : sequence of vertices
        The cycle's vertices in order, each once, by label; the last has an arc to the first.

    Examples
    --------
    >>> import gpukernels as gk
    >>> print(gk.NegativeCycleError([2, 5, 3]))
    negative cycle: 2 -> 5 -> 3 -> 2
    """

    def __init__(self, cycle: Sequence[Any]) -> None:
        self.cycle = [_plain(vertex) for vertex in cycle]
        super().__init__(self.cycle)

    def rename(self, names: Any) -> None:
        """Replace each vertex, a position, by its label."""
        self.cycle = [names[vertex] for vertex in self.cycle]
        self.args = (self.cycle,)

    def __str__(self) -> str:
        shown = self.cycle if len(self.cycle) <= 12 else self.cycle[:12]
        ring = " -> ".join(map(str, shown))
        if len(shown) < len(self.cycle):
            ring += f" -> ... ({len(self.cycle) - len(shown)} more)"
        return f"negative cycle: {ring} -> {self.cycle[0]}"


class RoundingError(FloatingPointError, ValueError):
    """Sums of floats are rounded so much that shortest paths cannot be found.

    Only negative weights lead to this error: distances fall around a cycle that is not negative, or
    no path has the computed distance. Whole numbers up to 2^24 are added without rounding.

    Parameters
    ----------
    vertex : vertex
        A vertex whose distance is wrong, by label.
    dtype : str
        Type in which lengths were added up.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.Graph.from_arcs(3, [0, 1, 2], [1, 2, 1], [2.0**24, 1, -1])
    >>> try:
    ...     gk.sssp(g, 0, "topology_driven")
    ... except gk.RoundingError as error:
    ...     error.vertex, error.dtype
    (1, 'float32')
    """

    def __init__(self, vertex: Any, dtype: str = "float32") -> None:
        self.vertex, self.dtype = _plain(vertex), dtype
        super().__init__(self.vertex, dtype)

    def rename(self, names: Any) -> None:
        """Replace the vertex, a position, by its label."""
        self.vertex = names[self.vertex]
        self.args = (self.vertex, self.dtype)

    def __str__(self) -> str:
        text = (
            f"distances are rounded so far in {self.dtype} that the shortest path to or from "
            f"vertex {self.vertex} is not known; use whole-number weights"
        )
        if self.dtype == "float32":
            text += ", or float64 on the CPU: gk.reference.bellman_ford, or engine='cpu'"
        return text


class LengthOverflow(OverflowError, ValueError):
    """A path is longer, or shorter, than the type of the distances holds.

    Parameters
    ----------
    how : {"longer", "shorter"}
        Whether its length is above or below the range of `dtype`.
    dtype : str
        The type of the distances.
    source, target : vertex, optional
        First and last vertex of the path, by label, if known.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.Graph.from_arcs(None, ["a", "b"], ["b", "c"], [2**31 - 2, 2])
    >>> try:
    ...     gk.sssp(g, "a", "harish")
    ... except gk.LengthOverflow as error:
    ...     print(error)
    a path from vertex a is longer than int32 holds; take float32 weights
    """

    def __init__(self, how: str, dtype: Any, source: Any = None, target: Any = None) -> None:
        self.how, self.dtype = how, str(dtype)
        self.source, self.target = _plain(source), _plain(target)
        super().__init__(how, self.dtype, self.source, self.target)

    def rename(self, names: Any) -> None:
        """Replace each vertex, a position, by its label."""
        self.source, self.target = (
            None if vertex is None else names[vertex] for vertex in (self.source, self.target)
        )
        self.args = (self.how, self.dtype, self.source, self.target)

    def __str__(self) -> str:
        way = "" if self.source is None else f" from vertex {self.source}"
        if self.target is not None:
            way += f" to {self.target}" if way else f" to vertex {self.target}"
        advice = "; take float32 weights" if self.dtype == "int32" else ""
        return f"a path{way} is {self.how} than {self.dtype} holds{advice}"


class MissingTool(RuntimeError):
    """A tool that a call such as `sass` needs is not installed; the message says how to install it.

    Examples
    --------
    >>> from numba import cuda, types
    >>> import gpukernels as gk
    >>> @cuda.jit
    ... def double(a):
    ...     i = cuda.grid(1)
    ...     if i < a.size:
    ...         a[i] *= 2
    >>> try:
    ...     repeats = len(gk.sass(double, (types.float32[:],)).loops) > 0
    ... except gk.MissingTool:
    ...     repeats = "nobody knows"
    >>> repeats
    False
    """


class TileError(RuntimeError):
    """A tile of a large result could not be made, for a reason other than the input.

    Parameters
    ----------
    call : str
        The public function, such as ``"sssp_many"``.
    tile : str
        The part of its result.
    reason : str
        Description of the failure.

    Examples
    --------
    >>> import gpukernels as gk
    >>> print(gk.TileError("sssp_many", "roots 64 to 127", "MemoryError: no room"))
    gk.sssp_many, roots 64 to 127: MemoryError: no room
    """

    def __init__(self, call: str, tile: str, reason: str) -> None:
        super().__init__(call, tile, reason)
        self.call, self.tile, self.reason = call, tile, reason

    def __str__(self) -> str:
        return f"gk.{self.call}, {self.tile}: {printable(self.reason)}"


#: Algorithms of `gpukernels.reference` that users of other libraries may expect as methods.
ON_THE_CPU = ("bellman_ford", "bellman_ford_queue", "dijkstra", "floyd_warshall", "johnson")


class UnknownMethod(ValueError):
    """A family of methods has no method of the given name.

    Parameters
    ----------
    family : str
        The public function, such as ``"bfs"``.
    method : object
        The given name.
    methods : iterable of str
        The names that exist.

    Examples
    --------
    >>> import gpukernels as gk
    >>> try:
    ...     gk.bfs(gk.path(3), method="frontiers")
    ... except gk.UnknownMethod as error:
    ...     error.method, error.methods[:2]
    ('frontiers', ('auto', 'harish'))
    """

    def __init__(self, family: str, method: object, methods: Iterable[str]) -> None:
        self.family = family
        self.method = method
        self.methods = tuple(methods)
        super().__init__(family, method, self.methods)

    def __str__(self) -> str:
        method = printable(repr(self.method), PART)
        text = f"{self.family} has no method {method}; it has {', '.join(self.methods)}"
        if isinstance(self.method, str) and self.method in ON_THE_CPU:
            return _own_words(f"{text}; gk.reference.{self.method} is that algorithm, on the CPU")
        close = get_close_matches(str(self.method)[:PART], self.methods, n=1)
        return _own_words(f"{text} (did you mean {close[0]!r}?)" if close else text)
