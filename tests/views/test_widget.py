"""A view in a notebook accepts numbers of all kinds, and has its HTML in every notebook."""

from __future__ import annotations

import ipywidgets
import numpy as np
import pytest
from example_figures import DISTANCE, EIGHT, ROADS, WRITTEN, expanded, filters
from IPython.core.formatters import DisplayFormatter

from gpukernels import views
from gpukernels.errors import InvalidArgument
from gpukernels.views import FrontierView, GraphView, HashView, MappingView, WarpView

#: Views, with their positional arguments and their options that are whole numbers or flags.
WHOLE = {
    "graph": (GraphView, lambda: (ROADS, DISTANCE), {"missing": -1, "step": 0, "seed": 3}),
    "frontier": (FrontierView, lambda: (ROADS, WRITTEN), {"root": 0, "step": 2, "seed": 3}),
    "warp": (
        WarpView,
        lambda: (WRITTEN,),
        {"launch": 1, "block": 0, "warp": 0, "start": 1, "limit": 9, "step": 2},
    ),
    "mapping": (MappingView, lambda: (expanded(EIGHT, ["two_phase"]), EIGHT), {"step": 1}),
    "hash": (HashView, lambda: (filters(),), {"launch": 0, "block": 0, "limit": 9, "step": 1}),
}


@pytest.mark.parametrize("kind", [np.int64, np.int8])
@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_of_numpy_draw_what_those_of_python_draw(name, kind):
    view, arguments, options = WHOLE[name]
    expected = view(*arguments(), **options)
    drawn = view(*arguments(), **{name: kind(value) for name, value in options.items()})
    assert (drawn.html, drawn.payload) == (expected.html, expected.payload)
    assert repr(drawn) == repr(expected)
    assert type(drawn.step) is int


def test_every_view_takes_them_and_in_their_positions_too():
    assert all(hasattr(getattr(views, name).__init__, "__wrapped__") for name in views.__all__)
    assert WarpView(WRITTEN, np.int64(1), np.int32(0), np.uint8(0)).html == (
        WarpView(WRITTEN, 1, 0, 0).html
    )


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8])
def test_the_step_may_be_set_and_observed(kind):
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
    assert view.step == 3


@pytest.mark.parametrize("name", WHOLE)
def test_a_notebook_stores_the_html_of_a_view_whatever_ipywidgets_shows_it_with(name, monkeypatch):
    def shown_without_html(self, **kwargs):
        return None

    # ipywidgets 7 has this method, and IPython calls it first; ipywidgets 8 does not have it.
    monkeypatch.setattr(ipywidgets.Widget, "_ipython_display_", shown_without_html, raising=False)
    view, arguments, options = WHOLE[name]
    drawn = view(*arguments(), **options)
    formatter = DisplayFormatter()
    formatter.ipython_display_formatter.enabled = True
    data, _ = formatter.format(drawn)
    assert data["text/html"] == drawn.html
    assert data["text/plain"] == repr(drawn)
    assert "application/vnd.jupyter.widget-view+json" in data
