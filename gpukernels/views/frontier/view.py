"""FrontierView: a breadth-first search or a relaxation level by level, on the graph itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukernels.errors import InvalidArgument
from gpukernels.trace import Trace
from gpukernels.views.backwards import Backwards
from gpukernels.views.drawing import Drawing, draw
from gpukernels.views.encoding import pack, pack_lists, pack_texts
from gpukernels.views.frontier.levels import Level, Maker, levels_from, read_levels
from gpukernels.views.frontier.walks import walks_payload
from gpukernels.views.starts import by_roots
from gpukernels.views.widget import View, check_step
from gpukernels.views.words import count, under

#: Duplicates that are named one by one; the rest is counted.
NAMED_DUPLICATES = 4


def who(makers: list[Maker]) -> str:
    """Name threads, grouped by warp: ``block 0 warp 1 lanes 3, 7``."""
    groups: dict[tuple[int, int], list[int]] = {}
    for maker in makers:
        groups.setdefault((maker.block, maker.warp), []).append(maker.lane)
    return "; ".join(
        f"block {b} warp {w} {'lane' if len(lanes) == 1 else 'lanes'} {', '.join(map(str, lanes))}"
        for (b, w), lanes in groups.items()
    )


def sentence(number_: int, level: Level, root: int | None = None) -> str:
    """Describe one level, with the root if there are several to choose from."""
    origin = "" if root is None else f" from vertex {root}"
    frontier = count(len(level.frontier), "vertex", "vertices")
    entries = len(level.frontier) + level.repeated
    queue = f" ({entries:,} entries in the queue)" if level.repeated else ""
    vertices = count(len(level.new_vertices), "vertex", "vertices")
    sentences = [
        f"Level {number_}{origin}{', bottom-up' if level.bottom_up else ''}: "
        f"{frontier} in the frontier{queue}, "
        f"{count(level.arc_loads, 'arc')} read, {vertices} found."
    ]
    if level.visited:
        sentences.append(f"{count(level.visited, 'arc')} led to visited vertices.")
    if level.outside:
        sentences.append(f"{count(level.outside, 'arc')} did not leave the frontier.")
    if level.surplus:
        sentences.append(f"{count(level.surplus, 'duplicate')}: found by more than one thread.")
    if level.detected:
        detected = count(level.detected, "duplicate")
        sentences.append(f"{detected} detected: found again, not enqueued.")
    return " ".join(sentences)


def duplicate_lines(level: Level) -> list[str]:
    """Name the first duplicates of a level and the threads that made them."""
    again = {*level.duplicates, *level.dropped}
    named = []
    for v in sorted(
        again, key=lambda v: (-len(level.makers[v]), -len(level.dropped.get(v, ())), v)
    ):
        makers, dropped = level.makers[v], level.dropped.get(v)
        line = f"{v} ×{len(makers)}" if len(makers) > 1 else str(v)
        line += f": {who(makers[:6])}{' …' if len(makers) > 6 else ''}"
        if dropped:
            line += f"; dropped: {who(dropped[:6])}{' …' if len(dropped) > 6 else ''}"
        named.append(line)
    if len(named) > NAMED_DUPLICATES:
        rest = len(named) - NAMED_DUPLICATES
        named = [*named[:NAMED_DUPLICATES], f"and {count(rest, 'more vertex', 'more vertices')}"]
    return named


def _parts(level: Level) -> tuple[int, int, int, int, int]:
    visited = max(level.visited, 0)
    return len(level.makers), level.surplus, visited, level.outside, level.detected


def _lines(level: Level, drawing: Drawing) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the lines over which vertices were found, found again, and that were only read."""
    taken = np.zeros(0, dtype=np.int64)
    kinds = []
    for arcs in (level.found_arcs, level.again_arcs, level.arcs):
        shown = drawing.line_of_arc[arcs]
        kinds.append(np.setdiff1d(shown[shown >= 0], taken))
        taken = np.concatenate([taken, kinds[-1]])
    return tuple(kinds)


