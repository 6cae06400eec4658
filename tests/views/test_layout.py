import hashlib
import re
import subprocess
import sys

import numpy as np
import pytest
from javascript import asked

import gpukernels as gk
from gpukernels.errors import InvalidArgument
from gpukernels.views.drawing import draw
from gpukernels.views.layout import spread, stress_layout
from gpukernels.views.room import loop_reach


def lay(graph, seed=0):
    return stress_layout(graph.n, *graph.coo, seed=seed)


def test_the_same_graph_gives_the_same_bits_in_another_process():
    code = (
        "import hashlib, gpukernels as gk\n"
        "from gpukernels.views.layout import stress_layout\n"
        "g = gk.small_world(80, 4, 0.1, seed=2)\n"
        "print(hashlib.sha256(stress_layout(g.n, *g.coo).tobytes()).hexdigest())"
    )
    digest = hashlib.sha256(lay(gk.small_world(80, 4, 0.1, seed=2)).tobytes()).hexdigest()
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout.strip() == digest


def test_a_path_becomes_a_line_with_unit_steps():
    place = lay(gk.path(20))
    steps = np.linalg.norm(np.diff(place, axis=0), axis=1)
    assert steps == pytest.approx(np.ones(19), abs=0.05)
    assert np.linalg.norm(place[19] - place[0]) == pytest.approx(19, rel=0.05)


def test_drawn_distance_follows_hop_distance():
    g = gk.road_grid(6, 9, seed=1)
    place = lay(g)
    hops = np.array([gk.reference.bfs(g, v).distance for v in range(g.n)])
    drawn = np.linalg.norm(place[:, None] - place[None], axis=2)
    pairs = hops > 0
    assert np.corrcoef(hops[pairs], drawn[pairs])[0, 1] > 0.95


def test_components_do_not_overlap():
    g = gk.Graph.from_arcs(6, [0, 1, 3, 4], [1, 2, 4, 5], directed=False)
    place = lay(g)
    gaps = np.linalg.norm(place[:3, None] - place[None, 3:], axis=2)
    assert gaps.min() > 0.5


def test_spread_separates_what_touches():
    place = np.random.default_rng(0).normal(size=(60, 2)) * 8
    apart = spread(place, 3.0)
    gaps = np.linalg.norm(apart[:, None] - apart[None], axis=2) + 99 * np.eye(60)
    assert gaps.min() > 2.4


@pytest.mark.parametrize(
    "graph",
    [
        gk.example(),
        gk.path(1),
        gk.path(2),
        gk.complete(5),
        gk.star(100),
        gk.rmat(7, 4, seed=1),
        gk.Graph([0], []),
        gk.Graph([0, 0, 0], []),
        gk.Graph([0, 1], [0]),
        gk.erdos_renyi(900, 2.0, seed=1),
        gk.complete(90),
    ],
    ids=repr,
)
def test_every_mark_lies_on_the_paper(graph):
    d = draw(graph)
    assert len(d.x) == graph.n
    assert d.radius > 0
    for at, size in ((d.x, d.width), (d.y, d.height)):
        assert (at >= 0).all()
        assert (at <= 10 * size).all()
    assert all("M" in line for line in lines_of(d))


#: A graph with given positions of its vertices, and with a loop at the upper edge.
NINE = gk.Graph.from_arcs(
    9,
    [0, 0, 2, 2, 2, 3, 3, 4, 4, 4, 6, 6, 7, 7],
    [2, 3, 1, 2, 3, 7, 8, 4, 5, 8, 4, 8, 4, 6],
)
NINE_PLACES = [(0, 1), (2, 2), (1, 2), (1, 0), (4, 1), (5, 0.4), (3, 2), (2, 1), (4, 0)]
LOOPED = {
    "nine": (NINE, NINE_PLACES),
    "alone": (gk.Graph([0, 1], [0]), None),
    "all": (gk.Graph.from_arcs(5, range(5), range(5)), None),
    "edge of a path": (gk.Graph.from_arcs(3, [0, 1, 2], [1, 2, 2]), [(0, 0), (1, 0), (2, 0)]),
    "crowd": (gk.Graph.from_arcs(60, [*range(60)] * 2, [*range(60), *range(1, 60), 0]), None),
}
LOOP_ENDS = (
    "(d) => { const r = readDrawing(d); return [...r.tail.keys()].map((k) => r.middle(k)); }"
)
NAMES = """(d) => {
  const r = readDrawing(d);
  const names = Array.from(r.x, (_, v) => r.name(v, "name"));
  return names.map((node) => [...node.attributes, ["text", node.textContent]]);
}"""


