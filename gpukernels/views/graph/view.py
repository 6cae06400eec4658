"""GraphView: a graph with a value for each vertex and edge, or with its CSR arrays row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpukernels.checks import as_array, check_flag
from gpukernels.errors import InvalidArgument
from gpukernels.views.drawing import check_drawable, draw
from gpukernels.views.encoding import pack
from gpukernels.views.widget import View, check_step
from gpukernels.views.words import count, under, value_word

#: Steps of the color ramp.
SHADES = 6
#: Cells in a row of the CSR strip, and the most arcs that it shows.
STRIP_COLUMNS, STRIP_ARCS = 32, 96


class _Values:
    """One series of vertex values: ``(steps, n)``, the shade of each, and which are missing."""

    def __init__(self, name: str, values: ArrayLike, n: int, missing: float | None) -> None:
        table = as_array(name, values)
        if table.dtype.kind not in "iufb" or table.ndim not in (1, 2) or table.shape[-1] != n:
            raise InvalidArgument(name, values, f"numbers of shape ({n},) or (steps, {n})")
        table = np.atleast_2d(table).astype(np.float64)
        if not len(table):
            raise InvalidArgument(name, values, "at least one step")
        self.table = table
        self.missing = ~np.isfinite(table)
        if missing is not None:
            self.missing |= table == missing
        known = table[~self.missing]
        self.low, self.high = (known.min(), known.max()) if known.size else (0.0, 0.0)
        span = self.high - self.low
        with np.errstate(invalid="ignore"):
            scaled = (table - self.low) / span * SHADES if span else np.full(table.shape, 2.0)
        shade = np.clip(np.where(self.missing, 0, scaled), 0, SHADES - 1).astype(np.int64)
        self.shade = np.where(self.missing, SHADES, shade)

    def words(self, step: int) -> str:
        known = self.table[step][~self.missing[step]]
        none = int(self.missing[step].sum())
        if not known.size:
            return "No vertex has a value."
        text = f"Values from {value_word(known.min(), False)} to {value_word(known.max(), False)}"
        if none:
            text += f"; {count(none, 'vertex has', 'vertices have')} none"
        return text + "."


class GraphView(View):
    """A graph with a value for each vertex and each edge; or, vertex by vertex, its CSR arrays.

    Parameters
    ----------
    graph : Graph
        Anything with ``n``, ``offsets``, ``targets``, ``weights`` and ``directed``.
    values : array_like or dict of str to array_like, optional
        A number for each vertex, of shape (n,), or (steps, n) to play; several under their labels.
    edge_values : array_like, optional
        A number for each arc, of shape (m,); by default the weights, if there are any.
    parent : array_like, optional
        Tree to draw heavily, of shape (n,): the parent of each vertex, negative for none.
    csr : bool
        Show ``offsets`` and ``targets`` below, and step through the vertices.
    missing : number, optional
        A value that stands for "none", such as the -1 of an unreached vertex. Infinity and NaN
        always do.
    positions : array_like, optional
        Where to draw each vertex, of shape (n, 2), y upwards.
    choice : str
        Name of the list of series ("Method").
    title, caption, name : str
        Words above and below; addresses call it ``#fig-name``, by default by its title.
    step : int
        Step, or with `csr` vertex, shown first.
    seed : int
        Seed of the layout.

    Attributes
    ----------
    step : int
        The step shown; may be set and observed.
    trace : str
        The series shown, by its label; may be set and observed.

    Raises
    ------
    InvalidArgument
        If values, parents or positions do not fit the graph, or the graph is too large for `csr`.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.example()
    >>> r = gk.bfs(g)
    >>> gk.GraphView(g, r.distance, parent=r.parent)
    GraphView(16 vertices, 38 arcs)
    """

    _kind = "graph"

    def __init__(
        self,
        graph: Any,
        values: ArrayLike | dict[str, ArrayLike] | None = None,
        edge_values: ArrayLike | None = None,
        *,
        parent: ArrayLike | None = None,
        csr: bool = False,
        missing: float | None = -1,
        positions: object = None,
        choice: str = "Values",
        title: str = "Graph",
        caption: str = "",
        name: str = "",
        step: int = 0,
        seed: int = 0,
    ) -> None:
        csr = check_flag("csr", csr)
        check_drawable(graph)
        n, m = int(graph.n), len(graph.targets)
        self._offsets = np.asarray(graph.offsets, dtype=np.int64)
        self._targets = np.asarray(graph.targets, dtype=np.int64)
        self._directed = bool(graph.directed)
        if csr and (values is not None or not 0 < n < STRIP_COLUMNS or m > STRIP_ARCS):
            allowed = (
                f"used without values, on 1 to {STRIP_COLUMNS - 1} vertices and {STRIP_ARCS} arcs"
            )
            raise InvalidArgument("csr", csr, allowed)
        named = values if isinstance(values, dict) else {"": values}
        self._values = {
            label: None if series is None else _Values("values", series, n, missing)
            for label, series in named.items()
        }
        if not self._values:
            raise InvalidArgument("values", values, "a non-empty dict, an array or None")
        self._csr = csr
        self._drawing = draw(graph, positions=positions, seed=seed)
        self._tree = self._tree_lines(parent, n)
        self._line_texts = self._texts_of_lines(graph, edge_values, m)
        labels = list(self._values)
        check_step(step, self._count(labels[0]))
        payload = {
            "choice": choice,
            "drawing": self._drawing.payload(),
            "lineTexts": self._line_texts,
            "tree": pack(self._tree),
            "offsets": pack(self._offsets),
            "targets": pack([] if self._drawing.crowded else self._targets),
            "lineOfArc": pack(self._drawing.line_of_arc if len(self._drawing.tail) else []),
            "csr": csr,
            "traces": [self._trace_payload(label) for label in labels],
        }
        self._finish(payload, title=title, caption=caption, name=name, step=step, labels=labels)

    def _count(self, label: str) -> int:
        if self._csr:
            return len(self._offsets) - 1
        return 1 if self._values[label] is None else len(self._values[label].table)

    def _tree_lines(self, parent: ArrayLike | None, n: int) -> np.ndarray:
        if parent is None:
            return np.zeros(0, dtype=np.int64)
        parents = as_array("parent", parent)
        if parents.shape != (n,) or parents.dtype.kind not in "iu" or (parents >= n).any():
            raise InvalidArgument("parent", parent, f"integers below {n}, of shape ({n},)")
        source = np.repeat(np.arange(n), np.diff(self._offsets))
        lines = self._drawing.line_of_arc[parents[self._targets] == source]
        return np.unique(lines[lines >= 0])

    def _texts_of_lines(self, graph: Any, edge_values: ArrayLike | None, m: int) -> list[str]:
        values = getattr(graph, "weights", None) if edge_values is None else edge_values
        if values is None:
            return []
        table = as_array("edge_values", values)
        if table.shape != (m,) or table.dtype.kind not in "iufb":
            raise InvalidArgument("edge_values", values, f"numbers of shape ({m},)")
        return self._drawing.texts_of_lines(table)

    def _trace_payload(self, label: str) -> dict[str, Any]:
        series = self._values[label]
        trace: dict[str, Any] = {"label": label, "steps": self._count(label)}
        if series is not None:
            trace["range"] = [value_word(series.low, False), value_word(series.high, False)]
            trace["shade"] = pack(series.shade)
            trace["texts"] = [
                [value_word(v, gone) for v, gone in zip(*row, strict=True)]
                for row in zip(series.table.tolist(), series.missing.tolist(), strict=True)
            ]
        trace["sentences"] = [self._sentence(label, k) for k in range(self._count(label))]
        return trace

    def _sentence(self, label: str, step: int) -> str:
        if self._csr:
            first, last = self._offsets[step], self._offsets[step + 1]
            head = f"Vertex {step}: offsets[{step}] = {first} and offsets[{step + 1}] = {last}, so "
            if first == last:
                return head + "it has no neighbors."
            row = ", ".join(map(str, self._targets[first:last].tolist()))
            kind = "neighbor is" if last - first == 1 else "neighbors are"
            return head + f"its {kind} targets[{first}:{last}] = {row}."
        series = self._values[label]
        text = "" if series is None else series.words(step)
        return f"Step {step}. {text}" if self._count(label) > 1 else text

    def _describe(self) -> str:
        n, m = len(self._offsets) - 1, len(self._targets)
        kind = "A directed" if self._directed else "An undirected"
        sentences = [f"{kind} graph of {count(n, 'vertex', 'vertices')} and {count(m, 'arc')}."]
        if n <= 48:
            for v in range(n):
                row = self._targets[self._offsets[v] : self._offsets[v + 1]].tolist()
                sentences.append(f"{v}: {', '.join(map(str, row)) or 'none'}.")
        for label, series in self._values.items():
            if series is not None:
                sentences.append(f"{under(label)}{series.words(len(series.table) - 1)}")
        return " ".join(sentences)

    def _summary(self) -> str:
        vertices = count(len(self._offsets) - 1, "vertex", "vertices")
        text = f"{vertices}, {count(len(self._targets), 'arc')}"
        several = [label for label in self._values if label]
        return text + (f"; {', '.join(several)}" if several else "")
