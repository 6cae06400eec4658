"""A graph as marks on paper: where each vertex stands and which line each arc shares.

``js/drawing.js`` makes the marks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpukernels.checks import as_array, check_seed
from gpukernels.errors import InvalidArgument
from gpukernels.views.encoding import pack
from gpukernels.views.layout import grid_layout, spread, stress_layout
from gpukernels.views.room import find_room
from gpukernels.views.words import value_word

#: Vertices whose nearest neighbor is looked for, at most.
SAMPLE = 600
#: A graph with more vertices than this becomes a grid of dots without arcs.
DRAWN_VERTICES = 600
#: So does a graph with more lines than this.
DRAWN_LINES = 2400
#: Up to this many vertices each carries its number.
LABELED_VERTICES = 48
#: Up to this many lines each carries its value.
VALUED_LINES = 80
#: More vertices than this are refused: their dots would outgrow a page.
MOST_VERTICES = 4096


@dataclass(frozen=True)
class Drawing:
    """Geometry of one graph, in tenths of an SVG unit.

    Attributes
    ----------
    x, y : numpy.ndarray
        int64, of shape (n,).
    tail, head : numpy.ndarray
        Vertices that each line joins; empty where the graph is drawn as a grid of dots.
    bent : numpy.ndarray
        bool: the line has an opposite and is drawn as a curve.
    line_of_arc : numpy.ndarray
        int64, of shape (m,): the line that shows an arc. Both arcs of an undirected edge, and
        parallel arcs, share one.
    width, height, radius : float
        In SVG units.
    directed : bool
        Lines carry arrow heads.
    loop_side, name_side : numpy.ndarray
        int64: on which side of its vertex a line that is a loop stands, and on which the name of
        each vertex, if it has one: rows of ``room.SIDES``.
    """

    x: np.ndarray
    y: np.ndarray
    tail: np.ndarray
    head: np.ndarray
    bent: np.ndarray
    line_of_arc: np.ndarray
    width: float
    height: float
    radius: float
    directed: bool
    loop_side: np.ndarray
    name_side: np.ndarray

    @property
    def labeled(self) -> bool:
        """Whether each vertex carries its number."""
        return len(self.x) <= LABELED_VERTICES

    @property
    def crowded(self) -> bool:
        """Whether there are so many vertices that each is drawn with as little as can be."""
        return len(self.x) > DRAWN_VERTICES

    def texts_of_lines(self, values: np.ndarray) -> list[str]:
        """Return the weights of each line's arcs, each value once; none if there are many lines."""
        if not 0 < len(self.tail) <= VALUED_LINES:
            return []
        texts = [""] * len(self.tail)
        for line, value in zip(self.line_of_arc.tolist(), values.tolist(), strict=True):
            word = value_word(value, not np.isfinite(value))
            if word not in texts[line].split(", "):
                texts[line] = f"{texts[line]}, {word}" if texts[line] else word
        return texts

    def payload(self) -> dict[str, Any]:
        """Return what the script draws from."""
        return {
            "x": pack(self.x),
            "y": pack(self.y),
            "tail": pack(self.tail),
            "head": pack(self.head),
            "bent": pack(self.bent),
            "loopSide": pack(self.loop_side[self.tail == self.head]),
            "nameSide": pack(self.name_side),
            "width": self.width,
            "height": self.height,
            "radius": self.radius,
            "directed": bool(self.directed),
            "labeled": bool(self.labeled),
            "crowded": bool(self.crowded),
        }


def _fit(place: np.ndarray, width: float, margin: float) -> tuple[np.ndarray, float]:
    if len(place) == 0:
        return place, 2 * margin
    low, high = place.min(axis=0), place.max(axis=0)
    span = np.maximum(high - low, 1e-9)
    usable = width - 2 * margin
    scale = min(usable / span[0], (0.86 * width - 2 * margin) / span[1])
    if span.max() < 1e-6:
        scale = 0.0
    # A flat drawing is stretched a little rather than left as a thin strip.
    tall = scale * span[1]
    stretch = min(1.35, (0.5 * width - 2 * margin) / tall) if 0 < tall < 0.4 * width else 1.0
    stretch = max(stretch, 1.0)
    placed = (place - low) * scale * np.array([1.0, stretch])
    placed[:, 0] += (width - scale * span[0]) / 2
    placed[:, 1] += margin
    return placed, float(np.ceil(tall * stretch + 2 * margin))


