"""The matrix lies in memory as promised, and a pitch makes its rows start on a line."""

from __future__ import annotations

import numpy as np
import pytest

import gpukernels as gk
from gpukernels.device import SimtDevice
from gpukernels.representations.adjacency_matrix import (
    AdjacencyMatrix,
    largest_n,
    pitch_of,
    row_sum,
)


def test_four_gibibytes_hold_32768_vertices():
    assert largest_n(4 * 2**30) == 32_768
    assert largest_n(4 * 2**30 - 1) == 32_767


@pytest.mark.parametrize(
    ("n", "itemsize", "pitch"), [(0, 4, 0), (1, 4, 32), (32, 4, 32), (33, 4, 64), (100, 1, 128)]
)
def test_pitch_rounds_up_to_a_line(n, itemsize, pitch):
    assert pitch_of(n, itemsize) == pitch


@pytest.mark.parametrize("pitched", [True, False])
def test_cells_are_weights_and_the_rest_is_absent(pitched):
    g = gk.Graph.from_arcs(3, [0, 0, 2, 1], [1, 1, 2, 0], [9, 7, 5, 0])
    matrix = AdjacencyMatrix.from_graph(g, pitched=pitched)
    rows = matrix.cells.reshape(3, -1)
    expected = np.full((3, matrix.pitch), 2**31 - 1)
    expected[0, 1], expected[2, 2], expected[1, 0] = 7, 5, 0
    np.testing.assert_array_equal(rows, expected)
    assert matrix.nbytes == 4 * 3 * matrix.pitch
    assert matrix.pitch == (32 if pitched else 3)


def test_a_weight_that_means_no_arc_is_refused():
    g = gk.Graph.from_arcs(2, [0], [1], [2**31 - 1])
    with pytest.raises(gk.InvalidArgument, match="stands for no arc"):
        AdjacencyMatrix.from_graph(g)


def sectors_per_load(**options) -> float:
    """Count the 32-byte sectors that a load of the matrix touches, on average of full requests."""
    device = SimtDevice(trace=True)
    row_sum(gk.complete(100), device=device, **options)
    trace = device.trace
    matrix = trace.array_named("matrix")
    full = np.isin(trace.requests.array, matrix) & (trace.requests.mask == 0xFFFFFFFF)
    rows = np.flatnonzero(full)
    index, start = trace.requests.index, trace.requests.start
    return float(np.mean([np.unique(index[start[r] : start[r + 1]] // 8).size for r in rows]))


def test_pitch_saves_the_fifth_sector():
    assert sectors_per_load(pitched=True) == 4
    assert 4 < sectors_per_load(pitched=False) <= 5


def test_a_thread_a_row_touches_a_sector_a_lane():
    assert sectors_per_load(mapping="thread") == 32
