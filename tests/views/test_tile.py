"""TileView's record, compared with Floyd-Warshall in NumPy and with the trace's counters."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numba import cuda, int32

import gpukernels as gk
from gpukernels.errors import InvalidArgument
from gpukernels.trace import LOAD, Trace, metrics
from gpukernels.trace.record import lanes_of
from gpukernels.views import TileView
from gpukernels.views.encoding import unpack
from gpukernels.views.tile.run import (
    ARRIVES,
    CROSS,
    IN_USE,
    INFINITE,
    LIES,
    PANEL,
    PIVOT,
    PLAIN,
    REMAINDER,
    read_tile_run,
)

WEB = gk.random_weights(gk.erdos_renyi(48, 3.0, seed=3), low=1, high=20, seed=2)


def lengths_of(g):
    """Return the first matrix of a graph, with infinity for missing arcs."""
    matrix = np.full((g.n, g.n), np.inf)
    source, target = g.coo
    np.minimum.at(matrix, (source, target), 1 if g.weights is None else g.weights)
    np.fill_diagonal(matrix, 0)
    return matrix


@cache
def traced(method="blocked", schedule="lockstep", n=48, **options):
    g = WEB if n == 48 else gk.random_weights(gk.erdos_renyi(n, min(3, n - 1), seed=n), seed=2)
    device = gk.SimtDevice(schedule, seed=5, trace=True)
    result = gk.apsp(g, method, device, **options)
    return g, device.trace, result


@cache
def run_of(method="blocked", **options):
    g, trace, result = traced(method, **options)
    return g, trace, result, read_tile_run(trace)


def replayed(run):
    """Yield memory and registers after each frame, as matrices."""
    memory, registers = run.start.copy(), run.start.copy()
    for frame in run.frames:
        memory[frame.lowered] = frame.length
        registers[frame.kept] = frame.kept_length
        yield frame, *(m.reshape(run.rows, run.rows).copy() for m in (memory, registers))


def through(matrix, pivots):
    """Return the matrix after paths may also go through these vertices, one after another."""
    for k in pivots:
        matrix = np.minimum(matrix, matrix[:, k, None] + matrix[None, k, :])
    return matrix


def test_a_launch_of_naive_is_one_pivot_and_reads_what_it_needs():
    g, _, _, run = run_of("naive")
    assert (run.tile, len(run.launches), len(run.frames)) == (0, 48, 48)
    assert {launch.kind for launch in run.launches} == {PLAIN}
    before = lengths_of(g)
    np.testing.assert_array_equal(run.start.reshape(48, 48), before)
    for k, (frame, memory, _) in enumerate(replayed(run)):
        after = through(before, [k])
        np.testing.assert_array_equal(memory, after)
        assert set(frame.lowered.tolist()) == set(np.flatnonzero(after < before).tolist())
        assert (frame.launch, frame.pivots) == (k, (k, k))
        assert (frame.operations, frame.shared, frame.boxes) == (48 * 48, 0, {})
        before = after


FORMS = {
    "1x1": {"tile": 16, "per_thread": "1x1"},
    "4x2": {"tile": 16, "per_thread": "4x2"},
    "4x4": {"tile": 16, "per_thread": "4x4"},
    "8x8": {"tile": 16, "per_thread": "8x8"},
    "32": {"tile": 32, "per_thread": "4x4", "n": 40},
    "unpadded rows": {"tile": 16, "per_thread": "4x2", "padding": False},
    "next hops": {"tile": 16, "per_thread": "4x4", "next_hops": True},
}


@pytest.mark.parametrize("name", FORMS)
def test_phases_write_their_tiles_and_read_those_that_are_ready(name):
    *_, run = run_of(**FORMS[name])
    tile, per_row = run.tile, run.rows // run.tile
    assert tile == FORMS[name]["tile"]
    ready = set()
    for k, launch in enumerate(run.launches):
        pivot, phase = divmod(k, 3)
        others = [t for t in range(per_row) if t != pivot]
        own = pivot * (per_row + 1)
        row, column = ([pivot * per_row + t for t in others], [t * per_row + pivot for t in others])
        rest = {t: (t // per_row * per_row + pivot, pivot * per_row + t % per_row)
                for t in range(per_row**2) if pivot not in divmod(t, per_row)}  # fmt: skip
        assert launch.kind == (PIVOT, CROSS, REMAINDER)[phase]
        reads = {launch.tiles[b]: set(r) for b, r in launch.reads.items()}
        if phase == 0:
            ready = {own}
            assert reads == {own: set()}
        elif phase == 1:
            assert reads == {t: {own} for t in row + column}
        else:
            assert reads == {t: set(pair) for t, pair in rest.items()}
        assert set().union(*reads.values()) <= ready
        ready |= set(reads)


@pytest.mark.parametrize("name", FORMS)
def test_registers_and_memory_are_those_of_the_tiled_algorithm(name):
    """After each slice, values include paths through its vertices; then they are stored."""
    g, _, _, run = run_of(**FORMS[name])
    n, tile = g.n, run.tile
    start = np.full((run.rows, run.rows), np.inf)
    np.fill_diagonal(start, 0)
    start[:n, :n] = lengths_of(g)
    np.testing.assert_array_equal(run.start.reshape(run.rows, run.rows), start)
    before, expected, launch = start, start, -1
    for frame, memory, registers in replayed(run):
        first, last = frame.pivots
        if frame.launch != launch:
            launch, expected = frame.launch, before.copy()
        tiles = run.launches[launch].tiles.values()
        if first >= 0:
            phase = launch % 3
            step = through(expected, [first]) if phase == 0 else expected
            if phase:
                # A product reads the matrix from before the launch.
                for k in range(first, last + 1):
                    step = np.minimum(step, before[:, k, None] + before[None, k, :])
            for t in tiles:
                i, j = divmod(t, run.rows // tile)
                part = np.s_[i * tile : (i + 1) * tile, j * tile : (j + 1) * tile]
                expected[part] = step[part]
        np.testing.assert_array_equal(registers, expected)
        if frame.writers:
            assert {run.launches[launch].tiles[b] for b in frame.writers} == set(tiles)
            before = expected
        np.testing.assert_array_equal(memory, before)


@pytest.mark.parametrize("schedule", ["lockstep", "warp", "random"])
@pytest.mark.parametrize("method", ["naive", "blocked"])
def test_the_end_and_the_counters_are_those_of_the_run(method, schedule):
    options = {"n": 17} | ({"tile": 16} if method == "blocked" else {})
    _, trace, result, run = run_of(method, schedule=schedule, **options)
    final = run.final.reshape(run.rows, run.rows)[:17, :17]
    np.testing.assert_array_equal(
        final, np.where(result.distance < INFINITE, result.distance, np.inf)
    )
    assert sum(f.operations for f in run.frames) == result.stats["operations"] == run.rows**3
    assert sum(f.bytes for f in run.frames) == 32 * metrics.sectors(trace).sum()
    assert sum(f.shared for f in run.frames) == metrics.requests(trace, "shared")
    assert len(run.launches) == result.stats["launches"]


@pytest.mark.parametrize("schedule", ["warp", "random"])
@pytest.mark.parametrize("method", ["naive", "blocked"])
def test_a_figure_does_not_depend_on_the_schedule(method, schedule):
    options = {"n": 17} | ({"tile": 16, "per_thread": "4x4"} if method == "blocked" else {})
    drawn = [
        TileView(traced(method, schedule=s, **options)[1]).html for s in ("lockstep", schedule)
    ]
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("method", ["naive", "blocked"])
def test_a_figure_leaves_its_trace_as_it_was(method):
    device = gk.SimtDevice(trace=True)
    gk.apsp(gk.path(5), method, device)
    trace = device.trace
    before = {name: column.copy() for name, column in vars(trace.requests).items()}
    assert (before["value"] >= INFINITE).any()
    TileView(trace)
    for name, column in before.items():
        np.testing.assert_array_equal(getattr(trace.requests, name), column)


@pytest.mark.parametrize("name", FORMS)
def test_what_lies_in_shared_memory_is_what_its_frame_needs(name):
    *_, run = run_of(**FORMS[name])
    tile, per_row = run.tile, run.rows // run.tile
    for frame in run.frames:
        pivot, phase = divmod(frame.launch, 3)
        launch = run.launches[frame.launch]
        assert set(frame.boxes) == set(launch.tiles)
        for block, boxes in frame.boxes.items():
            i, j = (tile * v for v in divmod(launch.tiles[block], per_row))
            rows, columns, p = (i, i + tile), (j, j + tile), tile * pivot
            if phase == 0:
                state = IN_USE if frame.pivots[0] >= 0 else LIES if frame.writers else ARRIVES
                assert [(b.array, b.rows, b.columns, b.state) for b in boxes] == [
                    ("whole", rows, columns, state)
                ]
                continue
            for box in boxes:
                slices = box.columns if box.array == "left" else box.rows
                assert (box.rows if box.array == "left" else box.columns) == (
                    rows if box.array == "left" else columns
                )
                assert p <= slices[0] < slices[1] <= p + tile
                is_pivot = (slices[0], slices[1] - 1) == frame.pivots
                assert (box.state == IN_USE) == is_pivot
                if box.state == ARRIVES and frame.pivots[0] >= 0:
                    assert slices[0] == frame.pivots[1] + 1
            arrays = [b.array for b in boxes if b.state == IN_USE]
            assert sorted(arrays) == (["left", "right"] if frame.pivots[0] >= 0 else [])


@pytest.mark.parametrize("name", FORMS)
def test_a_thread_reads_the_rows_and_columns_of_its_own_outputs(name):
    """The marks of the figure for one thread, compared with its indices in shared memory."""
    _, trace, _, run = run_of(**FORMS[name])
    r = trace.requests
    row, lane = lanes_of(r.mask)
    thread = r.warp[row] * 32 + lane
    of = {array: {k for k in trace.array_named(array) if trace.arrays[k].space == "shared"}
          for array in ("left", "right")}  # fmt: skip
    launch = run.launches[1]
    per_thread = np.bincount(launch.owner)
    assert set(per_thread) == {run.tile**2 // launch.threads}
    assert len(per_thread) == launch.threads
    for array, axis in (("left", 0), ("right", 1)):
        (kind,) = of[array]
        depth, stride = trace.arrays[kind].shape[1:]
        at = (r.launch[row] == 1) & (r.array[row] == kind) & (r.kind[row] == LOAD)
        for t in {0, 1, launch.threads - 1}:
            mine = set(np.divmod(np.flatnonzero(launch.owner == t), run.tile)[axis].tolist())
            asked = set((r.index[at & (thread == t)] % stride).tolist())
            assert asked == mine
        assert depth * stride > 0


def test_a_panel_has_launches_of_its_own_and_a_remainder_through_all_its_tiles():
    """Four tiles per side, two pivot tiles at a time, as the driver's docstring says."""
    g, _, result, run = run_of(n=52, tile=16, panel=2)
    final = run.final.reshape(64, 64)[:52, :52]
    np.testing.assert_array_equal(
        final, np.where(result.distance < INFINITE, result.distance, np.inf)
    )
    kinds = [launch.kind for launch in run.launches]
    assert kinds == [PIVOT, CROSS, PANEL, PIVOT, CROSS, PANEL, REMAINDER] * 2
    last = run.launches[6]
    assert {last.tiles[b]: r for b, r in last.reads.items()} == {
        10: (2, 6, 8, 9), 11: (3, 7, 8, 9), 14: (2, 6, 12, 13), 15: (3, 7, 12, 13)
    }  # fmt: skip
    through_both = [f.pivots for f in run.frames if f.launch == 6 and f.operations]
    assert through_both == [(0, 15), (16, 31)]
    assert g.n == 52


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 33])
@pytest.mark.parametrize("method", ["naive", "blocked"])
def test_awkward_sizes_are_drawn(n, method):
    options = {"tile": 16} if method == "blocked" else {}
    _, trace, result = traced(method, n=n, **options)
    run = read_tile_run(trace)
    final = run.final.reshape(run.rows, run.rows)[:n, :n]
    np.testing.assert_array_equal(
        final, np.where(result.distance < INFINITE, result.distance, np.inf)
    )
    assert TileView(trace).payload["traces"][0]["steps"] == len(run.frames) + 1


