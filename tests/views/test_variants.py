"""Choices of recordings, by root or size: each shows the same as a view of this one alone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from javascript import asked

import gpukernels as gk
from gpukernels.errors import InvalidArgument, VertexOutOfRange
from gpukernels.views import FrontierView, MappingView, RelaxView
from gpukernels.views.address import address_problem
from gpukernels.views.encoding import to_json, unpack

EXAMPLE = gk.example()
GRAPHS = {
    "example": EXAMPLE,
    "roads": gk.road_grid(4, 5, seed=1),
    "loops": gk.Graph([0, 2, 3, 3, 5], [0, 1, 1, 1, 0], directed=True),
}
METHODS = ["harish", "edge_parallel", "frontier", "virtual_warp", "direction_optimizing"]
#: The visible parts of a choice, step by step: words, numbers, and the paths of the picture.
LOOK = """(data, way, run, picks) => {
  const view = { frontier: frontierView, mapping: mappingView }[way];
  const opened = view.open(JSON.parse(data));
  let scene = null;
  const anew = () => { scene = opened.choose(run, () => {}, () => {}, anew); };
  anew();
  for (const [name, k] of picks) fieldsOf(scene).find((field) => field.name === name).choose(k);
  const marks = (node) => node.querySelectorAll("path").map((path) => path.getAttribute("d"));
  const words = (node) => node.querySelectorAll("tspan").map((word) => word.textContent);
  return Array.from({ length: scene.steps }, (_, step) => {
    scene.show(step);
    const stage = opened.stage.filter((part) => part && part.getAttribute("class") !== "gk-offer");
    return [
      scene.sentence(step),
      scene.counters(step).map((one) => one.slice(1)),
      ...[marks, words, (part) => part.textContent].map((of) => stage.map(of)),
    ];
  });
}"""


@pytest.fixture(scope="module")
def look():
    seen = asked(["frontier", "mapping", "words"], LOOK)
    return lambda view, run=0, **picks: seen(
        to_json(view.payload), view._kind, run, [[k.replace("_", "-"), v] for k, v in picks.items()]
    )


def searches(graph, method, schedule="lockstep"):
    return {
        v: gk.traced(gk.bfs, graph, v, method, schedule=schedule, seed=1) for v in range(graph.n)
    }


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("method", METHODS)
def test_every_root_has_the_distances_of_a_sequential_search(graph, method):
    g = GRAPHS[graph]
    view = FrontierView(g, searches(g, method))
    (trace,) = view.payload["traces"]
    reached = unpack(trace["reached"]).reshape(g.n, g.n)
    for root in range(g.n):
        assert reached[root].tolist() == gk.reference.bfs(g, root).distance.tolist()
        # The last level may be one that finds nothing.
        levels = reached[root].max() + 1
        assert trace["variantSteps"][root] in (levels, levels + 1, max(levels - 1, 1))


@pytest.mark.parametrize(("graph", "schedule"), [("example", "random"), ("roads", "lockstep")])
def test_every_root_shows_what_a_view_of_its_search_alone_shows(look, graph, schedule):
    g = GRAPHS[graph]
    methods = {m: searches(g, m, schedule) for m in ("harish", "frontier")}
    view = FrontierView(g, methods, root=1)
    for root in range(g.n):
        if not g.out_degree[root]:
            continue  # such a search alone reads nothing, so its view is refused
        alone = FrontierView(g, {m: of[root] for m, of in methods.items()})
        for run in range(2):
            seen, own = look(view, run, root=root), look(alone, run)
            assert len(seen) == len(own)
            for (sentences, counts, paths, *_), (own_sentences, own_counts, own_paths, *_) in zip(
                seen, own, strict=True
            ):
                assert sentences.replace(f" from vertex {root}", "", 1) == own_sentences
                # There may be counters that the search alone does not need.
                assert {**dict.fromkeys(dict(counts), "0"), **dict(own_counts)} == dict(counts)
                rest, again = paths[0], own_paths[0]
                assert rest[:4] + rest[6:] == again
                assert rest[4] == rest[5] != ""


def test_addresses_know_the_root_and_its_steps():
    view = FrontierView(EXAMPLE, {m: searches(EXAMPLE, m) for m in ("frontier", "harish")})
    steps = dict(enumerate(view.payload["traces"][0]["variantSteps"]))
    name = view.address
    for root, many in steps.items():
        good = f"{name}?run=frontier&root={root}&step={many - 1}"
        assert address_problem(view.payload, good) == ""
        beyond = address_problem(view.payload, f"{name}?run=frontier&root={root}&step={many}")
        assert beyond == f'it has no step "{many}", but 0 to {many - 1}'
    # An address without a root may mean any root, and one root has a single level.
    assert "but 0 to 0" in address_problem(view.payload, f"{name}?step=2")
    assert '"root" is never "16"' in address_problem(view.payload, f"{name}?root=16")


BAD_ROOTS = {
    "another root": (lambda e: {0: e[1]}, "traces[0] = 'a search from vertex 1"),
    "another root of a run": (
        lambda e: {"a": {2: e[3]}},
        "traces['a'][2] = 'a search from vertex 3",
    ),
    "no such vertex": (lambda e: {16: e[0]}, "root of traces"),
    "other roots": (lambda e: {"a": {0: e[0]}, "b": {1: e[1]}}, "recordings from the same roots"),
    "a trace among dicts": (lambda e: {"a": {0: e[0]}, "b": e[1]}, "a dict of root to trace"),
    "no recording": (lambda e: {0: 3}, "traces[0] = 3"),
    "none": (lambda e: {"a": {}}, "a dict of root to trace"),
}


@pytest.mark.parametrize("case", BAD_ROOTS)
def test_recordings_that_are_not_of_their_roots_are_refused(case):
    make, message = BAD_ROOTS[case]
    traces = make(searches(EXAMPLE, "frontier"))
    with pytest.raises((InvalidArgument, VertexOutOfRange)) as problem:
        FrontierView(EXAMPLE, traces)
    assert message in str(problem.value)


def test_a_root_that_was_not_recorded_cannot_be_shown_first():
    every = searches(EXAMPLE, "frontier")
    with pytest.raises(InvalidArgument, match="root = 3: must be one that was recorded, of "):
        FrontierView(EXAMPLE, {0: every[0], 1: every[1]}, root=3)


def test_many_roots_are_refused():
    g = gk.path(65)
    one = gk.traced(gk.bfs, g, 0)
    with pytest.raises(InvalidArgument, match="'65 roots': must be at most 64"):
        FrontierView(g, dict.fromkeys(range(65), one))


ROADS = gk.random_weights(gk.road_grid(3, 4, seed=1), 1, 9, seed=2)
#: Each picture of a step: the paths by their looks, and the words with the distances.
PATHS = """(data, picks) => {
  const opened = relaxView.open(JSON.parse(data));
  const isPicture = (svg) => (svg.getAttribute("class") || "").startsWith("gk-graph");
  let scene = null;
  const anew = () => { scene = opened.choose(0, () => {}, () => {}, anew); };
  anew();
  for (const [name, k] of picks) fieldsOf(scene).find((field) => field.name === name).choose(k);
  return Array.from({ length: scene.steps }, (_, step) => {
    scene.show(step);
    return [
      scene.sentence(step),
      opened.stage[opened.stage.length - 1].querySelectorAll("svg").filter(isPicture).map((svg) => [
        svg.querySelectorAll("path").map((p) => [p.getAttribute("class"), p.getAttribute("d")]),
        svg.querySelectorAll("text").map((word) => word.textContent),
      ]),
    ];
  });
}"""


def relaxed(method, graph=ROADS, **options):
    return {v: gk.traced(gk.sssp, graph, v, method, **options) for v in range(graph.n)}


def of_pictures(step):
    """Return each picture's words, and its paths except those whose shades show lengths."""
    for svg, words in step[1]:
        yield sorted(map(tuple, (p for p in svg if not p[0].startswith("gk-dot-v")))), words


