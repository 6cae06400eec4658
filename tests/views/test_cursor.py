"""The cursor of a figure: it lights up parts by the trace, picks and pins them, and lets go."""

from __future__ import annotations

import numpy as np
import pytest
from javascript import asked

import gpukernels as gk
from gpukernels.trace import LOAD
from gpukernels.views import FrontierView, WarpView
from gpukernels.views.encoding import unpack
from gpukernels.views.frontier import walks
from gpukernels.views.warp import view as warp

EXAMPLE = gk.example()
NAMED = {"targets": 0, "target": 0, "sources": 1}


def searched(method, graph=EXAMPLE):
    device = gk.SimtDevice("random", seed=1, trace=True)
    gk.bfs(graph, 0, method, device)
    return device.trace


def loads_of(trace, graph):
    """Return (launch, arc, block, warp, lane, line) of each load of an arc, lane by lane."""
    r, loads = trace.requests, set()
    reverse = np.argsort(graph.targets, kind="stable")
    for row in range(len(r)):
        name = trace.arrays[r.array[row]].name
        if name not in NAMED or r.kind[row] != LOAD:
            continue
        for k, lane in enumerate(r.lanes(row).tolist()):
            index = int(r.index[r.start[row] + k])
            arc = int(reverse[index]) if NAMED[name] else index
            where = int(r.block[row]), int(r.warp[row]), lane, int(r.line[row])
            loads.add((int(r.launch[row]), arc, *where))
    return loads


@pytest.mark.parametrize("method", ["harish", "edge_parallel", "two_phase", "bottom_up"])
def test_a_record_tells_which_thread_reads_which_arc_on_which_line(method):
    graph = gk.rmat(5, 4, seed=2) if method == "bottom_up" else EXAMPLE
    trace = searched(method, graph)
    view = FrontierView(graph, trace)
    record = view.payload["traces"][0]["walks"]
    at, arcs, threads = (
        unpack(x) for x in (record["arc"]["at"], record["arc"]["of"], record["thread"])
    )
    each, kinds = unpack(record["threads"]), unpack(record["kind"])
    place = unpack(record["place"]) if "place" in record else np.zeros(len(arcs), np.int64)
    reads = set()
    for k, level in enumerate(view._levels[""]):
        for i in range(at[k], at[k + 1]):
            block, rest = divmod(int(threads[i]), int(each[k]))
            line, text = record["places"][place[i]]
            assert any(name in text for name in NAMED)
            reads.add((level.launches, int(arcs[i]), block, rest // 32, rest % 32, line))
            assert ("up" in record and unpack(record["up"])[k]) == (method == "bottom_up")
            kind = 1 if arcs[i] in level.found_arcs else 2 if arcs[i] in level.again_arcs else 0
            assert kinds[i] == kind
    launches = {k: level.launches for level in view._levels[""] for k in level.launches}
    expected = {(launches[load[0]], *load[1:]) for load in loads_of(trace, graph)}
    assert reads == expected


def test_a_graph_of_too_many_arcs_or_warps_is_drawn_without_them(monkeypatch):
    trace = searched("edge_parallel")
    assert "arcs" in FrontierView(EXAMPLE, trace).payload
    for limit, value in (("MOST_ARCS", EXAMPLE.m - 1), ("MOST_WARPS", 1)):
        with monkeypatch.context() as patched:
            patched.setattr(walks, limit, value)
            payload = FrontierView(EXAMPLE, trace).payload
        assert "arcs" not in payload
        assert "walks" not in payload["traces"][0]


def test_a_record_tells_which_element_each_lane_touches(monkeypatch):
    trace = searched("frontier")
    view = WarpView(trace, launch=1)
    payload = view.payload["traces"][0]
    r = trace.requests
    for w in payload["warps"]:
        rows = np.flatnonzero((r.launch == 1) & (r.block == 0) & (r.warp == w["warp"]))
        rows = [k for k in rows.tolist() if trace.arrays[r.array[k]].space != "local"]
        expected = sorted(
            (int(r.step[k]), trace.arrays[r.array[k]].name, int(r.mask[k]), int(i))
            for k in rows
            for i in r.index[r.start[k] : r.start[k + 1]]
        )
        steps, names, masks = unpack(w["at"]), unpack(w["array"]), unpack(w["who"])
        touched = iter(unpack(w["index"]).tolist())
        touches = sorted(
            (int(step), payload["arrays"][name], int(mask), next(touched))
            for step, name, mask in zip(steps, names, masks, strict=True)
            for _ in range(int(mask).bit_count())
        )
        assert touches == expected
    sizes = {a.name: a.itemsize for a in trace.arrays}
    assert payload["sizes"] == [sizes[name] for name in payload["arrays"]]
    monkeypatch.setattr(warp, "MOST_TOUCHED", 3)
    assert "index" not in WarpView(trace, launch=1).payload["traces"][0]["warps"][0]


@pytest.mark.parametrize("directed", [True, False])
def test_the_line_nearest_to_its_middle_is_found(directed):
    graph = gk.Graph.from_arcs(5, [0, 1, 1, 3, 3, 4], [1, 0, 2, 3, 4, 0])
    if not directed:
        graph = gk.path(5)
    payload = FrontierView(graph, searched("frontier", graph)).payload["drawing"]
    nearest = asked(
        ["drawing"],
        """(payload) => {
            const drawing = readDrawing(payload);
            const near = (k) => drawing.nearestLine(...drawing.middle(k), 4);
            return [Array.from(drawing.tail, (_, k) => near(k)), drawing.nearestLine(-50, -50, 4)];
        }""",
    )
    assert nearest(payload) == [list(range(len(unpack(payload["tail"])))), -1]