def test_floats_and_negative_weights_are_drawn():
    matrix = np.full((20, 20), np.inf, np.float32)
    matrix[np.arange(19), np.arange(1, 20)] = np.linspace(-1, 1, 19)
    np.fill_diagonal(matrix, 0)
    for method in ("naive", "blocked"):
        device = gk.SimtDevice(trace=True)
        result = gk.apsp(matrix, method, device)
        view = TileView(device.trace)
        (run,) = view._runs.values()
        final = run.final.reshape(run.rows, run.rows)[:20, :20]
        np.testing.assert_array_equal(final, result.distance)
        low, high = view.payload["shades"]
        off = result.distance[~np.eye(20, dtype=bool)]
        finite = off[np.isfinite(off)]
        # Padded vertices are joined to no other vertex.
        assert [low, high] == [finite.min(), finite.max()]


def clock_of(view, name):
    (entry,) = (t for t in view.payload["traces"] if t["label"] == name)
    return unpack(entry["value"]).tolist(), [unpack(own).tolist() for own in entry["at"]]


def test_on_one_clock_each_run_has_done_what_it_had_by_then():
    traces = {"naive": traced("naive")[1], "blocked": traced(**FORMS["4x4"])[1]}
    view = TileView(traces)
    runs = [view._runs[name] for name in traces]
    assert [t["label"] for t in view.payload["traces"]] == ["bytes", "launches"]
    for name in ("bytes", "launches"):
        values, at = clock_of(view, name)
        assert values == sorted(values)
        assert values[0] == 0
        for run, own in zip(runs, at, strict=True):
            assert own[0] == 0
            assert own[-1] == len(run.frames)
            assert set(np.diff(own).tolist()) <= {0, 1}
            for k, over in enumerate(own):
                frames = run.frames[: over + 1]
                if name == "bytes":
                    assert sum(f.bytes for f in frames[:over]) <= values[k]
                    later = k + 1 == len(values) or values[k + 1] > values[k]
                    if later and over < len(run.frames):
                        assert sum(f.bytes for f in frames) > values[k]
                elif over:
                    assert frames[over - 1].launch + 1 <= values[k]
        moves = np.diff(np.array(at)).any(axis=0)
        assert moves.all()
    assert len(clock_of(view, "launches")[0]) == 1 + 72 + 48 - 9