def test_every_root_of_a_relaxation_shows_what_a_view_of_it_alone_shows():
    look = asked(["relax", "words"], PATHS)
    runs = {"harish": relaxed("harish"), "near_far": relaxed("near_far", delta=4)}
    view = RelaxView(ROADS, runs, root=2)
    assert repr(view).endswith("; 12 roots)")
    for root in (0, 5, 11):
        alone = RelaxView(ROADS, {run: of[root] for run, of in runs.items()})
        seen = look(to_json(view.payload), [["root", root]])
        own = look(to_json(alone.payload), [])
        assert [step[0] for step in seen] == [step[0] for step in own]
        for now, then in zip(seen, own, strict=True):
            for (paths, words), (own_paths, own_words) in zip(
                of_pictures(now), of_pictures(then), strict=True
            ):
                assert words == own_words
                rings = list(paths)
                for path in own_paths:
                    rings.remove(path)
                # The remaining path marks the root.
                assert [name for name, _ in rings] == ["gk-dot-ink", "gk-dot-paper"]
                assert rings[0][1] == rings[1][1] != ""
        distance = gk.reference.dijkstra(ROADS, root).distance
        for _, words in of_pictures(seen[-1]):
            assert words[-2 * ROADS.n - 1 : -ROADS.n - 1] == [str(d) for d in distance]


