"""A figure of each kind and form, with frozen records.

``python tests/views/example_figures.py`` writes ``records.json``, the records of these figures, and
``frames.json``, a digest of every frame that is drawn from them. Tests of drawings read the
records, which do not change with the kernels. Look at the figures before you store new digests.
"""

import functools
import json
import sys
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path[:0] = map(str, [Path(__file__).parents[1], Path(__file__).parents[2]])

from filter_kernels import filter_large, filtered, some_candidates
from worked_tasks import halved, worked
from written_traces import queue_bfs

import gpukernels as gk
from gpukernels.primitives.shared_scan import shared_scan
from gpukernels.primitives.warp_scan import warp_scan
from gpukernels.traversal import bfs
from gpukernels.views import (
    CompareView,
    EnergyView,
    FrontierView,
    GraphView,
    HashView,
    MappingView,
    MemoryView,
    PartsView,
    RelaxView,
    ScanView,
    TileView,
    WarpView,
    WorkersView,
)
from gpukernels.views.encoding import to_json

RECORDS, FRAMES = (Path(__file__).with_name(f"{name}.json") for name in ("records", "frames"))
EXAMPLE = gk.example()
ROADS = gk.road_grid(6, 7, seed=1)
WRITTEN, LEVELS, DISTANCE = queue_bfs(ROADS)


def traced(method, graph=EXAMPLE, root=0):
    with gk.trace() as t:
        bfs(graph, root=root, method=method)
    return t.trace


def searched(method, graph, schedule="random", **options):
    device = gk.SimtDevice(schedule, seed=1, trace=True)
    bfs(graph, root=0, method=method, device=device, threads=32, **options)
    return device.trace


EIGHT = np.array([0, 3, 4, 8, 10, 12, 20, 21, 24])
HOLES = np.cumsum([0, 0, 0, 70, 0, 3, 1, 0])
WEIGHED = gk.random_weights(EXAMPLE, seed=1)
FLOATS = gk.Graph(ROADS.offsets, ROADS.targets, np.linspace(0, 1, ROADS.m, dtype=np.float32))


def relaxed(graph, methods=("harish", "topology_driven"), root=0):
    traces = {}
    for method in methods:
        with gk.trace() as t:
            gk.sssp(graph, root, method)
        traces[method] = t
    return traces


def compared(counter=None):
    rows = [("a <b>", "g", {"steps": 3, "ms": 0.25}), ("c", "g", {"steps": 900, "ms": None})]
    rows += [("c", "h & i", {"steps": "takes no loops", "ms": -1.5})]
    return CompareView(rows, better={"ms": "higher"}, units={"ms": "ms"}, counter=counter)


MEASURED = [("a <b>", "g", 0.05, 150.0), ("c", "g", 3.0, 420.0), ("c", "h & i", 12.0, 600.0)]


def all_pairs(matrix, **methods):
    traces = {}
    for name, options in methods.items():
        with gk.trace() as t:
            gk.apsp(matrix, "blocked" if options else "naive", **options)
        traces[name] = t
    return traces


BLOCKED = {"tile": 16, "per_thread": "4x4"}
KNOBS = {
    "virtual_warp": {"warp_size": 4},
    "two_phase": {"units_per_thread": 3},
    "dynamic_virtual_warp": {"threshold": 6},
}


def expanded(offsets, methods=gk.mapping.METHODS):
    traces = {}
    for method in methods:
        with gk.trace() as t:
            gk.expand(offsets, method, threads=32, **KNOBS.get(method, {}))
        traces[method] = t
    return traces


def scanned(scan, values, **options):
    with gk.trace() as t:
        scan(values, **options)
    return t


def filters(threads=64, rounds=3, **options):
    candidates = some_candidates(rounds, threads)
    return {s: filtered(candidates, 64, schedule=s, **options)[0] for s in ("lockstep", "warp")}


KINDS = {"close": "close a part", "join": "join all"}