def test_runs_of_a_matrix_that_one_of_them_pads_are_drawn_together():
    view = TileView({"naive": traced("naive", n=33)[1], "blocked": traced(n=33, tile=16)[1]})
    assert [run["rows"] for run in view.payload["runs"]] == [33, 48]
    assert view.payload["description"].startswith(
        "A matrix of 33 rows and columns. naive: 33 launches"
    )
    assert repr(view) == "TileView(33 rows; naive: 33 launches, blocked: 9 launches)"


@cuda.jit
def double(distance):
    i = cuda.grid(1)
    if i < distance.shape[0]:
        distance[i, 0] = 2


def test_a_kernel_that_stores_before_it_loads_is_no_run():
    device = gk.SimtDevice(trace=True)
    device.launch(double, 1, 32, device.full((4, 4), 1, np.int32))
    with pytest.raises(InvalidArgument, match=r"no load of distance\[0, 0\] before it is stored"):
        TileView(device.trace)


@cuda.jit
def through_shared(distance):
    held, kept = cuda.shared.array((3, 3), int32), cuda.local.array(1, int32)
    j, i = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    inside = i < distance.shape[0] and j < distance.shape[1]
    if inside:
        held[y, x] = distance[i, j]
    cuda.syncthreads()
    if inside:
        kept[0] = held[y, x]
        distance[i, j] = kept[0]