def test_relaxations_share_drawing_and_classes_and_a_root_without_arcs_is_one():
    ends = gk.Graph.from_arcs(4, [0, 0, 1], [1, 2, 2], [1, 5, 1])
    every = relaxed("hbf", ends)
    classes = gk.sssp(ends, 0, "hbf").stats["class_of_arc"]
    of_classes = {"classes": classes, "class_names": ["atomic", "in", "loop", "end"]}
    view = RelaxView(ends, {"hbf": every}, **of_classes)
    one = RelaxView(ends, {"hbf": every[0]}, **of_classes)
    (trace,), (own,) = view.payload["traces"], one.payload["traces"]
    shared = ("drawing", "lineTexts", "offsets", "lineOfArc", "class")
    assert [trace[name] for name in shared] == [own[name] for name in shared]
    assert len(to_json(view.payload)) < 1.3 * len(to_json(one.payload))
    look = asked(["relax", "words"], PATHS)
    for root in (2, 3):
        for _, ((_, words),) in look(to_json(view.payload), [["root", root]]):
            assert words[-9:-5] == ["0" if v == root else "∞" for v in range(4)]
    assert "Iterations by root: 0 " in view.payload["description"]
    steps = trace["variantSteps"][0]
    name = view.address
    assert address_problem(view.payload, f"{name}?root=0&step={steps - 1}") == ""
    assert "but 0 to" in address_problem(view.payload, f"{name}?root=0&step={steps}")


TECHNIQUES = ["work_item_to_thread", "two_phase", "multi_phase", "virtual_warp"]


def expanded(sizes):
    offsets = np.cumsum([0, *sizes])
    return {m: gk.traced(gk.expand, offsets, m, threads=32) for m in TECHNIQUES}


def grid(*choices):
    return {sizes: expanded(sizes) for sizes in itertools.product(*choices)}


def test_every_choice_of_sizes_shows_what_a_view_of_it_alone_shows(look):
    every = grid([3], range(3), [0], [2, 8, 40])
    view = MappingView(every, sizes=np.array([3, 1, 0, 8]))
    assert view.payload["traces"][0]["base"] == [3, 1, 0, 8]
    for b, (d, size) in itertools.product(range(3), enumerate([2, 8, 40])):
        sizes = 3, b, 0, size
        alone = MappingView(expanded(sizes), np.cumsum([0, *sizes]))
        seen, own = look(view, item_b=b, item_d=d), look(alone)
        assert len(seen) == len(own) == alone.payload["traces"][0]["steps"]
        for now, then in zip(seen, own, strict=True):
            sentence, counts, (_, paths), (_, words), (_, text) = now
            own_said, own_counts, (_, own_paths), (_, own_words), (_, own_text) = then
            assert (sentence, counts, words, text) == (own_said, own_counts, own_words, own_text)
            # Bars of units per thread have the scale of the largest workload.
            drawn, own_drawn = ([d for d in p if d and ".5 " not in d] for p in (paths, own_paths))
            assert drawn == own_drawn


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ({(1, 1): expanded((1, 1)), (2, 2): expanded((2, 2))},), "none of (1, 2)"),
        (lambda: ({(1, 1): expanded((1, 1)), (1,): expanded((1,))},), "keys of [1, 2] sizes"),
        (lambda: ({(1, -1): {}},), "whole numbers from 0 up"),
        (lambda: ({(1, 1.5): {}},), "whole numbers from 0 up"),
        (lambda: (grid([1, 2]), [0, 1]), "offsets"),
        (lambda: ({(0,): expanded((1,))},), "from 1 to 240 units"),
        (lambda: ({(2,): expanded((1,))},), "unit 1 visited 0 times"),
        (lambda: ({(k,): {} for k in range(1, 400)},), "399 sizes"),
        (lambda: ({(1,): expanded((1,)), (2,): {"a": expanded((2,))["two_phase"]}},), "techniques"),
        (lambda: (expanded((1,)),), "offsets = None"),
    ],
)
def test_recordings_that_are_not_of_every_size_are_refused(make, message):
    with pytest.raises(InvalidArgument) as problem:
        MappingView(*make())
    assert message in str(problem.value)


def test_sizes_that_were_not_recorded_cannot_be_shown_first():
    with pytest.raises(InvalidArgument, match=r"sizes = \(3,\)"):
        MappingView(grid([1, 2]), sizes=(3,))
    with pytest.raises(InvalidArgument, match="unless the keys of traces are sizes"):
        MappingView(expanded((1,)), [0, 1], sizes=(1,))
