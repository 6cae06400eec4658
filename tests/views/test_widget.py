"""What a view promises to the notebook around it: numbers of any kind, and its HTML in each."""

from __future__ import annotations

import inspect

import ipywidgets
import numpy as np
import pytest
from filter_kernels import filtered, some_candidates
from IPython.core.formatters import DisplayFormatter
from worked_tasks import halved, worked
from written_traces import queue_bfs

import gpukernels as gk
from gpukernels import views
from gpukernels.errors import InvalidArgument
from gpukernels.primitives.warp_scan import warp_scan
from gpukernels.trace import LOAD
from gpukernels.views import (
    CompareView,
    EnergyView,
    FrontierView,
    GraphView,
    HashView,
    MappingView,
    PartsView,
    RelaxView,
    ScanView,
    TileView,
    WarpView,
    WorkersView,
)
from gpukernels.views.memory.view import MemoryView

ROADS = gk.road_grid(6, 7, seed=1)
WRITTEN, _, DISTANCE = queue_bfs(ROADS)
OFFSETS = [0, 3, 4, 8]


def a_line() -> int:
    """Return a source line with a load of the written trace's targets."""
    request = views.memory.read_requests(
        WRITTEN, launch=None, array="targets", line=None, block=None, warp=None, limit=1
    )[0]
    assert request.kind == LOAD
    return request.line


def recorded(run):
    with gk.trace() as t:
        run()
    return t


def hashed():
    return filtered(some_candidates(3, 64), 64, schedule="warp")[0]


def followed() -> int:
    """Return a vertex that is stored to the table."""
    return HashView(hashed()).payload["vertex"]


def mapped():
    return {"direct_search": recorded(lambda: gk.expand(OFFSETS, "direct_search", threads=32))}


#: A view, its positional arguments, and a value for each of its options that is a whole number.
WHOLE = {
    "graph": (GraphView, lambda: (ROADS, DISTANCE), {"missing": -1, "step": 0, "seed": 3}),
    "graph csr": (GraphView, lambda: (gk.path(4),), {"csr": True, "step": 2}),
    "frontier": (FrontierView, lambda: (ROADS, WRITTEN), {"root": 0, "step": 2, "seed": 3}),
    "relax": (
        RelaxView,
        lambda: (ROADS, recorded(lambda: gk.sssp(ROADS))),
        {"root": 0, "step": 3, "seed": 3},
    ),
    "tile": (
        TileView,
        lambda: (recorded(lambda: gk.apsp(gk.path(20), "blocked", tile=16)),),
        {"step": 3},
    ),
    "energy": (EnergyView, lambda: ([("a", "w", 2.0, 300.0)],), {"step": 0}),
    "compare": (CompareView, lambda: ([("a", "g", {"x": 3})],), {}),
    "warp": (
        WarpView,
        lambda: (WRITTEN,),
        {"launch": 1, "block": 0, "warp": 0, "start": 1, "limit": 9, "step": 2},
    ),
    "memory": (
        MemoryView,
        lambda: (WRITTEN,),
        {"launch": 1, "array": "targets", "block": 0, "warp": 0, "limit": 2, "step": 0},
    ),
    "memory line": (MemoryView, lambda: (WRITTEN,), {"line": a_line(), "limit": 3}),
    "mapping": (MappingView, lambda: (mapped(), OFFSETS), {"step": 0}),
    "scan": (
        ScanView,
        lambda: (recorded(lambda: warp_scan(np.arange(40), threads=64)),),
        {"launch": 0, "block": 0, "warp": 1, "step": 2},
    ),
    "parts": (PartsView, lambda: (ROADS, {"a ruler": halved(ROADS)}), {"step": 2}),
    "workers": (WorkersView, lambda: ({"two": worked()}, {"close": "close"}), {"step": 3}),
    "hash": (
        HashView,
        lambda: (hashed(),),
        {"launch": 0, "block": 0, "vertex": followed(), "limit": 20, "step": 1},
    ),
}


def of_numpy(options, kind):
    """Return options with each number as one of NumPy's."""
    flags = {name: np.bool_(value) for name, value in options.items() if value is True}
    whole = {k: v for k, v in options.items() if isinstance(v, int) and v is not True}
    return options | {k: kind(v) for k, v in whole.items()} | flags


@pytest.mark.parametrize("kind", [np.int64, np.int8, np.int32])
@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_of_numpy_draw_what_those_of_python_draw(name, kind):
    view, arguments, options = WHOLE[name]
    expected = view(*arguments(), **options)
    drawn = view(*arguments(), **of_numpy(options, kind))
    assert drawn.html == expected.html
    assert drawn.payload == expected.payload
    assert repr(drawn) == repr(expected)
    assert type(drawn.step) is int


@pytest.mark.parametrize("name", views.__all__)
def test_every_whole_number_that_a_view_takes_is_tried_above(name):
    view = getattr(views, name)
    parameters = inspect.signature(view).parameters.values()
    whole = {p.name for p in parameters if p.annotation in ("int", "int | None")}
    tried = {name for v, _, options in WHOLE.values() if v is view for name in options}
    assert ("step" in tried) == ("step" in inspect.signature(view).parameters)
    assert any(v is view for v, _, _ in WHOLE.values())
    assert whole <= tried


def test_positions_in_a_call_may_be_of_numpy_too():
    assert WarpView(WRITTEN, np.int64(1), np.int32(0), np.uint8(0)).html == (
        WarpView(WRITTEN, 1, 0, 0).html
    )


@pytest.mark.parametrize("kind", [np.int64, np.uint8])
def test_the_step_may_be_set_to_a_whole_number_of_numpy(kind):
    view = FrontierView(ROADS, WRITTEN)
    seen = []
    view.observe(lambda change: seen.append(change["new"]), names="step")
    view.step = kind(3)
    assert seen == [3]
    assert type(view.step) is int
    with pytest.raises(InvalidArgument, match="step = 99: must be from 0 to"):
        view.step = kind(99)
    with pytest.raises(Exception, match="step"):
        view.step = np.float64(2.5)


@pytest.mark.parametrize("name", WHOLE)
def test_a_notebook_stores_the_html_of_a_view_whatever_ipywidgets_shows_it_with(name, monkeypatch):
    def shown_without_html(self, **kwargs):
        return None

    # What ipywidgets 7 has, and IPython asks before all else; ipywidgets 8 has none.
    monkeypatch.setattr(ipywidgets.Widget, "_ipython_display_", shown_without_html, raising=False)
    view, arguments, options = WHOLE[name]
    drawn = view(*arguments(), **options)
    formatter = DisplayFormatter()
    formatter.ipython_display_formatter.enabled = True
    data, _ = formatter.format(drawn)
    assert data["text/html"] == drawn.html
    assert data["text/plain"] == repr(drawn)
    assert "application/vnd.jupyter.widget-view+json" in data