VIEWS = {
    "graph": lambda: GraphView(EXAMPLE, DISTANCE[:16], title="Graph"),
    "graph plain": lambda: GraphView(gk.path(1)),
    "graph empty": lambda: GraphView(gk.Graph([0], [])),
    "graph csr": lambda: GraphView(EXAMPLE, csr=True, step=3),
    "graph weights": lambda: GraphView(gk.random_weights(ROADS, seed=1)),
    "graph steps": lambda: GraphView(EXAMPLE, {"a": np.eye(16), "b": np.full(16, np.nan)}),
    "graph large": lambda: GraphView(gk.erdos_renyi(1500, 3.0, seed=1), np.arange(1500.0)),
    "frontier": lambda: FrontierView(ROADS, WRITTEN, step=4, caption="Roads & <queues>"),
    "frontier methods": lambda: FrontierView(
        EXAMPLE, {m: traced(m) for m in ("harish", "edge_parallel", "frontier")}
    ),
    "frontier filters": lambda: FrontierView(
        ROADS, {way: searched("two_phase", ROADS, duplicates=way) for way in ("none", "hash64")}
    ),
    "frontier roots": lambda: FrontierView(
        EXAMPLE, {m: {v: traced(m, root=v) for v in (0, 5, 15)} for m in ("harish", "frontier")}
    ),
    "frontier both ways": lambda: FrontierView(
        ROADS, {str(a): searched("direction_optimizing", ROADS, alpha=a) for a in (0, 100)}
    ),
    "relax": lambda: RelaxView(WEIGHED, relaxed(WEIGHED), step=2, caption="One <clock>"),
    "relax one": lambda: RelaxView(gk.path(1), relaxed(gk.path(1), ["harish"])["harish"]),
    "relax floats": lambda: RelaxView(FLOATS, relaxed(FLOATS), step=3),
    "relax classes": lambda: RelaxView(
        WEIGHED, relaxed(WEIGHED), classes=np.arange(WEIGHED.m) % 4, class_names=[*"abcd"], step=2
    ),
    "relax graphs": lambda: RelaxView(
        {"example": WEIGHED, "chain": gk.path(60)},
        {k: relaxed(g) for k, g in {"example": WEIGHED, "chain": gk.path(60)}.items()},
    ),
    "tile": lambda: TileView(
        all_pairs(WEIGHED, naive={}, blocked=BLOCKED), step=6, caption="One <clock>"
    ),
    "tile one": lambda: TileView(all_pairs(ROADS, blocked=BLOCKED)["blocked"], step=22),
    "tile naive": lambda: TileView(all_pairs(FLOATS, naive={})["naive"], clock="launches"),
    "tile dial": lambda: TileView(
        all_pairs(EXAMPLE, a=BLOCKED, b={"tile": 16}, c={"tile": 32}), dial="form"
    ),
    "compare": lambda: compared(),
    "compare first": lambda: compared("ms"),
    "energy": lambda: EnergyView(MEASURED, step=1, caption="One <GPU>"),
    "warp": lambda: WarpView(traced("harish"), launch=1, warp=0, step=4),
    "warp block": lambda: WarpView(WRITTEN, launch=3),
    "warp several": lambda: WarpView({m: traced(m) for m in ("harish", "virtual_warp")}, warp=0),
    "memory": lambda: MemoryView(WRITTEN, array="targets"),
    "memory all": lambda: MemoryView(traced("frontier"), block=None, warp=None),
    "mapping": lambda: MappingView(expanded(EIGHT), EIGHT, step=1),
    "mapping one unit": lambda: MappingView(expanded([0, 0, 1], ["direct_search"]), [0, 0, 1]),
    "mapping workloads": lambda: MappingView(
        {"eight": expanded(EIGHT), "holes": expanded(HOLES)},
        {"eight": EIGHT, "holes": HOLES},
        color="warp",
    ),
    "mapping sizes": lambda: MappingView(
        {(3, k, 1): expanded(np.cumsum([0, 3, k, 1]), ["two_phase"]) for k in (0, 2, 40)}
    ),
    "scan": lambda: ScanView(scanned(warp_scan, np.arange(40), threads=64), warp=1, step=2),
    "scan kinds": lambda: ScanView(
        {kind: scanned(warp_scan, np.arange(32), inclusive=kind == "in") for kind in ("in", "ex")}
    ),
    "scan shared": lambda: ScanView(
        {
            name: scanned(shared_scan, np.arange(64) % 4, padding=name == "padded", threads=32)
            for name in ("plain", "padded")
        }
    ),
    "parts": lambda: PartsView(
        ROADS, {"a ruler": halved(ROADS), "nobody": halved(ROADS)[::-1]}, step=2
    ),
    "parts one": lambda: PartsView(gk.path(1), {"a ruler": halved(gk.path(1), 1)}),
    "workers": lambda: WorkersView(
        {"all live": worked(), "one dies": worked(dies=3)}, KINDS, step=5
    ),
    "workers one": lambda: WorkersView({"one": worked(tasks=1)[:1]}, KINDS),
    "hash": lambda: HashView(filters(), choice="Schedule", caption="Two <schedules>"),
    "hash blocks": lambda: HashView(filters(128, 1, kernel=filter_large)["warp"], step=1),
}


#: Figures of searches by the package's kernels. Their records contain lines of the kernels, so they
#: change with the kernels' files.
WITH_LINES = {
    "frontier methods", "frontier filters", "frontier roots", "frontier both ways",
    "warp", "warp several", "memory all",
}  # fmt: skip


@functools.cache
def figure_of(name):
    """Return a figure that several tests read and no test changes."""
    return VIEWS[name]()


def records():
    """Return the frozen records by the names of their figures, as texts."""
    lines = RECORDS.read_text(encoding="utf-8").splitlines()[1:-1]
    split = (line.rstrip(",").partition(": ") for line in lines)
    return {json.loads(name): text for name, _, text in split}


def write(path, texts):
    """Write JSON with one line for each name."""
    lines = ",\n".join(f"{json.dumps(name)}: {text}" for name, text in texts.items())
    path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    write(RECORDS, {name: to_json(figure_of(name).payload) for name in VIEWS})
    from test_frames import frames_of  # it reads the records

    write(FRAMES, {name: json.dumps(frames_of(text)) for name, text in records().items()})
