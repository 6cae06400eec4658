"""The chapter on several GPUs agrees with counters and with measured times."""

from __future__ import annotations

import numpy as np
import pytest

import gpukernels as gk
from gpukernels.all_pairs import separators


def test_a_map_in_parts(cells, page):
    CUTS = cells.CUTS
    pytest.importorskip("pymetis")
    metis, ruler = (
        [cells.ROADS.n**3 / cut.work() for cut in CUTS[name]] for name in ("METIS", "a ruler")
    )
    for cut in CUTS["METIS"] + CUTS["a ruler"]:
        assert cut.work() == sum(cut.terms().values())
    assert metis[0] == 1
    assert round(metis[3]) == 29
    assert metis[5] < 0.7 * max(metis)
    page.says("take a twenty-ninth of them")
    assert metis[3] < metis[4] == max(metis) < 1.1 * metis[3]
    assert 0.6 < ruler[4] / metis[4] < 0.7
    page.says("hardly less", "and a third of the gain is lost")
    assert [int(np.argmax(wins)) for wins in (metis, ruler)] == [4, 3]
    borders = [[cut.separators.size for cut in CUTS[name]] for name in ("METIS", "a ruler")]
    assert all(a <= b for a, b in zip(*borders, strict=True))
    page.says(f"there are {borders[1][4]} separators instead of {borders[0][4]}")


def test_the_four_terms(cells, page):
    terms = cells.terms
    assert terms == [250_000_000, 8_000, 200_000, 10_000_000]
    assert round(sum(terms) / 1000**3, 2) == 0.26
    page.says("Two parts of a graph of 1,000 vertices, with 20 separators in all")


def test_seconds_of_adding_and_of_receiving(cells, page):
    after = cells.after("by-plan-answer")
    assert after.gpus == 64
    page.says(f'class="right"><summary>{after.adding} and {after.receiving}</summary>')


def test_more_corners_and_more_parts(cells, page):
    LARGE, WEIGHTED, large = cells.LARGE, cells.WEIGHTED, cells.large
    pytest.importorskip("pymetis")
    best = {name: int(np.argmin([cut.work() for cut in of])) for name, of in large.items()}
    for of in large.values():
        for k, cut in zip(cells.MANY, of, strict=True):
            assert abs(cut.predicted / cut.work() - 1) < 0.05
            assert k == 1 or 0.5 < cut.separators.size / (k * LARGE.n) ** 0.5 < 2.7
    win = {m: LARGE.n**3 / of[best[m]].work() for m, of in large.items()}
    metis = [cells.ROADS.n**3 / cut.work() for cut in cells.CUTS["METIS"]]
    assert best["METIS"] > np.argmax(metis)
    assert round(win["METIS"] / max(metis)) == 8
    assert round(win["METIS"] / win["a ruler"]) == 2
    page.says(
        "its best cut saves eight times as much", "needs fewer separators, and saves twice as much"
    )
    small = gk.apsp(WEIGHTED, "partitioned", engine="cpu", parts=8)
    assert small.stats["operations"] == small.stats["work"] == cells.EIGHT.work()


def test_bytes_that_a_worker_holds(cells, page):
    LARGE, large = cells.LARGE, cells.large
    bytes_of = [cut.held() for cut in large[next(iter(large))]]
    assert [of["rows"] for of in bytes_of] == sorted((of["rows"] for of in bytes_of), reverse=True)
    assert bytes_of[-1]["boundary matrix"] == max(bytes_of[-1].values())
    assert bytes_of[2]["rows"] == max(bytes_of[2].values())
    graph = sum(a.nbytes for a in (LARGE.offsets, LARGE.targets))
    assert graph < min(of["rows"] for of in bytes_of)
    assert graph < 1e6
    page.says("The graph itself would be too small to be seen here")


def test_a_plan_on_paper(cells, page):
    in_parts, n = cells.in_parts, cells.n
    add, receive, parts, sent = cells.hours.values()
    assert 4 * n**2 / 8 > 3 * 141e9
    assert 62e9 < 4 * n**2 / 64 < 64e9 < 141e9
    assert round(4 * n**2 / 512 / 1e9) == 8
    page.says("On 8 GPUs each would hold 500 GB of the result", "on 64 it is 63 GB, on 512 8 GB")
    assert 12 < add[0] < 30
    assert 1 < add[1] < 12
    assert add[2] < 1
    page.says("most of a day on one GPU, some hours on 8, less than one hour on 64")
    assert round(add[1] / add[3]) == 64
    assert all(1 / 60 < h < 1 for h in receive[1:])
    assert receive[3] > add[3]
    assert receive[2] < add[2]
    page.says("With 512 that is more than its additions take")
    pytest.importorskip("pymetis")
    assert 18 < n / in_parts.separators.size < 21
    assert 3_000 < n**3 / in_parts.work() < 10_000
    page.says(
        "about one separator in twenty corners",
        "Several thousand times fewer additions are needed, which take seconds",
    )
    assert all(h * 3600 < 60 for h in parts)
    assert all(r > p for r, p in zip(sent, parts, strict=True))


