"""RelaxView: searches for shortest paths on one clock, iteration by iteration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gpukernels.checks import as_array, check_text, check_vertex
from gpukernels.errors import InvalidArgument
from gpukernels.trace import Trace
from gpukernels.views.drawing import Drawing, draw
from gpukernels.views.encoding import pack, pack_lists
from gpukernels.views.relax.relaxations import (
    AGAIN,
    NEEDED,
    TOO_EARLY,
    Arcs,
    Iteration,
    Run,
    read_run,
)
from gpukernels.views.starts import by_roots
from gpukernels.views.widget import View, as_traces, check_step
from gpukernels.views.words import count, under

#: Runs that one figure draws: more rows would not fit above the pictures.
MOST_RUNS = 12
#: Looks for classes of arcs.
MOST_CLASSES = 4


class RelaxView(View):
    """Searches for shortest paths, side by side, iteration by iteration on one clock.

    Two runs are drawn at a time: the current distance of every vertex, the vertices taken up, and
    the arcs over which a distance fell. There are three kinds of relaxations. A relaxation *came
    too early* if the distance that it used fell later. It was *done again* if the arc had been
    relaxed with this final distance before. The others were *needed*; they are the same for every
    method.

    Parameters
    ----------
    graph : Graph, or dict of str to Graph
        The graph that was searched; or several to switch between, under their labels.
    traces : Trace, dict of str to Trace, or dict of those
        A search, or several by the names of their methods, each from its first launch to its last.
        With several graphs, such a dict for each, under the graph's label. With one graph, in place
        of a search, searches by their roots: a reader then clicks a vertex to start there. The
        kernels must name their arrays as this book does (``targets``, ``weights``, ``distance``).
    root : int, optional
        First vertex of the searches; by default read from the traces. With searches by their roots,
        the root shown first; by default the lowest.
    classes : array_like, or dict of str to array_like, optional
        A class for each arc, whole numbers from 0 to 3, of shape (m,).
    class_names : sequence of str, optional
        Name of each class.
    classless : sequence of str, optional
        Runs that do not use the classes: their arcs are all drawn alike.
    decode : callable, or dict of str to callable, optional
        Turns the values of ``distance`` (an array of float64) into distances, if they have another
        form; for all runs, or for the runs with these names. The words of `hbf` and
        `near_far_persistent` are known.
    positions : array_like, optional
        Where to draw each vertex, of shape (n, 2), y upwards.
    dial : str
        Name of a parameter, if the runs differ only in its value and are in its order ("delta").
        The second picture then has a slider over the runs instead of a list.
    choice : str
        Name of the list of graphs ("Graph").
    title, caption, name : str
        Words above and below; addresses call it ``#fig-name``, by default by its title.
    step : int
        Number of iterations done in the picture shown first.
    seed : int
        Seed of the layout.

    Attributes
    ----------
    step : int
        The iteration shown; may be set and observed.
    trace : str
        The graph shown, by its label; may be set and observed.

    Raises
    ------
    InvalidArgument
        If a trace cannot be drawn: it has no distances, another graph, or not a whole search.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.random_weights(gk.example(), seed=1)
    >>> runs = {}
    >>> for method in ("harish", "topology_driven"):
    ...     with gk.trace() as t:
    ...         r = gk.sssp(g, method=method)
    ...     runs[method] = t
    >>> gk.RelaxView(g, runs)
    RelaxView(16 vertices; harish: 6 iterations, topology_driven: 6 iterations)

    A click on any vertex starts there, where all have been recorded:

    >>> gk.RelaxView(g, {v: gk.traced(gk.sssp, g, v) for v in range(g.n)})
    RelaxView(16 vertices; 6 iterations; 16 roots)
    """

    _kind = "relax"

    def __init__(
        self,
        graph: Any,
        traces: Trace | dict[str, Any],
        *,
        root: int | None = None,
        classes: object = None,
        class_names: Sequence[str] = (),
        classless: Sequence[str] = (),
        decode: Callable | dict[str, Callable] | None = None,
        positions: object = None,
        dial: str = "",
        choice: str = "Graph",
        title: str = "Shortest paths, iteration by iteration",
        caption: str = "",
        name: str = "",
        step: int = 0,
        seed: int = 0,
    ) -> None:
        graphs = graph if isinstance(graph, dict) else {"": graph}
        if not graphs:
            raise InvalidArgument("graph", graph, "a Graph, or a non-empty dict of them by labels")
        check_text("dial", dial)
        names = _class_names(class_names, classes)
        self._drawings: dict[str, Drawing] = {}
        self._runs: dict[str, dict[str, Run]] = {}
        self._searches: dict[str, dict[Any, Run]] = {}
        payloads = []
        for label, one in graphs.items():
            self._drawings[label] = drawing = draw(one, positions=positions, seed=seed)
            arcs, searches = Arcs.of(one), {}
            start = None if root is None else check_vertex("root", root, arcs.n)
            recorded, choose = _recorded(traces, label, graph, start, arcs.n)
            for run, of in recorded.items():
                argument = "traces" + "".join(f"[{k!r}]" for k in (label, run) if k)
                known = _decoder(decode, run)
                read = (
                    _read_from(of, arcs, known, argument)
                    if choose
                    else {start: read_run(of[start], arcs, start, known, argument)}
                )
                searches[run] = read
            _check_classless(classless, searches)
            roots = list(next(iter(searches.values())))
            first = roots[0] if start is None else start
            self._runs[label] = {run: of[first] for run, of in searches.items()}
            self._roots = roots if len(roots) > 1 else []
            self._searches = searches
            of_arc = _classes(_of(classes, label), arcs, names)
            payloads.append(_payload(label, one, drawing, searches, of_arc, len(names), classless))
        labels = list(graphs)
        check_step(step, _last(self._runs[labels[0]]) + 1)
        payload = {"choice": choice, "dial": dial, "classes": names, "traces": payloads}
        if self._roots:
            field = {"label": "Root", "entries": list(map(str, self._roots))}
            payload["variants"] = {"fields": [field], "first": [self._roots.index(first)]}
        self._finish(payload, title=title, caption=caption, name=name, step=step, labels=labels)

    def _describe(self) -> str:
        sentences = []
        for label, runs in self._runs.items():
            n = count(len(self._drawings[label].x), "vertex", "vertices")
            sentences.append(f"{under(label)}{n}.")
            first = min(len(run.iterations) for run in runs.values())
            for name, run in runs.items():
                ends = (
                    "finishes first" if len(run.iterations) == first < _last(runs) else "finishes"
                )
                kinds = _totals(run)
                sentences.append(
                    f"{under(name)}{ends} after {count(len(run.iterations), 'iteration')} and "
                    f"{count(run.relaxations, 'relaxation')}: {kinds[NEEDED]:,} needed, "
                    f"{kinds[TOO_EARLY]:,} too early, {kinds[AGAIN]:,} done again."
                )
        return " ".join(sentences + self._describe_roots())

    def _describe_roots(self) -> list[str]:
        """Say how many iterations the searches from other vertices take."""
        if not self._roots:
            return []
        sentences = ["A search can start at any vertex that was recorded."]
        for name, of in self._searches.items():
            many = ", ".join(f"{root} {len(run.iterations)}" for root, run in of.items())
            sentences.append(f"{under(name)}Iterations by root: {many}.")
        return sentences

    def _summary(self) -> str:
        text = "; ".join(
            f"{under(label)}{count(len(self._drawings[label].x), 'vertex', 'vertices')}; "
            + ", ".join(
                f"{under(name)}{count(len(run.iterations), 'iteration')}"
                for name, run in runs.items()
            )
            for label, runs in self._runs.items()
        )
        return text + (f"; {count(len(self._roots), 'root')}" if self._roots else "")


def _last(runs: dict[str, Run]) -> int:
    return max(len(run.iterations) for run in runs.values())


def _totals(run: Run) -> np.ndarray:
    kinds = [np.bincount(entry.arc_kind, minlength=3) for entry in run.iterations]
    return np.sum(kinds, axis=0, dtype=np.int64) if kinds else np.zeros(3, dtype=np.int64)


def _recorded(
    traces: Any, label: str, graph: Any, root: int | None, n: int
) -> tuple[dict[str, dict[Any, Trace]], bool]:
    """Return recordings by run and root, and whether there are roots to choose from."""
    if isinstance(graph, dict):
        runs = _traces_of(traces, label, graph)
        return {name: {root: trace} for name, trace in runs.items()}, False
    recorded, choose = by_roots(traces, root, n)
    _check_names(recorded)
    return recorded, choose


def _read_from(of: dict[Any, Trace], arcs: Arcs, decode: Callable | None, name: str):
    """Read searches by their roots, and refuse a search that begins at another vertex."""
    runs = {}
    for root, trace in of.items():
        place = f"{name}[{root}]"
        try:
            run = read_run(trace, arcs, None, decode, place)
        except InvalidArgument:
            # A search that relaxes nothing may not show its root.
            run = read_run(trace, arcs, root, decode, place)
        if run.root != root:
            began = f"a search from vertex {run.root}"
            raise InvalidArgument(place, began, f"a recording from vertex {root}")
        runs[root] = run
    return runs


def _traces_of(traces: Any, label: str, graph: Any) -> dict[str, Trace]:
    """Return the runs on the graph of this label, by their names."""
    if isinstance(graph, dict):
        if not isinstance(traces, dict) or set(traces) != set(graph):
            value = list(traces) if isinstance(traces, dict) else traces
            raise InvalidArgument("traces", value, f"a dict with the graphs' keys, {list(graph)}")
        traces = traces[label]
    runs = as_traces(traces, f"traces[{label!r}]" if label else "traces")
    _check_names(runs)
    return runs


def _check_names(runs: dict[str, Any]) -> None:
    if len(runs) > MOST_RUNS:
        raise InvalidArgument("traces", f"{len(runs)} runs", f"at most {MOST_RUNS} of one graph")
    for name in runs:
        check_text(f"label {name!r}", name)


def _decoder(decode: Any, name: str) -> Callable | None:
    chosen = decode.get(name) if isinstance(decode, Mapping) else decode
    if chosen is not None and not callable(chosen):
        raise InvalidArgument("decode", chosen, "a function of arrays, or a dict of them by name")
    return chosen


def _class_names(names: Sequence[str], classes: object) -> list[str]:
    if classes is None:
        return []
    checked = list(names) or [f"class {k}" for k in range(MOST_CLASSES)]
    if isinstance(names, str) or not all(isinstance(name, str) for name in checked):
        raise InvalidArgument("class_names", names, "texts, one per class")
    if len(checked) > MOST_CLASSES:
        raise InvalidArgument("class_names", checked, f"at most {MOST_CLASSES} names")
    return checked


def _check_classless(classless: Sequence[str], runs: dict[str, Run]) -> None:
    listed = isinstance(classless, Sequence) and not isinstance(classless, str)
    if not listed or not all(isinstance(name, str) and name in runs for name in classless):
        raise InvalidArgument("classless", classless, f"of the runs {list(runs)}")


def _of(classes: Any, label: str) -> object:
    if not isinstance(classes, dict):
        return classes
    if label not in classes:
        labels = list(classes)
        raise InvalidArgument(
            "classes", labels, f"a dict with {label!r} among its keys, or an array"
        )
    return classes[label]


def _classes(given: object, arcs: Arcs, names: list[str]) -> np.ndarray | None:
    if given is None:
        return None
    classes = as_array("classes", given)
    m, allowed = len(arcs.source), len(names) - 1
    fits = classes.shape == (m,) and classes.dtype.kind in "iub"
    if not fits or (m and not 0 <= classes.min() <= classes.max() <= allowed):
        raise InvalidArgument("classes", given, f"whole numbers from 0 to {allowed}, shape ({m},)")
    return classes.astype(np.int64)


def _payload(label, graph, drawing, searches, classes, kinds, classless) -> dict[str, Any]:
    lines = drawing.line_of_arc
    every = [run for of in searches.values() for run in of.values()]
    final = np.array([d for run in every for d in run.distance[run.distance < np.inf]])
    shades = [float(final.min()), float(final.max())] if final.size else [0.0, 0.0]
    arcs = [len(entry.arcs) for run in every for entry in run.iterations]
    by_root = list(zip(*(of.values() for of in searches.values()), strict=True))
    steps = [max(len(run.iterations) for run in runs) + 1 for runs in by_root]
    drawn, weights = len(drawing.tail) > 0, getattr(graph, "weights", None)
    payload = {
        "label": label,
        "steps": max(steps),
        **({"variantSteps": steps} if len(steps) > 1 else {}),
        "drawing": drawing.payload(),
        "shades": shades,
        "lineTexts": [] if weights is None else drawing.texts_of_lines(np.asarray(weights)),
        "mostArcs": max(1, *arcs) if arcs else 1,
        "saves": any(len(entry.saved) for run in every for entry in run.iterations),
        "offsets": pack(graph.offsets if drawn else []),
        "lineOfArc": pack(lines if drawn else []),
        "runs": [
            _run_payload(
                name, list(of.values()), lines, None if name in classless else classes, kinds
            )
            for name, of in searches.items()
        ],
    }
    if classes is not None:
        payload["class"] = pack(classes if drawn else [])
    return payload


def _run_payload(name, runs: list[Run], lines, classes, kinds) -> dict[str, Any]:
    """Return the columns of one search, or of those from several roots, one after the other."""
    entries = [entry for run in runs for entry in run.iterations]
    toggled = [row for run in runs for row in _toggled([e.relaxed for e in run.iterations])]
    several = len(runs) > 1
    lengths = np.concatenate([[], *(entry.length for entry in entries)])
    whole = bool((lengths == np.rint(lengths)).all())
    payload = {
        "label": name,
        "iterations": pack([len(run.iterations) for run in runs]) if several else len(entries),
        **({"roots": [run.root for run in runs]} if several else {"root": runs[0].root}),
        "toggled": pack_lists(toggled),
        "needed": pack_lists([entry.relaxed[entry.kind == NEEDED] for entry in entries]),
        "early": pack_lists([entry.relaxed[entry.kind == TOO_EARLY] for entry in entries]),
        "skipped": pack_lists([entry.skipped for entry in entries]),
        "lowered": pack_lists([entry.lowered for entry in entries]),
        "length": pack(lengths.astype(np.int64) if whole else lengths.astype(np.float32)),
        "gains": pack_lists([_lines(lines, entry.gains) for entry in entries]),
        "counts": pack(_joined([_counts(entry) for entry in entries])),
    }
    if classes is not None:
        table = [
            np.bincount(classes[arcs], minlength=kinds)
            for entry in entries
            for arcs in (entry.arcs, entry.saved)
        ]
        payload["byClass"] = pack(_joined(table))
    return payload


def _joined(lists: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.zeros(0, dtype=np.int64), *lists])


def _toggled(sets: list[np.ndarray]) -> list[np.ndarray]:
    """Return the difference of each set from the set before, in both directions.

    It is small if every vertex is taken up in every iteration, and at most twice the sets.
    """
    before = [np.zeros(0, dtype=np.int64), *sets[:-1]]
    return [np.setxor1d(now, then) for now, then in zip(sets, before, strict=True)]


def _lines(lines: np.ndarray, arcs: np.ndarray) -> np.ndarray:
    shown = np.unique(lines[arcs])
    return shown[shown >= 0]


def _counts(entry: Iteration) -> np.ndarray:
    """Return the relaxations of an iteration by their kinds, and those saved."""
    return np.append(np.bincount(entry.arc_kind, minlength=3), len(entry.saved))