@pytest.mark.parametrize("name", LOOPED)
def test_a_loop_lies_on_the_paper_and_away_from_its_vertex(name):
    graph, places = LOOPED[name]
    d = draw(graph, positions=places)
    reach = loop_reach(d.radius)
    assert reach > 2 * d.radius
    ends = asked(["drawing"], LOOP_ENDS)(d.payload())
    loops = np.flatnonzero(d.tail == d.head)
    assert len(loops) == (graph.coo[0] == graph.coo[1]).sum() > 0
    for k in loops:
        end, at = np.array(ends[k]), np.array([d.x[d.tail[k]], d.y[d.tail[k]]]) / 10
        assert np.linalg.norm(end - at) == pytest.approx(reach, rel=0.01)
        # Half a stroke more. Values are at the far end of a loop if vertices have names.
        assert (end >= (4 if d.labeled else 1)).all()
        assert (end <= np.array([d.width, d.height]) - (4 if d.labeled else 1)).all()


def name_boxes(d):
    """Return the box around each vertex's name, from the drawing's attributes."""
    boxes = []
    for names in map(dict, asked(["drawing"], NAMES)(d.payload())):
        wide = 5 * len(names["text"])
        left = {"end": wide, "middle": wide / 2}.get(names.get("text-anchor"), 0)
        x, y = float(names["x"]) - left, float(names["y"])
        boxes.append((x, y - 6.5, x + wide, y))
    return boxes


def ways_of(d):
    """Return points along each line between two vertices, from its path."""
    for line in lines_of(d):
        first = line.split("M")[1]
        numbers = [float(v) for v in re.findall(r"-?[\d.]+", first)]
        if "A" in first:
            continue
        p, q = np.array(numbers[:2]), np.array(numbers[-2:])
        bend = np.array(numbers[2:4]) if "Q" in first else (p + q) / 2
        t = np.linspace(0, 1, 60)[:, None]
        yield (1 - t) ** 2 * p + 2 * t * (1 - t) * bend + t * t * q


@pytest.mark.parametrize(
    ("graph", "places"),
    [(NINE, NINE_PLACES), (gk.example(), None), (gk.road_grid(5, 6, seed=1), None)],
)
def test_names_of_vertices_stand_on_no_arc(graph, places):
    d = draw(graph, positions=places)
    points = np.concatenate(list(ways_of(d)))
    for left, top, right, bottom in name_boxes(d):
        within = (points > (left, top)) & (points < (right, bottom))
        assert not within.all(axis=1).any(), (left, top)
        assert min(left, top) >= 0
        assert right <= d.width
        assert bottom <= d.height


def lines_of(drawing):
    """Return the path of each line."""
    each = "(d) => { const r = readDrawing(d); return Array.from(r.tail, (_, k) => r.lines([k])); }"
    lines = asked(["drawing"], each)(drawing.payload())
    assert len(lines) == len(drawing.tail)
    return lines


def test_both_arcs_of_an_edge_share_a_line():
    g = gk.example()
    d = draw(g)
    assert len(d.tail) == g.m // 2
    source, target = g.coo
    ends = np.sort(np.stack([source, target]), axis=0)
    assert np.array_equal(np.stack([d.tail, d.head])[:, d.line_of_arc], ends)


def test_opposite_directed_arcs_are_bent_apart():
    d = draw(gk.Graph.from_arcs(3, [0, 1, 1], [1, 0, 2]))
    assert d.bent.tolist() == [True, True, False]
    assert len(set(lines_of(d))) == 3


def test_given_positions_are_kept_upright():
    d = draw(gk.path(3), positions=[(0, 0), (1, 0), (1, 1)])
    assert d.x[0] < d.x[1] == d.x[2]
    assert d.y[2] < d.y[1] == d.y[0]


@pytest.mark.parametrize("positions", [[(0, 0)], [(0, 0), (1, np.nan), (1, 1)], np.zeros((3, 3))])
def test_positions_that_do_not_fit_are_refused(positions):
    with pytest.raises(InvalidArgument, match=r"(?s)positions = .*shape \(3, 2\)"):
        draw(gk.path(3), positions=positions)