def _trace_payload(
    label: str, searches: dict[Any, list[Level]], drawing: Drawing, detected: bool, repeated: bool
) -> dict[str, Any]:
    """Return the columns of one search, or of those from several roots, one after the other."""
    levels = [level for levels in searches.values() for level in levels]
    lines = [_lines(level, drawing) for level in levels]
    parts = np.array([_parts(level) for level in levels])
    several = len(searches) > 1
    more = {"dropped": pack_lists([_dropped(level) for level in levels])} if detected else {}
    if repeated:
        more["copies"] = pack([level.repeated for level in levels])
    sentences = [
        sentence(k, level, root if several else None)
        for root, levels in searches.items()
        for k, level in enumerate(levels)
    ]
    makers = [duplicate_lines(level) for level in levels]
    if several:
        more["variantSteps"] = [len(levels) for levels in searches.values()]
        more["makersAt"] = pack(np.cumsum([0, *map(len, makers)]))
    return {
        "label": label,
        "steps": max(map(len, searches.values())),
        "reached": pack(
            np.concatenate([_reached(search, drawing) for search in searches.values()])
        ),
        "frontier": pack_lists([level.frontier for level in levels]),
        "found": pack_lists([level.new_vertices for level in levels]),
        "again": pack_lists([sorted(level.duplicates) for level in levels]),
        "times": pack_lists(
            [[len(level.duplicates[v]) for v in sorted(level.duplicates)] for level in levels]
        ),
        "foundLines": pack_lists([line[0] for line in lines]),
        "againLines": pack_lists([line[1] for line in lines]),
        "readLines": pack_lists([line[2] for line in lines]),
        "parts": pack(parts if detected else parts[:, :4]),
        "surplus": pack([level.surplus for level in levels]),
        "sentences": pack_texts(sentences) if several else sentences,
        "makers": pack_texts([line for named in makers for line in named]) if several else makers,
        **_walks_payload(levels, drawing),
        **more,
    }


def _walks_payload(levels: list[Level], drawing: Drawing) -> dict[str, Any]:
    if not len(drawing.tail):
        return {}
    columns = zip(*((level.walks, level.kinds, level.bottom_up) for level in levels), strict=True)
    return walks_payload(*map(list, columns), len(drawing.line_of_arc))


def _reached(levels: list[Level], drawing: Drawing) -> np.ndarray:
    """Return the level at which a search found each vertex, counted from 1, or -1."""
    reached = np.full(len(drawing.x), -1, dtype=np.int64)
    for k, level in reversed(list(enumerate(levels))):
        reached[level.new_vertices] = k + 1
    if levels:
        reached[levels[0].frontier] = 0
    return reached


def _dropped(level: Level) -> list[int]:
    """Return the vertices whose duplicates were all detected."""
    return sorted(v for v in level.dropped if v not in level.duplicates)


