"""PartsView: a graph cut in parts, its separators, and the cost of all pairs with these parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpukernels.errors import InvalidArgument
from gpukernels.views.drawing import check_drawable, draw
from gpukernels.views.encoding import pack_lists
from gpukernels.views.widget import View, check_step
from gpukernels.views.words import count, under

#: Number of colors; adjacent parts have different ones.
COLORS = 6
#: Room below the graph for the note about a vertex.
NOTE_TALL = 12.0


class PartsView(View):
    """A graph cut in ever more parts, with its separators and the additions of all pairs.

    Separators are the vertices with an arc to or from another part. For each cut, the figure
    compares the additions of `gk.apsp(g, "partitioned")` with n^3 and with the paper's formula.

    Parameters
    ----------
    graph : Graph
        The graph that is cut; at most 4,096 vertices.
    cuts : dict of str to sequence of Parts
        For each way to cut, by name: the graph in more and more parts, as
        `gpukernels.all_pairs.separators.cut` returns them. All have the same number of cuts.
    choice : str
        Name of the list of ways to cut.
    positions : array_like, optional
        Where to draw each vertex, of shape (n, 2), y upwards.
    title, caption, name : str
        Words above and below; addresses call it ``#fig-name``, by default by its title.
    step : int
        Cut shown first, from 0.

    Attributes
    ----------
    step : int
        The cut shown; may be set and observed.
    trace : str
        The way to cut that is shown, by name; may be set and observed.

    Raises
    ------
    InvalidArgument
        If there are no cuts, one belongs to another graph, or some names have more than others.

    Examples
    --------
    >>> import gpukernels as gk
    >>> from gpukernels.all_pairs import separators
    >>> g = gk.road_grid(8, 6, seed=1)
    >>> halves = [separators.parted(g, separators.ruled(g.positions, k)) for k in (1, 2, 4)]
    >>> gk.PartsView(g, {"a ruler": halves})
    PartsView(48 vertices; a ruler: 1, 2, 4 parts)
    """

    _kind = "parts"

    def __init__(
        self,
        graph: Any,
        cuts: dict[str, Sequence[Any]],
        *,
        choice: str = "Cut by",
        positions: object = None,
        title: str = "A graph in parts",
        caption: str = "",
        name: str = "",
        step: int = 0,
    ) -> None:
        check_drawable(graph)
        self._n = int(graph.n)
        self._cuts = _checked(cuts, self._n)
        labels = list(self._cuts)
        check_step(step, len(self._cuts[labels[0]]))
        self._drawing = draw(graph, positions=positions)
        payload = {
            "choice": choice,
            "drawing": self._drawing.payload() | {"height": self._drawing.height + NOTE_TALL},
            "traces": [self._trace_payload(label) for label in labels],
        }
        self._finish(payload, title=title, caption=caption, name=name, step=step, labels=labels)

    def _trace_payload(self, label: str) -> dict[str, Any]:
        cuts = self._cuts[label]
        terms = [cut.terms() for cut in cuts]
        held = [cut.held() for cut in cuts]
        names = _part_of(cuts, self._n)
        return {
            "label": label,
            "steps": len(cuts),
            "parts": [len(cut.members) for cut in cuts],
            "part": pack_lists(names),
            "color": pack_lists([self._colors(part) for part in names]),
            "separators": pack_lists([np.sort(cut.separators) for cut in cuts]),
            "crossing": pack_lists([self._crossing(part) for part in names]),
            # Beyond 32 bits, and few: plain numbers.
            "without": self._n**3,
            "terms": [list(of.values()) for of in terms],
            "termNames": list(terms[0]),
            "predicted": [int(cut.predicted) for cut in cuts],
            "held": [list(of.values()) for of in held],
            "heldNames": list(held[0]),
            "sentences": [self._sentence(cut) for cut in cuts],
        }

    def _crossing(self, part: np.ndarray) -> np.ndarray:
        return np.flatnonzero(part[self._drawing.tail] != part[self._drawing.head])

    def _colors(self, part: np.ndarray) -> np.ndarray:
        """Return a color of each part, the least that none has which it touches."""
        parts = int(part.max(initial=-1)) + 1
        tail, head = part[self._drawing.tail], part[self._drawing.head]
        chosen = np.full(parts, -1)
        for p in range(parts):
            near = set(chosen[np.concatenate([head[tail == p], tail[head == p]])].tolist())
            free = [c for c in range(COLORS) if c not in near]
            chosen[p] = free[p % len(free)] if free else p % COLORS
        return chosen

    def _sentence(self, cut: Any) -> str:
        parts, separators = len(cut.members), int(cut.separators.size)
        if parts == 1:
            return f"One part: no separators, and n³ = {self._n**3:,} additions."
        terms = cut.terms()
        most = max(terms, key=lambda name: terms[name])
        return (
            f"{parts} parts, {count(separators, 'separator')}: {sum(terms.values()):,} additions, "
            f"{_fewer(self._n, cut):.1f} times fewer than n³; most of them {most}."
        )

    def _describe(self) -> str:
        sentences = [f"A graph of {count(self._n, 'vertex', 'vertices')}, cut in parts."]
        for label, cuts in self._cuts.items():
            sentences.append(under(label) + " ".join(self._sentence(cut) for cut in cuts))
        return " ".join(sentences)

    def _summary(self) -> str:
        parts = [count(self._n, "vertex", "vertices")]
        for label, cuts in self._cuts.items():
            parts.append(f"{under(label)}{', '.join(str(len(c.members)) for c in cuts)} parts")
        return "; ".join(parts)


def _fewer(n: int, cut: Any) -> float:
    return n**3 / max(1, cut.work())


def _part_of(cuts: Sequence[Any], n: int) -> list[np.ndarray]:
    part_of_vertices = []
    for cut in cuts:
        part = np.zeros(n, np.int64)
        for at, members in enumerate(cut.members):
            part[members] = at
        part_of_vertices.append(part)
    return part_of_vertices


def _checked(cuts: Any, n: int) -> dict[str, list[Any]]:
    allowed = "a non-empty dict of names to sequences of Parts, all as long"
    if not isinstance(cuts, dict) or not cuts:
        raise InvalidArgument("cuts", cuts, allowed)
    checked = {}
    for label, sequence in cuts.items():
        good = isinstance(label, str) and label and isinstance(sequence, list | tuple) and sequence
        needs = ("members", "borders", "separators", "terms", "held", "predicted")
        if not good or not all(hasattr(cut, part) for cut in sequence for part in needs):
            raise InvalidArgument(f"cuts[{label!r}]", sequence, "a sequence of Parts, not empty")
        for cut in sequence:
            every = np.sort(np.concatenate([np.empty(0, np.int64), *cut.members]))
            if not np.array_equal(every, np.arange(n)):
                raise InvalidArgument(
                    f"cuts[{label!r}]", f"parts of {every.size} vertices",
                    f"parts with each of the graph's {n} vertices once",
                )  # fmt: skip
        checked[label] = list(sequence)
    if len({len(sequence) for sequence in checked.values()}) > 1:
        raise InvalidArgument("cuts", [len(sequence) for sequence in checked.values()], allowed)
    return checked
