"""Every number that a figure prints in a cell is the trace's, in every frame, where it stands."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from printed import Part, read_frames
from test_views import (  # noqa: F401
    EIGHT,
    EXAMPLE,
    HOLES,
    ROADS,
    TRACES,
    VIEWS,
    expanded,
    folder,
    open_figures,
)

import gpukernels as gk
from gpukernels.simt.trace import LOAD, STORE
from gpukernels.views import FrontierView, MappingView
from gpukernels.views.encoding import unpack

UNITS = Part(".gk-map-strip", ".gk-u-dark tspan", ".gk-u-todo, " + ", ".join(
    f".gk-u-{k}" for k in range(8)))  # fmt: skip
SECTORS = Part(
    ".gk-map-strip", ".gk-u-once tspan, .gk-u-often tspan", ".gk-f-faint, .gk-u-one, .gk-u-many"
)
LEVELS = ("thread", "warp", "block")


def visits(trace, units):
    """Who visits each unit in which round and request: ``{level: [...], ...}``, from the trace."""
    r = trace.requests
    found = {name: [None] * units for name in (*LEVELS, "round", "request")}
    (item,) = trace.array_named("item")
    before, rounds = Counter(), Counter()
    for launch in trace.launches:
        stores = np.flatnonzero((r.launch == launch.index) & (r.array == item) & (r.kind == STORE))
        rounds.clear()
        for row in stores.tolist():
            warp = int(r.block[row]) * launch.warps_per_block + int(r.warp[row])
            first = int(r.block[row]) * launch.threads_per_block + 32 * int(r.warp[row])
            own = {"warp": warp, "block": int(r.block[row]), "round": rounds[warp]}
            rounds[warp] += 1
            units_here = r.index[r.start[row] : r.start[row + 1]].tolist()
            for lane, unit in zip(r.lanes(row).tolist(), units_here, strict=True):
                for name, value in (own | {"thread": first + lane}).items():
                    found[name][unit] = before[name] + value
                found["request"][unit] = row
        if stores.size:
            before["thread"] += launch.blocks * launch.threads_per_block
            before["warp"] += launch.blocks * launch.warps_per_block
            before["block"] += launch.blocks
            before["round"] += max(rounds.values())
    return found


def sectors_moved(who, step):
    """How often each sector of eight 4-byte units is moved up to a round, as it is written."""
    sectors = defaultdict(set)
    for unit, (turn, request) in enumerate(zip(who["round"], who["request"], strict=True)):
        sectors[unit // 8] |= {request} if turn <= step else set()
    return [f"×{len(sectors[s])}" if sectors[s] else "" for s in sorted(sectors)]


def mapping_truth(name):
    offsets = {"eight": EIGHT, "holes": HOLES}[name]
    return [visits(t.trace, int(offsets[-1])) for t in expanded(offsets).values()]


def test_units_are_marked_with_who_visits_them_where_they_lie(open_figures):  # noqa: F811
    frames = read_frames(open_figures(["mapping"]), [UNITS, SECTORS], ("Workload", "Color by"))
    truth = {name: mapping_truth(name) for name in ("eight", "holes")}
    for name, methods in truth.items():
        rounds = max(max(who["round"]) for who in methods) + 1
        assert sum(chosen[0] == name for chosen, _, _ in frames) == 3 * rounds
    for (name, level), step, (strips, bars) in frames:
        for who, strip, bar in zip(truth[name], strips, bars, strict=True):
            seen = [turn <= step for turn in who["round"]]
            words = [str(k) if s else "" for k, s in zip(who[level], seen, strict=True)]
            looks = [
                f"gk-u-{k % 8}" if s else "gk-u-todo" for k, s in zip(who[level], seen, strict=True)
            ]
            where = name, level, step
            assert (where, strip.words, strip.astray) == (where, words, [])
            assert strip.looks == looks
            assert (where, bar.words, bar.astray) == (where, sectors_moved(who, step), [])


@pytest.mark.parametrize("level", LEVELS)
def test_units_are_marked_where_they_lie_without_scripts(open_figures, level):  # noqa: F811
    step = 3
    views = {"strips": MappingView(expanded(HOLES), HOLES, color=level, step=step)}
    page = open_figures(["strips"], scripts=False, views=views)
    ((_, _, (strips, bars)),) = read_frames(page, [UNITS, SECTORS])
    for who, strip, bar in zip(mapping_truth("holes"), strips, bars, strict=True):
        pairs = zip(who[level], who["round"], strict=True)
        assert strip.words == [str(k) if turn <= step else "" for k, turn in pairs]
        assert bar.words == sectors_moved(who, step)
        assert strip.astray + bar.astray == []