class FrontierView(View):
    """A search level by level: frontier, arcs read, vertices found once or twice, their threads.

    The frontier shows a vertex once, even if the queue holds it several times; its copies are
    counted. If a thread stores a vertex's distance without enqueuing it, a filter has detected that
    another thread enqueues it. These duplicates are detected; vertices enqueued again are missed.

    Parameters
    ----------
    graph : Graph
        The graph that was searched.
    traces : Trace, dict of str to Trace, dict of int to Trace, or dict of str to such a dict
        One search, or several to switch between, each from its first launch to its last. In place
        of a search, searches by their roots: a reader then clicks a vertex to start there. The
        kernels must name their arrays as this book does (``targets`` or ``target``; ``sources`` for
        arcs read from the vertex that they enter; ``distance``, ``frontier``, ``next_frontier``;
        ``queues`` where a launch goes through several levels).
    root : int, optional
        First vertex of the searches; by default read from the traces. With searches by their roots,
        the root shown first; by default the lowest.
    positions : array_like, optional
        Where to draw each vertex, of shape (n, 2), y upwards.
    choice : str
        Name of the list of traces ("Method").
    title, caption, name : str
        Words above and below; addresses call it ``#fig-name``, by default by its title.
    step : int
        Level shown first.
    seed : int
        Seed of the layout.

    Attributes
    ----------
    step : int
        The level shown; may be set and observed.
    trace : str
        The search shown, by its label; may be set and observed.

    Raises
    ------
    InvalidArgument
        If a trace has no level or no distances, or holds vertices or arcs that the graph does not
        have.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.example()
    >>> with gk.trace() as t:
    ...     r = gk.bfs(g, method="frontier")
    >>> gk.FrontierView(g, t.trace)
    FrontierView(16 vertices; 6 levels)

    A click on any vertex starts there, where all have been recorded:

    >>> gk.FrontierView(g, {v: gk.traced(gk.bfs, g, v) for v in range(g.n)})
    FrontierView(16 vertices; 6 levels; 16 roots)
    """

    _kind = "frontier"

    def __init__(
        self,
        graph: Any,
        traces: Trace | dict[str, Trace],
        *,
        root: int | None = None,
        positions: object = None,
        choice: str = "Trace",
        title: str = "Breadth-first search, level by level",
        caption: str = "",
        name: str = "",
        step: int = 0,
        seed: int = 0,
    ) -> None:
        self._drawing = draw(graph, positions=positions, seed=seed)
        source = np.repeat(np.arange(graph.n), np.diff(np.asarray(graph.offsets, np.intp)))
        recorded, choose = by_roots(traces, root, int(graph.n))
        self._searches: dict[str, dict[Any, list[Level]]] = {}
        for label, of in recorded.items():
            place = f"traces[{label!r}]" if label or not choose else "traces"
            self._searches[label] = {}
            for began, trace in of.items():
                _check(label, trace, int(graph.n), len(source))
                backwards = Backwards.of(graph) if trace.array_named("sources") else None
                if choose:
                    levels = levels_from(place, trace, began, source, graph.n, backwards)
                else:
                    levels = read_levels(trace, graph.n, source, began, backwards)
                if not levels:
                    raise InvalidArgument(
                        place, "no load of targets, target or sources", "the trace of a search"
                    )
                if levels[0].launches:
                    _check_distances(label, trace)
                self._searches[label][began] = levels
        labels = list(self._searches)
        roots = list(self._searches[labels[0]])
        self._roots = roots if len(roots) > 1 else []
        first = roots[0] if root is None else root
        self._levels = {label: of[first] for label, of in self._searches.items()}
        check_step(step, len(self._levels[labels[0]]))
        every = [x for of in self._searches.values() for levels in of.values() for x in levels]
        detected = any(level.detected for level in every)
        repeated = any(level.repeated for level in every)
        payload = {
            "choice": choice,
            "drawing": self._drawing.payload(),
            "traces": [
                _trace_payload(k, v, self._drawing, detected, repeated)
                for k, v in self._searches.items()
            ],
            "mostFrontier": max(1, *(len(level.frontier) + level.repeated for level in every)),
            "mostArcs": max(1, *(sum(_parts(level)) for level in every)),
            "outside": any(level.outside for level in every),
            "mostNamed": max(len(duplicate_lines(level)) for level in every),
            **({"detected": True} if detected else {}),
        }
        if self._roots:
            field = {"label": "Root", "entries": list(map(str, roots))}
            payload["variants"] = {"fields": [field], "first": [roots.index(first)]}
        if any("walks" in trace for trace in payload["traces"]):
            payload["arcs"] = self._arcs(graph)
        self._finish(payload, title=title, caption=caption, name=name, step=step, labels=labels)

    def _arcs(self, graph: Any) -> dict[str, str]:
        """Return where the arcs of each vertex lie in ``targets``, and the line of each."""
        return {"offsets": pack(graph.offsets), "line": pack(self._drawing.line_of_arc)}

    def _describe(self) -> str:
        text = " ".join(
            f"{under(label)}" + " ".join(sentence(k, level) for k, level in enumerate(levels))
            for label, levels in self._levels.items()
        )
        return text + self._describe_roots()

    def _describe_roots(self) -> str:
        """Say how many levels the searches from other vertices take."""
        if not self._roots:
            return ""
        sentences = [" A search can start at any vertex that was recorded."]
        for label, of in self._searches.items():
            levels = ", ".join(f"{root} {len(search)}" for root, search in of.items())
            sentences.append(f"{under(label)}Levels by root: {levels}.")
        return " ".join(sentences)

    def _summary(self) -> str:
        searched = ", ".join(
            f"{under(label)}{count(len(levels), 'level')}" for label, levels in self._levels.items()
        )
        roots = f"; {count(len(self._roots), 'root')}" if self._roots else ""
        return f"{count(len(self._drawing.x), 'vertex', 'vertices')}; {searched}{roots}"


def _check_distances(label: str, trace: Trace) -> None:
    """Refuse a trace without distances, whose vertices would stand there as never found."""
    r = trace.requests
    if np.isin(r.array, trace.array_named("distance")).any():
        return
    touched = sorted({trace.arrays[i].name for i in np.unique(r.array)})
    raise InvalidArgument(
        f"traces[{label!r}]" if label else "traces",
        f"no load or store of distance, but of {', '.join(touched)}",
        "the trace of a search, which keeps its distances in an array of that name",
    )


def _check(label: str, trace: Trace, n: int, m: int) -> None:
    requests = trace.requests
    for names, limit, what in (
        (("targets", "target"), m, "arcs"),
        (("sources",), m, "arcs"),
        (("distance",), n, "vertices"),
    ):
        wanted = [i for i, a in enumerate(trace.arrays) if a.name in names]
        index = requests.index[np.isin(requests.array, wanted)[requests.lane_row()]]
        if index.size and int(index.max()) >= limit:
            raise InvalidArgument(
                f"traces[{label!r}]",
                f"index {int(index.max())} of {names[0]}",
                f"the trace of a search of this graph, which has {limit} {what}",
            )
