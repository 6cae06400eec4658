"""The chapter on other ways to all pairs agrees with counters and with measured times."""

from __future__ import annotations

import inspect

import numpy as np
from matrix_traffic import traffic

import gpukernels as gk
from gpukernels.all_pairs.blocked import remainder
from gpukernels.all_pairs.tiles import Form, multiplier, product
from gpukernels.notebook import record
from gpukernels.trace import LOAD, STORE


def test_what_a_corner_sees(counted, page):
    squared, extended = (of[:-1] for of in counted.both.values())
    known = [
        [int((D[counted.CORNER] != counted.NO_PATH).sum()) for D in of]
        for of in (squared, extended)
    ]
    assert known[0] == [4, 10, 32, 108, 121, 121]
    assert known[1][:4] == [4, 10, 19, 32]
    page.says("a path to 32 of 121 corners", "[the corner knows a path to 108]", "[to 32]")
    assert (len(squared) - 1, len(extended) - 1) == (5, 21)
    page.says("[5 products]", "D × W takes [21]")
    expected = gk.apsp(counted.ROADS, "naive").distance
    assert np.array_equal(squared[-1], expected)
    assert np.array_equal(extended[-1], expected)


def test_minimum_for_plus(counted):
    HILLS, NO_PATH = counted.HILLS, counted.NO_PATH

    def multiply_of(kernel):
        return inspect.getclosurevars(kernel.py_func).nonlocals["multiply"]

    form = Form(tile=64, per_thread="8x8")
    assert multiply_of(product(form)) is multiply_of(remainder(form)) is multiplier(form)
    assert gk.min_plus([[0, 5], [2, 0]], [[0, 1], [-3, 0]]).tolist() == [[0, 1], [-3, 0]]
    D = counted.lengths_of(counted.ROADS)
    identity = np.full(D.shape, NO_PATH, np.int32)
    np.fill_diagonal(identity, 0)
    assert np.array_equal(gk.min_plus(D, identity), D)
    assert (gk.min_plus(D, np.full_like(D, NO_PATH)) == NO_PATH).all()
    level = gk.Graph(HILLS.offsets, HILLS.targets, np.zeros(HILLS.m, np.int32))
    reached, far = (gk.apsp(g, "kleene", tile=16).distance for g in (level, HILLS))
    assert np.array_equal(reached, np.where(far == NO_PATH, NO_PATH, 0))


def test_four_arcs_in_a_row(counted, page):
    rows = counted.after("ao-squaring-answer").rows
    squared = [row[2:] for row in rows if row[0] == "D × D"]
    assert squared == [(0, 3, "∞", "∞", "∞"), (0, 3, 4, "∞", "∞"), (0, 3, 4, 8, 10)]
    assert sum(row[0] == "D × W" for row in rows) == 4
    page.says('class="right"><summary>2 and 3</summary>')


def test_rounds_of_squaring(counted, page):
    share = counted.share
    assert [len(share[f]) for f in counted.FAMILIES] == [6, 5, 5, 4]
    page.says("on a path after all six rounds, on the dense graph after four")
    for f in ("path", "roads", "small world"):
        assert 80 < share[f][0] < 86
        assert share[f] == sorted(share[f])
    page.says("saves about a fifth of the steps while nearly all elements are infinite")
    assert share["small world"][-1] == 100
    assert set(share["dense"]) == {100}
    assert (48 - 1).bit_length() == 6
    assert sum(counted.steps["roads", True]) == 233_266


