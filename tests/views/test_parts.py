"""PartsView's record: parts and separators, compared with a scalar walk over all arcs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from worked_tasks import halved

import gpukernels as gk
from gpukernels.all_pairs import separators
from gpukernels.views import PartsView
from gpukernels.views.encoding import unpack

ROADS = gk.road_grid(9, 7, seed=3)


def lists(packed):
    at, of = unpack(packed["at"]), unpack(packed["of"])
    return [of[a:b].tolist() for a, b in pairwise(at)]


@pytest.mark.parametrize("step", range(4))
def test_separators_and_edges_between_parts_are_those_of_a_scalar_walk(step):
    record = PartsView(ROADS, {"a ruler": halved(ROADS)}).payload
    (trace,) = record["traces"]
    part = lists(trace["part"])[step]
    at_border, between = set(), set()
    for u in range(ROADS.n):
        for v in ROADS.targets[ROADS.offsets[u] : ROADS.offsets[u + 1]].tolist():
            if part[u] != part[v]:
                at_border |= {u, v}
                between.add((min(u, v), max(u, v)))
    assert set(lists(trace["separators"])[step]) == at_border
    tail, head = (unpack(record["drawing"][end]).tolist() for end in ("tail", "head"))
    assert {(tail[k], head[k]) for k in lists(trace["crossing"])[step]} == between
    assert len(set(part)) == trace["parts"][step] == 2**step


def test_parts_that_touch_have_colors_that_differ():
    (trace,) = PartsView(ROADS, {"a ruler": halved(ROADS)}).payload["traces"]
    for part, color in zip(lists(trace["part"]), lists(trace["color"]), strict=True):
        for u in range(ROADS.n):
            for v in ROADS.targets[ROADS.offsets[u] : ROADS.offsets[u + 1]].tolist():
                assert part[u] == part[v] or color[part[u]] != color[part[v]]


def test_additions_and_bytes_are_those_that_the_work_takes():
    view = PartsView(ROADS, {"a ruler": halved(ROADS)})
    (trace,) = view.payload["traces"]
    for step, cut in enumerate(halved(ROADS)):
        sizes = [m.size for m in cut.members]
        borders = [b.size for b in cut.borders]
        s, n = sum(borders), ROADS.n
        edges = sum(a * b for a, b in zip(sizes, borders, strict=True))
        assert trace["terms"][step] == [sum(a**3 for a in sizes), s**3, edges * s, n * edges]
        assert trace["predicted"][step] == separators.predicted_work(n, len(sizes), s)
        most = max(sizes)
        assert trace["held"][step] == [4 * most**2, 4 * s**2, 4 * edges, 4 * most * n]
    assert trace["sentences"][0] == "One part: no separators, and n³ = 250,047 additions."
    assert "8 parts, " in trace["sentences"][3]


def test_a_ruler_halves_the_longer_side_and_keeps_sizes_even():
    place = np.array([(x, y) for x in range(10) for y in range(3)])
    part = separators.ruled(place, 2)
    assert part.tolist() == [int(x >= 5) for x in range(10) for y in range(3)]
    for parts in (1, 3, 7, 30, 99):
        sizes = np.bincount(separators.ruled(place, parts))
        assert sizes.size == min(parts, 30)
        assert sizes.max() - sizes.min() <= 1
    assert separators.ruled(np.empty((0, 2)), 4).size == 0