def _radius(place: np.ndarray) -> float:
    """Return the dot size that fits the usual distance between nearest neighbors."""
    if len(place) < 2:
        return 6.0
    some = np.arange(0, len(place), -(-len(place) // SAMPLE))
    apart = np.square(place[some, None] - place[None]).sum(axis=2)
    apart[np.arange(some.size), some] = np.inf
    nearest = np.sqrt(apart.min(axis=1))
    return float(np.round(np.clip(0.36 * np.median(nearest), 1.6, 6.0), 1))


def _laid_out(
    n: int,
    source: np.ndarray,
    target: np.ndarray,
    seed: int,
    width: float,
    margin: float,
    labeled: bool,
) -> tuple[np.ndarray, float, float]:
    """Lay out the vertices that have a neighbor, and line the others up below them."""
    joined = np.zeros(n, dtype=bool)
    real = source != target
    joined[source[real]] = joined[target[real]] = True
    rank = np.cumsum(joined) - 1
    core = np.flatnonzero(joined)
    place = np.zeros((n, 2))
    height, radius = margin, 10.0 if labeled else 4.0
    if core.size:
        spots = stress_layout(len(core), rank[source[real]], rank[target[real]], seed=seed)
        spots, height = _fit(spots, width, margin)
        if not labeled:
            radius = float(
                np.round(np.clip(0.3 * (width * height / len(core)) ** 0.5, 2.2, 6.0), 1)
            )
        spots, height = _fit(spread(spots, 2.8 * radius), width, margin)
        place[core] = spots
        if not labeled:
            radius = min(radius, max(_radius(spots), 2.0))
    alone = np.flatnonzero(~joined)
    if alone.size:
        pitch = 2.6 * radius
        columns = max(1, int((width - 2 * margin) // pitch))
        order = np.arange(alone.size)
        place[alone, 0] = margin + order % columns * pitch
        place[alone, 1] = height + order // columns * pitch
        height = float(np.ceil(place[:, 1].max() + margin))
    return place, height, radius


def _check_positions(positions: object, n: int) -> np.ndarray:
    place = as_array("positions", positions)
    if place.dtype.kind not in "iuf":
        raise InvalidArgument("positions", positions, f"finite numbers of shape ({n}, 2)")
    place = place.astype(np.float64)
    if place.shape != (n, 2) or not np.isfinite(place).all():
        raise InvalidArgument("positions", positions, f"finite numbers of shape ({n}, 2)")
    return place


def check_drawable(graph: Any) -> None:
    """Raise InvalidArgument if `graph` has not what a drawing is made from."""
    parts = ("n", "offsets", "targets", "directed")
    if isinstance(graph, type) or not all(hasattr(graph, part) for part in parts):
        raise InvalidArgument("graph", graph, "a Graph")


def draw(graph: Any, *, positions: object = None, seed: int = 0, width: float = 440.0) -> Drawing:
    """Lay a graph out once.

    Parameters
    ----------
    graph : Graph
        Anything with ``n``, ``offsets``, ``targets`` and ``directed``; its ``positions`` are used
        where it has some.
    positions : array_like, optional
        Where to draw each vertex, of shape (n, 2), y upwards, any unit.
    seed : int
        Seed of the layout.
    width : float
        Width of the drawing in SVG units.

    Raises
    ------
    InvalidArgument
        If `positions` do not fit the graph, `seed` is negative, or the graph has more than
        `MOST_VERTICES` vertices.
    """
    check_seed(seed)
    check_drawable(graph)
    n, m = int(graph.n), len(graph.targets)
    if n > MOST_VERTICES:
        raise InvalidArgument("graph.n", n, f"at most {MOST_VERTICES} to be drawn")
    source = np.repeat(np.arange(n), np.diff(np.asarray(graph.offsets, dtype=np.intp)))
    target = np.asarray(graph.targets, dtype=np.int64)
    tail, head = (source, target) if graph.directed else np.sort([source, target], axis=0)
    pairs, line_of_arc = np.unique(tail * max(n, 1) + head, return_inverse=True)
    tail, head = pairs // max(n, 1), pairs % max(n, 1)
    bent = np.isin(head * max(n, 1) + tail, pairs) & (tail != head) & bool(graph.directed)
    if positions is None:
        positions = getattr(graph, "positions", None)
    if len(pairs) > DRAWN_LINES or (n > DRAWN_VERTICES and positions is None):
        tail = head = np.zeros(0, dtype=np.int64)
        bent, line_of_arc = np.zeros(0, dtype=bool), np.full(m, -1, dtype=np.int64)
    labeled = n <= LABELED_VERTICES
    looped = bool((tail == head).any())
    # A loop and the value at its far end have room at the edge of the paper.
    margin = (30.0 if looped else 21.0) if labeled else (16.0 if looped else 10.0)
    if positions is not None:
        place, height = _fit(_check_positions(positions, n) * [1.0, -1.0], width, margin)
        radius = 10.0 if labeled else _radius(place)
    elif n <= DRAWN_VERTICES and len(tail):
        place, height, radius = _laid_out(n, source, target, seed, width, margin, labeled)
    else:
        place, height = _fit(grid_layout(n), width, margin)
        radius = 10.0 if labeled else _radius(place)
    x, y = np.rint(place.T * 10).astype(np.int64)
    directed = bool(graph.directed)
    sides = find_room(x, y, tail, head, bent, width, height, radius, directed, labeled)
    return Drawing(x, y, tail, head, bent, line_of_arc, width, height, radius, directed, *sides)
