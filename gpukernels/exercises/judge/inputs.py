"""Inputs of a task: awkward ones that are always tried, and others drawn again in every check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gpukernels.graphs.generators import erdos_renyi, path, rmat, star
from gpukernels.graphs.graph import Graph

Draw = np.random.Generator


@dataclass(frozen=True)
class Inputs:
    """The inputs of one task, or of several that take the same."""

    #: Returns by name what every check tries first. Here belong the extreme ones.
    fixed: Callable[[], Mapping[str, object]]
    #: Returns by name what is drawn in one check. The names are the same whatever is drawn, because
    #: a report of success shows them.
    draw: Callable[[Draw], Mapping[str, object]]
    #: Returns the size of a drawn input in words, for the report of a failure.
    describe: Callable[[Any], str] = lambda value: described(value)


def changed(
    values: Mapping[str, Any], change: Callable[[Any, Draw], object], rng: Draw
) -> dict[str, object]:
    """Return inputs after a change that is drawn; ``change(value, rng)`` changes one."""
    return {name: change(value, rng) for name, value in values.items()}


class Search(NamedTuple):
    """A graph and the vertex from which it is searched."""

    g: Graph
    root: int = 0


def described(value: object) -> str:
    """Return the size of an input in words, and its first numbers."""
    if isinstance(value, Search):
        return f"{described(value.g)}, searched from vertex {value.root}"
    if isinstance(value, Graph):
        return f"{value.n:,} vertices and {value.m:,} arcs"
    if isinstance(value, tuple):
        return "; ".join(described(part) for part in value)
    numbers = np.ravel(value)
    first = ", ".join(str(int(number)) for number in numbers[:16])
    return f"{numbers.size:,} numbers: {first}{', ...' if numbers.size > 16 else ''}"


def drawn_numbers(most: int, low: int, high: int) -> Callable[[Draw], dict[str, np.ndarray]]:
    """Return a function that draws up to `most` numbers from `low` to `high`, both included."""

    def draw(rng: Draw) -> dict[str, np.ndarray]:
        few = rng.integers(2, max(most // 4, 3))
        skewed = rng.integers(low, min(low + 4, high + 1), rng.integers(2, most + 1))
        skewed[rng.integers(skewed.size)] = high
        return {
            "drawn numbers": rng.integers(low, high + 1, rng.integers(2, most + 1)),
            "a few drawn numbers": rng.integers(low, high + 1, few),
            "drawn small numbers, one of them large": skewed,
        }

    return draw


def sizes_of_items(most_items: int, most_units: int) -> Inputs:
    """Return how many units each item has: up to `most_items` items of up to `most_units` units.

    The fixed ones are no items, items without units, one item, and a large item at either end.
    """
    first = np.zeros(most_items, int)
    first[0] = most_units

    def draw(rng: Draw) -> dict[str, np.ndarray]:
        several = rng.integers(0, min(13, most_units + 1), rng.integers(2, most_items + 1))
        skewed = rng.integers(0, 3, rng.integers(2, most_items + 1))
        skewed[rng.integers(skewed.size)] = most_units
        return {"items of drawn sizes": several, "drawn small items and a large one": skewed}

    return Inputs(
        lambda: {
            "no items": np.zeros(0, int),
            f"{most_items:,} items without units": np.zeros(most_items, int),
            "one item of one unit": np.ones(1, int),
            f"{most_units:,} units of the first item": first,
            f"{most_units:,} units of the last item": first[::-1].copy(),
        },
        draw,
    )


def graphs_from_0(most: int = 200) -> Inputs:
    """Return graphs of at most `most` vertices, at least one, to be searched from vertex 0.

    The fixed ones are a vertex, one with an arc to itself, no arcs, parallel arcs, and the graphs
    of the longest way and of the largest degree.
    """

    def draw(rng: Draw) -> dict[str, Graph]:
        n, seed = int(rng.integers(8, most + 1)), int(rng.integers(2**31))
        scale = int(np.log2(n))
        return {
            "a drawn random graph": erdos_renyi(n, float(rng.uniform(0.5, 6)), seed=seed),
            "a drawn R-MAT graph": rmat(scale, edge_factor=int(rng.integers(1, 7)), seed=seed),
        }

    def arcs(n: int, source, target) -> Graph:
        return Graph.from_arcs(n, np.array(source, np.int32), np.array(target, np.int32))

    return Inputs(
        lambda: {
            "one vertex": path(1),
            "one vertex with an arc to itself": arcs(1, [0], [0]),
            f"{most} vertices without arcs": arcs(most, [], []),
            "two vertices with three arcs between them": arcs(2, [0, 0, 1], [1, 1, 0]),
            f"a path of {most} vertices": path(most),
            f"a star of {most} vertices": star(most),
        },
        draw,
    )


def searches(most: int) -> Inputs:
    """Return graphs of at most `most` vertices as :class:`Search` es, and two wide ones.

    Fixed are the graphs of :func:`graphs_from_0`, searched from vertex 0, a path from its middle,
    and a :func:`bush`. The drawn searches begin at a drawn vertex; one of them is in a drawn bush.
    """
    plain = graphs_from_0(most)

    def draw(rng: Draw) -> dict[str, Search]:
        graphs = plain.draw(rng)
        searches = {name: Search(g, int(rng.integers(g.n))) for name, g in graphs.items()}
        return {**searches, "a drawn tree": bush(rng)}

    def fixed() -> dict[str, Search]:
        return {
            **{name: Search(g) for name, g in plain.fixed().items()},
            f"a path of {most} vertices, from its middle": Search(path(most), most // 2),
            "a tree whose root has 300 arcs": bush(np.random.default_rng(8)),
        }

    return Inputs(fixed, draw)


def bush(rng: Draw, width: int = 300) -> Search:
    """Return a search whose queues take three blocks of 128 threads at two levels in a row.

    The root has `width` arcs. Each vertex that they reach has up to two arcs of its own, `width` in
    all, and so have the vertices behind these, so that no two blocks need find the same number of
    vertices. The vertices are numbered at random, and the root is not vertex 0.
    """
    sources, level = [np.zeros(width, int)], np.arange(1, width + 1)
    for _ in range(2):
        sources.append(np.repeat(level, rng.permutation(np.arange(width) % 3)))
        level = level + width
    source = np.concatenate(sources)
    number = rng.permutation(source.size + 1)
    if number[0] == 0:
        number = number[::-1].copy()
    g = Graph.from_arcs(number.size, number[source], number[1:])
    return Search(g, int(number[0]))