def test_times_of_two_gpus(cells, page):
    host, two = cells.host, cells.two
    pairs = dict(
        zip(cells.gains, zip(two["times"][::2], two["times"][1::2], strict=True), strict=False)
    )
    assert all([r["gpus"] for r in pair] == [1, 2] for pair in pairs.values())
    won = {work: pair[1]["speed_up"] for work, pair in pairs.items()}
    page.says(f"`sssp_many` gains {won['sssp_many']:.2f}")
    page.says(f"searches on a map of 65,536 corners {won['bfs_many, a map']:.2f}")
    assert pairs["bfs_many, a map"][0]["n"] == 65_536
    page.says(
        f"two GPUs gain {won['bfs_many, one byte']:.2f}; in four, {won['bfs_many, four bytes']:.2f}"
    )
    bytes_, words = pairs["bfs_many, one byte"], pairs["bfs_many, four bytes"]
    (one, both), (more, most) = (
        [size * r["rows"] * r["n"] / r["call_ms"] / 1e6 for r in pair]
        for size, pair in ((1, bytes_), (4, words))
    )
    page.says(f"one GPU sends {more:.0f} GB a second and two send {most:.0f}")
    page.says(f"with one byte it is {one:.0f} and {both:.0f}")
    page.says(
        "one worker wrote {:.0f} GB a second and two wrote {:.0f}".format(
            host["fresh", 1], host["fresh", 2]
        )
    )
    page.says(
        f"used before, one wrote {host['used before', 1]:.0f} and two {host['used before', 2]:.0f}"
    )


def test_times_of_the_blocked_matrix(cells, page):
    one, both = (row for row in cells.two["times"] if row["work"].startswith("blocked"))
    more = both["operations"] / one["operations"]
    page.says(f"both together make {more - 1:.0%}".replace("%", " percent more"))
    page.says(f"Then the gain is at most {2 / more:.2f}")
    page.says(f"and the kernels reach {both['kernel_speed_up']:.2f}")
    rest = [row["call_ms"] - row["kernel_ms"] for row in (one, both)]
    page.says(
        f"On one GPU this takes {rest[0] / one['call_ms']:.0%}".replace("%", " percent of the time")
    )
    assert 0.9 < rest[1] / rest[0] < 1
    page.says(f"hardly less time than on one, so the whole call gains only {both['speed_up']:.2f}")
    slow, fast = (
        [s for (a, _), s in cells.copies.items() if a is with_] for with_ in (False, True)
    )
    assert 9 < min(fast) / max(slow) < 9.5
    assert max(fast) / min(slow) < 10.5
    page.says("Asking made copies nine times as fast here")
    ms = [both["bytes_sent"] / 1e6 / max(rate) for rate in (fast, slow)]
    page.says("{:.0f} ms at the fast rate, {:.0f} ms at the slow one".format(*ms))
    page.says(f"at the slow one, of {both['kernel_ms']:,.0f}")


def test_times_of_parts(cells, page):
    two = cells.two
    one, both = (row for row in two["times"] if row["work"] == "partitioned")
    page.says(f"{one['n']:,} crossings in {one['parts']} parts take {one['call_ms'] / 1e3:.2f} s")
    page.says(
        f"two GPUs gain {both['speed_up']:.2f}", f"{4 * one['n'] ** 2 / 1e9:.1f} GB of lengths"
    )
    before = [*two["earlier"][::2], one], [*two["earlier"][1::2], both]
    ns = [round(1e6 * row["call_ms"] / row["n"] ** 2, 1) for row in before[0]]
    assert ns == [26.6, 2.3, 1.0]
    assert [r["speed_up"] for r in before[1]] == [2.05, 1.585, 1.438]
    page.says(
        "The first took 27 ns per pair",
        "gained 2.05. The next took 2.3 ns and gained 1.58. This one takes 1.0",
    )
    again = {row["work"]: row["speed_up"] for row in two["again"] if row["gpus"] == 2}
    page.says(
        f"{again['sssp_many']:.2f} for `sssp_many`, {again['bfs_many_roads']:.2f} for the map"
    )
    page.says(
        f"{again['bfs_many']:.2f} for distances of one byte, {again['partitioned']:.2f} for parts"
    )
    pytest.importorskip("pymetis")
    crossings = gk.road_grid(192, 192, seed=1)
    blocked = next(row for row in two["times"] if row["work"].startswith("blocked"))
    adding = separators.cut(crossings, 48, seed=0).work() / blocked["operations"]
    page.says(f"the additions would take {adding * blocked['kernel_ms']:.0f} ms")


def test_graphs_without_small_separators(cells, page):
    pytest.importorskip("pymetis")
    random = gk.erdos_renyi(1000, 8, seed=1)
    cut = separators.cut(random, 8, seed=0)
    assert cut.separators.size > 0.9 * random.n
    assert cut.work() > random.n**3
    assert separators.cut(gk.complete(40), 4, seed=0).separators.size == 40
    page.says("on a random graph nearly every vertex is one")