@pytest.mark.parametrize(("rows", "tile"), [(6, 3), (4, 0)])
def test_a_matrix_that_is_not_made_of_whole_tiles_is_drawn_without(rows, tile):
    device = gk.SimtDevice(trace=True)
    matrix = device.array(np.arange(rows * rows, dtype=np.int32).reshape(rows, rows))
    device.launch(through_shared, (2, 2), (3, 3), matrix)
    run = read_tile_run(device.trace)
    assert (run.tile, len(run.frames)) == (tile, 2)
    assert [len(launch.tiles) for launch in run.launches] == [4 if tile else 0]
    assert TileView(device.trace).payload["traces"][0]["steps"] == 3


def searched():
    device = gk.SimtDevice(trace=True)
    gk.sssp(WEB, 0, "harish", device)
    return device.trace


def other_matrix():
    device = gk.SimtDevice(trace=True)
    gk.apsp(gk.path(48), "naive", device)
    return device.trace


NAIVE: Trace = traced("naive")[1]
REFUSED = {
    "no trace": (lambda: TileView(3), "traces = 3"),
    "no matrix": (
        lambda: TileView({"a": NAIVE.select(array="via")}),
        r"traces\['a'\] = 'no load or store of distance, but of nothing'",
    ),
    "a search": (lambda: TileView(searched()), r"distance.shape .*\(48,\).*one square matrix"),
    "too large": (
        lambda: TileView(traced("naive", n=65)[1]),
        r"distance.shape \(of traces\) = \(65, 65\): must be .*at most 64 rows",
    ),
    "its end alone": (
        lambda: TileView(NAIVE.select(kind=1)),
        r"no load of distance\[0, 0\] before it is stored",
    ),
    "another matrix": (
        lambda: TileView({"a": NAIVE, "b": other_matrix()}),
        r"traces\['b'\] = .* at first'.*the matrix of the first, which has",
    ),
    "too many": (lambda: TileView({str(k): NAIVE for k in range(7)}), "7 runs.*at most 6"),
    "clock": (lambda: TileView(NAIVE, clock="steps"), "clock = 'steps': must be one of"),
    "clock twice": (lambda: TileView(NAIVE, clock=["bytes"] * 2), "clock = "),
    "no clock": (lambda: TileView(NAIVE, clock=()), r"clock = \(\)"),
    "clock of a number": (lambda: TileView(NAIVE, clock=3), "clock = 3"),
    "dial": (lambda: TileView(NAIVE, dial=3), "dial = 3"),
    "step": (lambda: TileView(NAIVE, step=49), "step = 49: must be from 0 to 48"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_drawn_is_refused(name):
    make, message = REFUSED[name]
    with pytest.raises(InvalidArgument, match=message):
        make()