def test_recursion(counted, page):
    t, tiles = counted.after("ao-kleene-view").t, counted.tiles
    form = {"tile": 64, "per_thread": "8x8"}
    moved = {m: traffic(m, 16_384, **form) for m in ("blocked", "kleene")}
    assert moved["blocked"].operations == moved["kleene"].operations == 16_384**3
    total = {m: of.loaded + of.stored for m, of in moved.items()}
    assert abs(total["blocked"] / (16 * 16_384**3 / 64) - 1) < 0.01
    assert abs(total["kleene"] / (8 * 16_384**3 / 64) - 1) < 0.05
    page.says("the bytes halve, from $16 n^3 / t$ to $8 n^3 / t$")
    panels = traffic("blocked", 16_384, **form, panel=8)
    assert total["kleene"] < panels.loaded + panels.stored < 0.75 * total["blocked"]
    assert 6 * (16_384 // 2) ** 3 == 0.75 * 16_384**3
    launches = [launch.kernel for launch in t.launches]
    assert (launches.count("min_plus_tiles"), len(launches)) == (6, 8)
    assert tiles(3, LOAD) == {(0, 1), (1, 0)}
    assert tiles(3, STORE) == {(1, 1)}


def test_where_searches_cross(counted, page):
    DEGREES, crossed, drawn = counted.DEGREES, counted.crossed, counted.drawn
    assert [round(crossed[n, s]) for s in counted.SEARCHES for n in (32, 64)] == [7, 12, 16, 28]
    for (n, search), d in crossed.items():
        arcs = np.interp(d, DEGREES[n], [drawn(n, k).m for k in DEGREES[n]])
        w = n**3 / (n * arcs)
        assert (4.5 < w < 5.7) if search == "topology_driven" else (1.9 < w < 2.4)
        assert abs(d * w / n - 1) < 0.02
        assert abs(d / n - (0.2 if search == "topology_driven" else 0.5)) < 0.08
    page.says("where the mean degree is about a fifth of $n$", "it crosses at about half of $n$")
    page.says("relaxes an arc about five times in a search", "relaxes an arc twice")


def test_heights(counted):
    HILLS = counted.HILLS
    NO_PATH = counted.NO_PATH
    height = counted.height
    r = counted.r
    raised = counted.raised
    assert height.tolist() == [0, -3, 0, -7, -2, -4]
    assert raised.min() == 0
    assert counted.weight.min() == -4
    flat = gk.Graph.from_arcs(6, counted.source, counted.target, raised)
    up = gk.apsp(flat, "per_root", search="near_far").distance.astype(np.int64)
    lowered = np.where(up != NO_PATH, up - height[:, None] + height[None, :], NO_PATH)
    assert np.array_equal(lowered, r.distance)
    assert r.path(0, 5) == gk.reference.johnson(HILLS).path(0, 5) == [0, 1, 3, 4, 5]
    for n in counted.DEGREES:
        plain, lifted = (
            gk.apsp(counted.drawn(n, 8), m, search="harish").stats["operations"]
            for m in ("per_root", "johnson")
        )
        assert 1 < lifted / plain < 1.04


def test_additions_on_one_core(counted):
    added = counted.added
    assert all(added[f][0] <= 64 * g.m for f, g in counted.one_core.items())
    assert added["complete"] == [64 * 64 * 63, 64**3]


def test_copies_of_blocks(counted, page):
    def copied(n, rows):
        blocks = n // rows
        return 4 * rows**2 * blocks**2 * (3 * blocks - 1)

    for rows, result in counted.by_bound.items():
        s, blocks = result.stats, 96 // rows
        assert (s["block"], s["pivot_blocks"], s["operations"]) == (rows, blocks, 96**3)
        assert s["bytes_to_device"] + s["bytes_from_device"] == copied(96, rows)
        assert s["device_bytes"] <= 24 * rows**2 + 512
    assert copied(96, 16) == 4 * (3 * 96**3 // 16 - 96**2)
    assert 24 * 6_656**2 + 512 <= 2**30 < 24 * 6_720**2
    page.says("With 1 GiB of device memory $B$ is 6,656, and that is 832 operations")


def test_costs(counted, page):
    METHODS, costs = counted.METHODS, counted.costs
    assert not any(c[3] for (m, _), c in costs.items() if m in list(METHODS)[:4])
    relaxed, moved, *_ = costs["per root, harish", "sparse"]
    done, blocked, *_ = costs["blocked", "sparse"]
    page.says(f"`harish` makes {relaxed:,} relaxations and `blocked` {done:,} operations")
    assert 215 < moved / relaxed < 225
    assert 1 < blocked / done < 1.1
    assert 13.5 < moved / blocked < 14.5
    page.says(
        "`harish` moves fourteen times as many bytes",
        "a relaxation moves 220 bytes of global memory and an operation about one byte",
    )
    launched = [
        gk.apsp(counted.GRAPHS["sparse"], *METHODS[m][:1], **METHODS[m][1]).stats["launches"]
        for m in ("per root, harish", "per root, in a batch", "blocked")
    ]
    assert launched == [1_076, 15, 9]
    page.says("1,076 launches, and `blocked` 9")
    assert 11 < costs["naive", "dense"][1] / costs["blocked", "dense"][1] < 11.5
    large = traffic("blocked", 4_096, tile=64)
    assert 0.24 < (large.loaded + large.stored) / large.operations < 0.26
    page.says("With tiles of 64, `blocked` moves only a quarter of a byte per operation")


def test_roots_together(counted, page):
    together = counted.together
    assert all(s["operations"] == together[m, None]["operations"] for (m, _), s in together.items())
    one_by_one, batch = together["hbf", None], together["hbf", 48]
    assert one_by_one["launches"] > 30 * batch["launches"]
    page.says("how many launches this saves on the roads. The relaxations stay the same")


def test_times_of_dense_graphs(cells, page):
    BLOCKED = cells.BLOCKED
    dense = {
        label: dict(points) for (graph, label), points in cells.times.items() if graph == "dense"
    }
    for n, ms in dense[BLOCKED].items():
        assert (dense["repeated_squaring"][n] < ms) == (n <= 1024)
        assert ms < dense["kleene"][n]
    page.says("Up to 1,024 vertices squaring is ahead", "From 2,048 on `blocked` wins")
    longer = dense[BLOCKED][512] / dense["repeated_squaring"][512] - 1
    page.says(f"`blocked` takes up to {longer:.0%} longer")
    last = {
        label: dense[label][16384] / dense[BLOCKED][16384] for label in dense if label != "naive"
    }
    assert round(last["kleene"], 2) == 1.05
    page.says(
        f"`kleene` takes 5% longer, and squaring {last['repeated_squaring']:.1f} times as long"
    )
    rows = {row["n"]: row["searches"] for row in cells.kept["times"] if row["graph"] == "dense"}
    assert all(rows[n]["repeated_squaring"]["launches"] <= 12 for n in (512, 1024))
    page.says("squaring needs at most a dozen launches")


def test_times_of_sparse_graphs(cells, page):
    ALL_AT_ONCE, BLOCKED = cells.ALL_AT_ONCE, cells.BLOCKED
    rows = {row["n"]: row["searches"] for row in cells.kept["times"] if row["graph"] == "sparse"}
    one_by_one, tiles = rows[2048]["per_root"], rows[2048][BLOCKED]
    assert round(tiles["operations"] / one_by_one["operations"]) == 20
    slower = one_by_one["kernel_ms"] / tiles["kernel_ms"]
    page.says(
        "searches by `topology_driven` make a twentieth as many relaxations as `blocked` makes "
        f"additions, and take {slower:.0f} times as long"
    )
    assert 0.5 < rows[2048]["SciPy dijkstra"]["call_ms"] / one_by_one["call_ms"] < 0.6
    page.says("takes nearly twice as long as SciPy's heap on one core")
    page.says(f"{one_by_one['launches'] / 2048:.0f} launches each")
    once, other = ([rows[n][of] for n in (2048, 8192)] for of in (ALL_AT_ONCE, BLOCKED))
    same = rows[2048]["per_root search=topology_driven memory=1073741824"]
    page.says(f"{same['launches']} launches in place of {one_by_one['launches']:,}")
    page.says(f"{same['kernel_ms']:.1f} ms in place of {one_by_one['kernel_ms']:.0f}")
    assert 0.2 < once[0]["operations"] / same["operations"] < 0.25
    page.says(f"a quarter of the relaxations and takes {once[0]['kernel_ms']:.1f} ms")
    page.says(
        f"`blocked` is still {once[0]['kernel_ms'] / other[0]['kernel_ms']:.1f} times as fast"
    )
    assert round(once[1]["kernel_ms"]) == round(other[1]["kernel_ms"]) == 45
    page.says("At 8,192 vertices the kernels of both take 45 ms")
    more = other[1]["operations"] / once[1]["operations"]
    page.says(f"makes {more:.0f} times as many additions as the searches make relaxations")
    calls = round(once[1]["call_ms"]), round(other[1]["call_ms"])
    page.says("takes {} ms with the searches and {} ms with `blocked`".format(*calls))
    for searches in rows.values():
        searched = [searches[search] for search in ("per_root", ALL_AT_ONCE) if search in searches]
        for clock in ("kernel_ms", "call_ms"):
            assert searches[BLOCKED][clock] < min(search[clock] for search in searched)
    assert max(rows) == 8192
    page.says(
        "up to 8,192 vertices, the most that were timed, a call of `blocked` is faster all the same"
    )


def test_times_of_streams(cells, page):
    streamed = record.kept("out_of_core")["times"][-1]["searches"]
    seconds = {label: row["call_ms"] / 1e3 for label, row in streamed.items()}
    page.says(f"a call of `blocked` takes {seconds['blocked']:.1f} s")
    page.says(f"{seconds[f'memory={2**30}']:.1f} s with 1 GiB of room")
    page.says(f"{seconds[f'memory={2**26}']:.1f} s with 64 MiB")
    least = streamed[f"memory={2**26}"]
    moved = least["bytes_to_device"] + least["bytes_from_device"]
    page.says(
        f"With 64 MiB, {moved / 1e9:.0f} GB pass at {moved / least['call_ms'] / 1e6:.1f} GB/s"
    )
    rows = {row["n"]: row["searches"] for row in cells.kept["times"] if row["graph"] == "dense"}
    products = rows[16384][cells.BLOCKED]["kernel_ms"]
    assert 0.3 < products / 1e3 < 0.35
    assert products < 0.06 * least["call_ms"]
    page.says("The kernels need a third of a second")
