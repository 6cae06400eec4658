"""Graphs that stand for those of H-BF's Table 3 have their figures, and each switch is tried."""

from __future__ import annotations

import json
from dataclasses import fields

import numpy as np
import pytest
from scipy.sparse import csgraph

import gpukernels as gk
from gpukernels.bench import hbf_switches, record
from gpukernels.bench.graphs import weighted_honeycomb, weighted_routers, weighted_talk
from gpukernels.bench.searches import named
from gpukernels.shortest_paths.hbf import Options
from gpukernels.shortest_paths.hbf.options import FLAGS


def test_a_honeycomb_has_three_edges_a_vertex_and_the_diameter_of_its_sides():
    g = weighted_honeycomb(12, 20, seed=1)
    inner = g.out_degree.reshape(12, 20)[1:-1, 1:-1]
    assert (inner == 3).all()
    assert g.out_degree.max() == 3
    hops = csgraph.shortest_path(matrix_of(g), unweighted=True)
    assert 12 + 20 - 4 <= hops.max() <= 12 + 20


def matrix_of(g):
    source, target = g.coo
    matrix = np.zeros((g.n, g.n))
    matrix[source, target] = 1
    return matrix


def test_routers_have_the_degrees_of_their_workload():
    g = weighted_routers(30_000, seed=1)
    expected = np.diff(gk.workload("as-Skitter", 30_000))
    assert not g.directed
    # Parallel edges and loops may be joined.
    assert 0.9 * expected.sum() <= g.m <= expected.sum() + 1
    assert 0.8 * expected.max() <= g.out_degree.max() <= 1.05 * expected.max()


def test_a_site_s_messages_go_from_few_to_all():
    g = weighted_talk(60_000, seed=1)
    assert g.directed
    assert g.m == pytest.approx(2.1 * g.n, rel=0.01)
    assert (g.out_degree > 0).mean() == pytest.approx(1 / 16, rel=0.02)
    assert g.out_degree.max() == 6_000
    once = (g.in_degree == 1) & (g.out_degree == 0)
    assert once.mean() > 0.6


@pytest.mark.parametrize("family", hbf_switches.FAMILIES, ids=lambda f: f[0])
def test_every_graph_shrinks_and_has_the_switch_of_the_paper(family):
    name, _, make = family
    small, smaller = make(11), make(12)
    assert 1.5 < small.n / smaller.n < 2.5
    graph, off = hbf_switches.OF_PAPER[name]
    assert off in hbf_switches.OFF
    table = json.loads((record.FOLDER.parent / "papers" / "busato2016hbf.json").read_text())[
        "tables"
    ]
    rows = next(t["rows"] for t in table if t["table"] == "Table 3")
    assert graph in [row[0] for row in rows]


def test_every_optimization_is_switched_off_alone():
    defaults = {field.name: field.default for field in fields(Options)}
    alone = [next(iter(off.items())) for off in hbf_switches.OFF if len(off) == 1]
    assert {name for name, _ in alone} == {*FLAGS, "duplicates", "warp_workload"}
    assert all(defaults[name] != value for name, value in alone)
    names = [named("hbf", off)[0] for off in hbf_switches.OFF]
    assert len(set(names)) == len(names)
