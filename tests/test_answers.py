"""Results of all searches answer alike what is reached, how far it is, and by which path."""

from __future__ import annotations

import numpy as np
import pytest

import gpukernels as gk

#: 0 -> 1 -> 2, with 3 apart; one length is -1, as the level of a vertex that is not reached.
ARCS = gk.Graph.from_arcs(4, [0, 1], [1, 2], [2, -3])
REACHED = [True, True, True, False]
CALLS = {
    "bfs": lambda g, d: gk.bfs(g, 0, device=d),
    "bfs frontier": lambda g, d: gk.bfs(g, 0, "frontier", d),
    "sssp": lambda g, d: gk.sssp(g, 0, device=d),
    "sssp hbf": lambda g, d: gk.sssp(g, 0, "hbf", d),
    "bfs_many": lambda g, d: gk.bfs_many(g, [0], d),
    "sssp_many": lambda g, d: gk.sssp_many(g, [0], device=d),
    "apsp": lambda g, d: gk.apsp(g, device=d),
}


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float32, np.float64, None])
@pytest.mark.parametrize("device", [None, gk.SimtDevice()], ids=["anywhere", "machine"])
@pytest.mark.parametrize("call", CALLS)
def test_what_is_reached_is_told_in_one_way(call, device, kind):
    g = gk.Graph(ARCS.offsets, ARCS.targets, None if kind is None else ARCS.weights.astype(kind))
    r = CALLS[call](g, device)
    assert r.is_reached.dtype == bool
    assert r.is_reached.shape == r.distance.shape
    row = r.is_reached if r.is_reached.ndim == 1 else r.is_reached[0]
    assert row.tolist() == REACHED


@pytest.mark.parametrize("call", ["bfs", "bfs frontier", "sssp", "sssp hbf"])
def test_from_one_root_paths_and_distances_leave_the_unreached_out(call):
    r = CALLS[call](ARCS, gk.SimtDevice())
    assert r.reached == 3
    assert [r.path_to(v) for v in range(4)] == [[0], [0, 1], [0, 1, 2], []]
    by_levels = call.startswith("bfs")
    assert r.to_dict() == ({0: 0, 1: 1, 2: 2} if by_levels else {0: 0, 1: 2, 2: -1})
    assert list(r.to_dict()) == ([0, 1, 2] if by_levels else [2, 0, 1])
    with pytest.raises(gk.VertexOutOfRange, match="v = 4"):
        r.path_to(4)
    with pytest.raises(ValueError, match="kept no parents"):
        gk.bfs(ARCS, 0, "frontier", gk.SimtDevice(), parents=False).path_to(1)
